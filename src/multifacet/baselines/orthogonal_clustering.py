"""Orthogonal clustering: remove from every row the direction of its cluster's mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..linalg import Array
from ..problems import one_hot
from ..validation import check_real
from .base import SeveralViews, centred, cluster_means

#: A residual below this share of the data is rounding error.
NOTHING = 1e-8


class OrthogonalViews(SeveralViews):
    """Cluster the principal components, remove what the clusters explain, and again."""

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 2,
        *,
        n_views: int = 1,
        explained_variance: float = 0.9,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.explained_variance = explained_variance
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        counts = self._clusters_of_views(X, labelings)
        share = check_real("explained_variance", self.explained_variance)
        if share > 1:
            raise ValueError(f"explained_variance={share:g} must be at most 1, it is a share")
        residual = centred(X)
        total = np.linalg.norm(residual)
        for labels in labelings:
            residual = self._remove(residual, labels)
        found: list[Array] = []
        for k in counts:
            if np.linalg.norm(residual) <= NOTHING * total and total > 0:
                raise ValueError(self._nothing_left(len(found)))
            found.append(self.kmeans(_principal_scores(residual, share), k))
            residual = self._remove(residual, found[-1])
        self._store(found)
        self.residual_ = residual

    @abstractmethod
    def _remove(self, X: Array, labels: Array) -> Array:
        """Return X (n, d) without what the clusters of ``labels`` explain."""

    def _nothing_left(self, n_found: int) -> str:
        if n_found == 0:
            return "given explains all of X: there is nothing left to cluster"
        return (
            f"n_views={self.n_views} but nothing is left of X after {n_found}: "
            "ask for fewer views or clusters"
        )


class OrthogonalClustering(OrthogonalViews):
    """Orthogonal clustering: cluster what is orthogonal to the mean of each row's cluster.

    Every row x of a cluster with mean m becomes x - m (m'x) / (m'm); principal components of all
    rows are then clustered by k-means (Cui, Fern and Dy 2007, method 1). Several given labelings
    are removed one after the other; without any, the first view is plain k-means.

    Parameters
    ----------
    n_clusters : int or sequence of int, default=2
        Number of clusters, of all views or of each.
    n_views : int, default=1
        Number of labelings to find.
    explained_variance : float, default=0.9
        Share of the variance that the principal components keep before k-means.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labelings_ : array of int of shape (n, n_views)
        The labelings found, in order.
    labels_ : array of int of shape (n,)
        The first of them.
    residual_ : array of shape (n, d)
        What all labelings, given and found, leave of the data without its constant features.

    Examples
    --------
    >>> from multifacet.baselines import OrthogonalClustering
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = OrthogonalClustering(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def _remove(self, X: Array, labels: Array) -> Array:
        means = cluster_means(X, one_hot(labels))
        squares = (means**2).sum(axis=1)
        # A mean at the centre has no direction to remove.
        away = squares > NOTHING**2 * (X**2).sum(axis=1).mean()
        means, squares = np.where(away[:, None], means, 0.0), np.where(away, squares, 1.0)
        codes = np.unique(labels, return_inverse=True)[1]
        own = means[codes]
        along = (X * own).sum(axis=1) / squares[codes]
        return X - along[:, None] * own


def _principal_scores(X: Array, share: float) -> Array:
    """Return the fewest principal scores (n, r) of X (n, d) that keep this share of variance."""
    left, singular, _ = np.linalg.svd(centred(X), full_matrices=False)
    kept = np.cumsum(singular**2)
    r = int(np.searchsorted(kept, share * kept[-1] * (1 - 1e-12))) + 1
    return left[:, :r] * singular[:r]
