"""What the rival methods share: fit, k-means, and the counting of views and clusters."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from ..engines.threads import single_threaded_blas
from ..linalg import Array
from ..validation import (
    check_choice,
    check_clusters,
    check_count,
    check_data,
    check_labelings,
    say_constant,
)


class Rival(ClusterMixin, BaseEstimator):
    """Base of the rival methods: dense data, given labelings, labels."""

    n_init: int
    random_state: Any
    labels_: Array

    def fit(self, X: Any, y: Any = None, *, given: Any = None) -> Self:
        """Find one or several groupings beyond the given ones.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Data, scaled as distances should count. Sparse data are refused, constant features
            are left out.
        y : ignored
            Present for the conventions of scikit-learn.
        given : array-like of shape (n,) or (n, m), list of labelings, or data frame, optional
            What is already known.

        Returns
        -------
        object
            Itself.
        """
        if issparse(X):
            raise TypeError(
                f"X is sparse, which {type(self).__name__} cannot use: pass a dense array, "
                "X.toarray()"
            )
        X = check_data(self, X).astype(float)
        if y is not None and given is None:
            warnings.warn("y is ignored: pass known labels as given=", UserWarning, stacklevel=2)
        labelings = check_labelings(given, len(X))
        X = self._without_constants(X)
        with single_threaded_blas():
            self.find_groups(X, labelings)
        return self

    @abstractmethod
    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set ``labels_`` (and ``labelings_``)."""

    def _without_constants(self, X: Array) -> Array:
        spread = X.std(axis=0)
        varying = spread > 1e-12 * spread.max()
        if varying.all() or not varying.any():
            return X
        say_constant(self, varying)
        return X[:, varying]

    def kmeans(self, points: Array, k: int) -> Array:
        """Return the labels (n,) of k-means on points (n, q)."""
        n_init = check_count("n_init", self.n_init, low=1)
        model = KMeans(k, n_init=n_init, random_state=self.random_state)
        return model.fit_predict(points).astype(np.intp)


class SeveralViews(Rival):
    """Base of rival methods that find one or several labelings."""

    n_clusters: int | Sequence[int]
    n_views: int | str

    def _clusters_of_views(self, X: Array, labelings: list[Array]) -> list[int]:
        """Return the number of clusters of every view to be found."""
        if isinstance(self.n_views, str):
            check_choice("n_views", self.n_views, ["auto"])
            n_views = 1 if labelings else 2
        else:
            n_views = check_count("n_views", self.n_views, low=1)
        if not np.ndim(self.n_clusters):
            return [check_clusters(self.n_clusters, X)] * n_views
        counts = list(self.n_clusters)  # type: ignore[arg-type]
        if len(counts) != n_views:
            raise ValueError(f"n_clusters has {len(counts)} entries for {n_views} views")
        return [check_clusters(k, X) for k in counts]

    def _store(self, found: Sequence[Array]) -> None:
        """Set ``labelings_`` (n, n_views), and ``labels_`` to the first of them."""
        compact = [np.unique(labels, return_inverse=True)[1] for labels in found]
        self.labelings_ = np.column_stack(compact).astype(np.intp)
        self.labels_ = self.labelings_[:, 0].copy()


def centred(X: Array) -> Array:
    """Return X (n, d) minus its mean."""
    return X - X.mean(axis=0)


def cluster_means(X: Array, memberships: Array) -> Array:
    """Return the means (k, d) of rows X (n, d) under memberships (n, k), hard or soft."""
    sizes = memberships.sum(axis=0)
    return (memberships.T @ X) / np.maximum(sizes, np.finfo(float).tiny)[:, None]
