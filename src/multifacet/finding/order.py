"""One order of rows and columns for one table, however it came.

Starts, samples and ties depend on positions. So that the same table in another order gives the same
views, it is searched in an order that its values alone decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from ..progress import Event
from ..results.found import Found
from ..results.view import View
from .methods import Finding
from .methods.base import Clusters

#: Beyond so many values a table is searched as it lies: its sample is large, and sorting costs more
#: than it brings.
MOST_VALUES = 10_000_000
#: Columns by which rows are sorted: those that are equal in so many are equal in all.
ENOUGH_COLUMNS = 32


@dataclass(frozen=True, eq=False)
class Order:
    """Positions of rows (n,) and columns (d,) in the order that is searched."""

    rows: Array = field(repr=False)
    columns: Array = field(repr=False)

    @classmethod
    def of(cls, X: Any) -> Order | None:
        """Return the order of a table (n, d), None if it is searched as it lies.

        Columns are sorted by their skewness, which stays in other units, and rows by their values.

        Examples
        --------
        >>> import numpy as np
        >>> from multifacet.finding.order import Order
        >>> X = np.random.default_rng(0).exponential(size=(50, 3))
        >>> first, second = Order.of(X), Order.of(X[::-1, [2, 0, 1]])
        >>> bool(np.allclose(first.apply(X), second.apply(X[::-1, [2, 0, 1]])))
        True
        """
        if issparse(X) or not isinstance(X, np.ndarray) or X.size > MOST_VALUES:
            return None
        centred = X - X.mean(axis=0)
        spread = np.sqrt((centred**2).mean(axis=0))
        scaled = centred / np.where(spread > 0, spread, 1.0)
        # Rounded, so that sums in another order do not matter.
        skewness = np.round((scaled**3).mean(axis=0), 9)
        peakedness = np.round((scaled**4).mean(axis=0), 9)
        columns = np.lexsort([peakedness, skewness])
        rows = np.lexsort(np.round(scaled[:, columns[:ENOUGH_COLUMNS]].T[::-1], 9))
        return cls(rows, columns)

    def apply(self, X: Array) -> Array:
        """Return a table (n, d) in this order."""
        return X[np.ix_(self.rows, self.columns)]

    def labels(self, labels: Array) -> Array:
        """Return labels (n,) in this order."""
        return np.asarray(labels)[self.rows]

    def restored(self, found: Found) -> Found:
        """Return what was found in this order in that of the table."""
        back = np.argsort(self.rows)
        projection = None if found.projection is None else found.projection[back]
        labels = np.asarray(found.labels)[back]
        components = found.components[:, np.argsort(self.columns)]
        return replace(found, labels=labels, components=components, projection=projection)


def of_table(event: Event, order: Order | None, chosen: Array | None) -> Event:
    """Return an event of a search in the rows and columns of the table.

    Parameters
    ----------
    event : Event
        What the search tells.
    order : Order or None
        The order in which it searches.
    chosen : array of int of shape (m,) or None
        The rows of the table that were put into this order; None for all.
    """
    best, rows, told = event.get("best"), event.get("rows"), event.copy()
    if best is not None and order is not None:
        told["best"] = replace(best, W=best.W[np.argsort(order.columns)])
    if rows is not None:
        rows = rows if order is None else order.rows[rows]
        told["rows"] = rows if chosen is None else chosen[rows]
    return told


class Ordered(Finding):
    """Finds the views of a table in an order of its own."""

    def __init__(self, finding: Finding, order: Order) -> None:
        self._finding, self._order = finding, order

    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        """Return the next view, with labels and axes in the order of the table."""
        here = [self._order.labels(labels) for labels in known]
        found = self._finding.next(here, n_clusters, position)
        return None if found is None else self._order.restored(found)

    def chance(self, view: View, n_clusters: Clusters, stability: float | None) -> float:
        """Return the p-value of a view, which has no order."""
        return self._finding.chance(view, n_clusters, stability)

    def chance_among_twins(
        self, view: View, known: Sequence[Array], n_clusters: Clusters
    ) -> float | None:
        """Return how often tables like this one without groups look as good."""
        here = [self._order.labels(labels) for labels in known]
        return self._finding.chance_among_twins(view, here, n_clusters)

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        """Return how far other rows tell the same."""
        here = [self._order.labels(labels) for labels in known]
        return self._finding.stability(replace(view, labels=self._order.labels(view.labels)), here)
