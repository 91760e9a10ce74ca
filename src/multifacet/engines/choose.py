"""The engine that suits the data, chosen when it meets them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from ..kernels import Kernel
from ..linalg import Array
from .base import Engine, PairSums, in_chunks
from .exact import Exact
from .lowrank import LowRank

#: Rows up to which all pairs cost less than landmarks do.
EXACT_ROWS = 1200

_log = logging.getLogger("multifacet")


@dataclass(frozen=True)
class Auto(Engine):
    """Exact for few rows, low-rank for many, Dask for rows in chunks; says so in the log.

    Parameters
    ----------
    exact_rows : int, default=1200
        Rows up to which all pairs are visited.

    Examples
    --------
    >>> from multifacet.engines.choose import Auto
    >>> Auto().choose(1_000_000, 20)[0]
    LowRank(...)
    """

    exact_rows: int = EXACT_ROWS

    def choose(self, n_rows: int, n_features: int) -> tuple[Exact | LowRank, str]:
        """Return the engine for data of a size, and why in a sentence."""
        if n_rows <= self.exact_rows:
            pairs = f"{n_rows:,} rows are few enough to visit all pairs"
            return Exact(), f"exact engine: {pairs}"
        many = f"{n_rows:,} rows have too many pairs, so the kernel is approximated by landmarks"
        return LowRank(), f"low-rank engine: {many}"

    def attach(
        self, X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = None
    ) -> PairSums:
        """Return the pair sums of the engine that suits ``X`` (n, d)."""
        engine, sentence = self._suited(X)
        _log.info(sentence)
        return engine.attach(X, kernel, mean=mean, n_jobs=n_jobs)

    def accepts(self, X: Any) -> str | None:
        """Return None if the engine that suits X can read it, else why not."""
        return self._suited(X)[0].accepts(X)

    def _suited(self, X: Any) -> tuple[Engine, str]:
        if in_chunks(X):
            from .dask import Dask

            return Dask(), "Dask engine: X comes in chunks"
        return self.choose(*X.shape)


def few_rows(
    X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = 1
) -> PairSums:
    """Return the pair sums of rows that are few enough to visit all pairs, such as a sample."""
    return Exact().attach(X, kernel, mean=mean, n_jobs=n_jobs)
