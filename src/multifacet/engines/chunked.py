"""Rows of dask arrays and data frames: read like an array, computed when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np
from scipy.sparse import issparse

from ..linalg import MOMENT_ROWS, Array, block_moments
from ..rowwise import block_of, on_chunks
from .base import LazyRows
from .blocks import FOLD, Sums, add_up, chunk_rows
from .cluster import gathered
from .contents import sampled

try:
    import dask.array as da
    from dask import delayed
except ImportError as missing:  # pragma: no cover - the extra is part of every test run
    raise ImportError(
        "data in chunks need dask, which is not installed: pip install 'multifacet[dask]'"
    ) from missing

#: Bytes that may be kept between operations where no cluster says how much it has.
LOCAL_ROOM = 2 * 2**30
#: Number of rows of a chunk, its moments, and its bad cells if there are any.
Summary = tuple[int, list[tuple[Array, Array]], tuple[bool, Array, Array] | None]
#: Rows that an error names.
NAMED_ROWS = 6


def read(X: Any, *, sizes: bool = True) -> Any:
    """Return a dask array or data frame as a dask array (n, d) of floats with whole rows.

    Parameters
    ----------
    X : dask array or dask data frame
        Numbers.
    sizes : bool
        Whether the sizes of the chunks have to be known; if they are not, they are computed.
    """
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}")
    if hasattr(X, "columns"):
        single = all(dtype == np.float32 for dtype in X.dtypes)
        X = X.astype(np.float32 if single else np.float64).to_dask_array()
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X is a dask array of type {X.dtype}: pass numbers")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    unknown = np.isnan(X.shape[1]) or (sizes and np.isnan(X.shape[0]))
    X = X.copy().compute_chunk_sizes() if unknown else X
    return X.rechunk({1: -1})


def room() -> int:
    """Return how many bytes may be kept: half of the memory of the workers, if there are any."""
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):
        return LOCAL_ROOM
    known = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    limits = [limit for limit in known if limit]
    # A scheduler with many workers lists only some of them.
    return len(client.nthreads()) * sum(limits) // (2 * len(limits)) if limits else LOCAL_ROOM


class Chunked(LazyRows):
    """Rows of a dask array (n, d), cut anew into chunks that depend on its shape only.

    That is what makes results independent of how the data came: every sum has the same parts in
    the same order. Rows are kept by the workers if they fit, and read in each pass otherwise.

    Parameters
    ----------
    source : dask array of shape (n, d)
        Data, as :func:`read` returns them.
    most : int, optional
        Bytes that may be kept; by default what :func:`room` says.
    """

    def __init__(self, source: Any, most: int | None = None) -> None:
        self.shape, self.dtype = source.shape, source.dtype
        self._source, self._most = source, most
        self.sparse = issparse(source._meta)
        self.array = source.rechunk((chunk_rows(*source.shape), -1))
        if self.array.nbytes <= (room() if most is None else most) // 2:
            self.array = self.array.persist()
        self._last: tuple[bytes, Array] | None = None

    def __getitem__(self, chosen: Any) -> Any:
        """Return some rows as an array, or all rows of some columns in chunks."""
        if isinstance(chosen, tuple):
            return Chunked(self._source[chosen], self._most)
        if isinstance(chosen, slice):
            return _readable(gathered(self.array[chosen]))
        key = np.asarray(chosen).tobytes()
        if self._last is None or self._last[0] != key:  # a sample is asked for more than once
            self._last = key, _readable(gathered(self.array[chosen]))
        return self._last[1]

    def beside(self, values: Any) -> Any:
        """Return values of the rows, (n,) or (n, r), in chunks that lie beside theirs."""
        chunks = (self.array.chunks[0], -1)[: values.ndim]
        if isinstance(values, da.Array):
            return values.rechunk(chunks).persist()
        return da.from_array(values, chunks=chunks, name=False).persist()

    def like(self, values: Any) -> Any:
        """Return values of the rows in the chunks in which the data came."""
        return values.rechunk({0: self._source.chunks[0]})

    def map(self, task: Callable[[Array], Array], width: int | None, dtype: Any) -> Any:
        """Return what a task makes of each chunk as it came, (n,) or (n, width), when asked for."""
        return lazily(task, self._source, width, dtype)

    def by_content(self) -> tuple[Array, Array]:
        """Return a sample of the rows (m, d) that they alone decide, and their positions (m,)."""
        drawn = sampled(list(self.array.to_delayed().ravel()))
        return drawn.rows, drawn.positions(self.array.chunks[0])

    def products(self, columns: Any) -> tuple[Array, Array]:
        """Return X'X (d, d) and X'F (d, r) for columns F (n, r) beside the rows."""
        if not columns.shape[1]:
            none = np.zeros((self.shape[1], 0))
            return added_up(per_chunk(_scatter, [self.array]))[0], none
        scatter, known = added_up(per_chunk(_scatter, [self.array, columns]))
        return scatter, known

    def forth(self, V: Array, mean: Array) -> Any:
        """Return (X - mean) V (n, m) for directions V (d, m), kept where the rows are."""
        there = node((V, mean @ V))
        return on_chunks(
            _forth, [self.array], V.shape[1], float, there=there, name=unique("rows")
        ).persist()

    def back(self, F: Any, mean: Array) -> Array:
        """Return (X - mean)'F (d, r) for columns F (n, r) beside the rows."""
        product, total = added_up(per_chunk(_back, [self.array, self.beside(F)]))
        return product - np.outer(mean, total)

    def column_moments(self) -> tuple[Array, Array]:
        """Return mean and standard deviation (d,) of the columns."""
        sums = [pair for _, pairs, _ in self._summaries for pair in pairs]
        total, squares = (sum(part) for part in zip(*sums, strict=True))
        mean = total / self.shape[0]
        return mean + self._origin, np.sqrt(np.maximum(squares / self.shape[0] - mean**2, 0.0))

    def not_finite(self) -> tuple[bool, Array, Array] | None:
        """Return whether there are NaN, and rows and columns of bad cells; None if there are none.

        All columns with bad cells are among them, and the first rows of each.
        """
        found = []
        first = 0
        for count, _, bad in self._summaries:
            if bad is not None:
                found.append((bad[0], bad[1] + first, bad[2]))
            first += count
        if not found:
            return None
        nan, rows, cols = zip(*found, strict=True)
        return any(nan), np.concatenate(rows), np.concatenate(cols)

    @cached_property
    def _origin(self) -> Array:
        # Deviations from the first row keep columns with a large offset exact; but fill zeros.
        return np.zeros(self.shape[1]) if self.sparse else self[:1][0].astype(float)

    @cached_property
    def _summaries(self) -> list[Summary]:
        """What :func:`_summary` says of each chunk, in one pass."""
        found = per_chunk(_summary, [self.array], origin=self._origin)
        return [one[0, 0] for one in gathered(nodes_of(found))]


def per_chunk(function: Callable[..., Any], values: Sequence[Any], **fixed: Any) -> Any:
    """Return a dask array of objects, (1, 1) each: what a function makes of each chunk of rows.

    ``values`` of rows are (n,) or (n, r), one of them with columns; or None.
    """
    return on_chunks(
        _as_object, values, 1, object, function=function,
        name=unique("sums"), **fixed,
    )  # fmt: skip


def added_up(parts: Any) -> Sums:
    """Compute the sum over chunks of what :func:`per_chunk` returns, always in the same order."""
    nodes = nodes_of(parts)
    while len(nodes) > 1:
        groups = [nodes[i : i + FOLD] for i in range(0, len(nodes), FOLD)]
        nodes = [delayed(_added)(group) for group in groups]
    found: Sums = gathered(nodes[0])[0, 0]
    return found


def nodes_of(parts: Any) -> list[Any]:
    """Return the nodes of the chunks of a dask array."""
    return list(parts.to_delayed().ravel())


def node(value: Any) -> Any:
    """Return a value as one node of the graph, so that it is sent to each worker once."""
    return delayed(value, name=unique("value"), traverse=False)


def unique(word: str) -> str:
    """Return a name that no other part of any graph has."""
    return f"{word}-{uuid4().hex}"


def lazily(task: Callable[[Array], Array], X: Any, width: int | None, dtype: Any) -> Any:
    """Return what a task makes of each chunk of a dask array X (n, d): (n,) or (n, width)."""

    def on_chunk(block: Array) -> Array:
        if not block.shape[0]:  # data frames have empty partitions
            return np.empty((0,) if width is None else (0, width), dtype=dtype)
        return task(block)

    if width is None:
        return X.map_blocks(on_chunk, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype))
    chunks = (X.chunks[0], (width,))
    return X.map_blocks(on_chunk, chunks=chunks, dtype=dtype, meta=np.empty((0, 0), dtype=dtype))


def _as_object(*blocks: Any, function: Callable[..., Any], **fixed: Any) -> Array:
    out = np.empty((1, 1), dtype=object)
    out[0, 0] = function(*blocks, **fixed)
    return out


def _added(parts: list[Array]) -> Array:
    return _as_object(function=lambda: add_up(part[0, 0] for part in parts))


def _scatter(chunk: Any, columns: Array | None = None) -> Sums:
    X = chunk.astype(float)
    scatter = X.T @ X
    scatter = scatter.toarray() if issparse(scatter) else scatter
    return (scatter,) if columns is None else (scatter, np.asarray(X.T @ columns))


def _forth(chunk: Any, there: tuple[Array, Array]) -> Array:
    V, offset = there
    return np.asarray(block_of(chunk) @ V) - offset


def _back(chunk: Any, F: Array) -> Sums:
    return np.asarray(chunk.T @ F, dtype=float), F.sum(axis=0)


def _readable(rows: Any) -> Any:
    return rows.tocsr() if issparse(rows) else rows


def _sparse_summary(chunk: Any) -> Summary:
    chunk = chunk.tocsr()
    bad = ~np.isfinite(chunk.data)
    if bad.any():
        cells = chunk.tocoo()
        return (
            chunk.shape[0],
            [],
            (bool(np.isnan(chunk.data).any()), cells.row[bad], cells.col[bad]),
        )
    total = np.asarray(chunk.sum(axis=0), dtype=float).ravel()
    squares = np.asarray(chunk.multiply(chunk).sum(axis=0), dtype=float).ravel()
    return chunk.shape[0], [(total, squares)], None


def _summary(chunk: Any, origin: Array) -> Summary:
    if issparse(chunk):
        return _sparse_summary(chunk)
    bad = ~np.isfinite(chunk)
    if bad.any():
        rows, cols = np.nonzero(bad & (bad.cumsum(axis=0) <= NAMED_ROWS))
        return len(chunk), [], (bool(np.isnan(chunk).any()), rows, cols)
    starts = range(0, len(chunk), MOMENT_ROWS)
    return len(chunk), [block_moments(chunk[a : a + MOMENT_ROWS], origin) for a in starts], None
