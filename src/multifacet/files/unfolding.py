"""Tables on disk whose cells are lists of numbers: taken apart in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..frames.table import Columns, OnDisk
from ..frames.vectors import LONG, Ragged, part_names, read_vectors
from ..linalg import Array
from .parquet import BATCH_ROWS

#: Bytes of the columns that are read from rows in one go.
BLOCK_BYTES = 2**27


class ColumnBlocks:
    """Columns of an array on disk (n, d), whose rows lie one after the other.

    Whoever asks for one column asks for the next one, too, and they lie side by side: some are
    read at a time, or the whole file would be read again for each.
    """

    def __init__(self, array: Array) -> None:
        self._array, self._first = array, 0
        self._width = max(1, BLOCK_BYTES // max(1, array.shape[0] * array.itemsize))
        self._block = array[:0, :0].T

    def __getitem__(self, place: int) -> Array:
        if not self._first <= place < self._first + len(self._block):
            self._first = place - place % self._width
            self._block = np.array(self._array[:, self._first : self._first + self._width].T)
        return np.array(self._block[place - self._first])


def unfolded(table: OnDisk) -> OnDisk:
    """Return a table in which columns of lists of numbers, if any, are taken apart.

    They are copied, in single precision, to a temporary file, which vanishes with the table. Lists
    of several lengths stay as they are, and are told in ``ragged``.
    """
    copies = {name: _Copy(name, table.n_rows) for name in table.lists}
    for batch in table.batches() if copies else ():
        for name, copy in copies.items():
            copy.append(batch[name])
    table.ragged = {name: copy.ragged for name, copy in copies.items() if copy.ragged}
    arrays = {name: copy.array for name, copy in copies.items() if copy.array is not None}
    return _Unfolded(table, arrays) if arrays else table


class _Copy:
    """The lists of a column, copied batch by batch to a temporary file."""

    def __init__(self, name: str, n_rows: int) -> None:
        self._name, self._n_rows, self._first = name, n_rows, 0
        self.array: Array | None = None
        self.ragged: Ragged | None = None

    def append(self, column: Any) -> None:
        """Copy the lists of the next rows, unless others before them were of several lengths."""
        first, found = self._first, read_vectors(self._name, column)
        self._first += len(column)
        if self.ragged is not None or found is None:
            return  # no list is there, so the gaps of the array stay
        if isinstance(found, Ragged):
            self._give_up(replace(found, row=first + found.row))
            return
        if self.array is None:
            self.array = _temporary((self._n_rows, found.shape[1]))
        usual = self.array.shape[1]
        if found.shape[1] != usual:
            self._give_up(Ragged(self._name, usual, found.shape[1], first, meant=usual >= LONG))
            return
        self.array[first : first + len(found)] = found

    def _give_up(self, ragged: Ragged) -> None:
        self.array, self.ragged = None, ragged


def _temporary(shape: tuple[int, int]) -> Array:
    """Return gaps in a file that the system deletes with the last array that maps it."""
    with tempfile.TemporaryFile(prefix="multifacet-") as file:
        array = np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
    for start in range(0, shape[0], BATCH_ROWS):
        array[start : start + BATCH_ROWS] = np.nan
    return array


class _Unfolded(OnDisk):
    """A table, and the parts of its columns of lists."""

    def __init__(self, table: OnDisk, arrays: dict[str, Array]) -> None:
        table.names = [name for name in table.names if name not in arrays]
        self._table, self.n_rows, self.ragged = table, table.n_rows, table.ragged
        self._arrays = {name: (array, ColumnBlocks(array)) for name, array in arrays.items()}
        self.vectors = {name: part_names(name, array.shape[1]) for name, array in arrays.items()}
        self._places = {
            part: (name, j) for name, parts in self.vectors.items() for j, part in enumerate(parts)
        }
        self.names = [*self._places, *table.names]

    def __getitem__(self, name: str) -> Any:
        if name not in self._places:
            return self._table[name]
        vector, place = self._places[name]
        return self._arrays[vector][1][place]

    def batches(self) -> Iterator[Columns]:
        """Yield the parts, and all other columns, of some thousand rows at a time."""
        first = 0
        for others in self._other_columns():
            size = len(next(iter(others.values()))) if others else BATCH_ROWS
            parts: Columns = {}
            for name, (array, _) in self._arrays.items():
                rows = np.array(array[first : first + size])
                parts |= zip(self.vectors[name], rows.T, strict=True)
            yield {**parts, **others}
            first += size

    def _other_columns(self) -> Iterator[Columns]:
        if self._table.names:
            return self._table.batches()
        return iter([{} for _ in range(0, self.n_rows, BATCH_ROWS)])
