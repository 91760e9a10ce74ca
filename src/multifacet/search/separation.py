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
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from ..linalg import Array
from .plan import PLAN, SearchPlan


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
    distances, found = cKDTree(points).query(points, count + 1)
    other = found != np.arange(n)[:, None]
    other[other.all(axis=1), -1] = False  # a row with many equals may not be among its nearest
    return distances[other].reshape(n, count), found[other].reshape(n, count)


def neighbour_graph(points: Array, n_neighbors: int = PLAN.neighbours) -> csr_matrix:
    """Return the symmetric graph (n, n) of nearest neighbours: 1 one way, 2 if mutual."""
    n = len(points)
    count = min(n_neighbors, n - 1)
    ends = np.arange(0, n * count + 1, count)
    directed = csr_matrix((np.ones(n * count), nearest(points, count)[1].ravel(), ends), (n, n))
    return csr_matrix(directed + directed.T)


def separation(graph: csr_matrix, labels: Array, plan: SearchPlan = PLAN) -> Separation:
    """Return the conductances of a labeling (n,) with clusters 0 to k - 1."""
    pairs = graph.toarray()  # of a sample: slices of it are far faster than sparse ones
    volumes = pairs.sum(axis=1)
    external, internal = [], []
    for cluster in range(labels.max() + 1):
        members = np.flatnonzero(labels == cluster)
        inside = pairs[np.ix_(members, members)]
        external.append(1.0 - inside.sum() / max(volumes[members].sum(), 1.0))
        internal.append(_best_cut(inside, plan.balance))
    return Separation(np.array(external), np.array(internal), plan.resolution)


def _best_cut(graph: Array, balance: float) -> float:
    """Return the smallest conductance of a balanced cut, swept along the Fiedler vector."""
    n = len(graph)
    if n < 4:
        return 0.0
    degrees = np.maximum(graph.sum(axis=1), 1e-12)
    root = np.sqrt(degrees)
    # The eigenvector sqrt(degrees) has eigenvalue 1; without it the Fiedler vector comes first.
    normalised = graph / root[:, None] / root - np.outer(root, root) / degrees.sum()
    normalised = normalised.astype(np.float32)  # only the order along the vector counts
    vectors = eigh(normalised, subset_by_index=[n - 1, n - 1], check_finite=False)[1]
    if not vectors.shape[1]:  # LAPACK's search for one pair may come back without it
        vectors = np.linalg.eigh(normalised)[1]
    fiedler = vectors[:, -1]
    order = np.argsort(fiedler / root, kind="stable")
    ordered = graph[np.ix_(order, order)]
    volume = np.cumsum(degrees[order])
    within = np.cumsum(2 * np.tril(ordered).sum(axis=1) - np.diag(ordered))
    balanced = slice(int(balance * n), max(int((1 - balance) * n), int(balance * n) + 1))
    smaller_side = np.minimum(volume, volume[-1] - volume)[balanced]
    return float(((volume - within)[balanced] / np.maximum(smaller_side, 1e-12)).min())
