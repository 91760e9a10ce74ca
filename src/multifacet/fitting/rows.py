"""Rows that may be in memory or yet to be read, handled alike."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ..content import DRAWN
from ..engines.base import LazyRows, in_chunks, is_dask
from ..engines.contents import sampled_here
from ..engines.threads import ordered_map, single_threaded_blas, thread_count
from ..engines.wide import WIDE
from ..linalg import Array
from ..validation import check_finite

#: Rows that are worked on at once, by one thread.
BLOCK_ROWS = 65_536


def beside(X: Any, values: Array) -> Any:
    """Return values of rows, (n,) or (n, r), where the rows of X are."""
    if not isinstance(X, LazyRows) or not values.size:
        return values
    whole = values.dtype.kind == "i"
    return X.beside(values.astype(np.min_scalar_type(values.max())) if whole else values)


def better_at_hand(X: Any, most: int) -> bool:
    """Tell rows in chunks that are few, with so many features that Phi is an operator.

    Its eigenvectors take hundreds of passes, each of which costs more than all of the rows do.
    """
    return isinstance(X, LazyRows) and X.shape[0] <= most and X.shape[1] > WIDE


def looked_at(X: Any) -> tuple[Any, Array | None]:
    """Return the rows that are searched, and their positions; all of them if they are few.

    Of many, those that their content chooses: the same ones wherever the rows are.
    """
    if isinstance(X, LazyRows):
        return X.by_content()
    if X.shape[0] <= DRAWN:
        return X, None
    drawn = sampled_here(X)
    return drawn.rows, drawn.positions([X.shape[0]])


def as_came(X: Any, values: Any) -> Any:
    """Return values of rows as X came: in its chunks, or as an array."""
    return X.like(values) if isinstance(X, LazyRows) else np.asarray(values)


def as_labels(nearest: Callable[[Array], Array], places: Any) -> Any:
    """Return the groups (n,) that a function tells by places (n, k), in chunks if these are."""
    if not isinstance(places, np.ndarray):
        return nearest(places)
    return _in_blocks(nearest, places, None, np.intp, 1)


def on_rows(
    estimator: Any, task: Callable[[Any], Array], X: Any, width: int | None, dtype: Any
) -> Any:
    """Return what a task makes of rows, (m,) or (m, width); later, if they are yet to be read."""
    if in_chunks(X):
        task = _light(estimator, task)
    if isinstance(X, LazyRows):
        return X.map(task, width, dtype)
    if not is_dask(X):
        return _in_blocks(task, X, width, dtype, thread_count(getattr(estimator, "n_jobs", 1)))
    from ..engines.chunked import lazily

    names = getattr(estimator, "feature_names_in_", None)
    return lazily(partial(_checked, task=task, names=names), X, width, dtype)


def _light(estimator: Any, task: Callable[[Any], Array]) -> Callable[[Any], Array]:
    """Return a method of an estimator without what it has in chunks, which would travel with it.

    Labels that are computed by a method would otherwise be part of their own graph.
    """
    if getattr(task, "__self__", None) is not estimator:
        return task
    light = copy(estimator)
    for name in [name for name, value in vars(estimator).items() if in_chunks(value)]:
        delattr(light, name)
    found: Callable[[Any], Array] = getattr(light, task.__name__)
    return found


def _in_blocks(
    task: Callable[[Any], Array], X: Any, width: int | None, dtype: Any, n_threads: int
) -> Array:
    """Return what a task makes of rows in memory or on disk, which are not copied as a whole."""
    n = X.shape[0]
    if n <= BLOCK_ROWS:
        return task(X)
    out = np.empty(n if width is None else (n, width), dtype=dtype)
    blocks = [slice(first, first + BLOCK_ROWS) for first in range(0, n, BLOCK_ROWS)]
    with single_threaded_blas():
        found = ordered_map(lambda rows: task(X[rows]), blocks, n_threads)
        for rows, part in zip(blocks, found, strict=True):
            out[rows] = part
    return out


def _checked(X: Array, task: Callable[[Any], Array], names: Any) -> Array:
    check_finite(X, names)
    return task(X)
