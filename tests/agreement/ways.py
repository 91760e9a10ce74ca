"""Every way in which an engine can run, all to give the same numbers.

A way is a function of rows (n, d) and an engine's other arguments that returns pair sums. At a
rank of n the low-rank engines are exact but for the pseudo-inverse, hence the tolerances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from scipy.sparse import csr_matrix

from multifacet.engines import Engine, Exact, LowRank

#: Rows of the problems here; the low-rank engines take all of them as landmarks.
ROWS = 60
#: Several tiles, the last one incomplete.
TILE = 7


def in_uneven_chunks(X):
    """Return rows as a dask array."""
    da = pytest.importorskip("dask.array", reason="the extra 'dask' is not installed")
    return da.from_array(X, chunks=((1, 2, 40, len(X) - 43), X.shape[1]))


def in_sparse_chunks(X):
    """Return rows as a dask array of CSR chunks."""
    return in_uneven_chunks(X).map_blocks(csr_matrix)


def dask(**options):
    """Return the Dask engine, if it is installed."""
    pytest.importorskip("dask.array", reason="the extra 'dask' is not installed")
    from multifacet.engines import Dask

    return Dask(**options)


@dataclass(frozen=True)
class Way:
    """An engine, how rows are handed to it, and how far it may be from the definitions."""

    engine: Callable[..., Engine]
    options: dict[str, Any]
    rows: Callable[[Any], Any] = lambda X: X
    n_jobs: int = 1
    tolerance: float = 1e-9

    def attach(self, X, kernel):
        """Return the pair sums of rows in memory; the engine takes away their mean."""
        engine = self.engine(**self.options)
        return engine.attach(self.rows(X), kernel, mean=X.mean(axis=0), n_jobs=self.n_jobs)


FULL = {"rank": ROWS, "method": "nystrom"}
#: Too little to keep the kernel matrix between operations.
SMALL = {"memory": "64 KiB"}
OPERATOR = {"matrix_features": 0}

ENGINES = {
    "exact": Way(Exact, {}),
    "lowrank": Way(LowRank, FULL, tolerance=1e-6),
    "dask": Way(dask, FULL, in_uneven_chunks, tolerance=1e-6),
}

WAYS = ENGINES | {
    "exact tiles": Way(Exact, {"tile": TILE}),
    "exact threads": Way(Exact, {"tile": TILE}, n_jobs=2),
    "exact recomputed": Way(Exact, {"tile": TILE, **SMALL}),
    "exact sparse": Way(Exact, {}, csr_matrix),
    "exact wide": Way(Exact, OPERATOR),
    "exact wide sparse": Way(Exact, OPERATOR, csr_matrix),
    "lowrank threads": Way(LowRank, FULL, n_jobs=2, tolerance=1e-6),
    "lowrank sparse": Way(LowRank, FULL, csr_matrix, tolerance=1e-6),
    "lowrank wide": Way(LowRank, FULL | OPERATOR, tolerance=1e-6),
    "lowrank wide sparse": Way(LowRank, FULL | OPERATOR, csr_matrix, tolerance=1e-6),
    "dask sparse": Way(dask, FULL, in_sparse_chunks, tolerance=1e-6),
    "dask wide": Way(dask, FULL | OPERATOR, in_uneven_chunks, tolerance=1e-6),
    "dask wide sparse": Way(dask, FULL | OPERATOR, in_sparse_chunks, tolerance=1e-6),
}
