"""What a column looks like, told from its values alone, whatever it is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal

import numpy as np

from ..linalg import Array
from .cells import Cells, UnreadableError, numbers_if_text, whole
from .table import Table

#: Text with more different values than this is not a grouping that one-hot columns can carry.
MAX_CATEGORIES = 30
#: Numbers with at most so many values stand for groups; each is there in three rows on average.
_FEW_VALUES, _ROWS_PER_VALUE = 5, 3
#: Whole numbers with more values than this are measurements or counts for sure.
_MAX_CODES = 20
#: Of long columns, these rows at the beginning mostly tell enough.
_HEAD = 100_000
#: Equal pairs that whole numbers would have if they were measured, from which it is no coincidence
#: that they have none (chance gives that in one of twenty cases); rows from which ascending order,
#: and an even spread over some range, are none either.
_TIES, _IN_ORDER, _SPREAD = 3.0, 20, 200

What = Literal[
    "measured",  # numbers
    "codes",  # whole numbers of few values, used as numbers
    "few",  # numbers of very few values, truth values
    "labels",  # text, categories and numbers of blocks, of few values
    "many",  # the same, of many values that repeat
    "text",  # text that hardly repeats
    "prose",  # text to read: several words in a cell
    "images",  # paths of files that hold pictures
    "names",  # different in every row
    "dates",
    "spelled",  # text that would be numbers if they were spelled plainly
    "constant",
    "empty",
    "unread",  # cells such as lists or bytes
]

#: 17.05.2022, 05/17/2022 or 2022/5/17, with or without a time.
_DATE = re.compile(r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}([./])\d{1,2}\3\d{1,2})([ T]\d\d?:\d\d.*)?")
#: 1.234,56 or 1,234.50 or 1'234, 12 %, EUR 5: a number, perhaps grouped, and perhaps a unit.
_UNIT = r"(?:%|[$\u20ac\u00a3\u00a5]|EUR|USD|GBP|CHF)"
_NUMBER = re.compile(
    rf"[+-]?{_UNIT}?\s?[+-]?(\d+|\d{{1,3}}(?:[.,'\s]\d{{3}})+)([.,]\d+)?\s?{_UNIT}?", re.IGNORECASE
)
_PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
#: 007, 01234 and what has more digits than a number can keep: no amounts.
_CODE = re.compile(r"\s*[+-]?(0\d|\d{16})")
#: Share of the values of a column that are numbers, from which it is one of numbers.
_MOSTLY_NUMBERS = 0.9


#: Of a column of text, so many cells at the beginning tell what it is. It is there to be read from
#: so many words, or characters, on average.
_SAMPLE, _PROSE_WORDS, _PROSE_LENGTH = 1000, 4, 40
#: Ends of the names of files that a browser shows.
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


@dataclass(frozen=True)
class Look:
    """What a column looks like.

    Attributes
    ----------
    what : str
        One of ``What``.
    kind : str
        Kind of its cells: "number", "boolean", "category", "date", or "other" if they cannot be
        read.
    values : int
        How many different values it has; of a long column of numbers, at least.
    missing : int
        How many cells are missing.
    """

    what: What
    kind: str
    values: int
    missing: int


def read_plainly(table: Table, name: str) -> Cells:
    """Return a column; text that reads as numbers throughout is numbers, but codes (007) are not.

    A column that was declared categorical stays what somebody made it.
    """
    cells = table.read(name)
    if cells.order is not None or cells.kind != "category":
        return cells
    return cells if any(_CODE.match(text) for text in cells.present) else numbers_if_text(cells)


def look_at(table: Table, name: str) -> Look:
    """Return what a column looks like.

    Examples
    --------
    >>> from multifacet.frames.looks import look_at
    >>> from multifacet.frames.table import read_table
    >>> birds = {"no": [1, 2, 3, 4, 5, 6], "sex": list("fmfmfm"), "mass": [37, 38, 49, 51, 39, 38]}
    >>> table = read_table(birds)
    >>> [look_at(table, name).what for name in birds]
    ['names', 'labels', 'measured']
    """
    try:
        cells = read_plainly(table, name)
    except UnreadableError:
        return Look("unread", "other", 0, 0)
    missing = int(cells.missing.sum())
    if cells.kind == "number":
        return Look(*_numbers(cells.present, len(cells.values)), missing)
    values = set(cells.present.tolist())
    return Look(_words(cells, values, len(cells.values)), cells.kind, len(values), missing)


def _words(cells: Cells, values: set[str], n: int) -> What:
    """Return what text, categories, truth values and dates look like."""
    if len(values) < 2:
        return "constant" if values else "empty"
    if cells.kind == "date" or are_dates(cells):
        return "dates"
    if cells.kind == "boolean":
        return "few"
    if _are_spelled_numbers(values):
        return "spelled"
    if len(values) > MAX_CATEGORIES or len(values) == n > 2:
        sample = list(islice((text for text in cells.values if text), _SAMPLE))
        if all(map(is_image_path, sample)):
            return "images"
        if _is_prose(sample):
            return "prose"
    if len(values) == n > 2:
        return "names"
    if len(values) <= MAX_CATEGORIES:
        return "labels"
    return "many" if 2 * len(values) <= n else "text"


def is_image_path(text: str) -> bool:
    """Tell whether text names a local file with a picture, by the end of its name.

    Examples
    --------
    >>> from multifacet.frames.looks import is_image_path
    >>> is_image_path("cats/1.PNG"), is_image_path("https://example.org/1.png")
    (True, False)
    """
    address = _ADDRESS.match(text.strip())
    return text.strip().lower().endswith(IMAGE_SUFFIXES) and not address


def _is_prose(texts: list[str]) -> bool:
    words = sum(len(text.split()) for text in texts)
    length = sum(map(len, texts))
    return words >= _PROSE_WORDS * len(texts) or length >= _PROSE_LENGTH * len(texts)


def _numbers(present: Array, n: int) -> tuple[What, str, int]:
    """Return what numbers look like, that they are such, and how many values they have."""
    head = present[:_HEAD]
    count = len(np.unique(head))
    if len(head) < len(present) and not _MAX_CODES < count < len(head):
        count = len(np.unique(present))
    if count < 2:
        return "constant" if count else "empty", "number", count
    integers = whole(present).dtype.kind in "iu"
    if integers and count == n > 2 and names_rows(present):
        return "names", "number", count
    if count <= min(_FEW_VALUES, n / _ROWS_PER_VALUE):
        return "few", "number", count
    if integers and _is_design(present, count):
        return "labels" if count <= MAX_CATEGORIES else "many", "number", count
    codes = integers and count <= min(_MAX_CODES, n / 5)
    return "codes" if codes else "measured", "number", count


def _is_design(values: Array, count: int) -> bool:
    """Tell whether whole numbers, all there equally often, number blocks of an experiment."""
    if len(values) % count or len(values) == count or np.ptp(values) != count - 1:
        return False
    sizes = np.unique(values, return_counts=True)[1]
    return bool((sizes == len(values) // count).all())


def names_rows(values: Array) -> bool:
    """Tell whether whole numbers (n,), all different, number the rows rather than measure them.

    They do if they go up or down in equal steps, if they are in ascending order throughout, if
    measurements in such a range would have ties, or if they are spread as evenly as numbers that
    were drawn. Incomes and populations are different in every row, too, but nothing of that.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.looks import names_rows
    >>> rng = np.random.default_rng(0)
    >>> names_rows(np.arange(7, 40)), names_rows(rng.permutation(40))
    (True, True)
    >>> names_rows(rng.normal(50_000, 9_000, size=40).round())
    False
    """
    steps = np.diff(values)
    n, (low, high) = len(values), (values.min(), values.max())
    if (steps == steps[0]).all() or (n >= _IN_ORDER and (steps > 0).all()):
        return True
    counts, edges = np.histogram(values, bins=max(1, int(np.sqrt(n))))
    ties = (n - 1) / (2 * n) * float((counts**2.0).sum()) / (edges[1] - edges[0])
    if ties >= _TIES:
        return True
    even = (np.arange(n) + 0.5) / n
    distance = np.abs((np.sort(values) - low) / (high - low) - even).max()
    return bool(n >= _SPREAD and distance < 1.36 / np.sqrt(n))  # Kolmogorov-Smirnov, 5 %


def counts_rows(column: Array) -> bool:
    """Tell if a column only counts the rows: 0, 1, 2, ... or 1, 2, 3, ..."""
    if column.dtype.kind not in "iuf" or not len(column):
        return False
    return column[0] in (0, 1) and bool((column == np.arange(len(column)) + column[0]).all())


def are_dates(cells: Cells) -> bool:
    """Tell if text is dates, such as 2026-01-31, 31.1.2026 or 01/31/2026, perhaps with a time."""
    if cells.kind != "category":
        return False
    if all(_DATE.fullmatch(text.strip()) for text in cells.present):
        return True
    try:
        for text in cells.present:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _are_spelled_numbers(values: set[str]) -> bool:
    """Tell if text is numbers that are not spelled plainly; codes such as 007 are none.

    A word here or there, where a number is not known, makes them no names of rows.
    """
    texts = [text.strip() for text in values]
    if sum(_NUMBER.fullmatch(text) is not None for text in texts) < _MOSTLY_NUMBERS * len(texts):
        return False
    return not all(_PLAIN_NUMBER.fullmatch(text) for text in texts)
