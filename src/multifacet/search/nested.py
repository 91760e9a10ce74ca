"""Compact groups of many numbers at once: many small ones, merged step by step.

k-means from random rows misses some of twenty groups and halves others. Twice as many small groups
hit all of them, and merging the two that cost least (Ward 1963) leads down to the right ones, with
some steps of k-means after each merger. One path has a grouping of every number on the way, nested
where the rows are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..kmeans import kmeans_runs
from ..linalg import Array

#: Steps of k-means after a merger: rows beside the merged groups move, all others stay.
STEPS = 3


def nested_groups(points: Array, most: int, runs: int, *, steps: int, seed: int) -> Iterator[Array]:
    """Yield groups (m,) of ``most`` and fewer numbers down to two, numbered from 0.

    Parameters
    ----------
    points : array of shape (m, r)
        Rows.
    most : int
        Groups to begin with.
    runs, steps, seed : int
        Of the k-means that finds these.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.nested import nested_groups
    >>> rng = np.random.default_rng(0)
    >>> corners = np.repeat([[0, 0], [0, 9], [9, 0], [30, 30]], 25, axis=0)
    >>> path = list(nested_groups(corners + rng.normal(size=(100, 2)), 8, 2, steps=20, seed=0))
    >>> [len(np.unique(labels)) for labels in path]
    [8, 7, 6, 5, 4, 3, 2]
    >>> sorted(np.bincount(path[-1]).tolist()), sorted(np.bincount(path[-3]).tolist())
    ([25, 75], [25, 25, 25, 25])
    """
    labels, spread = kmeans_runs(points, most, runs, steps=steps, seed=seed)
    groups = np.unique(labels[int(np.argmin(spread))], return_inverse=True)[1]
    while groups.max() > 0:
        yield groups
        groups = settled(points, _merged(points, groups))


def group_means(points: Array, groups: Array) -> tuple[Array, Array]:
    """Return the means (k, r) and sizes (k,) of groups (m,)."""
    member = np.eye(int(groups.max()) + 1)[groups]
    sizes = member.sum(axis=0)
    return member.T @ points / sizes[:, None], sizes


def directions_of_means(points: Array, groups: Array) -> Array:
    """Return orthonormal directions (r, q) in which the means of groups (m,) lie, q < k.

    The points (m, r) have mean zero.
    """
    q = min(int(groups.max()), points.shape[1])
    return np.linalg.eigh(between_means(points, groups))[1][:, ::-1][:, :q]


def between_means(points: Array, groups: Array) -> Array:
    """Return the covariance (r, r) of the means of groups (m,) of points (m, r), of mean zero."""
    member = np.eye(int(groups.max()) + 1)[groups]
    sums, sizes = member.T @ points, member.sum(axis=0)
    return (sums / sizes[:, None]).T @ sums / len(points)


def _merged(points: Array, groups: Array) -> Array:
    """Return groups (m,) of which the two are one whose union is least spread."""
    means, sizes = group_means(points, groups)
    squares = (means**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * means @ means.T
    costs = distances * np.outer(sizes, sizes) / (sizes[:, None] + sizes)
    np.fill_diagonal(costs, np.inf)
    i, j = np.unravel_index(int(np.argmin(costs)), costs.shape)
    merged = np.where(groups == j, i, groups)
    return merged - (merged > j)


def settled(points: Array, groups: Array) -> Array:
    """Return groups (m,) after some steps of k-means; as they were if one would be lost."""
    for _ in range(STEPS):
        means, sizes = group_means(points, groups)
        moved = (points @ means.T - 0.5 * (means**2).sum(axis=1)).argmax(axis=1)
        if np.array_equal(moved, groups) or len(np.unique(moved)) < len(sizes):
            break
        groups = moved
    return groups
