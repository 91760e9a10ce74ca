"""Columns beside the features: what every view is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg import Array
from .cells import Cells, whole
from .looks import look_at, read_plainly
from .table import Table


@dataclass(frozen=True, eq=False)
class Reference:
    """A column with which views are compared: labels or numbers, some of them perhaps missing.

    Attributes
    ----------
    values : array of shape (n,)
        Numbers, nan where they are missing; or codes of labels, -1 where they are missing.
    names : list of str or None
        The labels by their codes; None if the column holds numbers.
    """

    values: Array
    names: list[str] | None = None

    @property
    def present(self) -> Array:
        """Which values (n,) are not missing."""
        return np.isfinite(self.values) if self.names is None else self.values >= 0

    @classmethod
    def of(cls, labels: Array) -> Reference:
        """Return complete labels of any kind."""
        found, codes = np.unique(labels, return_inverse=True)
        return cls(codes.astype(np.int32), [str(value) for value in found.tolist()])

    @classmethod
    def of_labels(cls, cells: Cells) -> Reference:
        """Return cells of any kind as labels: sorted, or in the order that was declared."""
        found, places = np.unique(whole(cells.present), return_inverse=True)
        names = [str(value) for value in found.tolist()]
        declared = {name: i for i, name in enumerate(cells.order or [])}
        order = sorted(range(len(names)), key=lambda i: (declared.get(names[i], 0), i))
        codes = np.full(len(cells.values), -1, dtype=np.int32)
        codes[~cells.missing] = np.argsort(order)[places]
        return cls(codes, [names[i] for i in order])


def read_reference(table: Table, name: str, rows: Array) -> Reference:
    """Return a column of a table, of some rows, as something to compare views with."""
    cells = read_plainly(table, name).take(rows)
    if cells.kind == "number" and look_at(table, name).what in ("measured", "codes"):
        values = np.where(cells.missing | ~np.isfinite(cells.values), np.nan, cells.values)
        return Reference(values.astype(float))
    return Reference.of_labels(cells)
