"""One pass over a table in partitions: what its columns hold, its size, and a sample.

Partitions are summarised where they are, and summaries are joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..content import DRAWN, Drawn, draw, join
from ..engines.cluster import ClusterError, gathered
from ..engines.contents import tree
from ..frames.cells import Cells, numbers_if_text
from ..frames.content import content_keys
from ..frames.table import read_table
from ..linalg import Array

#: Different values of a column that are counted at most: more are no categories.
COUNTED = 1000
#: Rows that an error names.
NAMED_ROWS = 5


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """What is known of one column in some rows.

    Attributes
    ----------
    kinds : frozenset of str
        Kinds of the cells that are present.
    n_rows, n_present : int
        Number of rows, and of those that have a value.
    mean, squares : float
        Mean of the numbers, and sum of their squared deviations from it.
    numeric : bool
        Whether all that is present is, or reads as, numbers or truth values.
    counts : Counter or None
        How often each text occurs; None if there are too many.
    order : list of str or None
        Declared order of categories.
    missing, infinite : list of int
        The first rows without a value, and those with an infinite one.
    """

    kinds: frozenset[str]
    n_rows: int
    n_present: int
    mean: float
    squares: float
    numeric: bool
    counts: Counter[str] | None
    order: list[str] | None
    missing: list[int]
    infinite: list[int]

    @classmethod
    def of(cls, cells: Cells) -> ColumnSummary:
        """Return the summary of a column of one partition."""
        read = numbers_if_text(cells) if cells.order is None else cells
        present, numeric = read.present, read.kind in ("number", "boolean")
        counts: Counter[str] | None = Counter()
        if cells.kind == "category":
            counts = Counter(cells.present.tolist())
            counts = counts if len(counts) <= COUNTED else None
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = present.astype(float) if numeric and len(present) else np.zeros(1)
            mean = float(numbers.mean())
            squares = float(((numbers - mean) ** 2).sum())
        infinite = np.isinf(read.values) if read.kind == "number" else np.zeros(0, dtype=bool)
        return cls(
            kinds=frozenset({cells.kind}) if len(present) else frozenset(),
            n_rows=len(cells.values),
            n_present=len(present),
            mean=mean,
            squares=squares,
            numeric=numeric or not len(present),
            counts=counts,
            order=cells.order,
            missing=np.flatnonzero(read.missing)[:NAMED_ROWS].tolist(),
            infinite=np.flatnonzero(infinite)[:NAMED_ROWS].tolist(),
        )

    def filled(self, value: float) -> ColumnSummary:
        """Return the summary with a value in place of those that are missing."""
        absent, gap = self.n_rows - self.n_present, value - self.mean
        mean = self.mean + gap * absent / self.n_rows
        squares = self.squares + gap**2 * absent * self.n_present / self.n_rows
        return replace(self, n_present=self.n_rows, mean=mean, squares=squares)

    def joined(self, other: ColumnSummary) -> ColumnSummary:
        """Return the summary of these rows and of others that follow them."""
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = self.counts + other.counts
            counts = counts if len(counts) <= COUNTED else None
        n = self.n_present + other.n_present
        gap, share = other.mean - self.mean, other.n_present / max(n, 1)
        later = [row + self.n_rows for row in other.missing]
        far = [row + self.n_rows for row in other.infinite]
        return ColumnSummary(
            kinds=self.kinds | other.kinds,
            n_rows=self.n_rows + other.n_rows,
            n_present=n,
            mean=self.mean + share * gap,
            squares=self.squares + other.squares + gap**2 * share * self.n_present,
            numeric=self.numeric and other.numeric,
            counts=counts,
            order=_joined_order(self.order, other.order),
            missing=(self.missing + later)[:NAMED_ROWS],
            infinite=(self.infinite + far)[:NAMED_ROWS],
        )


def _joined_order(one: list[str] | None, other: list[str] | None) -> list[str] | None:
    if one is None or other is None:
        return one if other is None else other
    return one + [value for value in other if value not in one]


@dataclass(frozen=True, eq=False)
class MatrixSummary:
    """What is known of the columns of a sparse matrix in some rows.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    mean, squares : array of shape (d,)
        Means of the columns, and sums of squared deviations from them.
    bad : tuple of int or None
        Row and column of the first value that is missing or infinite.
    """

    n_rows: int
    mean: Array
    squares: Array
    bad: tuple[int, int] | None

    @classmethod
    def of(cls, matrix: Any) -> MatrixSummary:
        """Return the summary of a CSR matrix."""
        n, d = matrix.shape
        where, values = matrix.indices, matrix.data.astype(float)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
            return cls(n, np.zeros(d), np.zeros(d), (row, int(where[wrong[0]])))
        mean = np.bincount(where, values, d) / max(n, 1)
        zeros = n - np.bincount(where, minlength=d)
        squares = np.bincount(where, (values - mean[where]) ** 2, d) + zeros * mean**2
        return cls(n, mean, squares, None)

    def joined(self, other: MatrixSummary) -> MatrixSummary:
        """Return the summary of these rows and of others that follow them."""
        n = self.n_rows + other.n_rows
        gap, share = other.mean - self.mean, other.n_rows / max(n, 1)
        bad = self.bad
        if bad is None and other.bad is not None:
            bad = (other.bad[0] + self.n_rows, other.bad[1])
        squares = self.squares + other.squares + gap**2 * share * self.n_rows
        return MatrixSummary(n, self.mean + share * gap, squares, bad)


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass tells of a table: its columns, the sizes of its partitions, and a sample.

    A sparse matrix has no columns by name, but a summary of all together.
    """

    columns: dict[str, ColumnSummary]
    sizes: list[int]
    drawn: Drawn
    matrix: MatrixSummary | None = None


def survey(data: Any, size: int = DRAWN, beside: Collection[str] = ()) -> Survey:
    """Look at all partitions of a dask data frame or array once.

    Parameters
    ----------
    data : dask data frame or dask array of shape (n, d)
        The table; partitions may be empty, and of unknown size.
    size : int, optional
        Rows of the sample.
    beside : collection of str
        Columns that have no say in which rows are drawn.
    """
    from dask import delayed

    parts = parts_of(data)
    look = delayed(partial(_look, size=size, beside=frozenset(beside)))
    nodes = [look(part, number) for number, part in enumerate(parts)]
    try:
        return gathered(tree(partial(_joined, size=size), nodes))
    except ClusterError:
        raise
    except Exception:
        _name_unreadable(parts)
        raise


def parts_of(data: Any) -> Array:
    """Return the partitions of a dask data frame or array, not yet read, each of whole rows."""
    if not hasattr(data, "columns"):
        if data.ndim != 2:
            raise ValueError(f"data has shape {data.shape}: pass rows of equal length, (n, d)")
        data = data.rechunk({1: -1})
    return np.ravel(data.to_delayed())


def _name_unreadable(parts: Array) -> None:
    """Raise for a partition that cannot be read, of which the first error tells only why.

    Halves are read again, so that this takes one more pass over the partitions at most.
    """
    low, high = 0, len(parts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _unread(parts[low:middle]) is None else (low, middle)
    error = _unread(parts[low:high])
    if error is not None:
        raise ValueError(
            f"partition {low} of {len(parts)} cannot be read (the first is 0): {error}"
        ) from error


def _unread(parts: Array) -> Exception | None:
    """Return the error of reading some partitions, None if there is none."""
    from dask import delayed

    try:
        gathered(tree(_nothing, [delayed(_nothing)(part) for part in parts]))
    except ClusterError:
        raise
    except Exception as error:
        return error
    return None


def _nothing(part: Any) -> None:
    """Return nothing of what was read."""


def _look(part: Any, number: int, *, size: int, beside: Collection[str]) -> Survey:
    table = read_table(part)
    cells = {name: table.read(name) for name in table.columns}
    columns = {name: ColumnSummary.of(column) for name, column in cells.items()}
    matrix = keys = None
    if table.matrix is None:
        telling = (column for name, column in cells.items() if name not in beside)
        keys = content_keys(telling, table.n_rows)
    else:
        matrix = MatrixSummary.of(table.matrix)
    rows = part.tocsr() if issparse(part) else part
    return Survey(columns, [table.n_rows], draw(rows, number, size, keys), matrix)


def _joined(surveys: Sequence[Survey], *, size: int) -> Survey:
    columns, matrix = surveys[0].columns, surveys[0].matrix
    for other in surveys[1:]:
        columns = {name: one.joined(other.columns[name]) for name, one in columns.items()}
        if matrix is not None and other.matrix is not None:
            matrix = matrix.joined(other.matrix)
    sizes = [rows for one in surveys for rows in one.sizes]
    return Survey(columns, sizes, join([one.drawn for one in surveys], size), matrix)
