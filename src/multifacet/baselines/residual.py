"""Clustering of what the given labels leave unexplained: the simplest alternative clustering."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering

from ..linalg import Array
from ..search.residual import GroupResidual
from ..validation import check_choice, check_clusters, check_count
from .base import Rival

#: Neighbours of a row in the graph of the spectral method.
N_NEIGHBORS = 10


class Residual(Rival):
    """Remove the group means of the given labels, then cluster what is left.

    The means are removed additively: X is regressed on the indicators of all given labelings. A
    grouping that differs from the given ones in its means is left in full; one that is mixed up
    with them is left in part. Without given labels, plain clustering.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters to find.
    method : {"kmeans", "spectral"}, default="kmeans"
        How the residual is clustered: k-means, or spectral clustering of its graph of nearest
        neighbours.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.

    Examples
    --------
    >>> from multifacet.baselines import Residual
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = Residual(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        method: str = "kmeans",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        k = check_clusters(self.n_clusters, X)
        method = check_choice("method", self.method, ["kmeans", "spectral"])
        n_init = check_count("n_init", self.n_init, low=1)
        residual = _unexplained(X, labelings) if labelings else X
        if method == "kmeans":
            model = KMeans(k, n_init=n_init, random_state=self.random_state)
        else:
            model = _spectral(k, len(X), n_init, self.random_state)
        with warnings.catch_warnings():
            # Parts without a link are clusters, which is what the embedding shows.
            warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
            self.labels_ = model.fit_predict(residual).astype(np.intp)


def _unexplained(X: Array, labelings: list[Array]) -> Array:
    """Return X (n, d) minus the group means of all labelings."""
    residual = GroupResidual(X, labelings).columns(np.arange(X.shape[1]))
    left = np.linalg.norm(residual, axis=0)
    total = np.linalg.norm(X - X.mean(axis=0), axis=0)
    if (left <= 1e-6 * total.max()).all():
        raise ValueError("given explains all of X: there is nothing left to cluster")
    return residual


def _spectral(k: int, n: int, n_init: int, random_state: Any) -> SpectralClustering:
    if k >= n:
        raise ValueError(f"n_clusters={k} but method='spectral' needs more rows than clusters: {n}")
    return SpectralClustering(
        k,
        affinity="nearest_neighbors",
        n_neighbors=min(N_NEIGHBORS, n),
        n_init=n_init,
        random_state=random_state,
    )
