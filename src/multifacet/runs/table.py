"""Names of columns and rows in the tables of a run."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..files import FileData
    from ..frames.table import Columns

#: What rows are called that have no name in the file.
ROW = "row"


def unused(name: str, columns: Container[str]) -> str:
    """Return a name for a new column: the table may hold the result of an earlier run."""
    while name in columns:
        name = f"new {name}"
    return name


def named_columns(file: FileData) -> tuple[Columns, str | None]:
    """Return the columns, with the names of the rows among them, and which column that is.

    Mere row numbers, as pandas writes them, name the rows only if no column does it better.
    """
    from ..frames.looks import counts_rows

    if file.index is None:
        return file.columns, None
    name = ROW
    while name in file.columns:
        name += "_"
    return {name: file.index, **file.columns}, None if counts_rows(file.index) else name
