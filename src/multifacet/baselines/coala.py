"""COALA: average linkage that prefers merges across the given clusters."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ..linalg import Array
from ..validation import check_choice, check_clusters, check_real
from .base import Rival

#: Rows up to which the two matrices of distances are kept in memory (6.4 GB).
MAX_ROWS = 20_000
METRICS = ("euclidean", "sqeuclidean", "cityblock", "cosine", "correlation", "chebyshev")


class COALA(Rival):
    """Agglomerative clustering with cannot-links between rows of one given cluster.

    At every step two merges compete: the closest pair of clusters, at distance d_q, and the
    closest pair whose rows share no given cluster, at distance d_o. The first is taken only if
    d_q < omega * d_o (Bae and Bailey 2006). Several given labelings forbid a merge if the rows
    share a cluster in any of them, which is our extension.

    A cluster without conflict holds at most one row of every given cluster, so all but the first
    n - max n_c merges ignore what is given: where the given clusters dominate, they come back.

    Without given labels this is plain average linkage. All distances are kept, so there is a
    limit of 20 000 rows.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters to find.
    omega : float, default=0.6
        Quality against novelty: 0 merges across the given clusters as long as possible, a value
        above 1 is plain average linkage.
    metric : str, default="euclidean"
        Distance of two rows: "euclidean", "sqeuclidean", "cityblock", "cosine", "correlation" or
        "chebyshev".

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    n_quality_merges_, n_dissimilarity_merges_ : int
        How often each of the two merges was taken; a merge that is both counts for novelty.

    Examples
    --------
    >>> from multifacet.baselines import COALA
    >>> X = [[0, 0], [0, 1], [9, 0], [9, 1]]
    >>> COALA().fit(X).labels_
    array([0, 0, 1, 1])
    >>> COALA(omega=0).fit(X, given=[0, 0, 1, 1]).labels_
    array([0, 1, 0, 1])
    """

    def __init__(
        self, n_clusters: int = 2, *, omega: float = 0.6, metric: str = "euclidean"
    ) -> None:
        self.n_clusters = n_clusters
        self.omega = omega
        self.metric = metric

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        k = check_clusters(self.n_clusters, X)
        omega = check_real("omega", self.omega, positive=False)
        metric = check_choice("metric", self.metric, METRICS)
        if len(X) > MAX_ROWS:
            raise ValueError(
                f"X has {len(X)} rows and COALA keeps all distances, which is possible up to "
                f"{MAX_ROWS}: pass a sample of the rows"
            )
        distances = cdist(X, X, metric)
        if np.isnan(distances).any():
            raise ValueError(f"metric={metric!r} is not defined for constant rows of X")
        self._agglomerate(distances, labelings, k, omega)

    def _agglomerate(self, distances: Array, labelings: list[Array], k: int, omega: float) -> None:
        """Merge until k clusters are left, and set the attributes."""
        free = distances.copy()
        for labels in labelings:
            free[labels[:, None] == labels] = np.inf
        everything, admissible = _Linkage(distances), _Linkage(free)
        labels = np.arange(len(distances))
        self.n_quality_merges_ = self.n_dissimilarity_merges_ = 0
        for _ in range(len(distances) - k):
            d_quality, pair = everything.closest()
            d_free, free_pair = admissible.closest()
            across = np.isfinite(d_free) and not d_quality < omega * d_free
            a, b = free_pair if across else pair
            self.n_dissimilarity_merges_ += across
            self.n_quality_merges_ += not across
            everything.merge(a, b)
            admissible.merge(a, b)
            labels[labels == b] = a
        self.labels_ = np.unique(labels, return_inverse=True)[1].astype(np.intp)


class _Linkage:
    """Average distances between current clusters, with the nearest neighbour of each.

    Infinite distances are pairs that must not be merged. An average with infinity is infinite,
    so a merged cluster inherits the conflicts of both parts without any record of them.
    """

    def __init__(self, distances: Array) -> None:
        self._D = distances
        np.fill_diagonal(self._D, np.inf)
        self._sizes = np.ones(len(distances))
        self._nearest = np.argmin(self._D, axis=1)
        self._gap = self._D[np.arange(len(distances)), self._nearest]

    def closest(self) -> tuple[float, tuple[int, int]]:
        """Return the smallest distance and its pair (a < b), the first in order of index."""
        i = int(np.argmin(self._gap))
        j = int(self._nearest[i])
        return float(self._gap[i]), (min(i, j), max(i, j))

    def merge(self, a: int, b: int) -> None:
        """Put cluster b into a (Lance-Williams update of average linkage)."""
        D, sizes = self._D, self._sizes
        row = (sizes[a] * D[a] + sizes[b] * D[b]) / (sizes[a] + sizes[b])
        row[[a, b]] = np.inf
        D[a], D[:, a] = row, row
        D[b], D[:, b] = np.inf, np.inf
        sizes[a] += sizes[b]
        # An average is never below the smaller part, so only rows that pointed to a or b change.
        stale = np.flatnonzero((self._nearest == a) | (self._nearest == b))
        stale = np.union1d(stale, [a, b])
        self._nearest[stale] = np.argmin(D[stale], axis=1)
        self._gap[stale] = D[stale, self._nearest[stale]]
