"""Which rows of a large table are looked at: those that its content chooses.

Keys of rows are made of their cells as they are read, so that the same table has the same keys as
a data frame of any kind, as a file, or in partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from ..content import DRAWN, column_keys, draw, row_keys
from ..linalg import Array
from .cells import Cells, UnreadableError
from .table import Table


def content_keys(columns: Iterable[Cells], n_rows: int) -> Array:
    """Return a key (n,) for each row of columns.

    Examples
    --------
    >>> from multifacet.frames.cells import read_column
    >>> from multifacet.frames.content import content_keys
    >>> columns = [read_column("mass", [3.5, None]), read_column("sex", ["f", "m"])]
    >>> turned = [column.take([1, 0]) for column in columns]
    >>> bool((content_keys(columns, 2)[::-1] == content_keys(turned, 2)).all())
    True
    """
    return column_keys(map(_bare, columns), n_rows)


def _bare(cells: Cells) -> Array:
    """Return the values of a column, texts or numbers, nan where these are missing."""
    if cells.kind in ("number", "boolean"):
        return np.where(cells.missing, np.nan, cells.values.astype(float))
    return cells.values


def drawn_rows(table: Table, rows: Array, size: int = DRAWN) -> Array | None:
    """Return which of some rows (n,) of a table a search looks at; None for all of them.

    They are among so many of the table that its content chooses, as they would be in partitions.

    Parameters
    ----------
    table : Table
        The table.
    rows : array of int of shape (n,)
        Positions of the rows that are used, in their order.
    size : int, default=20000
        Most rows that are looked at.

    Returns
    -------
    array of int of shape (m,) or None
        Positions among ``rows``.
    """
    if table.n_rows <= size:
        return None
    if table.matrix is None:
        keys = content_keys(readable(table), table.n_rows)
    else:
        keys = row_keys(table.matrix)
    positions = draw(np.arange(table.n_rows), 0, size, keys).rows
    among = np.full(table.n_rows, -1)
    among[rows] = np.arange(len(rows))
    found = among[positions]
    return found[found >= 0]


def readable(table: Table) -> Iterator[Cells]:
    """Yield the columns of a table whose cells hold single values."""
    for name in table.columns:
        with suppress(UnreadableError):
            yield table.read(name)
