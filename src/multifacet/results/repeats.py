"""Views that only say what one or a few columns of few values say already."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import adjusted_mutual_info_score, homogeneity_score

from ..frames import Encoding
from ..frames.encoding import Column
from ..linalg import Array

#: Numbers with at most so many values can be repeated as they are.
FEW_VALUES = 5
#: Columns whose corners are looked at, and from which agreement a view repeats.
MAX_CORNERS, REPEATED = 3, 0.9
#: Columns that are looked at: those that tell the groups apart best. More rows tell no better.
MAX_COLUMNS = 10
MAX_ROWS = 20_000


def repeated_columns(labels: Array, strength: Array, X: Any, encoding: Encoding) -> list[str]:
    """Return the features that a grouping only repeats; nothing if it is more than that.

    It repeats a category, a truth value or a number of few values if that tells the group of nearly
    every row, and several of them if the groups are their combinations: the corners of a cube, not
    a grouping of the rows. A gap in a measurement is none that anyone has written down.

    Parameters
    ----------
    labels : array of int of shape (n,)
        The groups.
    strength : array of shape (d,)
        How far each feature tells them apart, see :class:`multifacet.explain.Explanation`.
    X : array or CSR matrix of shape (n, d)
        The features.
    encoding : Encoding
        Which columns they come from.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames import prepare
    >>> from multifacet.results.repeats import repeated_columns
    >>> table = {"urban": list("ynynyynn"), "mass": [3.0, 1.5, 2.2, 7.1, 4.6, 2.9, 8.0, 5.3]}
    >>> prepared, groups = prepare(table, categories="use"), np.array([1, 0, 1, 0, 1, 1, 0, 0])
    >>> repeated_columns(groups, np.array([1.0, 0.3]), prepared.X, prepared.encoding)
    ['urban']
    """
    labels, codes, told = _told(labels, strength, X, encoding)
    order = sorted(told, key=lambda name: -told[name])[:MAX_CORNERS]
    if order and told[order[0]] >= REPEATED:
        return order[:1]
    corners = np.zeros(len(labels), dtype=int)
    for i, name in enumerate(order, start=1):
        corners = corners * (codes[name].max() + 1) + codes[name]
        if i > 1 and adjusted_mutual_info_score(labels, corners) >= REPEATED:
            return order[:i]
    return []


def telling_columns(labels: Array, strength: Array, X: Any, encoding: Encoding) -> list[str]:
    """Return all features of few values each of which tells the group of nearly every row.

    Parameters are those of :func:`repeated_columns`. Several columns may say the same.
    """
    _, _, told = _told(labels, strength, X, encoding)
    return [name for name, share in told.items() if share >= REPEATED]


def _told(
    labels: Array, strength: Array, X: Any, encoding: Encoding
) -> tuple[Array, dict[str, Array], dict[str, float]]:
    """Return labels of some rows, columns of few values there, and how far each tells groups."""
    rows = np.linspace(0, len(labels) - 1, min(len(labels), MAX_ROWS)).round().astype(int)
    labels = labels[rows]
    used = [column for column in encoding.columns if column.features]
    used.sort(key=lambda column: -strength[column.features].max())
    found = {column.name: _codes(column, X, rows) for column in used[:MAX_COLUMNS]}
    codes = {name: one for name, one in found.items() if one is not None}
    return labels, codes, {n: float(homogeneity_score(labels, one)) for n, one in codes.items()}


def _codes(column: Column, X: Any, rows: Array) -> Array | None:
    """Return a column of few values as numbers of its values; None if it has many."""
    part = X[:, column.features]
    part = part.toarray()[rows] if issparse(part) else part[rows]
    if column.kind == "category" and part.shape[1] > 1:
        return part.argmax(axis=1)
    values, codes = np.unique(part[:, 0], return_inverse=True)
    return codes if len(values) <= FEW_VALUES else None
