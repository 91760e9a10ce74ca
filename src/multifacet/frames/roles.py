"""What the columns of a table are for, as far as nobody has said so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .cells import Cells, whole
from .preparation import MAX_CATEGORIES
from .table import Table, listing, read_table

#: Words in the name of a column whose whole numbers name the rows.
_NUMBERING = {
    *("id", "ids", "identifier", "index", "idx", "row", "rowid", "no", "nr", "number", "key"),
    *("case", "patient", "record", "sample", "subject", "unnamed"),
}
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
_LABELS = "looks like labels"
_DATES = "dates or times"
_MANY = "text with many values"
_REMEDIES = {
    _LABELS: "use --given or --features if you need it",
    _DATES: "convert it to numbers if you need it",
    _MANY: "group its values if you need it",
}


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
    notes : list of str
        What was guessed, in sentences for the user.
    """

    features: list[str]
    given: list[str]
    identifier: str | None
    left_out: dict[str, str]
    notes: list[str]


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
        rows = [n for n, look in looks.items() if look == _UNIQUE and n not in wanted][:1]
        notes += [f"rows are named by column {name!r}" for name in rows]
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
        some = list(left_out.items())[:5]
        reasons = "; ".join(f"{name!r} is left out: {reason}" for name, reason in some)
        raise ValueError(f"no column is left as a feature: name some with features ({reasons})")
    return Roles(chosen, known, rows[0] if rows else None, left_out, notes)


def _look(table: Table, name: str) -> str:
    """Return what a column looks like."""
    try:
        cells = table.read(name)
    except ValueError:  # such as lists in its cells
        return "neither numbers nor text"
    present = cells.present
    values = set(present.tolist())
    if len(values) < 2:
        return "constant" if values else "no values"
    if cells.kind == "date" or _are_dates(cells):
        return _DATES
    words = {word.lower() for word in _WORD.findall(name)}
    unique = len(values) == table.n_rows > 2
    if cells.kind == "category":
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
    return _CODES if len(values) <= min(_MAX_CODES, table.n_rows / 5) else _FEATURE


def _are_dates(cells: Cells) -> bool:
    """Tell if text is dates of the form 2026-01-31, with or without a time."""
    if cells.kind != "category":
        return False
    try:
        for text in cells.present:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _settle(looks: dict[str, str]) -> dict[str, str]:
    """Decide on numbers with two values: labels, unless most numbers are such."""
    binary = [name for name, look in looks.items() if look == _BINARY]
    numbers = [name for name, look in looks.items() if look in (_FEATURE, _CODES, _BINARY)]
    settled = _FEATURE if len(binary) > len(numbers) / 2 else _LABELS
    return looks | dict.fromkeys(binary, settled)


def _describe(looks: dict[str, str]) -> list[str]:
    """Say which columns are left out and why, and which might better be."""
    groups: dict[str, list[str]] = {}
    for name, look in looks.items():
        groups.setdefault(look, []).append(name)
    numbers = groups.pop(_FEATURE, [])
    codes = groups.pop(_CODES, [])
    notes = []
    for reason, names in groups.items():
        remedy = f"; {_REMEDIES[reason]}" if reason in _REMEDIES else ""
        notes.append(f"left out {listing(names)}: {reason}{remedy}")
    if 0 < len(codes) <= len(numbers):
        notes.append(
            f"{listing(codes)} used as numbers: if the whole numbers are labels, use --given or "
            "--exclude"
        )
    return notes
