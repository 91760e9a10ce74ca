"""From data to features and known labels: which columns are what, and which rows are used."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from ..wording import Argument, ArgumentError
from .cells import Cells, check_cells, check_sparse, whole
from .content import drawn_rows
from .encoding import Encoding, encode, learn
from .features import read_features, taken
from .given import aligned, find_given
from .notes import InputError, InputWarning, Note
from .references import Reference, read_reference
from .roles import Roles, assign_roles
from .scaling import are_components, have_one_length
from .shown import Shown, read_shown
from .table import Columns, OnDisk, Table, listing, read_table

#: Share of a column from which filling in its missing values makes a group of its own.
MANY_MISSING = 0.2


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data ready for an estimator.

    Attributes
    ----------
    X : array or CSR matrix of shape (n, d)
        The features.
    encoding : Encoding
        How they came about; encodes new rows.
    index : array of shape (n,)
        Identifiers of the rows.
    rows : array of int of shape (n,)
        Positions of the rows in the data; fewer than the data has if some were left out.
    given : list of arrays of shape (n,)
        The given labelings, as they were found: not yet checked to be groupings.
    given_names : list of str
        Their names.
    imputed : dict
        Number of imputed values by name of the column.
    references : dict of str to Reference
        Columns that are no features, to compare with what is found.
    roles : Roles
        What every column is for.
    shown : Shown
        Columns that are there to be looked at: texts, and files of pictures.
    drawn : array of int of shape (m,) or None
        Which of the rows a search looks at, if these are many; None for all of them.
    """

    X: Any
    encoding: Encoding
    index: Array
    rows: Array
    given: list[Array]
    given_names: list[str]
    imputed: dict[str, int]
    references: dict[str, Reference]
    roles: Roles
    shown: Shown = field(default_factory=Shown)
    drawn: Array | None = None

    def excerpt(self) -> Prepared:
        """Return what a search looks at: the rows drawn, and of other columns what is given."""
        if self.drawn is None:
            return self
        return replace(
            self,
            X=self.X[self.drawn],
            index=self.index[self.drawn],
            rows=self.rows[self.drawn],
            given=[labels[self.drawn] for labels in self.given],
            references={},
            shown=Shown(),
            drawn=None,
        )


def prepare(
    data: Any,
    *,
    given: Any = None,
    features: Any = None,
    exclude: Any = None,
    categories: str = "reference",
    identifier: str | None = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    latent: bool = False,
) -> Prepared:
    """Turn data into a matrix of features, and take the known labels out of it.

    What columns are for is decided as :func:`multifacet.frames.roles.assign_roles` tells. Of the
    features, numbers stay, truth values become 0 and 1, and categories become indicators. Text
    that reads as numbers throughout is taken as numbers. A warning says what is left out.

    Parameters
    ----------
    data : data frame (pandas, polars, pyarrow), dict of columns, array or sparse matrix (n, d)
        The data. Sparse data are scaled, but not centred, and stay sparse.
    given : str, list of str, array of shape (n,) or (n, m), list of labelings, or data frame
        What is already known: columns of the data by name, which are then no features, or the
        labels themselves. If both are of pandas, rows are matched by their index.
    features : str or list of str, optional
        The features; by default what looks like measurements. In an array, all columns are.
    exclude : str or list of str, optional
        Columns that are no features.
    categories : {"reference", "use"}, default="reference"
        Whether columns that look like labels are references, or features like any other.
    identifier : str, optional
        Column that names the rows; by default the index of a pandas data frame, a column that is
        different in every row, or 0 to n - 1.
    standardize : bool or "auto", default="auto"
        Give every column mean 0 and variance 1; the indicators of one category have variance 1
        together. "auto" does so unless the values show that all columns share a unit (see
        :func:`multifacet.frames.scaling.choose_scaling`, ``are_components`` and
        ``have_one_length`` beside it): then they are centred, and all divided by one number. It
        warns of that, and of positive columns that are skewed; ``encoding.scaling`` and
        ``encoding.notes`` say what was done, and why.
    missing : {"error", "impute", "drop"}, default="error"
        What to do about missing values: raise an error; put the median or the most frequent value
        in their place; or leave out their rows. Labels are never imputed: "impute" leaves out
        the rows that lack one. A warning says how many rows are left out, or how many cells were
        filled in. Those of columns that are no features do not matter.
    latent : bool, default=False
        Let categories be latent scores (:mod:`multifacet.frames.latent`) where units differ, for a
        search for groups, in which gaps between their values would stand before everything else.

    Returns
    -------
    Prepared
        The features, how they came about, and the given labels.

    Examples
    --------
    >>> from multifacet.frames import prepare
    >>> birds = {
    ...     "species": ["Adelie", "Adelie", "Gentoo", "Gentoo"],
    ...     "mass": [3750, 3800, 4950, 5100],
    ...     "sex": ["male", "female", "female", "male"],
    ... }
    >>> prepared = prepare(birds, given="species")
    >>> prepared.encoding.feature_names, prepared.X.shape, prepared.given_names
    (['mass'], (4, 1), ['species'])
    >>> prepare(birds, given="species", categories="use").encoding.feature_names
    ['mass', 'sex=male']
    """
    _check_options(standardize, missing)
    table = read_table(data)
    said = {"features": features, "exclude": exclude, "categories": categories}
    labels, roles = _decided(data, table, given, identifier=identifier, **said)
    for note in roles.notes:
        if note.before.startswith("left out"):
            warnings.warn(InputWarning(note), stacklevel=2)
    cells = read_features(table, roles)
    rows = _complete_rows(table, cells, [column for _, column in labels], missing)
    if len(rows) < table.n_rows:
        cells = taken(cells, rows)
    matrix = cells if table.matrix is None else table.matrix[rows]
    encoding = learn(
        matrix,
        standardize=standardize,
        centre=isinstance(table.columns, OnDisk),
        impute=missing == "impute",
        latent=latent and table.named,
    )
    constant = [column.name for column in encoding.columns if not column.features]
    if constant:
        plural = "s" * (len(constant) > 1)
        message = f"left out {len(constant)} constant column{plural}: {listing(constant)}"
        warnings.warn(message, UserWarning, stacklevel=2)
    imputed = _count_missing(cells) if missing == "impute" else {}
    X, encoding = _without_inflated_features(_encode(encoding, table, matrix, rows), encoding)
    for note in [*_notes_on_imputed(imputed, len(rows)), *encoding.notes]:
        if note.remedy is not None:
            warnings.warn(InputWarning(note), stacklevel=2)
    # The index of pandas is what labels are joined by, so only the user puts a column before it.
    named = roles.identifier if identifier or not table.indexed else None
    index = table.index if named is None else whole(table.read(named).values)
    return Prepared(
        X=X,
        encoding=replace(encoding, identifier=named),
        index=index[rows],
        rows=rows,
        given=[whole(column.values[rows]) for _, column in labels],
        given_names=[name for name, _ in labels],
        imputed=imputed,
        references={name: read_reference(table, name, rows) for name in roles.references},
        roles=roles,
        shown=read_shown(table, roles, rows),
        drawn=drawn_rows(table, rows),
    )


def _check_options(standardize: Any, missing: Any) -> None:
    """Raise for options that :func:`prepare` does not know."""
    if not isinstance(standardize, bool) and standardize != "auto":
        raise ArgumentError(
            Argument.of("standardize", standardize), " is not known: use True, False or 'auto'"
        )
    if missing not in ("error", "impute", "drop"):
        raise ArgumentError(
            Argument.of("missing", missing), " is not known: use 'error', 'impute', 'drop'"
        )


def decide_roles(data: Any, *, given: Any = None, **said: Any) -> Roles:
    """Return what :func:`prepare` would take the columns for, without doing anything with them.

    Parameters
    ----------
    data, given : object
        As in :func:`prepare`.
    **said
        Its ``features``, ``exclude``, ``categories`` and ``identifier``.

    Examples
    --------
    >>> from multifacet.frames.preparation import decide_roles
    >>> decide_roles({"mass": [1, 3, 1, 3], "sex": list("fmmf")}, given=[0, 0, 1, 1]).references
    ['sex']
    """
    return _decided(data, read_table(data), given, **said)[1]


def _decided(
    data: Any, table: Table, given: Any, **said: Any
) -> tuple[list[tuple[str, Cells]], Roles]:
    """Return the given labelings, and what all columns are for."""
    if table.n_rows < 2:
        raise ValueError(f"data has too few rows ({table.n_rows}): at least 2 are needed")
    labels, taken = find_given(aligned(given, data), table)
    return labels, assign_roles(table, given=taken, **said)


def _notes_on_imputed(imputed: dict[str, int], n: int) -> list[Note]:
    """Say how many cells were filled in where, and what it costs if they are many."""
    if not imputed:
        return []
    counts = sorted(imputed.items(), key=lambda pair: -pair[1])
    shown = ", ".join(f"{name!r} {count} ({count / n:.0%})" for name, count in counts[:5])
    more = f", ... ({len(counts)} columns in all)" if len(counts) > 5 else ""
    total = f"filled in {sum(imputed.values())} missing values: {shown}{more}; "
    many = tuple(name for name, count in counts if count > MANY_MISSING * n)
    if not many:
        return [Note(total, "drop rows")]
    fact = f"{total}so many equal values in {listing(many, 5)} can look like a group of their own: "
    return [Note(fact, "left out or drop rows", many)]


def _count_missing(cells: Mapping[str, Cells]) -> dict[str, int]:
    counts = {name: int(column.missing.sum()) for name, column in cells.items()}
    return {name: count for name, count in counts.items() if count}


def _encode(encoding: Encoding, table: Table, features: Any, rows: Array) -> Any:
    """Return the features (n, d): in memory, or mapped from a temporary file."""
    if not isinstance(table.columns, OnDisk):
        return encode(encoding, features, table.dtype)
    shape = (len(rows), len(encoding.feature_names))
    # The system deletes the file when the last array that maps it is gone.
    with tempfile.TemporaryFile(prefix="multifacet-") as file:
        X = np.memmap(file, dtype=table.dtype, mode="w+", shape=shape)
    first = row = 0
    for batch in table.columns.batches():
        size = len(next(iter(batch.values())))
        chosen = rows[row : row + np.searchsorted(rows[row : row + size], first + size)]
        if len(chosen):
            X[row : row + len(chosen)] = encoding.transform(_rows_of(batch, chosen - first))
        first, row = first + size, row + len(chosen)
    return X


def _without_inflated_features(X: Any, encoding: Encoding) -> tuple[Any, Encoding]:
    """Return features (n, d), on one scale if they turn out to be computed in one space."""
    if encoding.scaling != "units" or issparse(X):
        return X, encoding
    if are_components(X, encoding.mean, encoding.scale):
        one = encoding.on_one_scale("components")
    elif _only_numbers(encoding) and have_one_length(X, encoding.mean, encoding.scale):
        one = encoding.on_one_scale("lengths")
    else:
        return X, encoding
    X *= (encoding.scale / one.scale).astype(X.dtype)
    return X, one


def _only_numbers(encoding: Encoding) -> bool:
    return all(column.kind == "number" for column in encoding.columns if column.features)


def _rows_of(batch: Columns, rows: Array) -> Columns:
    whole_batch = len(rows) == len(next(iter(batch.values())))
    return batch if whole_batch else {name: column.take(rows) for name, column in batch.items()}


def _complete_rows(
    table: Table, cells: Mapping[str, Cells], labels: list[Cells], missing: str
) -> Array:
    """Return the positions of the rows to use; raise for missing values that are not allowed."""
    if table.matrix is None:
        gone = check_cells(cells.values(), table.n_rows, missing, "impute or drop")
    else:
        gone = check_sparse(table.matrix, missing)
    # Labels are never guessed.
    allowed = "error" if missing == "error" else "drop"
    unlabelled = check_cells(labels, table.n_rows, allowed, "label or drop")
    rows = np.flatnonzero(~(gone | unlabelled))
    if len(rows) < 2:
        fact = f"only {len(rows)} of {table.n_rows} rows have no missing values: at least 2 are "
        raise InputError(Note(f"{fact}needed, so ", "impute or left out"))
    if len(rows) < table.n_rows:
        lack = "with missing values" if missing == "drop" else "without a label"
        message = f"left out {table.n_rows - len(rows)} of {table.n_rows} rows {lack}"
        warnings.warn(message, UserWarning, stacklevel=3)
    return rows
