"""Clustering in orthogonal subspaces: remove the subspace spanned by the cluster means."""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from ..problems import one_hot
from .base import centred, cluster_means
from .orthogonal_clustering import NOTHING, OrthogonalViews


class OrthogonalSubspaceClustering(OrthogonalViews):
    """Clustering in orthogonal subspaces: cluster what is orthogonal to all cluster means.

    All rows are projected on the complement of the subspace in which the cluster means differ;
    principal components are then clustered by k-means (Cui, Fern and Dy 2007, method 2). Several
    given labelings are removed one after the other; without any, the first view is plain k-means.

    Parameters
    ----------
    n_clusters : int or sequence of int, default=2
        Number of clusters, of all views or of each.
    n_views : int, default=1
        Number of labelings to find. Each view takes up to ``n_clusters - 1`` dimensions.
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
    >>> from multifacet.baselines import OrthogonalSubspaceClustering
    >>> X = [[0, 0], [0, 1], [9, 0], [9, 1]]
    >>> model = OrthogonalSubspaceClustering(random_state=0).fit(X, given=[0, 0, 1, 1])
    >>> model.residual_[:, 0]
    array([0., 0., 0., 0.])
    """

    def _remove(self, X: Array, labels: Array) -> Array:
        means = centred(cluster_means(X, one_hot(labels)))
        _, singular, axes = np.linalg.svd(means, full_matrices=False)
        # Means may lie on a line, so the rank counts, not the number of clusters.
        rank = int((singular > NOTHING * np.sqrt((X**2).sum(axis=1).mean())).sum())
        A = axes[:rank].T
        return X - (X @ A) @ A.T
