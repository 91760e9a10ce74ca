"""Alternative clustering in closed form: with linear kernels, or on the spectral embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ..alternate import cluster_embedding
from ..content import DRAWN
from ..engines.base import LazyRows
from ..engines.contents import sampled_here
from ..engines.threads import single_threaded_blas
from ..engines.wide import all_features
from ..fitting.embedder import smoothing_embedder, with_ones
from ..fitting.linear import explained_share, explained_share_of_sums, linear_phi
from ..fitting.rows import as_came, beside, on_rows
from ..linalg import Array, leading_eigenpairs
from ..problems import Gamma, Indicators, Problem, one_hot
from ..validation import check_clusters, check_count, check_data, draw_seed
from .alternative import Alternative, AlternativeSubspace
from .base import KernelEstimator, SubspaceEstimator
from .clusterer import EmbeddingPredictor


class LinearKDAC(AlternativeSubspace, SubspaceEstimator):
    """Alternative clustering with linear kernels, in closed form.

    The subspace holds the leading eigenvectors of X'X - novelty_weight * X'YY'X, with centred X
    and the indicators Y of the given clusters (KDAC 2014, Algorithm 2); k-means clusters the
    projected rows. A global optimum in one eigendecomposition, for compact clusters only.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    n_components : int or "auto", default="auto"
        Dimension q of the subspace; "auto" takes the number of clusters, at most half of d.
    novelty_weight : float or "auto", default="auto"
        How much dependence on the given labels costs; "auto" is 3 in unit scale.
    novelty_scale : {"unit", "paper"}, default="unit"
        Scale of the indicators, see :class:`KDAC`.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    components_ : array of shape (q, d)
        Orthonormal basis of the subspace.
    mean_ : array of shape (d,)
        Mean of the training rows.
    feature_weights_ : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    novelty_weight_ : float
        Novelty weight used.
    n_components_, n_clusters_ : int
        Dimension and number of clusters used.
    quality_ : float
        Share of the projected variance that lies between the clusters, at most one.
    dependence_ : float
        Share of the projected variance that the given labels explain.
    objective_ : float
        Sum of the chosen eigenvalues.

    Examples
    --------
    >>> from multifacet import LinearKDAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = LinearKDAC(n_components=1, random_state=0).fit(X, given=labelings[:, 0])
    >>> model.components_.shape
    (1, 4)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_components: int | str = "auto",
        novelty_weight: float | str = "auto",
        novelty_scale: str = "unit",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.novelty_weight = novelty_weight
        self.novelty_scale = novelty_scale
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, given: Any = None) -> LinearKDAC:
        """Find the subspace in closed form and cluster in it; see :meth:`KDAC.fit`."""
        X = check_data(self, X, lazy=True)
        k = check_clusters(self.n_clusters, X)
        labelings = self._labelings(given, X.shape[0], y)
        placed = [beside(X, labels) for labels in labelings]
        problem = self._problem(placed, X.shape[0], k).whole()
        full, X = X, self._set_mean(X)
        q = self._alternative_dimension(k, X.shape[1], labelings)
        values, W = leading_eigenpairs(linear_phi(X, self.mean_[self.varying_], problem), q)
        self._store_subspace(W, X.dtype)
        self.objective_ = float(values.sum())
        self._kmeans = KMeans(
            k, n_init=check_count("n_init", self.n_init, low=1), random_state=self.random_state
        )
        self.n_clusters_ = k
        if isinstance(full, LazyRows):
            return self._finished_in_chunks(full, problem)
        projected = self._project(full)
        self.labels_ = self._clustered(full, projected)
        self.quality_ = explained_share(projected, one_hot(self.labels_))
        self.dependence_ = explained_share(projected, problem.columns)
        return self

    def _clustered(self, X: Any, projected: Array) -> Array:
        """Return the clusters of rows X; centres of many rows are those of a sample, as in chunks.

        Chunks give the same sample, so they give the same labels.
        """
        if len(projected) <= DRAWN:
            return self._kmeans.fit(projected).labels_.astype(np.intp)
        self._kmeans.fit(self._project(sampled_here(X).rows))
        return self._kmeans.predict(projected).astype(np.intp)

    def _finished_in_chunks(self, X: LazyRows, problem: Problem) -> LinearKDAC:
        """Cluster a sample of rows in chunks, and label all of them when they are asked for."""
        self._kmeans.fit(self._project(X.by_content()[0]))
        self.labels_ = on_rows(self, self._nearest, X, None, np.intp)
        projected = X.beside(on_rows(self, self._project, X, self.n_components_, float))
        indicators = Indicators([X.beside(self.labels_)], unit=False)[:]
        self.quality_ = explained_share_of_sums(projected, indicators)
        self.dependence_ = explained_share_of_sums(projected, problem.columns)
        return self

    def predict(self, X: Any) -> Array:
        """Assign rows (m, d) to the nearest cluster centre in the subspace, shape (m,)."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False, lazy=True)
        return on_rows(self, self._nearest, X, None, np.intp)

    def _nearest(self, X: Any) -> Array:
        return self._kmeans.predict(self._project(X)).astype(np.intp)


class EmbeddingKDAC(Alternative, EmbeddingPredictor, KernelEstimator):
    """Alternative clustering of the spectral embedding itself, in closed form.

    U holds the leading eigenvectors of H (D^-1/2 K D^-1/2 - novelty_weight * YY') H on all
    features (KDAC 2014, Algorithm 3, with the centring H that is missing there). Clusters of any
    shape, but no subspace is learned: there are no ``components_`` and nothing to transform.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    kernel : str or Kernel, default="gaussian"
        Similarity of rows.
    bandwidth : float, "auto" or "median", default="auto"
        Bandwidth of the Gaussian kernel; "auto" and "median" take the median distance.
    novelty_weight : float or "auto", default="auto"
        How much dependence on the given labels costs; "auto" is 3 in unit scale.
    novelty_scale : {"unit", "paper"}, default="unit"
        Scale of the indicators, see :class:`KDAC`.
    engine : str or Engine, default="auto"
        How sums over pairs of rows are computed.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads; None uses all cores.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    embedding_ : array of shape (n, k)
        U.
    mean_ : array of shape (d,)
        Mean of the training rows.
    bandwidth_ : float or None
        Bandwidth used; None for kernels without one.
    novelty_weight_ : float
        Novelty weight used.
    n_clusters_ : int
        Number of clusters.
    quality_ : float
        Cluster quality tr(U' H D^-1/2 K D^-1/2 H U), at most k.
    dependence_ : float
        tr(U' YY' U).
    objective_ : float
        ``quality_ - novelty_weight_ * dependence_``, the sum of the eigenvalues.

    Examples
    --------
    >>> from multifacet import EmbeddingKDAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = EmbeddingKDAC(random_state=0).fit(X, given=labelings[:, 0])
    >>> model.embedding_.shape
    (200, 2)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        novelty_weight: float | str = "auto",
        novelty_scale: str = "unit",
        engine: Any = "auto",
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.novelty_weight = novelty_weight
        self.novelty_scale = novelty_scale
        self.engine = engine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, given: Any = None) -> EmbeddingKDAC:
        """Find an embedding that is independent of the given labels; see :meth:`KDAC.fit`."""
        X = check_data(self, X, lazy=True)
        k = check_clusters(self.n_clusters, X)
        labelings = [beside(X, one) for one in self._labelings(given, X.shape[0], y)]
        problem = self._problem(labelings, X.shape[0], k).whole()
        X = self._set_mean(X)
        seed = draw_seed(self.random_state)
        n_init = check_count("n_init", self.n_init, low=1)
        everything = all_features(X.shape[1])
        known = Gamma(problem.columns, problem.weights)
        with single_threaded_blas():
            sums = self._attach(X, self._resolve_kernel(X))
            degrees = sums.degrees(everything) if sums.kernel.nonnegative else None
            values, U = sums.embedding(everything, k, degrees=degrees, extra=known)
            labels, _ = cluster_embedding(U, n_init=n_init, seed=seed)
            columns = U if degrees is None else U / np.sqrt(degrees)[:, None]
            extension = sums.extension(everything, with_ones(columns))
            rows = X.by_content() if isinstance(X, LazyRows) else (X, slice(None))
            told = np.asarray(labels[rows[1]])
            self.embedder_ = smoothing_embedder(extension, rows[0], degrees is not None, told)
        self.labels_ = as_came(X, labels.astype(np.intp))
        self.n_clusters_ = k
        self.embedding_ = as_came(X, U)
        self.objective_ = float(values.sum())
        self.dependence_ = float((np.asarray(problem.columns.T @ U) ** 2).sum())
        self.quality_ = self.objective_ + self.novelty_weight_ * self.dependence_
        return self
