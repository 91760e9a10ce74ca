"""How further rows get their groups, and their places: by those of the rows that have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.neighbors import NearestNeighbors

from ..linalg import Array

#: Rows that stand for their groups at most, and rows on which rules are compared.
KEPT, COMPARED = 2000, 20_000
#: Scores, or moments, that are in memory at once.
AT_ONCE = 2**22
#: Least variance of a group in any direction, as a share of that of all rows.
THINNEST = 1e-6
#: Landmarks whose places are averaged, and numbers that all landmarks have at most.
NEIGHBOURS, LANDMARK_VALUES = 5, 4_000_000


@dataclass(frozen=True, eq=False)
class Rule:
    """Tells the group of a row by where it lies: that of the largest score.

    Scores are linear in the coordinates (nearest centres, discriminants, nearest rows) or quadratic
    (groups that differ in width), so that one product of matrices tells all of them.

    Attributes
    ----------
    scores : array of shape (m, 1 + q) or (m, 1 + q + q (q + 1) / 2)
        Coefficients of 1, of the q coordinates and, if there are more, of their products.
    labels : array of int of shape (m,)
        The group that each score speaks for.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.results.rule import Rule
    >>> rule = Rule.learn(np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1]))
    >>> rule.predict(np.array([[2.5], [3.5]])).tolist()
    [0, 1]
    """

    scores: Array = field(repr=False)
    labels: Array = field(repr=False)

    @classmethod
    def learn(cls, points: Array, labels: Array) -> Rule:
        """Return the rule that tells the groups (n,) of points (n, q) best, the simplest of equals.

        Where nothing simpler tells all of them, rows stand for their groups: up to 2000, so that
        the groups of no more rows are told exactly.
        """
        rows = spread_rows(labels, COMPARED)
        points, labels = points[rows].astype(float), labels[rows]
        best, most = None, -1.0
        for rule in _rules(points, labels):
            share = rule.agreement(points, labels)
            if share > most:
                best, most = rule, share
            if most == 1:
                break
        assert best is not None
        return best

    def predict(self, points: Array) -> Array:
        """Return the groups (r,) of points (r, q), each told by itself."""
        step = max(1, AT_ONCE // max(self.scores.shape))
        parts = (points[first : first + step] for first in range(0, len(points), step))
        width = self.scores.shape[1]
        best = [(_moments(part, width) @ self.scores.T).argmax(axis=1) for part in parts]
        return self.labels[np.concatenate([np.zeros(0, dtype=np.intp), *best])]

    def agreement(self, points: Array, labels: Array) -> float:
        """Return the share of points (n, q) told as labelled (n,), every group counting as much."""
        right = self.predict(points) == labels
        return float(np.mean([right[labels == group].mean() for group in np.unique(labels)]))


def spread_rows(labels: Array, most: int) -> Array:
    """Return about ``most`` rows, evenly taken from every group (n,), or all if they are no more.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.results.rule import spread_rows
    >>> spread_rows(np.array([0, 1, 0, 0, 0, 1, 0, 0]), 4).tolist()
    [0, 1, 3, 7]
    """
    n = len(labels)
    if n <= most:
        return np.arange(n)
    chosen = []
    for group in np.unique(labels):
        rows = np.flatnonzero(labels == group)
        count = max(1, most * len(rows) // n)
        chosen.append(rows[np.linspace(0, len(rows) - 1, count).astype(int)])
    return np.sort(np.concatenate(chosen))


def choose_landmarks(X: Any, labels: Array) -> tuple[Array, Array]:
    """Return rows (m,) of every group (n,) that stand for all of X (n, d), and their features."""
    rows = spread_rows(labels, min(KEPT, LANDMARK_VALUES // X.shape[1]))
    return rows, _dense(X[rows])


def placed(X: Any, landmarks: Array, places: Array) -> Array:
    """Return places (r, k) of rows X (r, d): the mean of those of the nearest landmarks.

    The nearer the more they count, so that landmarks (m, d) have the places (m, k) they had.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.results.rule import placed
    >>> landmarks, places = np.array([[0.0], [4.0]]), np.array([[-1.0], [1.0]])
    >>> placed(np.array([[0.0], [2.0]]), landmarks, places).ravel().tolist()
    [-1.0, 0.0]
    """
    tree = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(landmarks))).fit(landmarks)
    found, step = [np.zeros((0, places.shape[1]))], max(1, AT_ONCE // X.shape[1])
    for first in range(0, X.shape[0], step):
        distance, nearest = tree.kneighbors(_dense(X[first : first + step]))
        closer = distance[:, :1] / np.where(distance > 0, distance, 1.0)
        weights = np.where(distance > 0, closer**2, 1.0)
        mean = (weights[:, :, None] * places[nearest]).sum(axis=1)
        found.append(mean / weights.sum(axis=1, keepdims=True))
    return np.concatenate(found)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if issparse(X) else X)


def _rules(points: Array, labels: Array) -> Iterator[Rule]:
    """Yield rules for points (n, q), the simplest first."""
    n, q = points.shape
    groups, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.stack([points[codes == c].mean(axis=0) for c in range(len(groups))])
    yield Rule(_nearest(means), groups)
    floor = THINNEST * (points.var(axis=0).mean() or 1.0) * np.eye(q)
    inside = points - means[codes]
    shares = np.log(sizes / n)
    pooled = np.linalg.inv(inside.T @ inside / n + floor)
    yield Rule(_gaussian(means, np.tile(pooled, (len(groups), 1, 1)), shares)[:, : 1 + q], groups)
    if sizes.min() >= 2 * (q + 1):  # enough to tell a width in every direction
        own = [inside[codes == c].T @ inside[codes == c] / sizes[c] for c in range(len(groups))]
        yield Rule(_gaussian(means, np.linalg.inv(np.stack(own) + floor), shares), groups)
    kept = spread_rows(labels, KEPT)
    yield Rule(_nearest(points[kept]), labels[kept])


def _nearest(points: Array) -> Array:
    """Return scores that are largest for the nearest point: -|x - p|^2 / 2 without |x|^2."""
    return np.column_stack([-0.5 * (points**2).sum(axis=1), points])


def _gaussian(means: Array, precisions: Array, log_shares: Array) -> Array:
    """Return log densities, weighted by the shares, in the moments of a row."""
    slopes = (precisions @ means[:, :, None])[:, :, 0]
    constants = log_shares + 0.5 * (np.linalg.slogdet(precisions)[1] - (slopes * means).sum(axis=1))
    low, high = np.tril_indices(means.shape[1])
    # Off the diagonal both halves of a precision share one product.
    squares = precisions[:, low, high] * np.where(low == high, -0.5, -1.0)
    return np.column_stack([constants, slopes, squares])


def _moments(points: Array, width: int) -> Array:
    """Return 1, the coordinates and, if there is width left, their products (r, width)."""
    q = points.shape[1]
    moments = np.column_stack([np.ones(len(points)), points])
    if width == 1 + q:
        return moments
    low, high = np.tril_indices(q)
    return np.column_stack([moments, points[:, low] * points[:, high]])
