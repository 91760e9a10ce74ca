"""Parts of dates as numbers, for those who ask for them by name: ``seen.month``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from ..linalg import Array
from .cells import Cells

#: What a date has: the days since the beginning of 1970 (with the time as a fraction) tell order
#: and distance, the others what comes again. Months count from 1, weekdays from Monday, 1.
PARTS = ("year", "month", "weekday", "elapsed")
_DAY = 86_400
#: 31.1.2026 and 2026/1/31; what 01/02/2026 means depends on who wrote it.
_GERMAN = re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?P<time>[ T].*)?")
_SLASHES = re.compile(r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?P<time>[ T].*)?")


def split_part(name: str) -> tuple[str, str] | None:
    """Return the column and the part of a date that a name asks for; None if it asks for none.

    Examples
    --------
    >>> from multifacet.frames.dates import split_part
    >>> split_part("first.seen.month"), split_part("Sepal.Length")
    (('first.seen', 'month'), None)
    """
    column, _, part = name.rpartition(".")
    return (column, part) if column and part in PARTS else None


def part_of(cells: Cells, part: str) -> Cells:
    """Return a part of dates as numbers.

    Examples
    --------
    >>> from multifacet.frames.cells import read_column
    >>> from multifacet.frames.dates import part_of
    >>> part_of(read_column("column 'seen'", ["2026-01-31", "1.2.2026", None]), "month").values
    array([ 1.,  2., nan])
    """
    known = {text: _seconds(text, cells.place) for text in set(cells.present.tolist())}
    seconds = np.array([known.get(text, np.nan) for text in cells.values.tolist()], dtype=float)
    values = np.full(len(seconds), np.nan)
    there = ~cells.missing
    values[there] = _PARTS[part](seconds[there])
    return Cells(f"{cells.place[:-1]}.{part}'", "number", values, cells.missing)


def _seconds(value: object, place: str) -> float:
    """Return the seconds from the beginning of 1970 to a date; those without a zone are in UTC."""
    text = str(value).strip()
    match = _GERMAN.fullmatch(text) or _SLASHES.fullmatch(text)
    if match:
        text = f"{match['year']}-{match['month']:0>2}-{match['day']:0>2}{match['time'] or ''}"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{place} holds {str(value)!r}, of which no parts can be told: write dates such as "
            "2026-01-31 or 31.1.2026"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _days(seconds: Array) -> Array:
    return (seconds // _DAY).astype("int64")


_PARTS: dict[str, Callable[[Array], Array]] = {
    "year": lambda s: _days(s).astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970,
    "month": lambda s: (
        _days(s).astype("datetime64[D]").astype("datetime64[M]").astype(int) % 12 + 1
    ),
    "weekday": lambda s: (_days(s) + 3) % 7 + 1,  # the first of January 1970 was a Thursday
    "elapsed": lambda s: s / _DAY,
}
