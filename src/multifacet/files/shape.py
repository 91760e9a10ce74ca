"""What is read as JSON has the shape that is expected, or one sentence says where it has not."""

from __future__ import annotations

import json
import math
from typing import Any

#: Any number; true and false are none.
NUMBER = (int, float)


def read_json(text: str | bytes) -> Any:
    """Return what strict JSON holds.

    Raises
    ------
    ValueError
        If it is no JSON, is nested too deeply, or holds a number that JSON has no word for.
    """

    def refuse(word: str) -> Any:
        raise ValueError(f"it holds {word}, which is no JSON")

    def finite(word: str) -> float:
        return value if math.isfinite(value := float(word)) else refuse(word)

    try:
        return json.loads(text, parse_constant=refuse, parse_float=finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_shape(value: Any, shape: Any, place: str = "") -> None:
    """Raise unless a value has a shape.

    Parameters
    ----------
    value : object
        What was read.
    shape : type, tuple, list or dict
        What it should be: of a type; of one of several, with None for null; ``[shape]`` a list of
        such values; ``{"name": shape}`` a dict with at least these keys, of which ``"name?"`` may
        be missing; ``{...: shape}`` a dict whose keys may be any.
    place : str
        Where the value is, for the error.

    Raises
    ------
    ValueError
        With the place of the first value that does not fit.

    Examples
    --------
    >>> from multifacet.files import check_shape
    >>> check_shape({"name": "t.csv", "rows": [1, None]}, {"name": str, "rows": [(int, None)]})
    >>> check_shape({"rows": [1, "x"]}, {"rows": [int]})
    Traceback (most recent call last):
    ...
    ValueError: rows[1] is 'x'
    """
    if isinstance(shape, tuple):
        if not any(_fits(value, one) for one in shape):
            raise _misfit(value, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise _misfit(value, place)
        for i, one in enumerate(value):
            check_shape(one, shape[0], f"{place}[{i}]")
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            raise _misfit(value, place)
        for key, inner in _members(value, shape, place):
            check_shape(value[key], inner, f"{place}.{key}" if place else key)
    elif not _is_a(value, shape):
        raise _misfit(value, place)


def _members(value: dict[str, Any], shape: dict[Any, Any], place: str) -> list[tuple[str, Any]]:
    """Return the keys to look at, and the shapes of their values."""
    if ... in shape:
        return [(key, shape[...]) for key in value]
    for key in shape:
        if not key.endswith("?") and key not in value:
            raise ValueError(f"{place or 'it'} has no {key}")
    named = [(key.removesuffix("?"), inner) for key, inner in shape.items()]
    return [(key, inner) for key, inner in named if key in value]


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, type) or shape is None:
        return _is_a(value, shape)
    try:
        check_shape(value, shape)
    except ValueError:
        return False
    return True


def _is_a(value: Any, kind: type | None) -> bool:
    if kind is None:
        return value is None
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _misfit(value: Any, place: str) -> ValueError:
    text = repr(value)
    return ValueError(f"{place or 'it'} is {text if len(text) <= 40 else text[:40] + '...'}")
