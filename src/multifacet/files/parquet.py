"""One Parquet file as a table that is read a column, or a batch of rows, at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..frames.table import Columns, OnDisk
from .binary import INDEX, broken, need
from .data import named_once

#: Rows of a batch.
BATCH_ROWS = 65_536


class ParquetTable(OnDisk):
    """A Parquet file.

    Parameters
    ----------
    place : str
        What errors call it.
    source : Path or file object
        Where it is.
    batch_rows : int
        Rows that are read at a time where all columns are needed.
    """

    def __init__(self, place: str, source: Any, batch_rows: int = BATCH_ROWS) -> None:
        self._arrow = need("pyarrow", "arrow", "Parquet")
        parquet = need("pyarrow.parquet", "arrow", "Parquet")
        self._pool = self._arrow.default_memory_pool()
        self.place, self._batch_rows = place, batch_rows
        with self._named():
            # What is read ahead is kept until the file is closed.
            self._file = parquet.ParquetFile(source, pre_buffer=False)
        self.n_rows = self._file.metadata.num_rows
        self.names = column_names(place, self._file.schema_arrow.names)
        self.lists = list_columns(self._file.schema_arrow, self.names)

    def __getitem__(self, name: str) -> Any:
        # Arrow keeps the room of what it has read before: all columns, in the end.
        self._pool.release_unused()
        with self._named():
            return coded(self._file.read([name])[name])

    def batches(self) -> Iterator[Columns]:
        """Yield the columns of some thousand rows at a time."""
        for group in range(self._file.num_row_groups):
            with self._named():
                batches = self._file.iter_batches(
                    self._batch_rows, row_groups=[group], columns=self.names
                )
                for batch in batches:
                    yield {name: coded(batch[name]) for name in self.names}
            self._pool.release_unused()

    def group_bytes(self) -> list[int]:
        """Return how many bytes the row groups take when they are unpacked."""
        told = self._file.metadata
        return [told.row_group(i).total_byte_size for i in range(told.num_row_groups)]

    def description(self) -> dict[str, Any]:
        """Return what the file says of its content."""
        return self._file.metadata.to_dict()

    def frame(self, groups: Sequence[int]) -> Any:
        """Return some row groups as a pandas data frame."""
        with self._named():
            return self._file.read_row_groups(list(groups)).to_pandas()

    def empty_frame(self) -> Any:
        """Return a pandas data frame of these columns, without rows."""
        return self._file.schema_arrow.empty_table().to_pandas()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in the error if it cannot be read."""
        try:
            yield
        except (self._arrow.ArrowException, OSError) as error:
            raise broken(self.place, "Parquet", error) from error


def column_names(place: str, names: list[str]) -> list[str]:
    """Return the names of columns without the one in which pandas keeps an index."""
    return [name for name in named_once(place, [(n, None) for n in names]) if name != INDEX]


def list_columns(schema: Any, names: list[str]) -> list[str]:
    """Return the columns of a schema of Arrow whose cells are lists of numbers."""
    found = []
    for name in names:
        kind = schema.field(name).type
        of_lists = str(kind).startswith(("list<", "large_list<", "fixed_size_list<"))
        if of_lists and str(kind.value_type).startswith(("float", "half", "double", "int", "uint")):
            found.append(name)
    return found


def coded(column: Any) -> Any:
    """Return text as codes and words, so that a word exists once and not in every row."""
    return column.dictionary_encode() if str(column.type) in ("string", "large_string") else column
