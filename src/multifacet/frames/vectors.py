"""Columns whose cells are lists of numbers, as embeddings are: one feature for each place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..linalg import Array
from .cells import is_missing

#: Lists of at least so many numbers, most of them of one length, are meant to be an embedding.
LONG = 8


@dataclass(frozen=True)
class Ragged:
    """Lists of several lengths: most have one, a row has another; ``meant`` to be equal or not."""

    name: str
    usual: int
    length: int
    row: int
    meant: bool

    @property
    def sentence(self) -> str:
        """What is wrong."""
        return (
            f"column {self.name!r} holds lists of several lengths: mostly {self.usual}, but "
            f"{self.length} in row {self.row}"
        )


def part_names(name: str, length: int) -> list[str]:
    """Return the names of the features of a column of lists: ``name[0]``, ``name[1]``, ..."""
    return [f"{name}[{j}]" for j in range(length)]


def read_vectors(name: str, column: Any) -> Array | Ragged | None:
    """Return a column of lists of numbers as an array (n, length), nan where a list is missing.

    Lists of several lengths are told as such; None is returned for any other column.

    Examples
    --------
    >>> from multifacet.frames.vectors import read_vectors
    >>> read_vectors("place", [[1, 2], [3, 4], None])
    array([[ 1.,  2.],
           [ 3.,  4.],
           [nan, nan]])
    >>> read_vectors("place", [[1, 2], [3]]).sentence
    "column 'place' holds lists of several lengths: mostly 2, but 1 in row 1"
    """
    if isinstance(column, np.ndarray) and column.ndim == 2:
        return column if column.dtype.kind in "biuf" else None
    cells = _cells(column)
    if cells is None:
        return None
    present = [i for i, cell in enumerate(cells) if _is_list(cell) or not is_missing(cell)]
    if not present or not all(_is_list(cells[i]) for i in present):
        return None
    try:
        rows = [np.asarray(cells[i]) for i in present]
    except ValueError:  # lists of lists
        return None
    if any(row.ndim != 1 or (row.dtype.kind not in "biuf" and row.size) for row in rows):
        return None
    lengths = Counter(len(row) for row in rows)
    usual, count = lengths.most_common(1)[0]
    if len(lengths) > 1:
        odd = next(i for i, row in enumerate(rows) if len(row) != usual)
        meant = usual >= LONG and 2 * count > len(rows)
        return Ragged(name, usual, len(rows[odd]), present[odd], meant)
    stacked = np.stack(rows)
    if len(present) == len(cells) and stacked.dtype.kind == "f":
        return stacked
    single = stacked.dtype in (np.float16, np.float32)
    found = np.full((len(cells), usual), np.nan, dtype=np.float32 if single else np.float64)
    found[present] = stacked
    return found


def _cells(column: Any) -> Sequence[Any] | None:
    """Return the cells of a column that may hold lists; None if its type says that it does not."""
    told = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if told.startswith(("list", "large_list", "fixed_size_list", "array(")):
        return list(np.asarray(column))
    if told == "object" or isinstance(column, list | tuple):
        cells = column if isinstance(column, list | tuple) else list(column)
        first = next((cell for cell in cells if _is_list(cell) or not is_missing(cell)), None)
        return cells if _is_list(first) else None
    return None


def _is_list(cell: Any) -> bool:
    return isinstance(cell, list | tuple | np.ndarray)
