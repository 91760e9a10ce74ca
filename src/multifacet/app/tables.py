"""The table of an exploration: read within limits, and shown before anything is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files import FileData, read_file
from ..frames.cells import Cells, read_column, whole
from ..frames.dates import PARTS, part_of
from ..frames.looks import are_dates
from ..frames.roles import REASONS, assign_roles
from ..frames.table import Columns, Table, listing, read_table
from ..linalg import Array
from .answers import ColumnAnswer
from .limits import LIMITS, Limits, unpacked_size
from .steps import SetupDict
from .words import for_the_page, noted

#: More columns would not fit a page.
MAX_COLUMNS = 5000
#: Rows of the preview, and characters of one cell.
PREVIEW_ROWS, CELL_WIDTH = 8, 200


def read_within_limits(path: Path, limits: Limits = LIMITS) -> FileData:
    """Read a table that someone has sent; raise before a small file becomes a huge table."""
    check_unpacked(path.name, [path], limits)
    file = read_file(path)
    count = len(read_table(file.columns).columns)
    if count > MAX_COLUMNS:
        raise ValueError(
            f"{path.name!r} has {count:,} columns, the workbench takes at most "
            f"{MAX_COLUMNS:,}: keep those of interest, or use the command `multifacet find`"
        )
    if len(next(iter(file.columns.values()))) < 2:
        raise ValueError(f"{path.name!r} has a single row: at least 2 are needed")
    return file


def check_unpacked(name: str, paths: Iterable[Path], limits: Limits) -> None:
    """Raise if the files of one upload hold far more, all together, than their sizes say."""
    left = limits.unpacked
    for path in paths:
        left -= unpacked_size(path, left)
        if left < 0:
            raise ValueError(
                f"{name!r} unpacks to more than {limits.unpacked // 2**20} MB: that is too much "
                "for the workbench"
            )


def first_setup(file: FileData, table: Table, identifier: str | None) -> SetupDict:
    """Return what the columns are taken for at first, and why some are left out."""
    setup: SetupDict = {
        "features": [],
        "given": [],
        "identifier": identifier,
        "standardize": "auto",
        "missing": "error",
        "left_out": {},
        "notes": [],
    }
    notes = [noted(note) for note in file.notes]
    try:
        roles = assign_roles(table, identifier=identifier, features=file.features)
    except ValueError as error:  # it is for the user to say what the features are
        return {**setup, "notes": [*notes, for_the_page(error)]}
    reason = REASONS["unread"]
    unread = [one.name for one in roles.columns if one.why == reason]
    if unread:
        notes.append(f"left out, also of exported labels, as {reason}: {listing(unread)}")
    why = {
        one.name: one.why + "; compared with every view" * (one.use == "reference")
        for one in roles.columns
        if one.use in ("reference", "left out")
    }
    setup["features"], setup["identifier"] = roles.features, roles.identifier
    return {**setup, "left_out": why, "notes": notes}


def describe_columns(columns: Mapping[str, Any]) -> list[ColumnAnswer]:
    """Return what each column holds: its kind, how many values, how many are missing."""
    table = read_table(columns)
    return [_describe_column(table, name) for name in columns]


def _describe_column(table: Any, name: str) -> ColumnAnswer:
    try:
        cells = table.read(name)
    except ValueError as error:
        return {
            "name": name,
            "kind": "other",
            "missing": 0,
            "values": 0,
            "parts": [],
            "problem": for_the_page(error),
        }
    distinct = len(set(cells.present.tolist()))
    return {
        "name": name,
        "kind": cells.kind,
        "missing": int(cells.missing.sum()),
        "values": distinct,
        "parts": _parts(name, cells),
        "problem": None,
    }


def _parts(name: str, cells: Cells) -> list[str]:
    """Return the names by which parts of dates can be features; none if it holds no dates."""
    if cells.kind != "date" and not (len(cells.present) and are_dates(cells)):
        return []
    try:
        part_of(cells, PARTS[0])
    except ValueError:  # dates of which nobody can tell the month
        return []
    return [f"{name}.{part}" for part in PARTS]


def cells_of(columns: Columns, rows: Array) -> list[list[Any]]:
    """Return cells of the table as JSON takes them, one list per row; long text is cut."""
    table = read_table(columns)
    listed = [_column_cells(table, name, rows) for name in columns]
    return [list(row) for row in zip(*listed, strict=True)]


def _column_cells(table: Any, name: str, rows: Array) -> list[Any]:
    column = table.columns[name]
    try:
        # A few rows of an array are read faster than all of it.
        few = isinstance(column, np.ndarray)
        cells = read_column(name, column[rows]) if few else table.read(name).take(rows)
    except ValueError:  # such as lists in its cells
        return [None] * len(rows)
    values = whole(cells.values) if not cells.missing.any() else cells.values
    return [
        None if gone else _cell(value)
        for value, gone in zip(values.tolist(), cells.missing.tolist(), strict=True)
    ]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    return value if isinstance(value, bool | int) else str(value)[:CELL_WIDTH]


def some_rows(columns: Columns, rows: Array, names: Iterable[str] | None = None) -> Columns:
    """Return some rows of a table, None where cells are missing, as find_views sees it.

    All columns, or those of some names, which may be parts of dates such as ``seen.month``. Those
    whose cells hold no single value, such as lists, are left out.
    """
    table = read_table(columns)
    found: Columns = {}
    for name in columns if names is None else names:
        try:
            cells = table.read(name).take(rows)
        except ValueError:
            continue
        pairs = zip(cells.values, cells.missing, strict=True)
        gaps = cells.missing.any()
        found[name] = [None if gone else v for v, gone in pairs] if gaps else cells.values
    return found
