"""One column of any origin as cells of one kind, and the cells that are missing or infinite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ..linalg import Array
from .notes import InputError, Note, Remedy

ONE_VALUE = "pass one number, truth value or text per row"

#: For each kind of cells: its name in errors, the type of a value, what stands in a missing cell.
_KINDS: dict[str, tuple[str, Any, Any]] = {
    "number": ("numbers", float, np.nan),
    "boolean": ("truth values", bool, False),
    "category": ("categories", str, ""),
    "date": ("dates", str, ""),
}
_DATES = (date, time, timedelta, np.datetime64, np.timedelta64)
_READABLE = (str, Real, Decimal, np.bool_, *_DATES)


class UnreadableError(ValueError):
    """A column whose cells hold no single value, such as lists."""


@dataclass(frozen=True)
class Cells:
    """One column as found.

    ``values`` are real numbers, truth values, or objects that are all text (category and date).
    ``place`` is what errors call it. ``order`` holds the categories of a column that was declared
    categorical, in their order if they have one; it is None for other columns.
    """

    place: str
    kind: str
    values: Array
    missing: Array
    order: list[str] | None = None

    @property
    def present(self) -> Array:
        """The values that are not missing."""
        return self.values[~self.missing]

    def take(self, rows: Array) -> Cells:
        """Return the cells of some rows."""
        return replace(self, values=self.values[rows], missing=self.missing[rows])


def read_column(place: str, column: Any) -> Cells:
    """Find out what a column holds: a list, an array, or the column of any data frame."""
    order = _declared_order(column)
    if order is not None:
        return _read_categorical(place, column, order)
    values = as_array(column)
    if values.ndim != 1:
        raise UnreadableError(f"{place} has values of shape {values.shape[1:]}: {ONE_VALUE}")
    kind = values.dtype.kind
    if kind in "biuf":
        return Cells(place, "boolean" if kind == "b" else "number", values, np.isnan(values))
    if kind in "mM":
        return Cells(place, "date", values.astype(str).astype(object), np.isnat(values))
    return _read_objects(place, values.tolist())


def as_array(values: Any) -> Array:
    """Return an array that still shows which values are missing and which are text."""
    if isinstance(values, np.ma.MaskedArray):
        objects = values.data.astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        return np.asarray(values, dtype=object)
    # numpy makes text of [1.5, "a", None], so that None would be a word: keep the objects.
    return np.asarray(values, dtype=object) if array.dtype.kind in "UST" else array


def _declared_order(column: Any) -> list[str] | None:
    """Return the categories of a categorical column (none if unordered), None for other columns.

    A polars Categorical and an Arrow dictionary keep the order in which values turned up, which
    says nothing; a pandas Categorical and a polars Enum have an order that someone can rely on.
    """
    dtype: Any = getattr(column, "dtype", getattr(column, "type", None))
    if not str(dtype).lower().startswith(("categor", "enum", "dictionary")):
        return None
    categories: Any = getattr(dtype, "categories", None)
    return [str(c) for c in categories.to_list()] if hasattr(categories, "to_list") else []


def _read_categorical(place: str, column: Any, order: list[str]) -> Cells:
    coded = getattr(column, "cat", column)
    if hasattr(coded, "codes"):
        # pandas, where categories may be of any type, such as the intervals of pandas.cut
        codes = np.asarray(coded.codes)
        values = np.array([*order, ""], dtype=object)[codes]  # code -1, missing, takes the last
        return Cells(place, "category", values, codes < 0, order)
    if hasattr(column, "combine_chunks") or hasattr(column, "dictionary"):
        return _read_arrow_dictionary(place, column, order)
    objects = np.asarray(column).tolist()
    missing = np.array([is_missing(value) for value in objects], dtype=bool)
    return replace(_convert(place, "category", objects, missing), order=order)


def _read_arrow_dictionary(place: str, column: Any, order: list[str]) -> Cells:
    """Read the codes of an Arrow dictionary; as an array, it would lose its nulls."""
    combined = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    parts = combined.chunks if hasattr(combined, "chunks") else [combined]
    values, missing = [], []
    for part in parts:
        words = part.dictionary.to_pylist()
        gone = np.array([is_missing(word) for word in [*words, None]])
        texts = np.where(gone, "", np.array([*map(str, words), ""], dtype=object))
        codes = np.asarray(part.indices.fill_null(len(words)))
        values.append(texts[codes])
        missing.append(gone[codes])
    return Cells(place, "category", np.concatenate(values), np.concatenate(missing), order)


def _read_objects(place: str, objects: list[Any]) -> Cells:
    """Find out what a list of Python objects holds."""
    missing = np.array([is_missing(value) for value in objects], dtype=bool)
    types = {type(value) for value, gone in zip(objects, missing, strict=True) if not gone}
    strange = [kind.__name__ for kind in types if not issubclass(kind, _READABLE)]
    if strange:
        raise UnreadableError(f"{place} holds values of type {min(strange)}: {ONE_VALUE}")
    if bool not in types and all(issubclass(kind, (Real, Decimal)) for kind in types):
        kind = "number"
    elif all(issubclass(kind, (bool, np.bool_)) for kind in types):
        kind = "boolean"
    else:
        kind = "date" if any(issubclass(kind, _DATES) for kind in types) else "category"
    return _convert(place, kind, objects, missing)


def is_missing(value: Any) -> bool:
    """Tell whether a single value stands for a missing one."""
    if isinstance(value, str):
        return not value.strip()  # an empty cell of a CSV file
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return True
    return isinstance(value, float | np.floating | Decimal | np.datetime64) and value != value


def _convert(place: str, kind: str, objects: Iterable[Any], missing: Array) -> Cells:
    _, convert, gap = _KINDS[kind]
    pairs = zip(objects, missing, strict=True)
    values = [gap if gone else convert(value) for value, gone in pairs]
    # Objects, not numpy text: that would give every cell the width of the longest.
    dtype = object if convert is str else convert
    return Cells(place, kind, np.array(values, dtype=dtype), missing)


def numbers_if_text(cells: Cells) -> Cells:
    """Return text that reads as numbers throughout as numbers, anything else as it is."""
    if cells.kind != "category" or any("_" in text for text in cells.values):
        return cells  # Python reads "1_2" as 12
    try:
        numbers = _convert(cells.place, "number", cells.values, cells.missing)
    except ValueError:
        return cells
    return replace(numbers, missing=np.isnan(numbers.values))


def as_kind(cells: Cells, kind: str) -> Cells:
    """Return new cells read as the kind that their column had at first."""
    if cells.missing.all():  # then they look like any kind
        return _convert(cells.place, kind, cells.values, cells.missing)
    if kind == "number":
        cells = numbers_if_text(cells)
    present = cells.present
    if cells.kind == kind or (cells.kind, kind) == ("boolean", "number"):
        return cells
    if (cells.kind, kind) == ("number", "boolean") and np.isin(present, (0, 1)).all():
        return replace(cells, kind=kind, values=cells.values == 1)
    if kind == "category" and cells.kind != "date":
        values = np.full(len(cells.values), "", dtype=object)
        values[~cells.missing] = [str(value) for value in whole(present).tolist()]
        return replace(cells, kind=kind, values=values)
    raise ValueError(
        f"{cells.place} holds {_KINDS[cells.kind][0]} such as {present[0]!r}, but held "
        f"{_KINDS[kind][0]} when the encoding was made: convert it"
    )


def whole(values: Array) -> Array:
    """Return whole numbers that are stored as floats as integers, anything else as it is."""
    if values.dtype.kind != "f" or not (np.abs(values) < 2**53).all():
        return values
    return values.astype(np.int64) if (values == np.round(values)).all() else values


def check_cells(columns: Iterable[Cells], n_rows: int, missing: str, remedy: Remedy) -> Array:
    """Return which rows (n,) are to be dropped; raise for infinite and refused missing values."""
    infinite, absent = [], []
    for cells in columns:
        absent.append((cells.place, np.flatnonzero(cells.missing)))
        if cells.kind == "number":
            infinite.append((cells.place, np.flatnonzero(np.isinf(cells.values))))
    _refuse(infinite, "infinite", "replace")
    if missing == "error":
        _refuse(absent, "missing", remedy)
    gone = np.zeros(n_rows, dtype=bool)
    if missing == "drop":
        for _, rows in absent:
            gone[rows] = True
    return gone


def check_sparse(matrix: Any, missing: str) -> Array:
    """Do as :func:`check_cells` for a CSR matrix (n, d)."""
    bad = np.unique(matrix.indices[~np.isfinite(matrix.data)])
    columns = matrix[:, bad].T.tocsr()  # made dense one by one
    cells = (read_column(f"column {j}", columns[i].toarray()[0]) for i, j in enumerate(bad))
    return check_cells(cells, matrix.shape[0], "drop" if missing == "drop" else "error", "drop")


def _refuse(bad: list[tuple[str, Array]], what: str, remedy: Remedy) -> None:
    """Raise if any column, given by its place and its bad rows, has some; name the first."""
    bad = [(place, rows) for place, rows in bad if len(rows)]
    if bad:
        (place, rows), others = bad[0], len(bad) - 1
        plural = "s" * (len(rows) > 1)
        shown = ", ".join(map(str, rows[:5])) + ", ..." * (len(rows) > 5)
        also = f" (and {others} more column{'s' * (others > 1)})" * bool(others)
        fact = f"{place} has {len(rows)} {what} value{plural} in row{plural} {shown}{also}: "
        raise InputError(Note(fact, remedy, after="; rows are counted from 0"))
