"""Rows that may be in memory or yet to be read, handled alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..engines.base import LazyRows, is_dask
from ..linalg import Array
from ..validation import check_finite


def beside(X: Any, values: Array) -> Any:
    """Return values of rows, (n,) or (n, r), where the rows of X are."""
    if not isinstance(X, LazyRows) or not values.size:
        return values
    whole = values.dtype.kind == "i"
    return X.beside(values.astype(np.min_scalar_type(values.max())) if whole else values)


def as_came(X: Any, values: Any) -> Any:
    """Return values of rows as X came: in its chunks, or as an array."""
    return X.like(values) if isinstance(X, LazyRows) else np.asarray(values)


def on_rows(
    estimator: Any, task: Callable[[Any], Array], X: Any, width: int | None, dtype: Any
) -> Any:
    """Return what a task makes of rows, (m,) or (m, width); later, if they are yet to be read."""
    if isinstance(X, LazyRows):
        return X.map(task, width, dtype)
    if not is_dask(X):
        return task(X)
    from ..engines.chunked import lazily

    names = getattr(estimator, "feature_names_in_", None)
    return lazily(partial(_checked, task=task, names=names), X, width, dtype)


def _checked(X: Array, task: Callable[[Any], Array], names: Any) -> Array:
    check_finite(X, names)
    return task(X)
