"""How well clusters are separated, in a way that can be compared between settings.

Cluster quality rises when the bandwidth falls and a cut depends on the dimension, so neither can
choose a setting. A ratio can: on the graph of nearest neighbours, how much of its connection a
cluster has to the outside (*external conductance*), against how much it takes to cut the cluster
itself in two (*internal conductance*). A cluster is real if it is far easier to cut it off than
to cut it apart. Both numbers know the same graph, so scale, dimension and density cancel: half of
a structureless cloud has a ratio of about one, in any dimension; a cluster made of two separate
pieces has an internal conductance of zero, so too few clusters score as badly as too many.

What is assumed: clusters are regions that hang together through near neighbours, with fewer
neighbours across than within. It holds for compact and for curved clusters; it does not for
clusters that differ only in density.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh
from scipy.spatial import cKDTree

from ..linalg import Array
from .plan import PLAN, SearchPlan

#: Dimensions up to which a tree finds neighbours faster than a look at all rows.
TREE_DIMENSIONS = 8
#: Neighbours that vote on the group of a further row.
VOTERS = 5


@dataclass(frozen=True)
class Separation:
    """Conductances of the clusters of one labeling.

    Attributes
    ----------
    external : array of shape (k,)
        Share of each cluster's edges that lead outside.
    internal : array of shape (k,)
        Conductance of the best balanced cut through each cluster.
    resolution : float
        Conductance that counts as none.
    """

    external: Array = field(repr=False)
    internal: Array = field(repr=False)
    resolution: float = PLAN.resolution

    @property
    def score(self) -> float:
        """Mean over clusters of log(internal / external): 0 without structure, 3 is clear."""
        ratio = (self.internal + self.resolution) / (self.external + self.resolution)
        return float(np.log(ratio).mean())


def nearest(points: Array, count: int) -> tuple[Array, Array]:
    """Return distances and positions (n, count) of the nearest other rows of points (n, q).

    (It runs hundreds of times on some hundred rows, where scikit-learn's neighbours spend most of
    their time on checks.)
    """
    n = len(points)
    if points.shape[1] > TREE_DIMENSIONS:
        return _nearest_of_all(points, count)
    distances, found = cKDTree(points).query(points, count + 1)
    other = found != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False  # a row with many equals may not be among its nearest
    return distances[other].reshape(n, count), found[other].reshape(n, count)


def _nearest_of_all(points: Array, count: int) -> tuple[Array, Array]:
    """Return the same from all distances: in many dimensions a tree looks at every row too."""
    squares = (points**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    found = np.argpartition(distances, count - 1, axis=1)[:, :count]
    near = np.take_along_axis(distances, found, axis=1)
    order = np.argsort(near, axis=1, kind="stable")
    near, found = (np.take_along_axis(part, order, axis=1) for part in (near, found))
    return np.sqrt(np.maximum(near, 0.0)), found


def nearest_groups(points: Array, labels: Array, places: Array) -> Array:
    """Return the groups (n,) of places (n, q) by vote of the nearest points (m, q) with labels."""
    near = cKDTree(points).query(places, min(VOTERS, len(points)))[1].reshape(len(places), -1)
    votes = (labels[near][:, :, None] == np.arange(int(labels.max()) + 1)).sum(axis=1)
    return votes.argmax(axis=1)


class NeighbourGraph:
    """The graph of nearest neighbours of some rows, and how well groups of them are separated.

    Candidates in one subspace share many of their groups, so each group is cut apart only once.

    Parameters
    ----------
    pairs : array of shape (n, n)
        Weights of the edges: symmetric, without loops. Dense, since slices of it are far faster
        than sparse ones, and there are some hundred rows.
    plan : SearchPlan
        Constants.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.separation import NeighbourGraph
    >>> halves = np.repeat([0, 1], 50)
    >>> points = np.random.default_rng(0).normal(size=(100, 2)) + 9 * halves[:, None]
    >>> NeighbourGraph.of(points).separation(halves).score > 3
    True
    """

    def __init__(self, pairs: Array, plan: SearchPlan = PLAN) -> None:
        self._pairs, self._plan = pairs, plan
        self._volumes = pairs.sum(axis=1, dtype=float)
        self._known: dict[bytes, tuple[float, float]] = {}

    @classmethod
    def of(cls, points: Array, plan: SearchPlan = PLAN) -> NeighbourGraph:
        """Return the graph of points (n, q): edges weigh 1, and 2 between mutual neighbours."""
        n = len(points)
        pairs = np.zeros((n, n), dtype=np.float32)
        pairs[np.arange(n)[:, None], nearest(points, min(plan.neighbours, n - 1))[1]] = 1.0
        return cls(pairs + pairs.T, plan)

    def separation(self, labels: Array) -> Separation:
        """Return the conductances of a labeling (n,) with clusters 0 to k - 1."""
        parts = [self._conductances(labels == cluster) for cluster in range(labels.max() + 1)]
        external, internal = np.array(parts).T
        return Separation(external, internal, self._plan.resolution)

    def _conductances(self, member: Array) -> tuple[float, float]:
        """Return the external and internal conductance of a group (n,)."""
        key = np.packbits(member).tobytes()
        if key not in self._known:
            rows = np.flatnonzero(member)
            inside = self._pairs[np.ix_(rows, rows)]
            volume = max(self._volumes[rows].sum(), 1.0)
            outward = 1.0 - float(inside.sum(dtype=float)) / volume
            self._known[key] = outward, _best_cut(inside, self._plan.balance)
        return self._known[key]


def _best_cut(graph: Array, balance: float) -> float:
    """Return the smallest conductance of a balanced cut, swept along the Fiedler vector."""
    n = len(graph)
    if n < 4:
        return 0.0
    degrees = np.maximum(graph.sum(axis=1), np.float32(1e-12))
    root = np.sqrt(degrees)
    # The eigenvector sqrt(degrees) has eigenvalue 1; without it the Fiedler vector comes first.
    # Single precision: only the order along the vector counts.
    normalised = (graph - np.outer(degrees, degrees / degrees.sum())) / root[:, None] / root
    vectors = eigh(
        normalised.astype(np.float32, copy=False), subset_by_index=[n - 1, n - 1],
        check_finite=False, overwrite_a=True,
    )[1]  # fmt: skip
    if not vectors.shape[1]:  # LAPACK's search for one pair may come back without it
        vectors = np.linalg.eigh(normalised)[1]
    order = np.argsort(vectors[:, -1] / root, kind="stable")
    volume = np.cumsum(degrees[order], dtype=float)
    within = 2.0 * np.cumsum(np.tril(graph[np.ix_(order, order)], -1).sum(axis=1), dtype=float)
    balanced = slice(int(balance * n), max(int((1 - balance) * n), int(balance * n) + 1))
    smaller_side = np.minimum(volume, volume[-1] - volume)[balanced]
    return float(((volume - within)[balanced] / np.maximum(smaller_side, 1e-12)).min())
