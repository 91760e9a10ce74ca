"""Labels that are given: by the names of columns, as arrays, or as a table of their own."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .cells import Cells, read_column
from .table import Table, columns_of


def aligned(given: Any, data: Any) -> Any:
    """Return labels with the rows of a pandas data frame, where they have an index as well."""
    if not hasattr(type(data), "iloc"):
        return given
    if isinstance(given, list | tuple):
        return [aligned(one, data) for one in given]
    if not hasattr(type(given), "iloc") or given.index.equals(data.index):
        return given
    advice = "give it the index of data, or pass given.to_numpy() to match rows by their order"
    if not given.index.is_unique:
        raise ValueError(f"given has an index of its own, in which names repeat: {advice}")
    places = given.index.get_indexer(data.index)
    absent = np.flatnonzero(places < 0)
    if len(absent):
        raise ValueError(
            f"given has no label for {len(absent)} of {len(places)} rows of data, such as that "
            f"with the index {data.index[absent[0]]!r}: {advice}"
        )
    return given.iloc[places]


def find_given(given: Any, table: Table) -> tuple[list[tuple[str, Cells]], list[str]]:
    """Return names and cells of the given labelings, and the columns of the data they took."""
    if given is None:
        return [], []
    taken, columns = [], columns_of(given)
    if isinstance(given, str | Integral) or _are_names(given, table):
        taken = table.find("given", given)
        columns = [(name, table.columns[name]) for name in taken]
    if columns is None:
        labels = _split_labelings(given)
    else:
        labels = [(name, read_column(f"given column {name!r}", c)) for name, c in columns]
    if not labels:
        raise ValueError("given is empty: pass at least one labeling, or None")
    for _, cells in labels:
        n = len(cells.values)
        if n != table.n_rows:
            raise ValueError(f"{cells.place} has {n} labels for {table.n_rows} rows")
        if n and not len(cells.present):
            raise ValueError(f"{cells.place} has no values at all: give another one, or none")
    return labels, taken


def _are_names(given: Any, table: Table) -> bool:
    """Tell a list of names from a list of labels that are text."""
    if not isinstance(given, list | tuple) or not all(isinstance(v, str) for v in given):
        return False
    if not given or len(set(given)) < len(given):
        return False  # names do not repeat
    return len(given) != table.n_rows or all(name in table.columns for name in given)


def _split_labelings(given: Any) -> list[tuple[str, Cells]]:
    """Return names and cells of labelings that are no data frame."""
    listed = isinstance(given, list | tuple) and len(given) > 0 and np.ndim(given[0]) > 0
    n_dims = 2 if listed else np.ndim(given)
    if n_dims == 1:
        return [(str(getattr(given, "name", None) or "given"), read_column("given", given))]
    if n_dims != 2:
        raise ValueError(f"given has {n_dims} dimensions: pass labels (n,) or labelings (n, m)")
    several = given if listed else np.asarray(given).T
    return [(f"given[{i}]", read_column(f"given[{i}]", c)) for i, c in enumerate(several)]
