"""What is read as JSON has the shape that is expected, or one sentence says where it has not."""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

#: No measurement is larger, and arithmetic with such numbers does not overflow; nor does any count.
LARGEST, MOST_DIGITS = 1e300, 20


def read_json(text: str | bytes) -> Any:
    """Return what strict JSON holds.

    Raises
    ------
    ValueError
        If it is no JSON, is nested too deeply, or holds a number that is none or is too large.
    """

    def refuse(word: str) -> Any:
        raise ValueError(f"it holds the number {word[:40]}")

    def real(word: str) -> float:
        return value if abs(value := float(word)) < LARGEST else refuse(word)

    def whole(word: str) -> int:
        return int(word) if len(word) <= MOST_DIGITS else refuse(word)

    try:
        return json.loads(text, parse_constant=refuse, parse_float=real, parse_int=whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_shape(value: Any, shape: Any, place: str = "") -> None:
    """Raise unless a value has a shape.

    Parameters
    ----------
    value : object
        What was read.
    shape : type, tuple, list or dict
        What it should be: of a type (``float`` is any number); ``...`` anything; one of several
        shapes in a tuple, with None for null; ``[shape]`` a list of such values; ``{"name":
        shape}`` a dict with at least these keys, of which ``"name?"`` may be missing; ``{...:
        shape}`` a dict whose keys may be any.
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
        others = [one for one in shape if one is not None]
        if value is None and len(others) < len(shape):
            return
        if len(others) == 1:  # so that the place inside can be told
            check_shape(value, others[0], place)
        elif not any(_fits(value, one) for one in others):
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


def shape_of(kind: Any) -> Any:
    """Return the shape, as :func:`check_shape` takes it, of the values of a type.

    Parameters
    ----------
    kind : type
        A class of :class:`typing.TypedDict`, or whatever types its values may have: numbers, text,
        lists, dicts with text as keys, other such classes, unions of them, None and ``Any``.

    Returns
    -------
    type, tuple, list or dict
        The shape.

    Examples
    --------
    >>> from typing import TypedDict
    >>> from multifacet.files import shape_of
    >>> shape_of(TypedDict("Point", {"x": float, "names": list[str] | None}))
    {'x': <class 'float'>, 'names': ([<class 'str'>], None)}
    """
    if is_typeddict(kind):
        optional = kind.__optional_keys__
        return {
            f"{name}?" if name in optional else name: shape_of(one)
            for name, one in get_type_hints(kind).items()
        }
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return tuple(shape_of(one) for one in inner)
    if origin is Literal:
        return type(inner[0])
    if origin is list:
        return [shape_of(inner[0])]
    if origin is dict:
        return {...: shape_of(inner[1])}
    return {Any: ..., type(None): None}.get(kind, kind)


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


def _is_a(value: Any, kind: Any) -> bool:
    if kind is None or kind is ...:
        return kind is ... or value is None
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _misfit(value: Any, place: str) -> ValueError:
    text = repr(value)
    return ValueError(f"{place or 'it'} is {text if len(text) <= 40 else text[:40] + '...'}")
