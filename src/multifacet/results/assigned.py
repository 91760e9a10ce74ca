"""Labels of views back in the table: one column for each view, beside the rows that have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..files.binary import need
from ..frames.cells import whole
from ..frames.table import columns_of, read_table
from ..linalg import Array
from .plain import as_text

#: Place of a row that has no label.
NONE = -1


def with_labels(
    data: Any, labels: Mapping[str, Array], index: Array, rows: Array, identifier: str | None
) -> Any:
    """Return a table with further columns, whose rows without labels have missing ones.

    Parameters
    ----------
    data : data frame (pandas, polars), Arrow table or dict of columns
        The table; it is not changed.
    labels : mapping of str to array of int of shape (n,)
        The columns, by name.
    index : array of shape (n,)
        Names of the rows that have labels.
    rows : array of int of shape (n,)
        Their positions in the table from which they came.
    identifier : str or None
        Column that holds the names of rows. If None, this is the index; a table without one is
        told by the positions.
    """
    if columns_of(data) is None:
        raise ValueError(
            f"data is of type {type(data).__name__}, which has no place for a missing label: pass "
            "a data frame or a dict of columns, or use labelings, which belong to the positions in "
            "rows"
        )
    table = read_table(data)
    taken = [name for name in labels if name in table.columns]
    if taken:
        raise ValueError(f"data has a column {taken[0]!r} already: drop or rename it")
    if identifier is not None:
        places = _by_name(whole(table.read(identifier).values), index, f"column {identifier!r}")
    elif hasattr(type(data), "iloc") and not _in_order(table.index, index, rows):
        places = _by_name(table.index, index, "the index of data")
    else:
        places = _by_position(table.n_rows, rows)
    return _joined(data, {name: _placed(column, places) for name, column in labels.items()})


def _in_order(names: Array, index: Array, rows: Array) -> bool:
    """Tell whether rows have the names that they had; if so, repeated names do no harm."""
    if not len(rows) or rows[-1] >= len(names):
        return False
    return np.array_equal(*_comparable(names[rows], index))


def _by_name(names: Array, index: Array, where: str) -> Array:
    """Return, for each row of a table, the place of its name in an index."""
    names, index = _comparable(names, index)
    place = {name: i for i, name in enumerate(index.tolist())}
    if len(place) < len(index):
        raise ValueError(
            "rows of the table in which the views were found share names, and data is in another "
            "order: give every row a name of its own before the search, such as by reset_index()"
        )
    places = np.array([place.get(name, NONE) for name in names.tolist()], dtype=int)
    if len(index) and (places == NONE).all():
        raise ValueError(
            f"{where} has no name of a row that the views are about, such as {next(iter(place))!r}:"
            " pass the table in which they were found, or one with the same names of rows"
        )
    return places


def _by_position(n_rows: int, rows: Array) -> Array:
    """Return, for each row of a table, the place of its position among rows."""
    fewest = int(rows[-1]) + 1 if len(rows) else 0
    complete = fewest == len(rows)  # then no row was left out, at least none before the last
    if n_rows < fewest or (complete and n_rows != fewest):
        raise ValueError(
            f"data has {n_rows} rows without names, the views are about {len(rows)} of "
            f"{fewest}{'' if complete else ' or more'}: pass the table in which they were found"
        )
    places = np.full(n_rows, NONE)
    places[rows] = np.arange(len(rows))
    return places


def _comparable(a: Array, b: Array) -> tuple[Array, Array]:
    """Return names as text unless both are numbers or dates: files keep other things as text."""
    if {a.dtype.kind, b.dtype.kind} & set("OUS"):
        return as_text(a), as_text(b)
    return a, b


def _placed(labels: Array, places: Array) -> Any:
    """Return labels at their places: an array, or a list with None for those that are missing."""
    if (places != NONE).all():
        return labels[places]
    found = zip(labels[places].tolist(), places.tolist(), strict=True)
    return [None if place == NONE else label for label, place in found]


def _joined(data: Any, columns: Mapping[str, Any]) -> Any:
    """Return a table with further columns of whole numbers, None for missing ones."""
    if isinstance(data, Mapping):
        return dict(data) | dict(columns)
    if hasattr(type(data), "iloc"):
        import pandas as pd

        lists = {n: c for n, c in columns.items() if isinstance(c, list)}
        nullable = {name: pd.array(column, dtype="Int64") for name, column in lists.items()}
        return data.assign(**(dict(columns) | nullable))
    if hasattr(type(data), "get_columns"):
        import polars as pl

        return data.with_columns(*(pl.Series(n, c, dtype=pl.Int64) for n, c in columns.items()))
    pa = need("pyarrow", "arrow", "Arrow")
    for name, column in columns.items():
        data = data.append_column(name, pa.array(column, type=pa.int64()))
    return data
