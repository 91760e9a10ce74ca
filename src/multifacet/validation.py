"""Checks of what users pass in: errors name the argument, the value and the remedy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .engines.base import is_dask
from .linalg import TOO_LARGE, TOO_SMALL, Array, is_array_like
from .wording import Argument, ArgumentError

#: A column of whole numbers with more different values is a real target, not classes.
MAX_CLASSES = 20
#: Whole numbers whose range is no larger are counted, not sorted, to tell which there are.
CODE_RANGE = 2**16
#: Rows in which the first of each label is looked for at once.
FIRST_LOOKED_AT = 2**16
#: Room for sums of squares, between the root of the largest number and the largest value.
SQUARE_MARGIN = 1e-3


def check_data(
    estimator: Any, X: Any, *, reset: bool = True, min_rows: int = 2, lazy: bool = False
) -> Any:
    """Return X as a finite float array or CSR matrix (n, d), float32 and float64 kept.

    With ``lazy``, dask arrays and data frames become rows that are read when needed, or remain a
    dask array if nothing is to be fitted; its values are not looked at then.
    """
    if lazy and is_dask(X):
        return _check_dask(estimator, X, reset, min_rows)
    if not (is_array_like(X) or issparse(X) or hasattr(X, "columns")):
        raise ValueError(f"X is of type {type(X).__name__}: pass a data frame or an array (n, d)")
    _refuse_text_columns(X)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    if reset:
        _check_rows(X, min_rows)
    names = getattr(estimator, "feature_names_in_", None)
    low, high = _column_ranges(X)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        check_finite(X, names)
    if reset:
        _check_scale(low, high, X.dtype, names)
    return csr_matrix(X) if issparse(X) else X


def _column_ranges(X: Any) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each column (d,) of an array or CSR matrix."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if issparse(X) else (low, high)


def _check_scale(low: Array, high: Array, dtype: Any, names: Any) -> None:
    """Raise for numbers whose squares are not to be had in their precision."""
    limits = np.finfo(dtype)
    largest = np.maximum(np.abs(low), np.abs(high))
    widest = int(np.argmax(largest))
    if largest[widest] > SQUARE_MARGIN * np.sqrt(limits.max):
        place = _place(widest, names)
        raise ValueError(f"{place} holds values up to {largest[widest]:.1e}, {TOO_LARGE}")
    spread = (high - low).max()
    if 0 < spread < np.sqrt(limits.tiny) / SQUARE_MARGIN:
        raise ValueError(f"no feature of X varies by more than {spread:.1e}, {TOO_SMALL}")


def _place(column: int, names: Any) -> str:
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def _check_dask(estimator: Any, X: Any, reset: bool, min_rows: int) -> Any:
    from .engines.chunked import Chunked, read

    if X.ndim == 2:
        _refuse_text_columns(X)
    array = read(X, sizes=reset)
    # A frame without rows, or an array of the same width, tells names and number of features.
    shown = X._meta if hasattr(X, "columns") else np.empty((1, array.shape[1]))
    validate_data(estimator, shown, reset=reset, skip_check_array=True)
    if not reset:
        return array
    _check_rows(array, min_rows)
    rows = Chunked(array)
    found = rows.not_finite()
    if found is not None:
        _refuse_cells(*found, getattr(estimator, "feature_names_in_", None))
    return rows


def _check_rows(X: Any, min_rows: int) -> None:
    n = X.shape[0]
    if n < min_rows:
        raise ValueError(f"too few rows (n_samples={n}): at least {min_rows} are needed")


def say_constant(estimator: Any, varying: Array) -> None:
    """Warn of the features that are left out because they are constant, by name."""
    constant = np.flatnonzero(~varying)
    if len(constant):
        names = getattr(estimator, "feature_names_in_", np.arange(len(varying)))
        shown = ", ".join(str(names[i]) for i in constant[:5])
        warnings.warn(
            f"left out {len(constant)} constant feature{'s' * (len(constant) > 1)}: {shown}",
            UserWarning,
            stacklevel=4,
        )


def check_finite(X: Any, names: Any = None) -> None:
    """Raise for NaN and infinity, naming columns and rows."""
    values = X.data if issparse(X) else X
    if np.isfinite(values).all():
        return
    coordinates = X.tocoo() if issparse(X) else None
    bad = ~np.isfinite(values)
    rows, cols = (
        np.nonzero(bad) if coordinates is None else (coordinates.row[bad], coordinates.col[bad])
    )
    _refuse_cells(bool(np.isnan(values).any()), rows, cols, names)


def _refuse_cells(nan: bool, rows: Array, cols: Array, names: Any) -> None:
    """Raise for cells that are not finite, given row by row."""
    kind = "NaN" if nan else "infinity"
    first = cols[0]
    here = np.unique(rows[cols == first])
    label = _place(first, names)
    shown = ", ".join(map(str, here[:5])) + (", ..." if len(here) > 5 else "")
    others = len(np.unique(cols)) - 1
    also = f" (and {others} more column{'s' * (others > 1)})" if others else ""
    raise ValueError(
        f"Input X contains {kind}: {label} in row{'s' * (len(here) > 1)} {shown}{also}; "
        "drop or impute them first"
    )


def _refuse_text_columns(X: Any) -> None:
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return
    text = [
        str(name)
        for name, dtype in zip(X.columns, dtypes, strict=True)
        if _is_text(str(dtype).lower(), X[name])
    ]
    if text:
        raise ValueError(
            f"column{'s' * (len(text) > 1)} {', '.join(map(repr, text))} of X "
            f"{'are' if len(text) > 1 else 'is'} not numeric: encode or drop "
            f"{'them' if len(text) > 1 else 'it'} first"
        )


def _is_text(dtype: str, column: Any) -> bool:
    if "date" in dtype or "time" in dtype:
        return True
    if not any(word in dtype for word in ("str", "object", "categor", "utf")):
        return False
    try:
        np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return True
    return False


def check_labelings(given: Any, n_rows: int, names: Sequence[str] = ()) -> list[Array]:
    """Return given labels as a list of integer arrays (n,).

    Accepts labels (n,), several labelings (n, m), a list of labelings, or a data frame. Errors
    call a labeling by its place in ``given``, or by its name.
    """
    if given is None:
        return []
    if isinstance(given, str):
        raise ValueError(
            f"given is the text {given!r}: pass the labels themselves, such as frame[{given!r}]"
        )
    parts = _split_labelings(given)
    if names:
        parts = [(f"given {name!r}", part[1]) for name, part in zip(names, parts, strict=True)]
    labelings = [check_labels(name, values, n_rows) for name, values in parts]
    if not labelings:
        raise ValueError("given is empty: pass at least one labeling, or None")
    return labelings


def _split_labelings(given: Any) -> list[tuple[str, Array]]:
    if hasattr(given, "columns") and given.ndim == 2:  # a dask series has columns too
        return [(f"given column {str(name)!r}", np.asarray(given[name])) for name in given.columns]
    if isinstance(given, list | tuple) and given and not _is_scalar(given[0]):
        return [(f"given[{i}]", np.asarray(values)) for i, values in enumerate(given)]
    values = np.asarray(given)
    if values.ndim == 1:
        return [("given", values)]
    if values.ndim == 2:
        return [(f"given column {j}", values[:, j]) for j in range(values.shape[1])]
    raise ValueError(f"given has {values.ndim} dimensions: pass labels (n,) or labelings (n, m)")


def _is_scalar(value: Any) -> bool:
    return np.ndim(value) == 0


def check_labels(name: str, values: Array, n_rows: int) -> Array:
    """Return one labeling as integers (n,) in order of appearance; errors call it by its name."""
    if values.ndim != 1:
        raise ValueError(f"{name} has {values.ndim} dimensions: a labeling has one")
    if len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} labels for {n_rows} rows")
    missing = _missing_labels(values)
    if len(missing):
        raise ValueError(
            f"{name} has missing labels in {len(missing)} of {n_rows} rows, the first in row "
            f"{missing[0]}: drop these rows or give them a label of their own"
        )
    distinct, codes = _coded(values)
    if values.dtype.kind == "f" and (distinct != np.round(distinct)).any():
        raise ValueError(
            f"{name} holds measurements such as {distinct[0]:g}, not labels: bin them first"
        )
    if len(distinct) == 1:
        raise ValueError(
            f"{name} has the single value {distinct[0]}: a labeling needs at least two clusters"
        )
    if len(distinct) == n_rows > 2:
        raise ValueError(
            f"{name} has {n_rows} different values for {n_rows} rows: it looks like an "
            "identifier, not a grouping"
        )
    # Numbered in order of appearance, so that the names of labels have no influence at all.
    return np.argsort(np.argsort(_first_places(codes, len(distinct))))[codes]


def _missing_labels(values: Array) -> Array:
    """Return the rows without a label."""
    if values.dtype.kind in "iub":
        return np.empty(0, dtype=np.intp)
    if values.dtype.kind == "f":
        return np.flatnonzero(np.isnan(values))
    return np.array([i for i, v in enumerate(values.tolist()) if v is None or v != v], dtype=int)


def _coded(values: Array) -> tuple[Array, Array]:
    """Return the different labels in their order, and the position of each row's among them."""
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low <= CODE_RANGE:  # counted, since sorting millions takes seconds
            known = np.zeros(high - low + 1, dtype=bool)
            places = np.subtract(values, low, dtype=np.int64) if low else values
            known[places] = True
            return np.flatnonzero(known) + low, (np.cumsum(known, dtype=np.int32) - 1)[places]
    try:
        return np.unique(values, return_inverse=True)
    except TypeError:  # labels of several types cannot be sorted, but can be named
        return np.unique(values.astype(str), return_inverse=True)


def _first_places(codes: Array, count: int) -> Array:
    """Return where each code (n,) from 0 to ``count`` - 1 occurs first."""
    first = np.full(count, -1)
    for start in range(0, len(codes), FIRST_LOOKED_AT):
        found, where = np.unique(codes[start : start + FIRST_LOOKED_AT], return_index=True)
        new = first[found] < 0
        first[found[new]] = start + where[new]
        if (first >= 0).all():  # mostly after the first few rows
            break
    return first


def check_count(name: str, value: Any, *, low: int, high: int | None = None, why: str = "") -> int:
    """Return a whole number within bounds."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ArgumentError(Argument(name), f" must be a whole number, got {value!r}")
    value = int(value)
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ArgumentError(Argument.of(name, value), f" must be {limits}{why}")
    return value


def check_real(name: str, value: Any, *, positive: bool = True) -> float:
    """Return a finite number, positive or at least not negative."""
    good = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not good or value < 0 or (positive and value == 0):
        kind = "positive" if positive else "non-negative"
        raise ArgumentError(Argument(name), f" must be a {kind} number, got {value!r}")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of several words."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise ArgumentError(Argument.of(name, value), f" is not known: use {known}")
    return value


def draw_seed(random_state: Any) -> int:
    """Return a seed drawn from what users pass as ``random_state``."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_clusters(n_clusters: Any, X: Any) -> int:
    """Return the number of clusters, which the rows of X (n, d) must allow."""
    n = X.shape[0]
    k = check_count("n_clusters", n_clusters, low=1, high=n, why=f": X has {n} rows")
    distinct = _distinct_rows(X, at_least=k)
    if distinct < k:
        raise ArgumentError(
            Argument.of("n_clusters", k),
            f" but X has only {distinct} different rows: ask for fewer clusters",
        )
    return k


def _distinct_rows(X: Any, at_least: int) -> int:
    """Count the different rows, on a growing head of X until there are enough."""
    n, size = X.shape[0], 64 * at_least
    while True:
        head = X[:size]
        distinct = len(np.unique(head.toarray() if issparse(head) else head, axis=0))
        if distinct >= at_least or size >= n:
            return distinct
        size *= 4


def are_classes(values: Array, kernel: str = "auto") -> bool:
    """Tell whether a target (n,) or (n, m) holds classes rather than real numbers."""
    if values.ndim == 2:
        return False
    if values.dtype.kind not in "fiu":
        return True
    whole = bool((values == np.round(values)).all())
    return whole and len(np.unique(values)) <= MAX_CLASSES and kernel != "gaussian"


def say_codes(y: Array) -> None:
    """Warn of whole numbers that look like codes of classes, but are too many to be taken so."""
    if y.ndim == 2 or y.dtype.kind not in "iu" or are_classes(y):
        return
    values, counts = np.unique(y, return_counts=True)
    low, high = int(values[0]), int(values[-1])
    if low in (0, 1) and high - low == len(values) - 1 and counts.min() > 1:
        warnings.warn(
            f"y has the {len(values)} whole numbers from {low} to {high} and is taken as a real "
            "target: pass y.astype(str) if they are classes, or y.astype(float) if they are not",
            UserWarning,
            stacklevel=3,
        )


def as_target(y: Any, n_rows: int) -> Array:
    """Return y as an array (n,) or (n, m) of matching length, without missing values."""
    values = np.asarray(y)
    if values.ndim == 0 or values.ndim > 2:
        raise ValueError(f"y has {values.ndim} dimensions: pass (n,) or (n, m)")
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} values for {n_rows} rows of X")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values)
    elif values.dtype.kind == "O":
        bad = np.array([v is None or v != v for v in values.ravel()]).reshape(values.shape)
    else:
        bad = np.zeros(values.shape, dtype=bool)
    if bad.any():
        row = int(np.flatnonzero(bad.reshape(n_rows, -1).any(axis=1))[0])
        raise ValueError(f"Input y contains NaN or infinity, first in row {row}: drop the row")
    return values.astype(str) if values.dtype.kind == "O" and _has_text(values) else values


def _has_text(values: Array) -> bool:
    return any(isinstance(v, str) for v in values.ravel())


def as_numbers(values: Array) -> Array:
    """Return y as floats, or say that it holds text."""
    try:
        return values.astype(float)
    except (TypeError, ValueError):
        raise ValueError(
            "y holds text where numbers are needed: pass scores or real targets, or one column of "
            "classes to SupervisedKDR"
        ) from None
