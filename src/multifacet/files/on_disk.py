"""Tables larger than memory: one column at a time to learn from, batches of rows to encode."""

from __future__ import annotations

import math
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..frames.table import Columns, OnDisk
from .annotated import open_annotated
from .binary import BAD_HEADER, broken, check_numbers, need
from .many import is_several, open_several
from .parquet import BATCH_ROWS, ParquetTable, coded, column_names, list_columns
from .reading import missing_file, read_file, recognise_suffix
from .unfolding import ColumnBlocks, unfolded


def open_table(path: str | Path, *, batch_rows: int = BATCH_ROWS) -> OnDisk:
    """Open a table without reading it, so that it need not fit into memory.

    Parameters
    ----------
    path : str or Path
        A Parquet, Arrow (Feather) or NPY file; or several Parquet files: a folder of them, a
        pattern such as ``data/*.parquet``, or an address that fsspec opens.
    batch_rows : int
        Rows that are read at a time where all columns are needed.

    Returns
    -------
    OnDisk
        Columns by name, each read when it is asked for; lists of numbers, such as embeddings, are
        taken apart into ``name[0]``, ``name[1]``, ... :func:`multifacet.find_views` and
        :func:`multifacet.frames.prepare` take it like any other table; the features are then
        written to a temporary file in single precision, which vanishes with the matrix.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from multifacet.files import open_table
    >>> from multifacet.frames import prepare
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", np.arange(12.0).reshape(6, 2))
    ...     prepared = prepare(open_table(f"{folder}/rows.npy"))
    >>> prepared.X.shape, prepared.X.dtype
    ((6, 2), dtype('float32'))
    """
    if is_several(path):
        return unfolded(open_several(path, batch_rows))
    path = Path(path)
    if not path.is_file():
        raise missing_file(path)
    kind = recognise_suffix(path.name)
    if kind not in _TABLES:
        known = ", ".join(_TABLES)
        raise ValueError(f"{path.name!r} can only be read as a whole: save it as one of {known}")
    return unfolded(_TABLES[kind](path, batch_rows))


def read_path(path: str | PathLike[str]) -> Any:
    """Return the columns of a file, read when they are asked for where the format allows it.

    A .h5ad file is more than columns: it gives annotated data.
    """
    if is_several(path):
        return unfolded(open_several(path))
    path = Path(path)
    kind = recognise_suffix(path.name)
    if kind == "h5ad":
        if not path.is_file():
            raise missing_file(path)
        return open_annotated(path.name, path)
    return open_table(path) if kind in _TABLES else read_file(path).columns


class _Mapped(OnDisk):
    """A file that is mapped into memory, and measured before it is looked at.

    Values that are mapped but no more in the file would end the whole process.
    """

    def __init__(self, path: Path, batch_rows: int) -> None:
        self._path, self._size = path, path.stat().st_size
        self._batch_rows = batch_rows

    def _check_size(self) -> None:
        if self._path.stat().st_size < self._size:
            raise ValueError(
                f"{self._path.name!r} has become shorter since it was opened: wait until it is "
                "complete"
            )


class _ArrowTable(_Mapped):
    """An Arrow file."""

    def __init__(self, path: Path, batch_rows: int) -> None:
        super().__init__(path, batch_rows)
        pa = need("pyarrow", "arrow", "Arrow")
        try:
            self._table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        except (pa.ArrowException, OSError) as error:
            raise broken(path.name, "Arrow", error) from error
        self.n_rows = self._table.num_rows
        self.names = column_names(path.name, self._table.column_names)
        self.lists = list_columns(self._table.schema, self.names)

    def __getitem__(self, name: str) -> Any:
        self._check_size()
        return coded(self._table[name])

    def batches(self) -> Iterator[Columns]:
        for start in range(0, self.n_rows, self._batch_rows):
            self._check_size()
            part = self._table.slice(start, self._batch_rows)
            yield {name: coded(part[name]) for name in self.names}


class _ArrayTable(_Mapped):
    """An NPY file (n, d), whose columns have no names."""

    named = False

    def __init__(self, path: Path, batch_rows: int) -> None:
        super().__init__(path, batch_rows)
        try:
            self._check_header()
            self._array = np.load(path, mmap_mode="r", allow_pickle=False)
        except BAD_HEADER as error:
            raise broken(path.name, "NumPy", error) from error
        check_numbers(path.name, self._array)
        self.n_rows, self._columns = len(self._array), ColumnBlocks(self._array)
        self.names = [f"x{j}" for j in range(self._array.shape[1])]

    def __getitem__(self, name: str) -> Any:
        self._check_size()
        return self._columns[int(name[1:])]

    def batches(self) -> Iterator[Columns]:
        for start in range(0, self.n_rows, self._batch_rows):
            self._check_size()
            part = np.array(self._array[start : start + self._batch_rows])
            yield dict(zip(self.names, part.T, strict=True))

    def _check_header(self) -> None:
        """Raise if the file does not hold what its header tells of."""
        with self._path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            if version not in _HEADERS:
                return
            shape, _, dtype = _HEADERS[version](file)
            needed = file.tell() + math.prod(shape) * dtype.itemsize
        if self._size < needed:
            raise ValueError(
                f"it is cut off, with {self._size} of the {needed} bytes that its header tells of"
            )


#: How headers of arrays of numbers are read.
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_TABLES: dict[str, Any] = {
    "parquet": lambda path, batch_rows: ParquetTable(path.name, path, batch_rows),
    "arrow": _ArrowTable,
    "npy": _ArrayTable,
}
