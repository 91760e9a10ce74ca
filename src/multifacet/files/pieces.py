"""Parquet files as a dask data frame, whose partitions workers read by themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from .binary import need
from .many import is_several, open_several
from .parquet import ParquetTable
from .reading import missing_file, recognise_suffix
from .remote import open_remote

#: Bytes of a piece of a file if nobody says otherwise.
PIECE_BYTES = 64 * 2**20


class Piece(NamedTuple):
    """Some row groups of a Parquet file."""

    place: str
    groups: tuple[int, ...]


def open_partitions(path: str | PathLike[str], *, piece_bytes: int = PIECE_BYTES) -> Any:
    """Return Parquet files as a dask data frame; only what they say of themselves is read.

    Parameters
    ----------
    path : str or PathLike
        A Parquet file, a folder of them, a pattern such as ``data/*.parquet``, or an address that
        fsspec opens. Workers have to find it by the same name.
    piece_bytes : int
        Bytes of the partitions into which large files are cut, as far as their row groups allow it.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import open_partitions, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         _ = write_table(f"{folder}/part{i}.parquet", {"mass": [i, i + 0.5]})
    ...     table = open_partitions(folder)
    ...     table.npartitions, table["mass"].sum().compute()
    (3, np.float64(7.5))
    """
    frames = need("dask.dataframe", "dask", "a table in partitions")
    tables = _tables(path)
    pieces = [piece for table in tables for piece in _cut(table, piece_bytes)]
    return frames.from_map(read_piece, pieces, meta=tables[0].empty_frame())


def cut(path: str | PathLike[str], piece_bytes: int = PIECE_BYTES) -> list[Piece]:
    """Return the pieces into which Parquet files are cut, to be read one at a time."""
    return [piece for table in _tables(path) for piece in _cut(table, piece_bytes)]


def extent(path: str | PathLike[str]) -> tuple[int, int]:
    """Return how many rows and cells Parquet files have, as they say themselves."""
    tables = _tables(path)
    rows = sum(table.n_rows for table in tables)
    return rows, rows * len(tables[0].names)


def fingerprint(path: str | PathLike[str]) -> str:
    """Return a hash of what Parquet files say of their content: its extent and its statistics."""
    digest = hashlib.sha256()
    for table in _tables(path):
        digest.update(repr(table.description()).encode())
    return digest.hexdigest()


def _tables(path: str | PathLike[str]) -> list[ParquetTable]:
    if is_several(path):
        return open_several(path).tables
    file = Path(path)
    if not file.is_file():
        raise missing_file(file)
    if recognise_suffix(file.name) != "parquet":
        raise ValueError(
            f"{fspath(path)!r} is no Parquet file, which workers could read in parts: save it as "
            "one, or use no cluster"
        )
    return [ParquetTable(fspath(path), file)]


def _cut(table: ParquetTable, most: int) -> Iterator[Piece]:
    """Yield the pieces of a file."""
    place = table.place if "://" in table.place else str(Path(table.place).resolve())
    groups: list[int] = []
    size = 0
    for group, content in enumerate(table.group_bytes()):
        if groups and size + content > most:
            yield Piece(place, tuple(groups))
            groups, size = [], 0
        groups.append(group)
        size += content
    yield Piece(place, tuple(groups))


def read_piece(piece: Piece) -> Any:
    """Return a piece as a pandas data frame; called by workers."""
    if "://" not in piece.place:
        return ParquetTable(piece.place, Path(piece.place)).frame(piece.groups)
    with open_remote(piece.place) as file:
        return ParquetTable(piece.place, file).frame(piece.groups)
