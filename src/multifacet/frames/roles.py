"""What the columns of a table are for, as far as nobody has said so."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from ..wording import Argument, ArgumentError, ArgumentWarning
from .cells import Cells, read_column, whole
from .encoding import Encoding
from .notes import InputError, InputWarning, Note, Remedy
from .preparation import MAX_CATEGORIES
from .table import Table, listing, read_table

#: Words in the name of a column whose whole numbers name the rows.
_NUMBERING = {
    *("id", "ids", "identifier", "index", "idx", "row", "rowid", "no", "nr", "number", "nummer"),
    *("key", "case", "patient", "record", "sample", "subject", "unnamed"),
}
#: Words in the name of a column whose whole numbers are names of places, not amounts.
_PLACES = {"plz", "postleitzahl", "zip", "zipcode", "postcode", "postal"}
#: Words in the name of a column whose whole numbers stand for groups.
_LABELING = {
    *("label", "labels", "class", "cluster", "target", "group", "batch", "y", "category"),
    *("outcome", "diagnosis", "species", "fold", "split", "given"),
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
#: Whole numbers with more values than this are measurements or counts for sure.
_MAX_CODES = 20

# What a column looks like: a feature, or why it is left out.
_FEATURE = "a number"
_CODES = "few whole numbers"
_BINARY = "two numbers"
_UNIQUE = "different in every row"
_POSTAL = "postal codes"
_SPELLED = "looks like numbers with a decimal comma, thousands separators or units"
_LABELS = "looks like labels"
_DATES = "dates or times"
_MANY = "text with many values"
#: Cells such as lists or bytes.
UNREAD = "neither numbers nor text"
_REMEDIES: dict[str, Remedy] = {
    _LABELS: "given or feature",
    _DATES: "convert",
    _MANY: "group",
    _POSTAL: "feature",
    _SPELLED: "plain numbers",
}
#: 17.05.2022, 05/17/2022 or 2022/5/17, with or without a time.
_DATE = re.compile(r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}([./])\d{1,2}\3\d{1,2})([ T]\d\d?:\d\d.*)?")
#: 1.234,56 or 1,234.50 or 1'234, 12 %, EUR 5: a number, perhaps grouped, and perhaps a unit.
_UNIT = r"(?:%|[$\u20ac\u00a3\u00a5]|EUR|USD|GBP|CHF)"
_NUMBER = re.compile(
    rf"[+-]?{_UNIT}?\s?[+-]?(\d+|\d{{1,3}}(?:[.,'\s]\d{{3}})+)([.,]\d+)?\s?{_UNIT}?", re.IGNORECASE
)
_PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


@dataclass(frozen=True)
class Roles:
    """What each column of a table is for.

    Attributes
    ----------
    features : list of str
        Columns to find groups in.
    given : list of str
        Columns that hold what is known.
    identifier : str or None
        Column that names the rows.
    left_out : dict of str to str
        Columns that are not used, and why.
    notes : list of Note
        What was guessed, for the user.
    """

    features: list[str]
    given: list[str]
    identifier: str | None
    left_out: dict[str, str]
    notes: list[Note]


def assign_roles(
    columns: Mapping[str, Any],
    *,
    given: Any = (),
    identifier: str | None = None,
    exclude: Any = (),
    features: Any = None,
    set_aside: Any = (),
) -> Roles:
    """Decide what each column is for: what the user says, and the safest guess for the rest.

    Numbers are features. The first column that tells the rows apart (text that is different in
    every row, or whole numbers under a name such as ``id``) is the identifier. Columns without
    values, constant columns, dates and text of many values are left out. So are columns that look
    like labels, since among the features they would only lead back to what someone knows: text
    and categories of few values, truth values, whole numbers under a name such as ``class``, and
    numbers with two values, unless most numbers are such.

    Parameters
    ----------
    columns : dict of str to column
        The table.
    given, exclude : str or list of str
        Columns that hold what is known; columns to leave out.
    identifier : str, optional
        Column that names the rows.
    features : str or list of str, optional
        The features, whatever they look like; other columns become none. Those that are named in
        another role keep that.
    set_aside : str or list of str
        Columns that the caller uses in another way.

    Returns
    -------
    Roles
        What each column is for.

    Examples
    --------
    >>> from multifacet.frames.roles import assign_roles
    >>> birds = {
    ...     "bird": ["a", "b", "c", "d"],
    ...     "sex": ["male", "female", "female", "male"],
    ...     "mass": [3750, 3800, 4950, 5100],
    ... }
    >>> roles = assign_roles(birds)
    >>> roles.features, roles.identifier, roles.left_out
    (['mass'], 'bird', {'sex': 'looks like labels'})
    """
    table = read_table(columns)
    known = table.find("given", given)
    dropped = table.find("exclude", exclude)
    rows = table.find("identifier", identifier)
    taken = {*known, *dropped, *rows, *table.find("set_aside", set_aside)}
    looks = {name: _look(table, name) for name in table.columns if name not in taken}
    wanted = dict.fromkeys(table.find("features", features))
    notes = []
    if not rows:
        unique = [n for n, look in looks.items() if look == _UNIQUE and n not in wanted]
        # Mere row numbers name the rows only if nothing better does.
        rows = sorted(unique, key=lambda name: counts_rows(columns[name]))[:1]
        notes += [Note(f"rows are named by column {name!r}") for name in rows]
    free = {name: look for name, look in looks.items() if name not in rows}
    if features is None:
        free = _settle(free)
        wanted = {name: None for name, look in free.items() if look in (_FEATURE, _CODES)}
        notes += _describe(free)
    else:
        free = dict.fromkeys(free, "not among the features")
    chosen = [name for name in wanted if name in free]
    left_out = {name: reason for name, reason in free.items() if name not in wanted}
    left_out |= dict.fromkeys((name for name in dropped if name not in known), "excluded")
    if not chosen:
        parts = [f"{name!r} is left out: {reason}" for name, reason in list(left_out.items())[:5]]
        parts += [f"{listing(known, 5)} {'are' if len(known) > 1 else 'is'} given"] if known else []
        parts += [f"{name!r} names the rows" for name in rows]
        why = f" ({'; '.join(parts)})"
        raise InputError(Note("no column is left as a feature: ", "name features", after=why))
    return Roles(chosen, known, rows[0] if rows else None, left_out, notes)


def _look(table: Table, name: str) -> str:
    """Return what a column looks like."""
    try:
        cells = table.read(name)
    except ValueError:  # such as lists in its cells
        return UNREAD
    present = cells.present
    values = set(present.tolist())
    if len(values) < 2:
        same = "the same value wherever it has one" if cells.missing.any() else "constant"
        return same if values else "no values"
    if cells.kind == "date" or _are_dates(cells):
        return _DATES
    words = {word.lower() for word in _WORD.findall(name)}
    unique = len(values) == table.n_rows > 2
    if cells.kind == "category":
        if _are_spelled_numbers(values):
            return _SPELLED
        if unique:
            return _UNIQUE
        return _LABELS if len(values) <= MAX_CATEGORIES else _MANY
    if cells.kind == "boolean":
        return _LABELS
    if whole(present).dtype.kind not in "iu":
        return _FEATURE if len(values) > 2 else _BINARY
    if unique and words & _NUMBERING:
        return _UNIQUE
    if len(values) <= MAX_CATEGORIES and words & _LABELING:
        return _LABELS
    if len(values) == 2:
        return _BINARY
    if words & _PLACES:
        return _POSTAL
    return _CODES if len(values) <= min(_MAX_CODES, table.n_rows / 5) else _FEATURE


def _are_dates(cells: Cells) -> bool:
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
    """Tell if text is numbers that are not spelled plainly; codes such as 007 are none."""
    texts = [text.strip() for text in values]
    if not all(_NUMBER.fullmatch(text) for text in texts):
        return False
    return not all(_PLAIN_NUMBER.fullmatch(text) for text in texts)


def counts_rows(column: Any) -> bool:
    """Tell if a column only counts the rows: 0, 1, 2, ... or 1, 2, 3, ..."""
    values = read_column("column", column).values
    if values.dtype.kind not in "iuf":
        return False
    return values[0] in (0, 1) and bool((values == np.arange(len(values)) + values[0]).all())


def no_labels(cells: Cells) -> str:
    """Return why a column cannot be a labeling; nothing if it can."""
    values = set(cells.present.tolist())
    if len(values) == len(cells.values):
        return _UNIQUE
    if cells.kind == "number" and whole(cells.present).dtype.kind not in "iu":
        return "measurements"
    return ""


def warn_of_identifiers(data: Any, encoding: Encoding) -> None:
    """Warn of features that look as if they name the rows: whole numbers, all different."""
    table = read_table(data)
    used = [column.name for column in encoding.columns if column.kind == "number"]
    if not table.named:
        return
    for name in (name for name in used if _look(table, name) == _UNIQUE):
        fact = f"column {name!r} is used as a feature, but looks as if it names the rows: "
        warnings.warn(InputWarning(Note(fact, "perhaps row names", (name,))), stacklevel=3)


def check_target(table: Table, names: list[str]) -> None:
    """Refuse targets that name the rows, or warn if they are numbers that only may do so."""
    for name in names:
        if _look(table, name) != _UNIQUE:
            continue
        if table.read(name).kind == "category":
            raise ArgumentError(
                Argument.of("target", name),
                " is different in every row, so it names the rows and nothing can depend on it: "
                "pass classes or measurements",
            )
        doubt = " looks as if it names the rows: if it does, the result means nothing"
        warnings.warn(ArgumentWarning(Argument.of("target", name), doubt), stacklevel=4)


def _settle(looks: dict[str, str]) -> dict[str, str]:
    """Decide on numbers with two values: labels, unless most numbers are such."""
    binary = [name for name, look in looks.items() if look == _BINARY]
    numbers = [name for name, look in looks.items() if look in (_FEATURE, _CODES, _BINARY)]
    settled = _FEATURE if len(binary) > len(numbers) / 2 else _LABELS
    return looks | dict.fromkeys(binary, settled)


def _describe(looks: dict[str, str]) -> list[Note]:
    """Say which columns are left out and why, and which might better be."""
    groups: dict[str, list[str]] = {}
    for name, look in looks.items():
        groups.setdefault(look, []).append(name)
    numbers = groups.pop(_FEATURE, [])
    codes = groups.pop(_CODES, [])
    notes = []
    for reason, names in groups.items():
        remedy = _REMEDIES.get(reason)
        fact = f"left out {listing(names)}: {reason}{'; ' if remedy else ''}"
        notes.append(Note(fact, remedy, tuple(names)))
    if 0 < len(codes) <= len(numbers):
        fact = f"{listing(codes)} used as numbers: if the whole numbers are labels, "
        notes.append(Note(fact, "given or left out", tuple(codes)))
    return notes
