"""Functions of rows, each by itself, whose values are in memory or in chunks on workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .linalg import Array


def by_rows(
    function: Callable[..., Array], *values: Any, width: int | None = None, dtype: Any = float
) -> Any:
    """Return what a function makes of rows; in chunks, when asked for, if one of the values is.

    In chunks it is one node of the graph for each of them, or a part of a node that asks for no
    other one. Operations of NumPy would be a node each, and columns side by side chunks of their
    own, so that more time went into telling workers what to do than into doing it.

    Parameters
    ----------
    function : callable
        Maps arrays (m,) and (m, r) of values of the same rows to (m,), or to (m, width).
    *values : arrays of shape (n,) or (n, r), or dask arrays of such shapes
        Values of all rows. Those in chunks are cut at the same rows, and all columns are together;
        those in memory are cut as they are.
    width : int, optional
        Columns of the result; None if it has shape (n,).
    dtype : object
        Its type.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.rowwise import by_rows
    >>> by_rows(np.multiply, np.arange(3.0), np.ones(3)).tolist()
    [0.0, 1.0, 2.0]
    """
    chunked = next((one for one in values if not isinstance(one, np.ndarray)), None)
    if chunked is None:
        return function(*values)
    placed = [_in_chunks(one, chunked.chunks[0]) for one in values]
    return on_chunks(_on_chunk, placed, width, dtype, function=function)


def on_chunks(
    function: Callable[..., Array],
    values: Sequence[Any],
    width: int | None,
    dtype: Any,
    /,
    **fixed: Any,
) -> Any:
    """Return a dask array of what a function makes of the chunks of values, as :func:`by_rows`.

    All columns have the same index, with which dask makes one node of several functions.
    """
    import dask.array as da

    pairs: list[Any] = []
    for one in values:
        pairs += [one, None if one is None else "ij"[: one.ndim]]
    has_columns = any(one is not None and one.ndim == 2 for one in values)
    shape: dict[str, Any] = {}
    if width is not None:
        shape = {"adjust_chunks" if has_columns else "new_axes": {"j": width}}
    axes = "i" if width is None else "ij"
    meta = np.empty((0,) * len(axes), dtype=dtype)
    return da.blockwise(
        function, axes, *pairs, dtype=dtype, meta=meta, align_arrays=False, **shape, **fixed
    )


def block_of(values: Any) -> Any:
    """Return the values of a chunk: dask passes a list of one where columns come to an end."""
    return values[0] if isinstance(values, list) else values


def _in_chunks(values: Any, chunks: tuple[int, ...]) -> Any:
    if not isinstance(values, np.ndarray):
        return values
    import dask.array as da

    return da.from_array(values, chunks=(chunks, -1)[: values.ndim], name=False)


def _on_chunk(*chunks: Any, function: Callable[..., Array]) -> Array:
    return function(*map(block_of, chunks))
