"""Tables in partitions: a sample to search in, and an encoding learnt from all rows, in one pass.

Partitions are summarised where they are, and summaries are joined. What counts values is exact:
categories, means, spreads, missing cells. What needs all values at once comes from the sample:
medians, and the quantiles behind ``standardize="auto"``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..engines.base import is_dask
from ..engines.contents import DRAWN, Drawn, draw, join, tree
from ..frames import MAX_CATEGORIES, Encoding, Prepared, Roles, prepare
from ..frames.cells import Cells, numbers_if_text
from ..frames.encoding import Column
from ..frames.notes import InputError, Note
from ..frames.preparation import decide_roles
from ..frames.table import read_table
from ..linalg import Array

#: Different values of a column that are counted at most: more are no categories.
COUNTED = 1000
#: Rows that an error names.
NAMED_ROWS = 5
#: Column in which labels travel with the rows.
LABELS = "__given_{}__"


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
class Survey:
    """What one pass tells of a table: its columns, the sizes of its partitions, and a sample."""

    columns: dict[str, ColumnSummary]
    sizes: list[int]
    drawn: Drawn


def survey(data: Any, size: int = DRAWN) -> Survey:
    """Look at all partitions of a dask data frame or array once.

    Parameters
    ----------
    data : dask data frame or dask array of shape (n, d)
        The table; partitions may be empty, and of unknown size.
    size : int, optional
        Rows of the sample.
    """
    from dask import delayed

    if not hasattr(data, "columns"):
        if data.ndim != 2:
            raise ValueError(f"data has shape {data.shape}: pass rows of equal length, (n, d)")
        data = data.rechunk({1: -1})
    parts = np.ravel(data.to_delayed())
    look = delayed(partial(_look, size=size))
    nodes = [look(part, number) for number, part in enumerate(parts)]
    return tree(partial(_joined, size=size), nodes).compute()


def _look(part: Any, number: int, *, size: int) -> Survey:
    if issparse(part):
        raise ValueError(
            "data is a dask array of sparse chunks: pass them to KDAC, or one CSR matrix here"
        )
    table = read_table(part)
    columns = {name: ColumnSummary.of(table.read(name)) for name in table.columns}
    return Survey(columns, [table.n_rows], draw(part, number, size))


def _joined(surveys: Sequence[Survey], *, size: int) -> Survey:
    columns = surveys[0].columns
    for other in surveys[1:]:
        columns = {name: one.joined(other.columns[name]) for name, one in columns.items()}
    sizes = [rows for one in surveys for rows in one.sizes]
    return Survey(columns, sizes, join([one.drawn for one in surveys], size))


def prepare_partitions(
    data: Any,
    *,
    given: Any = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    **said: Any,
) -> Prepared:
    """Do as :func:`multifacet.frames.prepare`, but with a sample of a table in partitions.

    Parameters
    ----------
    data : dask data frame or dask array of shape (n, d)
        The table.
    given, standardize, missing : object
        As in :func:`multifacet.frames.prepare`; labels may be dask series or arrays as well.
    **said
        Its ``features``, ``exclude``, ``categories`` and ``identifier``.

    Returns
    -------
    Prepared
        Features of up to 20,000 rows, drawn by their content, and the encoding of all.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from multifacet.tables.partitions import prepare_partitions
    >>> birds = dd.from_pandas(pd.DataFrame({"mass": [1, 3, 2, 4], "sex": list("fmmf")}))
    >>> prepared = prepare_partitions(birds, categories="use", standardize=True)
    >>> prepared.encoding.mean.tolist(), prepared.X.shape
    ([2.5, 0.5], (4, 2))
    """
    found, sample, known, labels = _surveyed(data, given)
    features = decide_roles(sample, given=known, **said).features
    _refuse_bad_cells(found, labels, {*features}, missing)
    base = prepare(sample, given=known, standardize=standardize, missing=missing, **said)
    encoding = _completed(base.encoding, found.columns)
    rows = sample.iloc[base.rows] if hasattr(sample, "iloc") else sample[base.rows]
    roles = _of_all_rows(base.roles, found)
    return replace(base, X=encoding.transform(rows), encoding=encoding, roles=roles)


def partition_roles(data: Any, *, given: Any = None, **said: Any) -> Roles:
    """Return what :func:`prepare_partitions` would take the columns for, told from its sample.

    Parameters
    ----------
    data, given, **said : object
        As in :func:`prepare_partitions`.
    """
    found, sample, known, _ = _surveyed(data, given)
    return _of_all_rows(decide_roles(sample, given=known, **said), found)


def _surveyed(data: Any, given: Any) -> tuple[Survey, Any, Any, set[str]]:
    """Return the survey, its sample, what is given there, and the columns that hold labels."""
    data, given, carried = _with_labels(data, given)
    found = survey(data)
    n_rows = sum(found.sizes)
    if n_rows < 2:
        raise ValueError(f"data has too few rows ({n_rows}): at least 2 are needed")
    sample = found.drawn.rows
    if carried:
        known = [np.asarray(sample[name]) for name in carried]
        return found, sample.drop(columns=carried), known, {*carried}
    known = _sampled_labels(given, found)
    return found, sample, known, {*_names(known)}


def _of_all_rows(roles: Roles, found: Survey) -> Roles:
    """Return roles that a sample tells with the numbers of rows and of missing cells of all."""
    absent = {name: one.n_rows - one.n_present for name, one in found.columns.items()}
    columns = [replace(column, missing=absent[column.name]) for column in roles.columns]
    return replace(roles, columns=columns, n_rows=sum(found.sizes))


def _with_labels(data: Any, given: Any) -> tuple[Any, Any, list[str]]:
    """Return data with labels in partitions as further columns, what else is given, their names."""
    several = given if isinstance(given, list | tuple) else [given]
    if not any(is_dask(one) for one in several):
        return data, given, []
    if not (hasattr(data, "columns") and all(is_dask(one) for one in several)):
        raise ValueError(
            "given is in chunks: pass names of columns of a dask data frame, dask series of the "
            "same partitions, or labels in memory"
        )
    columns = {LABELS.format(i): one for i, one in enumerate(several)}
    return data.assign(**columns), None, list(columns)


def _names(columns: Any) -> list[str]:
    """Return names of columns, none if labels are passed in their place."""
    if isinstance(columns, str):
        return [columns]
    listed = isinstance(columns, list | tuple) and all(isinstance(one, str) for one in columns)
    return list(columns) if listed else []


def _sampled_labels(given: Any, found: Survey) -> Any:
    """Return labels in memory of the rows that were drawn; names of columns stay names."""
    names = _names(given)
    if given is None or (names and all(name in found.columns for name in names)):
        return given
    offsets = np.concatenate([[0], np.cumsum(found.sizes)])
    partition, row = found.drawn.places.T
    positions, n_rows = offsets[partition] + row, int(offsets[-1])
    if names and len(names) != n_rows:
        return given  # which is said to be no column
    if isinstance(given, list | tuple) and np.ndim(given[0]) > 0:
        return [_taken_labels(one, positions, n_rows) for one in given]
    return _taken_labels(given, positions, n_rows)


def _taken_labels(labels: Any, positions: Array, n_rows: int) -> Any:
    if len(labels) != n_rows:
        raise ValueError(f"given has {len(labels)} labels for {n_rows} rows")
    return np.asarray(labels)[positions]


def _refuse_bad_cells(found: Survey, labels: set[str], features: set[str], missing: str) -> None:
    """Raise for infinite values, and for missing ones that are not allowed, in any partition."""
    for name in (name for name in found.columns if name in features | labels):
        one = found.columns[name]
        absent = one.n_rows - one.n_present
        kinds: list[tuple[str, list[int], int, Any]] = []
        if name in features:
            kinds.append(("infinite", one.infinite, len(one.infinite), "replace"))
        if missing == "error":
            remedy = "label or drop" if name in labels else "impute or drop"
            kinds.append(("missing", one.missing, absent, remedy))
        for what, rows, count, remedy in kinds:
            if rows:
                plural = "s" * (count > 1)
                shown = ", ".join(map(str, rows)) + ", ..." * (count > len(rows))
                fact = f"column {name!r} has {what} values in row{plural} {shown}: "
                raise InputError(Note(fact, remedy, after="; rows are counted from 0"))


def _completed(encoding: Encoding, columns: dict[str, ColumnSummary]) -> Encoding:
    """Return an encoding of a sample with the categories, means and spreads of all rows."""
    described: list[Column] = []
    names: list[str] = []
    mean: list[float] = []
    scale: list[float] = []
    for column in encoding.columns:
        if not column.features:
            described.append(column)
            continue
        column, centre, spread = _described(column, columns[column.name])
        first = len(names)
        names += [f"{column.name}={v}" for v in column.categories[-len(spread) :]] or [column.name]
        mean.extend(centre)
        scale.extend(spread * np.sqrt(len(spread)))
        described.append(replace(column, features=list(range(first, len(names)))))
    full = replace(
        encoding,
        columns=described, feature_names=names, mean=np.array(mean), scale=np.array(scale),
    )  # fmt: skip
    if encoding.scaling in ("counts", "range", "components"):
        return full.on_one_scale(encoding.scaling)
    if encoding.scaling == "told" and not encoding.mean.any() and (encoding.scale == 1).all():
        return replace(full, mean=np.zeros(len(names)), scale=np.ones(len(names)))
    return full


def _described(column: Column, known: ColumnSummary) -> tuple[Column, Array, Array]:
    """Return a column with what all rows tell of it, and means and spreads of its features."""
    place = f"column {column.name!r}"
    if column.kind != "category":
        if not known.numeric:
            raise ValueError(
                f"{place} holds numbers in some rows and text in others: convert it, or leave it "
                "out"
            )
        known = known if column.fill is None else known.filled(float(column.fill))
        spread = np.sqrt(known.squares / known.n_present)
        return column, np.array([known.mean]), np.array([spread])
    if "number" in known.kinds or "boolean" in known.kinds:
        raise ValueError(
            f"{place} holds text in some partitions and numbers in others: convert it, or leave "
            "it out"
        )
    counts = known.counts
    if counts is None or len(counts) > MAX_CATEGORIES:
        many = f"more than {MAX_CATEGORIES if counts is None else len(counts) - 1}"
        raise InputError(
            Note(
                f"{place} has {many} different values: group them, or ", "left out", (column.name,)
            )
        )
    categories = [value for value in known.order or sorted(counts) if value in counts]
    fill, n = None, known.n_present
    if column.fill is not None:
        fill, n = max(categories, key=counts.__getitem__), known.n_rows
        counts = counts + Counter({fill: n - known.n_present})
    shares = np.array([counts[value] / n for value in categories])
    shares = shares[1:] if len(categories) == 2 else shares
    filled = replace(column, categories=categories, fill=fill)
    return filled, shares, np.sqrt(shares * (1 - shares))
