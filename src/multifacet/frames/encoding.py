"""The way from columns to features: learnt from data, applied to new rows, saved and loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_matrix, diags, issparse

from ..documents import EncodedColumnDict, EncodingDict
from ..linalg import TOO_LARGE, TOO_SMALL, Array
from .cells import Cells, as_kind, check_cells, check_sparse
from .latent import Ordered, Race, draws, row_keys
from .notes import Note
from .scaling import SCALINGS, Profile, Scaling, choose_scaling
from .table import listing, read_table

#: Numbers of at most so many values, each of which so many rows have, may be categories.
_FEW_VALUES, _ROWS_PER_VALUE = 5, 3
#: Share of the rows that measurements tell apart from which categories can be drawn by rows, and
#: of the numbers and truth values that are measured.
_TOLD_APART, _MEASURED = 0.5, 0.25


@dataclass(frozen=True)
class Column:
    """How one column of the data became features.

    Attributes
    ----------
    name : str
        Name of the column; ``x0``, ``x1``, ... in data without names.
    kind : {"number", "boolean", "category"}
        What it holds.
    categories : list of str
        Values of a category, in the order of its features; empty for the other kinds.
    features : list of int
        Its columns of X: none if it is constant, one for a number, a boolean and a category of
        two values (the indicator of the second), otherwise one per category.
    fill : float, bool, str or None
        What stands in for a missing value; None if missing values are errors.
    levels, shares : list of float
        The numbers that stand for its values (empty if they have no order) and how often each is
        there, if its features are latent scores (see :mod:`multifacet.frames.latent`); empty if
        they are the numbers themselves.
    """

    name: str
    kind: str
    categories: list[str] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    fill: float | bool | str | None = None
    levels: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    @property
    def latent(self) -> Ordered | Race | None:
        """The way from values to latent scores and back; None if there is none."""
        if not self.shares:
            return None
        shares = tuple(self.shares)
        return Ordered(tuple(self.levels), shares) if self.levels else Race(shares)


@dataclass(frozen=True, eq=False)
class Encoding:
    """The way from columns to features, without any data: ``X = (encoded - mean) / scale``.

    Attributes
    ----------
    columns : list of Column
        The columns used, including constant ones, which have no features.
    feature_names : list of str
        Names of the d features, such as ``mass``, ``sex=male`` and ``island=Biscoe``.
    mean, scale : array of shape (d,)
        Subtracted from, then divided into the encoded columns.
    identifier : str or None
        The column that names the rows.
    scaling : {"told", "units", "counts", "range", "components", "lengths"}
        Why the features have their scales, see :mod:`multifacet.frames.scaling`.
    skewed : list of str
        Columns of positive numbers whose logarithms may serve better, if anyone looked for them.
    """

    columns: list[Column]
    feature_names: list[str]
    mean: Array
    scale: Array
    identifier: str | None = None
    scaling: Scaling = "told"
    skewed: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[Note]:
        """What was decided about the scales of columns, and why; nothing if it was not asked."""
        if self.scaling == "told":
            return []
        found = [_NOTES[self.scaling]]
        if self.skewed:
            what = "are positive and skewed" if len(self.skewed) > 1 else "is positive and skewed"
            fact = f"{listing(self.skewed)} {what}, so that distances are about few rows: "
            found.append(Note(fact, "logarithms", tuple(self.skewed)))
        return found

    def on_one_scale(self, why: Scaling) -> Encoding:
        """Return the encoding with one scale for all features, which have variance 1 on average."""
        largest = self.scale.max()  # whose square may be more than a number can be
        common = largest * np.sqrt(np.mean((self.scale / largest) ** 2))
        return replace(self, scale=np.full_like(self.scale, common), scaling=why)

    def plain(self, X: Any) -> Any:
        """Return features (n, d) with the values of categories in place of latent scores.

        Examples
        --------
        >>> from multifacet.frames import prepare
        >>> birds = {"mass": [1.0, 2.5, 3.0, 4.5], "sex": ["f", "m", "m", "f"]}
        >>> prepared = prepare(birds, categories="use", latent=True)
        >>> prepared.encoding.plain(prepared.X)[:, 1].tolist()
        [-1.0, 1.0, 1.0, -1.0]
        """
        softened = [column for column in self.columns if column.features and column.shares]
        if not softened:
            return X
        X = np.array(X)
        for column in softened:
            where, latent = column.features, column.latent
            assert latent is not None
            mean, scale = self.mean[where], self.scale[where]
            X[:, where] = (latent.values(X[:, where] * scale + mean) - mean) / scale
        return X

    def transform(self, data: Any) -> Any:
        """Encode new rows of the same kind of data.

        Parameters
        ----------
        data : data frame, dict of columns, array or sparse matrix of m rows
            Columns are found by their names, or by their places if they have none. Columns that
            were not used are ignored.

        Returns
        -------
        array or CSR matrix of shape (m, d)
            The features of the new rows.

        Examples
        --------
        >>> from multifacet.frames import prepare
        >>> birds = {"mass": [1, 3, 1, 3], "sex": ["f", "m", "m", "f"]}
        >>> encoding = prepare(birds, categories="use").encoding
        >>> encoding.transform({"sex": ["m"], "mass": [2], "age": [7]})
        array([[0., 1.]])
        """
        table = read_table(data)
        names = [column.name for column in self.columns]
        if table.matrix is not None:
            d = table.matrix.shape[1]
            if self.mean.any() or names != [f"x{j}" for j in range(d)]:
                raise ValueError(
                    f"data is a sparse matrix with {d} columns, but the encoding was not made "
                    "from such data: pass the rows in the form that it was made from"
                )
            check_sparse(table.matrix, "error")
            return encode(self, table.matrix, table.dtype)
        if not table.named and names != list(table.columns):
            raise ValueError(
                f"data has {len(table.columns)} columns without names, but the encoding was made "
                f"from {len(names)} columns: {listing(names)}"
            )
        used = [column for column in self.columns if column.features]
        absent = [column.name for column in used if not table.has(column.name)]
        if len(absent) > 1:  # of a single one, reading it says more
            raise ValueError(f"data has no column {listing(absent)}: all of these are needed")
        cells = {c.name: as_kind(table.read(c.name), c.kind) for c in used}
        missing = "error" if used[0].fill is None else "impute"
        check_cells(cells.values(), table.n_rows, missing, "complete")
        return encode(self, cells, table.dtype)

    def to_dict(self) -> EncodingDict:
        """Return a description that JSON can hold; :meth:`from_dict` reads it."""
        plain = {**asdict(self), "mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return cast(EncodingDict, plain)

    @classmethod
    def from_dict(cls, description: EncodingDict) -> Encoding:
        """Return the encoding that :meth:`to_dict` has described."""
        scaling = description.get("scaling", "told")  # of which older descriptions say nothing
        if scaling not in SCALINGS:
            raise ValueError(f"the scaling {scaling!r} is not known")
        return cls(
            columns=[_column(one) for one in description["columns"]],
            feature_names=list(description["feature_names"]),
            mean=np.array(description["mean"], dtype=float),
            scale=np.array(description["scale"], dtype=float),
            identifier=description["identifier"],
            scaling=cast(Scaling, scaling),
            skewed=list(description.get("skewed", [])),
        )


def _column(described: EncodedColumnDict) -> Column:
    known = {one.name for one in fields(Column)}
    return Column(**cast(Any, {name: v for name, v in described.items() if name in known}))


_KEPT = "features keep their scales relative to each other, since "
#: What is said about scales.
_NOTES: dict[str, Note] = {
    "units": Note("every feature has standard deviation 1, since units may differ"),
    "counts": Note(
        f"{_KEPT}many columns are mostly 0, as counts and frequencies are. If their units differ, ",
        "standardize",
    ),
    "range": Note(
        f"{_KEPT}many columns fill one range, as pixels and ratings do. If their units differ, ",
        "standardize",
    ),
    "components": Note(
        f"{_KEPT}they are uncorrelated, as principal components are. If all matter alike, ",
        "standardize",
    ),
    "lengths": Note(
        f"{_KEPT}all rows have the same length, as embeddings have: their distances are angles. "
        "If units differ, ",
        "standardize",
    ),
}


def encode(encoding: Encoding, rows: Any, dtype: Any) -> Any:
    """Return the features (n, d) of checked rows: cells by name of the column, or a CSR matrix."""
    used = [(j, column) for j, column in enumerate(encoding.columns) if column.features]
    if issparse(rows):
        scaled = rows[:, [j for j, _ in used]] @ diags(1 / encoding.scale)
        return csr_matrix(scaled, dtype=dtype)
    n = len(rows[used[0][1].name].values)
    numbers = {column.name: _numbers(column, rows[column.name]) for _, column in used}
    softened = any(column.shares for _, column in used)
    keys = row_keys((_identity(part) for part in numbers.values()), n) if softened else None
    X = np.empty((n, len(encoding.feature_names)), dtype=dtype)
    for _, column in used:
        where = column.features
        part = numbers.pop(column.name)
        if keys is not None and column.latent is not None:
            part = column.latent.scores(part, draws(keys, where[0], len(where)))
        X[:, where] = (part - encoding.mean[where]) / encoding.scale[where]
    return X


def _identity(numbers: Array) -> Array:
    """Return one number per row that tells what a column (n, c) holds."""
    return numbers[:, 0] if numbers.shape[1] == 1 else numbers.argmax(axis=1)


def _numbers(column: Column, cells: Cells) -> Array:
    """Encode one column, before standardising: (n, number of features)."""
    values = cells.values
    if column.fill is not None:
        values = np.where(cells.missing, column.fill, values)
    if column.kind != "category":
        return values[:, None]
    position = {category: i for i, category in enumerate(column.categories)}
    codes = np.array([position.get(value, -1) for value in values.tolist()], dtype=int)
    if (codes < 0).any():
        row = int(np.argmin(codes))
        raise ValueError(
            f"{cells.place} has the unknown value {values[row]!r} in row {row}: known are "
            f"{listing(column.categories, len(position))}"
        )
    indicators = codes[:, None] == np.arange(len(position))
    return indicators[:, 1:] if len(position) == 2 else indicators


def learn(
    rows: Any, *, standardize: bool | str, centre: bool, impute: bool, latent: bool = False
) -> Encoding:
    """Return the encoding of checked rows: cells by name of the column, or a CSR matrix.

    If ``latent``, categories become latent scores where units differ and measurements tell rows
    apart. Where all columns are alike, being discrete sets none of them apart.

    Features that are not standardised may be centred all the same: if they become numbers of single
    precision, a large offset would eat up their digits.
    """
    profiles: dict[str, Profile | None] | None = {} if standardize == "auto" else None
    if issparse(rows):
        encoding = _learn_sparse(rows, profiles)
    else:
        encoding = _learn_columns(rows, impute, profiles)
    d = len(encoding.feature_names)
    if d == 0:
        raise ValueError("all columns are constant: there is nothing to separate")
    if profiles is not None:
        why = choose_scaling(list(profiles.values()))
        if why != "units":
            return encoding.on_one_scale(why)
        skewed = [name for name, one in profiles.items() if one is not None and one.skewed]
        encoding = replace(encoding, scaling=why, skewed=skewed)
    if standardize:
        return _with_latent_scores(encoding, rows) if latent and not issparse(rows) else encoding
    return replace(encoding, mean=encoding.mean if centre else np.zeros(d), scale=np.ones(d))


def _learn_columns(
    cells: Mapping[str, Cells], impute: bool, profiles: dict[str, Profile | None] | None
) -> Encoding:
    """Learn from columns, read one at a time; fill in the profiles of those that vary."""
    columns, scale = [], []
    names: list[str] = []
    mean: list[float] = []
    for name, found in cells.items():
        column = _describe(name, found, impute)
        numbers = _numbers(column, found)
        with np.errstate(over="ignore", invalid="ignore"):
            centre, spread = numbers.mean(axis=0, dtype=float), numbers.std(axis=0, dtype=float)
        if not spread.any() and numbers.min() < numbers.max():
            raise ValueError(f"{found.place} varies by values {TOO_SMALL}")
        if _varies(centre, spread, numbers.dtype, found.place).any():
            count = len(spread)
            column = replace(column, features=list(range(len(names), len(names) + count)))
            names += [f"{name}={value}" for value in column.categories[-count:]] or [name]
            mean.extend(centre)
            # The c indicators of a category have variance 1 together, as one number has: what
            # counts in distances is how many columns say so, not how many values they have.
            scale.extend(spread * np.sqrt(count))
            if profiles is not None:
                number = column.kind == "number"
                profiles[name] = Profile.of(numbers[:, 0]) if number else None
        columns.append(column)
    return Encoding(columns, names, np.array(mean), np.array(scale))


def _with_latent_scores(encoding: Encoding, cells: Mapping[str, Cells]) -> Encoding:
    """Return an encoding in which categories become latent scores, if rows are told apart."""
    used = [column for column in encoding.columns if column.features]
    softened = {column.name: _softened(column, cells[column.name]) for column in used}
    measured = [column for column in used if not softened[column.name].shares]
    numbers = sum(column.kind != "category" for column in used)
    if not measured or len(measured) < _MEASURED * numbers:
        return encoding
    n = len(cells[used[0].name].values)
    keys = row_keys((_numbers(one, cells[one.name])[:, 0] for one in measured), n)
    if len(np.unique(keys)) <= _TOLD_APART * n:
        return encoding
    columns = [softened.get(column.name, column) for column in encoding.columns]
    return replace(encoding, columns=columns)


def _softened(column: Column, cells: Cells) -> Column:
    """Return a column of few values with how often each is there; others as they are."""
    numbers = _numbers(column, cells)
    if numbers.shape[1] > 1:
        return replace(column, shares=numbers.mean(axis=0).tolist())
    levels, counts = np.unique(numbers.astype(float), return_counts=True)
    few = len(levels) <= min(_FEW_VALUES, len(numbers) / _ROWS_PER_VALUE)
    if column.kind == "number" and not few:
        return column
    return replace(column, levels=levels.tolist(), shares=(counts / len(numbers)).tolist())


def _learn_sparse(matrix: Any, profiles: dict[str, Profile | None] | None) -> Encoding:
    """Learn from a CSR matrix; fill in the profiles of the columns that vary."""
    n, d = matrix.shape
    where, values = matrix.indices, matrix.data.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.bincount(where, values, d) / n
        zeros = n - np.bincount(where, minlength=d)
        squares = np.bincount(where, (values - mean[where]) ** 2, d) + zeros * mean**2
        spread = np.sqrt(squares / n)
    varies = _varies(mean, spread, matrix.dtype, "data")
    columns = [Column(f"x{j}", "number") for j in range(d)]
    for place, j in enumerate(np.flatnonzero(varies)):
        columns[j].features.append(place)
    names = [column.name for column in columns if column.features]
    if profiles is not None:
        by_column = matrix[:, varies].tocsc()
        ends = zip(names, by_column.indptr[:-1], by_column.indptr[1:], strict=True)
        for name, start, stop in ends:
            profiles[name] = Profile.of(by_column.data[start:stop], zeros=n - int(stop - start))
    # Centring would fill the zeros.
    return Encoding(columns, names, np.zeros(len(names)), spread[varies])


def _varies(mean: Array, spread: Array, dtype: Any, place: str) -> Array:
    """Tell which columns vary by more than rounding."""
    if not np.isfinite(spread).all():
        raise ValueError(f"{place} holds values {TOO_LARGE}")
    precision = np.finfo(np.float32 if dtype == np.float32 else np.float64).eps
    return spread > 10 * precision * np.abs(mean)


def _describe(name: str, cells: Cells, impute: bool) -> Column:
    present = cells.present
    if cells.kind == "number":
        return Column(name, "number", fill=float(np.median(present)) if impute else None)
    if cells.kind == "boolean":
        return Column(name, "boolean", fill=bool(present.mean() > 0.5) if impute else None)
    counts = Counter(present.tolist())
    categories = [value for value in cells.order or sorted(counts) if value in counts]
    most_frequent = max(categories, key=counts.__getitem__)
    return Column(name, "category", categories, fill=most_frequent if impute else None)
