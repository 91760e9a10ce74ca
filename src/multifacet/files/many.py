"""Several Parquet files as one table: a folder, a pattern such as ``data/*.parquet``, an address.

Addresses such as ``s3://bucket/data/*.parquet`` are opened by fsspec, see :mod:`.remote`.
"""

from __future__ import annotations

from collections.abc import Iterator
from glob import glob, has_magic
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..frames.table import Columns, OnDisk
from .binary import need
from .parquet import BATCH_ROWS, ParquetTable
from .remote import SUFFIXES, find_remote, open_remote


def is_several(path: str | PathLike[str]) -> bool:
    """Tell a folder, a pattern or an address from the path of one file."""
    text = fspath(path)
    return "://" in text or (not Path(text).is_file() and (has_magic(text) or Path(text).is_dir()))


def open_several(path: str | PathLike[str], batch_rows: int = BATCH_ROWS) -> SeveralTables:
    """Open the Parquet files of a folder, a pattern or an address, in the order of their names.

    Parameters
    ----------
    path : str or PathLike
        A folder, in which files may lie at any depth; a pattern with ``*``, ``?`` or ``[``; or an
        address of any of these with a protocol, such as ``s3://``, ``gs://`` or ``memory://``.
    batch_rows : int
        Rows that are read at a time where all columns are needed.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import write_table
    >>> from multifacet.files.many import open_several
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         _ = write_table(f"{folder}/part{i}.parquet", {"mass": [i, i + 0.5]})
    ...     table = open_several(f"{folder}/*.parquet")
    ...     table.n_rows, table["mass"].to_pylist()
    (6, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    """
    text = fspath(path)
    if "://" in text:
        found = [(address, open_remote(address)) for address in find_remote(text)]
    else:
        found = _local(text)
    if not found:
        raise FileNotFoundError(f"there is no Parquet file in {text!r}")
    return SeveralTables([ParquetTable(name, source, batch_rows) for name, source in found])


def _local(text: str) -> list[tuple[str, Any]]:
    folder = Path(text)
    if folder.is_dir():
        paths = [p for suffix in SUFFIXES for p in folder.rglob(f"*{suffix}")]
    else:
        paths = [Path(p) for p in glob(text, recursive=True) if Path(p).is_file()]
    return [(str(p), p) for p in sorted(paths)]


class SeveralTables(OnDisk):
    """Files with the same columns, one below the other."""

    def __init__(self, tables: list[ParquetTable]) -> None:
        first = tables[0]
        for other in tables[1:]:
            if set(other.names) != set(first.names):
                odd = sorted(set(other.names) ^ set(first.names))[0]
                raise ValueError(
                    f"{first.place!r} and {other.place!r} have different columns, such as "
                    f"{odd!r}: files of one table need the same"
                )
        self.tables, self.names, self.lists = tables, first.names, first.lists
        self.n_rows = sum(table.n_rows for table in tables)

    def __getitem__(self, name: str) -> Any:
        pa = need("pyarrow", "arrow", "Parquet")
        parts = [_plain(pa, table[name]) for table in self.tables]
        kinds = {str(part.type) for part in parts}
        if len(kinds) > 1:
            raise ValueError(
                f"column {name!r} is of type {' and '.join(sorted(kinds))} in different files: "
                "convert it"
            )
        column = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
        return (
            column.dictionary_encode() if str(column.type) in ("string", "large_string") else column
        )

    def batches(self) -> Iterator[Columns]:
        """Yield the columns of some thousand rows at a time, file by file."""
        return chain.from_iterable(table.batches() for table in self.tables)


def _plain(pa: Any, column: Any) -> Any:
    """Return words in place of codes, which every file counts by itself."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
