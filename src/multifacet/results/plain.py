"""Numbers and labels as JSON can hold them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..linalg import Array


def plain(values: Array) -> list[Any]:
    """Return labels or identifiers as a list that JSON can hold: dates and objects become text."""
    listed = values.astype(str).tolist() if values.dtype.kind in "mM" else values.tolist()
    return [v if isinstance(v, str | int) else str(v) for v in listed]


def rounded(value: Any, digits: int = 6) -> Any:
    """Return a number with so many significant digits, None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int | np.integer) else float(f"{value:.{digits}g}")


def listed(values: Array) -> list[Any]:
    """Return numbers as a list that JSON can hold."""
    return [rounded(value) for value in values]


def as_text(values: Array) -> Array:
    """Return values (n,) of any type, also several levels of an index, as text."""
    return np.array([str(value) for value in plain(values)], dtype=np.str_)
