"""Interpretable kernel dimension reduction by clusters: without labels, with expert scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from ..engines.threads import single_threaded_blas
from ..fitting.narrowing import choose_score_weight
from ..linalg import Array
from ..problems import semi_supervised, target_factor, unsupervised
from ..validation import as_numbers, check_choice, check_clusters, check_data, check_real
from .base import Targeted
from .clusterer import SubspaceClusterer


class UnsupervisedKDR(ClusterMixin, SubspaceClusterer):
    """Unsupervised dimension reduction: clusters together with the subspace they live in.

    Alternates spectral clustering in the subspace with the search for the subspace that depends
    most on the clusters (IKDR 2019, section 2). Scale the features first.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    n_components : int or "auto", default="auto"
        Dimension q of the subspace; "auto" takes the number of clusters, at most d.
    kernel : str or Kernel, default="gaussian"
        Similarity of projected rows.
    bandwidth : float, "auto" or "median", default="auto"
        Bandwidth of the Gaussian kernel. "auto" goes from the median distance to narrower ones, on
        a sample of the rows, and takes the one whose clusters are separated best; "median" is the
        median distance, as in the papers.
    init : {"auto", "spectral", "random"} or array of shape (d, q), default="spectral"
        Where W begins, see :class:`KDAC`.
    n_starts : int, default=8
        Number of starts of "auto" and "random".
    solver, engine, max_iter, tol, n_init, random_state, n_jobs, verbose : object
        See :class:`KDAC`.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    components_ : array of shape (q, d)
        Orthonormal basis of the subspace.
    selection_ : Selection or None
        The choice of the bandwidth; print it for a sentence. None if there was none.
    mean_, feature_weights_, embedding_, bandwidth_, n_components_, n_clusters_, quality_,
    objective_, certificate_, result_, explorations_, n_iter_
        See :class:`KDAC`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from multifacet import UnsupervisedKDR
    >>> X = scale(load_wine().data)
    >>> UnsupervisedKDR(3, random_state=0).fit_predict(X).shape
    (178,)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        n_components: int | str = "auto",
        *,
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        init: Any = "spectral",
        n_starts: int = 8,
        solver: Any = "ism",
        engine: Any = "auto",
        max_iter: int = 20,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.init = init
        self.n_starts = n_starts
        self.solver = solver
        self.engine = engine
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> UnsupervisedKDR:
        """Find clusters and their subspace.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (n, d)
            Data, scaled as distances should count.
        y : ignored
            Present for the conventions of scikit-learn.

        Returns
        -------
        UnsupervisedKDR
            Itself.
        """
        X = check_data(self, X, lazy=True)
        k = check_clusters(self.n_clusters, X)
        X = self._set_mean(X)
        self._alternate(X, unsupervised(X.shape[0], k), self._dimension(k))
        return self


class SemiSupervisedKDR(Targeted, SubspaceClusterer):
    """Semi-supervised dimension reduction: clusters that respect the scores of experts.

    Alternates as :class:`UnsupervisedKDR` does, while the subspace is also asked to depend on
    the scores (IKDR 2019, Eq. 2). Scale the features first; scores may have any unit.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    n_components : int or "auto", default="auto"
        Dimension q of the subspace; "auto" takes the number of clusters, at most d.
    score_weight : float or "auto", default=1.0
        Say of the scores against that of the clusters; one is equal. "auto" is the least say, of
        0.1 to 10, with which the scores of held-out rows are told as well as by any, but for two
        standard errors.
    kernel : str or Kernel, default="gaussian"
        Similarity of projected rows.
    bandwidth : float, "auto" or "median", default="auto"
        Bandwidth of the Gaussian kernel, see :class:`UnsupervisedKDR`.
    init : {"auto", "spectral", "random"} or array of shape (d, q), default="spectral"
        Where W begins, see :class:`KDAC`.
    n_starts : int, default=8
        Number of starts of "auto" and "random".
    solver, engine, max_iter, tol, n_init, random_state, n_jobs, verbose : object
        See :class:`KDAC`.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    components_ : array of shape (q, d)
        Orthonormal basis of the subspace.
    dependence_ : float
        HSIC of the projected data with the scores.
    score_weight_ : float
        Say of the scores that was used.
    mean_, feature_weights_, embedding_, bandwidth_, selection_, n_components_, n_clusters_,
    quality_, objective_, certificate_, result_, explorations_, n_iter_
        See :class:`KDAC`.

    Examples
    --------
    >>> from multifacet import SemiSupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(150, [2, 2], random_state=0)
    >>> scores = labelings[:, 1] + 0.0
    >>> model = SemiSupervisedKDR(2, random_state=0).fit(X, scores)
    >>> round(nmi(model.labels_, labelings[:, 1]), 1)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        n_components: int | str = "auto",
        score_weight: float | str = 1.0,
        *,
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        init: Any = "spectral",
        n_starts: int = 8,
        solver: Any = "ism",
        engine: Any = "auto",
        max_iter: int = 20,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.score_weight = score_weight
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.init = init
        self.n_starts = n_starts
        self.solver = solver
        self.engine = engine
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> SemiSupervisedKDR:
        """Find clusters and their subspace, guided by scores.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (n, d)
            Data, scaled as distances should count.
        y : array-like of shape (n,) or (n, r)
            Scores: rows with similar scores belong together. Every row needs its scores; a label
            of -1 is a score like any other.

        Returns
        -------
        SemiSupervisedKDR
            Itself.
        """
        X = check_data(self, X, lazy=True)
        k = check_clusters(self.n_clusters, X)
        scores = as_numbers(self._required(y, X.shape[0])).reshape(X.shape[0], -1)
        if not np.ptp(scores, axis=0).any():
            raise ValueError("the scores y are constant: they say nothing")
        X = self._set_mean(X)
        q = self._dimension(k)
        self.score_weight_ = self._weight(X, scores, k, q)
        problem = semi_supervised(target_factor(scores), self.score_weight_, k)
        self._alternate(X, problem, q)
        return self

    def _weight(self, X: Any, scores: Array, k: int, q: int) -> float:
        """Return the say of the scores (n, r) that was asked for, or the one that is chosen."""
        if not isinstance(self.score_weight, str):
            return check_real("score_weight", self.score_weight, positive=False)
        check_choice("score_weight", self.score_weight, ["auto"])
        with single_threaded_blas():
            kernel = self._resolve_kernel(X)
            return choose_score_weight(X, scores, k, q, kernel, self._effort())

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit to data and scores and return ``labels_``; see :meth:`fit`."""
        return self.fit(X, y).labels_
