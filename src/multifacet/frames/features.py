"""Columns that are features, as cells; those on disk are read one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..linalg import Array
from .cells import Cells
from .looks import MAX_CATEGORIES, are_dates, read_plainly
from .notes import InputError, Note, Remedy
from .roles import Roles
from .table import OnDisk, Table


def read_features(table: Table, roles: Roles) -> Mapping[str, Cells]:
    """Return the cells of the features; nothing of a sparse matrix, which has no columns."""
    names = roles.features if table.matrix is None else []
    if isinstance(table.columns, OnDisk):
        return _CellsOnDisk(table, names)
    return {name: _read_feature(table, name) for name in names}


class _CellsOnDisk(Mapping[str, Cells]):
    """Features that are read one at a time, whenever they are asked for."""

    def __init__(self, table: Table, names: list[str], rows: Array | None = None) -> None:
        self._table, self._names, self._rows = table, names, rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> Cells:
        cells = _read_feature(self._table, name)
        return cells if self._rows is None else cells.take(self._rows)

    def take(self, rows: Array) -> _CellsOnDisk:
        """Return the cells of some rows."""
        return _CellsOnDisk(self._table, self._names, rows)


def taken(cells: Mapping[str, Cells], rows: Array) -> Mapping[str, Cells]:
    """Return the cells of some rows."""
    if isinstance(cells, _CellsOnDisk):
        return cells.take(rows)
    return {name: column.take(rows) for name, column in cells.items()}


def _read_feature(table: Table, name: str) -> Cells:
    """Return a column as numbers, truth values or categories; raise if it holds anything else."""
    cells = read_plainly(table, name)
    remedy: Remedy = "left out" if table.named else "left out of data"
    present = cells.present
    distinct = len(set(present)) if cells.kind == "category" else 0
    if not len(present):
        problem = "has no values at all: "
    elif cells.kind == "date" or are_dates(cells):
        parts = f"name the parts that matter, such as {name + '.month'!r} or {name + '.elapsed'!r}"
        problem = f"holds dates or times: {parts if table.named else 'convert it to numbers'}, or "
    elif distinct == len(present) > 2:
        remedy = "row names" if table.named else remedy
        problem = f"holds text with {distinct} different values in {distinct} rows: "
    elif distinct > MAX_CATEGORIES:
        problem = f"has {distinct} different values: group them, or "
    else:
        return cells
    raise InputError(Note(f"{cells.place} {problem}", remedy, (name,)))
