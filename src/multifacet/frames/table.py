"""Any container of data as a table: its columns by name, not yet read."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..linalg import Array, is_array_like
from ..wording import Argument, ArgumentError
from .cells import ONE_VALUE, Cells, as_array, read_column
from .dates import part_of, split_part
from .vectors import Ragged, part_names, read_vectors

#: Columns of a table by name: arrays, lists, or what data frames are made of.
Columns = dict[str, Any]
#: Likeness from which a name is suggested in place of an unknown one.
CLOSE = 0.7


class OnDisk(Mapping[str, Any]):
    """Columns by name, each read from a file when it is asked for.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    n_rows : int
        Number of rows.
    named : bool
        Whether the columns have names of their own; otherwise they are ``x0``, ``x1``, ...
    lists : list of str
        Columns whose cells are lists of numbers, not taken apart.
    vectors, ragged : dict
        As of :class:`Table`.
    """

    names: list[str]
    n_rows: int
    named: bool = True
    lists: Sequence[str] = ()
    vectors: Mapping[str, list[str]] = MappingProxyType({})
    ragged: Mapping[str, Ragged] = MappingProxyType({})

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @abstractmethod
    def batches(self) -> Iterator[Columns]:
        """Yield all rows in order, some thousand at a time."""


@dataclass(frozen=True)
class Table:
    """Data as columns, not yet read; sparse data stay a matrix and have no columns.

    Columns without names are called ``x0``, ``x1``, ... ``dtype`` is that of the features.
    ``features`` are features by the form of the data, all others only describe the rows; none if
    their looks are to tell. ``vectors`` are the names of the parts of columns that held lists, and
    ``ragged`` says what is wrong with lists that could not be taken apart. ``indexed`` tells
    whether the index is that of a data frame, by which labels are joined.
    """

    columns: Mapping[str, Any]
    named: bool
    n_rows: int
    index: Array
    dtype: Any
    matrix: Any = None
    features: tuple[str, ...] = ()
    vectors: Mapping[str, list[str]] = field(default_factory=dict)
    ragged: Mapping[str, Ragged] = field(default_factory=dict)
    indexed: bool = False

    def has(self, name: str) -> bool:
        """Tell whether there is a column of this name, or a date of which it is a part."""
        return name in self.columns or self._part(name) is not None

    def _part(self, name: str) -> tuple[str, str] | None:
        """Return the column and the part of a date that a name asks for, if any."""
        asked = split_part(name) if self.named else None
        return asked if asked is not None and asked[0] in self.columns else None

    def read(self, name: str) -> Cells:
        """Return the cells of a column; of ``seen.month``, that part of the dates in ``seen``."""
        if name not in self.columns:
            asked = self._part(name)
            if asked is not None:
                return part_of(self.read(asked[0]), asked[1])
            raise ValueError(f"data has no column {name!r}: {self._suggestion(name)}")
        place = f"column {name!r}" if self.named else f"column {name[1:]}"
        return read_column(place, self.columns[name])

    def find(self, argument: str, names: Any) -> list[str]:
        """Return the names of columns that an argument holds (a name, several, or None)."""
        if names is None:
            return []
        single = isinstance(names, str) or not isinstance(names, Iterable)
        asked = [str(name) for name in ([names] if single else names)]
        found = [part for name in asked for part in self.vectors.get(name, [name])]
        for name in found:
            if not self.named:
                raise ArgumentError(
                    Argument.of(argument, name),
                    " names a column, but data has no column names: pass a data frame, or a dict "
                    "of columns",
                )
            if name not in self.columns and not (argument == "features" and self.has(name)):
                meant = self._suggestion(name)
                raise ArgumentError(Argument.of(argument, name), f" is not a column: {meant}")
        return found

    def _suggestion(self, name: str) -> str:
        lower = {column.lower(): column for column in self.columns}
        close = [
            repr(lower[match]) for match in get_close_matches(name.lower(), lower, cutoff=CLOSE)
        ]
        meant = f"did you mean {' or '.join(close)}? The" if close else "the"
        own = {*self.features}
        others = [name for name in self.columns if name not in own]
        if not own or not others:
            return f"{meant} columns are {listing(self.columns)}"
        return f"{meant} columns are {listing(others)}, and {len(own)} features"


def listing(names: Collection[str], most: int = 10) -> str:
    """Return names for an error message, not too many."""
    shown = ", ".join(map(repr, list(names)[:most]))
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")


def read_table(data: Any) -> Table:
    """Return data of any kind as a table; a table as it is."""
    if isinstance(data, Table):
        return data
    # Methods are looked for in the type: in pandas, a column may have the name of a method.
    for method in ("collect", "compute"):
        if hasattr(type(data), method):
            raise ValueError(f"data is a {type(data).__name__}, not yet computed: call .{method}()")
    if issparse(data):
        return _read_sparse(data)
    if isinstance(data, OnDisk):
        return _read_on_disk(data)
    columns = columns_of(data)
    if columns is not None:
        n_rows = _common_length(columns)
        indexed = hasattr(type(data), "iloc")
        index = np.asarray(data.index) if indexed else np.arange(n_rows)
        return _unfolded(Table(dict(columns), True, n_rows, index, np.float64, indexed=indexed))
    if not is_array_like(data):
        raise ValueError(
            f"data is of type {type(data).__name__}: pass a data frame, a dict of columns or an "
            "array (n, d)"
        )
    array = as_array(data)
    if array.ndim != 2:
        raise ValueError(
            f"data has shape {array.shape}: pass rows of equal length, that is, shape (n, d)"
        )
    by_place = {f"x{j}": column for j, column in enumerate(array.T)}
    return Table(by_place, False, len(array), np.arange(len(array)), _precision(array))


def _unfolded(table: Table) -> Table:
    """Return a table in which columns of lists, such as embeddings, are taken apart.

    They are its features, since whoever has an embedding has it to find groups in.
    """
    columns: Columns = {}
    vectors: dict[str, list[str]] = {}
    ragged: dict[str, Ragged] = {}
    types = []
    for name, column in table.columns.items():
        found = read_vectors(name, column)
        if isinstance(found, Ragged):
            ragged[name] = found
        if not isinstance(found, np.ndarray):
            columns[name] = column
            continue
        vectors[name] = part_names(name, found.shape[1])
        types.append(found.dtype)
        columns |= zip(vectors[name], found.T, strict=True)
    parts = tuple(part for names in vectors.values() for part in names)
    if len(columns) < len(table.columns) - len(vectors) + len(parts):
        raise ValueError(f"data has columns named as parts of {listing(vectors)}: rename them")
    single = bool(types) and all(dtype in (np.float16, np.float32) for dtype in types)
    return replace(
        table,
        columns=columns,
        features=parts,
        vectors=vectors,
        ragged=ragged,
        dtype=np.float32 if single else table.dtype,
    )


def described(data: Any, rows: Any) -> Table:
    """Return data with columns that describe its rows, and are no features.

    Parameters
    ----------
    data : data frame, dict of columns, array or sparse matrix (n, d), or OnDisk
        The features: all of its columns are.
    rows : data frame or dict of columns
        What is known of the same rows, in the same order; of pandas both, by their index.

    Returns
    -------
    Table
        Both; its index is that of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.table import described
    >>> table = described(np.zeros((2, 3)), {"text": ["a cat", "a dog"]})
    >>> list(table.columns), table.features
    (['x0', 'x1', 'x2', 'text'], ('x0', 'x1', 'x2'))
    """
    own = read_table(data)
    if not isinstance(rows, OnDisk) and columns_of(rows) is None:
        kind = type(rows).__name__
        raise ValueError(f"rows is of type {kind}: pass a data frame, a dict of columns or a path")
    beside = read_table(rows)
    if beside.n_rows != own.n_rows:
        raise ValueError(
            f"rows has {beside.n_rows} rows, data has {own.n_rows}: pass one row for each row of "
            "data, in the same order"
        )
    if own.indexed and beside.indexed and not np.array_equal(own.index, beside.index):
        raise ValueError("rows has another index than data: pass rows.loc[data.index]")
    names = _own_names(own)
    twice = [name for name in beside.columns if name in {*names}]
    if twice:
        raise ValueError(f"rows has a column {twice[0]!r}, as data has: rename it")
    columns: Mapping[str, Any] = {**own.columns, **beside.columns}
    if isinstance(own.columns, OnDisk):
        columns = _Described(own.columns, beside.columns)
    return replace(
        own,
        columns=columns,
        named=True,
        features=own.features or tuple(names),
        index=beside.index if beside.indexed or not own.indexed else own.index,
        indexed=beside.indexed or own.indexed,
    )


def _own_names(table: Table) -> list[str]:
    if table.matrix is not None:
        return [f"x{j}" for j in range(table.matrix.shape[1])]
    return list(table.columns)


class _Described(OnDisk):
    """Features on disk, and columns that describe their rows."""

    def __init__(self, own: OnDisk, beside: Mapping[str, Any]) -> None:
        self._own, self._beside = own, beside
        self.names, self.n_rows = [*own.names, *beside], own.n_rows

    def __getitem__(self, name: str) -> Any:
        return self._beside[name] if name in self._beside else self._own[name]

    def batches(self) -> Iterator[Columns]:
        """Yield the features of some thousand rows at a time."""
        return self._own.batches()


def columns_of(data: Any) -> list[tuple[str, Any]] | None:
    """Return names and columns of a data frame or dict, None for anything else."""
    kind = type(data)
    if isinstance(data, Mapping):
        return [(str(name), column) for name, column in data.items()]
    if hasattr(kind, "column_names"):  # pyarrow
        return list(zip(data.column_names, data.columns, strict=True))
    if hasattr(kind, "get_columns"):  # polars
        return list(zip(data.columns, data.get_columns(), strict=True))
    if hasattr(kind, "iloc") and hasattr(kind, "columns"):  # pandas
        return [(str(name), data.iloc[:, j]) for j, name in enumerate(data.columns)]
    return None


def _common_length(columns: list[tuple[str, Any]]) -> int:
    """Return the number of rows of columns; raise if they do not make a table."""
    repeated = [name for name, count in Counter(name for name, _ in columns).items() if count > 1]
    if repeated:
        raise ValueError(f"data has several columns named {listing(repeated)}: rename them")
    lengths = {}
    for name, column in columns:
        if not isinstance(column, str | bytes):
            with suppress(TypeError):
                lengths[name] = len(column)
        if name not in lengths:
            raise ValueError(f"column {name!r} is {column!r}: {ONE_VALUE}")
    n_rows = max(lengths.values(), default=0)
    for name, length in lengths.items():
        if length < n_rows:
            raise ValueError(
                f"column {name!r} has {length} values, others have {n_rows}: columns need equal "
                "lengths"
            )
    return n_rows


def _read_on_disk(data: OnDisk) -> Table:
    parts = tuple(part for names in data.vectors.values() for part in names)
    return Table(
        data,
        data.named,
        data.n_rows,
        np.arange(data.n_rows),
        np.float32,
        features=parts,
        vectors=data.vectors,
        ragged=data.ragged,
    )


def _read_sparse(data: Any) -> Table:
    if data.dtype.kind not in "biuf":
        raise ValueError(f"data is a sparse matrix of type {data.dtype}: pass real numbers")
    matrix = csr_matrix(data, dtype=_precision(data), copy=True)  # the next line changes it
    matrix.sum_duplicates()
    n_rows = matrix.shape[0]
    return Table({}, False, n_rows, np.arange(n_rows), matrix.dtype, matrix)


def _precision(data: Any) -> Any:
    return np.float32 if data.dtype == np.float32 else np.float64
