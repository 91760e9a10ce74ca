"""The engine that suits the data, chosen when it meets them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from ..kernels import Kernel
from ..linalg import Array
from .base import Engine, LazyRows, PairSums, is_dask
from .exact import Exact
from .lowrank import LowRank

#: Rows up to which all pairs cost less than landmarks do.
EXACT_ROWS = 1200

_log = logging.getLogger("multifacet")


@dataclass(frozen=True)
class Auto:
    """Exact for few rows, low-rank for many, Dask for rows in chunks; says so in the log.

    Examples
    --------
    >>> from multifacet.engines.choose import Auto
    >>> Auto().choose(1_000_000, 20)[0]
    LowRank(...)
    """

    def choose(self, n_rows: int, n_features: int) -> tuple[Exact | LowRank, str]:
        """Return the engine for data of a size, and why in a sentence."""
        if n_rows <= EXACT_ROWS:
            pairs = f"{n_rows:,} rows are few enough to visit all pairs"
            return Exact(), f"exact engine: {pairs}"
        many = f"{n_rows:,} rows have too many pairs, so the kernel is approximated by landmarks"
        return LowRank(), f"low-rank engine: {many}"

    def attach(
        self, X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = None
    ) -> PairSums:
        """Return the pair sums of the engine that suits ``X`` (n, d)."""
        engine: Engine
        if isinstance(X, LazyRows) or is_dask(X):
            from .dask import Dask

            engine, sentence = Dask(), "Dask engine: X comes in chunks"
        else:
            engine, sentence = self.choose(*X.shape)
        _log.info(sentence)
        return engine.attach(X, kernel, mean=mean, n_jobs=n_jobs)


def few_rows(
    X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = 1
) -> PairSums:
    """Return the pair sums of rows that are few enough to visit all pairs, such as a sample."""
    return Exact().attach(X, kernel, mean=mean, n_jobs=n_jobs)
