"""The Dask engine: the low-rank engine's sums as a map-reduce over chunks of rows.

Workers get the landmarks and small factors and return sums of the size of the features and of the
landmarks, which are added up in a fixed order; whatever has one value per row stays with them.
Nothing is placed on a worker that the scheduler could not compute again, so a worker that dies
costs time only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..kernels import Kernel
from ..linalg import Array
from ..rowwise import block_of, on_chunks
from .base import is_dask
from .blocks import Block, Sums, add_up, chunk_rows, slices
from .chunked import Chunked, added_up, da, node, per_chunk, read, room, unique
from .exact import check_whole, parse_bytes
from .lowrank import LowRank, LowRankSums
from .threads import single_threaded_blas

_log = logging.getLogger("multifacet")


@dataclass(frozen=True)
class Dask(LowRank):
    """The low-rank engine on dask arrays: threads, local processes or a cluster.

    It runs on the current ``distributed.Client``, and on threads if there is none. Results equal
    those of :class:`LowRank` up to rounding, whatever the chunks and the number of workers.

    Parameters
    ----------
    rank, method, tolerance, max_rank : object
        See :class:`LowRank`.
    memory : int, str or "auto", default="auto"
        Budget for arrays that workers keep between operations, all workers together; "auto" is
        half of the memory they have, or 2 GiB without a cluster.
    seed : int, default=0
        See :class:`LowRank`.
    matrix_features : int, default=1000
        See :class:`LowRank`.
    sample : int, default=4000
        See :class:`LowRank`.
    local_rows : int, default=50000
        Rows in memory that are too few to distribute, so that :class:`LowRank` takes them.

    Examples
    --------
    >>> import dask.array as da
    >>> from multifacet import UnsupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.engines import Dask
    >>> X, _ = make_gaussian_views(300, [2], random_state=0)
    >>> X = da.from_array(X, chunks=(100, -1))
    >>> model = UnsupervisedKDR(2, engine=Dask(rank=50), random_state=0).fit(X)
    >>> model.labels_
    dask.array<...>
    >>> model.labels_.compute().shape
    (300,)
    """

    memory: int | str = "auto"
    local_rows: int = 50_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "local_rows", low=0)

    def budget(self) -> int:
        """Return the budget in bytes."""
        return room() if self.memory == "auto" else parse_bytes(self.memory)

    def accepts(self, X: Any) -> str | None:
        """Return None: rows may be dense or CSR, in memory or in chunks."""
        return None

    def attach(
        self, X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = None
    ) -> LowRankSums:
        """Return the pair sums of ``kernel`` on the rows of ``X`` (n, d) minus ``mean`` (d,).

        ``X`` is a dask array or an array in memory, which is cut into chunks if it is large. The
        scheduler decides how many chunks are worked on at once, not ``n_jobs``.
        """
        if is_dask(X):
            X = Chunked(read(X))
        elif not isinstance(X, Chunked):
            n_rows = X.shape[0]
            if n_rows <= self.local_rows:
                _log.info(f"low-rank engine: {n_rows:,} rows in memory are too few to distribute")
                own = {one.name: getattr(self, one.name) for one in fields(LowRank)}
                local = LowRank(**own | {"memory": self.budget()})
                return local.attach(X, kernel, mean=mean, n_jobs=n_jobs)
            chunks = (chunk_rows(*X.shape), -1)
            X = Chunked(da.from_array(X, chunks=chunks, name=False, asarray=not issparse(X)))
        engine = replace(self.resolved(kernel, X.shape), memory=self.budget())
        return DaskSums(X, kernel, mean, 1, engine)


@dataclass(frozen=True)
class _Task:
    """What every worker needs to know for one pass."""

    function: Callable[..., Any]
    mean: Array
    comparison: Any
    n_scales: int
    width: int

    def run(self, X: Any, P: Any, kept: Any, *columns: Any) -> Iterator[Any]:
        """Yield the results of the blocks of a chunk."""
        scales, columns = columns[: self.n_scales], columns[self.n_scales :]
        chunk = Block(X, self.mean, scales, P, self.comparison, kept)
        with single_threaded_blas():
            for rows in slices((P if X is None else X).shape[0], self.width):
                parts = (c if c is None else c[rows] for c in columns)
                yield self.function(chunk[rows], *parts)


class DaskSums(LowRankSums):
    """Pair sums over chunks; values of rows are dask arrays that the workers keep."""

    _X: Chunked
    _factors: tuple[str, Any] = ("", None)  # the last factors, and where workers keep them

    def _all_rows(self) -> Block:
        terms = [part for _, part in self.kernel.terms]
        if self.n_rows <= self._engine.sample:
            scales = [part.point_scales(self._sampled) for part in terms]
            placed = [None if s is None else self._X.beside(s) for s in scales]
            return Block(self._X.array, self._mean, tuple(placed))
        probe = self._sampled[:1]
        placed = [
            None
            if part.point_scales(probe, self._sampled) is None
            else self._X.array.map_blocks(
                part.point_scales, self._sampled, drop_axis=1, dtype=float, meta=np.empty(0)
            ).persist()
            for part in terms
        ]
        return Block(self._X.array, self._mean, tuple(placed))

    def _sum(
        self, task: Callable[..., Sums], *columns: Array | None, reads_data: bool = False
    ) -> Sums:
        return added_up(
            per_chunk(_chunk_sums, self._arrays(columns, reads_data), task=self._task(task))
        )

    def _each(
        self,
        task: Callable[..., Array],
        *columns: Array | None,
        width: int | None = None,
        dtype: Any = float,
        reads_data: bool = False,
    ) -> Array:
        return on_chunks(
            _chunk_rows, self._arrays(columns, reads_data), width, dtype,
            task=self._task(task), name=unique("rows"),
        ).persist()  # fmt: skip

    def _task(self, function: Callable[..., Any]) -> Any:
        """Return the task for the workers."""
        rows = self._rows
        task = _Task(function, rows.mean, rows.comparison, len(rows.scales), self._width)
        return node(task)

    def _arrays(self, columns: tuple[Array | None, ...], reads_data: bool) -> list[Any]:
        """Return everything that has rows, None in the place of what is not needed."""
        self.n_passes += reads_data
        rows = self._rows
        beside = [c if c is None else self._aligned(c) for c in columns]
        return [rows.X if reads_data else None, rows.P, rows.kept, *rows.scales, *beside]

    def _aligned(self, values: Any) -> Any:
        """Return values of rows in chunks beside X; factors are used again, so they are kept."""
        if not isinstance(values, da.Array):
            return self._X.beside(values)
        if values.ndim == 1:
            return values.rechunk((self._X.array.chunks[0],))
        if self._factors[0] != values.name:
            self._factors = values.name, self._X.beside(values)
        return self._factors[1]


def _chunk_sums(*arrays: Any, task: _Task) -> Sums:
    return add_up(task.run(*arrays))


def _chunk_rows(*arrays: Any, task: _Task) -> Array:
    return np.concatenate(list(task.run(*map(block_of, arrays))))
