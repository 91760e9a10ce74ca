"""CAMI: Gaussian mixtures with a penalty on the mutual information of their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_softmax
from sklearn.utils import check_random_state

from ..linalg import Array
from ..problems import one_hot
from ..validation import check_choice, check_count, check_real
from .base import SeveralViews, centred, cluster_means

#: Share of the mean variance that is added to every covariance.
RIDGE = 1e-3
#: Rise of the objective at which to stop, and most halvings of a step.
ENOUGH, MAX_HALVINGS = 1e-8, 30
#: How sure the first memberships are.
CONFIDENCE = 0.9


class CAMI(SeveralViews):
    """Likelihoods of several mixtures minus the mutual information between their clusters.

    The sum over views of log-likelihood / n, minus eta times the mutual information of every
    pair of views, is maximised by EM with a penalised E-step (Dang and Bailey 2010). Given
    labelings are views that do not move (KDAC 2014, section 6.3). The joint distribution of two
    clusterings is estimated from the memberships, Q1'Q2 / n, which is our choice: it agrees with
    the labels that are reported. Many features call for ``covariance="diag"`` or PCA first.

    Parameters
    ----------
    n_clusters : int or sequence of int, default=2
        Number of clusters, of all views or of each.
    n_views : int or "auto", default="auto"
        Number of labelings to find; "auto" is one beside the given ones, two without them.
    eta : float, default=3.0
        Price of mutual information, in nats per row; 1 to 10 is useful.
    covariance : {"full", "diag", "spherical"}, default="full"
        Form of the covariances.
    max_iter : int, default=200
        Most iterations of a start.
    n_init : int, default=10
        Starts: one from k-means, the rest from random centres; the best objective wins.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labelings_ : array of int of shape (n, n_views)
        The labelings found.
    labels_ : array of int of shape (n,)
        The first of them.
    memberships_ : list of arrays of shape (n, k)
        Posterior probabilities of each view.
    objective_ : float
        The objective per row, in nats.
    objective_path_ : list of float
        Objective after each iteration; it never falls.
    n_iter_ : int
        Iterations of the best start.

    Examples
    --------
    >>> from multifacet.baselines import CAMI
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = CAMI(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 2,
        *,
        n_views: int | str = "auto",
        eta: float = 3.0,
        covariance: str = "full",
        max_iter: int = 200,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.eta = eta
        self.covariance = covariance
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        counts = self._clusters_of_views(X, labelings)
        n_init = check_count("n_init", self.n_init, low=1)
        check_count("max_iter", self.max_iter, low=1)
        check_real("eta", self.eta, positive=False)
        check_choice("covariance", self.covariance, ["full", "diag", "spherical"])
        X = centred(X)
        frozen = [one_hot(labels) for labels in labelings]
        rng = check_random_state(self.random_state)
        first = _soft(one_hot(self.kmeans(X, counts[0])))
        runs = []
        for start in range(n_init):
            views = [_random_start(X, k, rng) for k in counts]
            if start == 0:
                views[0] = first
            runs.append(self._climb(X, views, frozen))
        self.memberships_, self.objective_path_ = max(runs, key=lambda run: run[1][-1])
        self.objective_ = self.objective_path_[-1]
        self.n_iter_ = len(self.objective_path_)
        self._store([np.argmax(Q, axis=1) for Q in self.memberships_])

    def _climb(
        self, X: Array, views: list[Array], frozen: list[Array]
    ) -> tuple[list[Array], list[float]]:
        """Run EM from first memberships (n, k_v); return the last ones and all objectives."""
        path: list[float] = []
        fits = np.zeros(len(views))
        for _ in range(self.max_iter):
            for v, Q in enumerate(views):
                density = _log_density(X, Q, self.covariance)
                others = frozen + views[:v] + views[v + 1 :]
                views[v] = _penalised_step(Q, density, others, self.eta)
                fits[v] = _fit_of(views[v], density)
            shared = sum(
                mutual_information(Q, P) for v, Q in enumerate(views) for P in frozen + views[:v]
            )
            path.append(float(fits.sum() - self.eta * shared))
            if len(path) > 1 and path[-1] - path[-2] < ENOUGH:
                break
        return views, path


def mutual_information(Q: Array, P: Array) -> float:
    """Return the mutual information, in nats, of two soft clusterings (n, k) and (n, l)."""
    joint = Q.T @ P / len(Q)
    return float((joint * _log_ratio(joint)).sum())


def _log_ratio(joint: Array) -> Array:
    """Return log(P_ij / (P_i. P_.j)), with cells of zero kept finite."""
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.log((joint + 1e-12) / (outer + 1e-12))


def _penalised_step(Q: Array, density: Array, others: list[Array], eta: float) -> Array:
    """Return better memberships: mirror ascent, the step halved until the objective rises.

    Without a penalty the full step is the E-step of EM.
    """

    def value(memberships: Array) -> float:
        shared = sum(mutual_information(memberships, P) for P in others)
        return _fit_of(memberships, density) - eta * shared

    target = density.copy()
    for P in others:
        target -= eta * P @ _log_ratio(Q.T @ P / len(Q)).T
    logs, here = np.log(np.maximum(Q, 1e-300)), value(Q)
    step = 1.0
    for _ in range(MAX_HALVINGS):
        candidate = np.exp(log_softmax((1 - step) * logs + step * target, axis=1))
        if value(candidate) >= here:
            return candidate
        step /= 2
    return Q


def _fit_of(Q: Array, density: Array) -> float:
    """Return the lower bound of the log-likelihood per row: E[log density] + entropy."""
    return float((Q * (density - np.log(np.maximum(Q, 1e-300)))).sum() / len(Q))


def _log_density(X: Array, Q: Array, covariance: str) -> Array:
    """Return log(pi_c N(x_i; mu_c, Sigma_c)), shape (n, k), with parameters fitted to Q."""
    n, d = X.shape
    sizes = np.maximum(Q.sum(axis=0), 1e-10)
    ridge = RIDGE * (X.var(axis=0).mean() or 1.0)
    result = np.empty_like(Q)
    for c, mean in enumerate(cluster_means(X, Q)):
        away = X - mean
        if covariance == "full":
            sigma = (away * Q[:, c, None]).T @ away / sizes[c] + ridge * np.eye(d)
            root = np.linalg.cholesky(sigma)
            scaled = solve_triangular(root, away.T, lower=True, check_finite=False)
            squares, log_det = (scaled**2).sum(axis=0), 2 * np.log(np.diag(root)).sum()
        else:
            variance = Q[:, c] @ away**2 / sizes[c] + ridge
            if covariance == "spherical":
                variance = np.full(d, variance.mean())
            squares, log_det = (away**2 / variance).sum(axis=1), np.log(variance).sum()
        result[:, c] = np.log(sizes[c] / n) - 0.5 * (squares + log_det + d * np.log(2 * np.pi))
    return result


def _random_start(X: Array, k: int, rng: np.random.RandomState) -> Array:
    """Return soft memberships (n, k) of the nearest of k random rows."""
    centres = X[rng.choice(len(X), k, replace=False)]
    nearest = np.argmax(X @ centres.T - 0.5 * (centres**2).sum(axis=1), axis=1)
    return _soft(np.eye(k)[nearest])


def _soft(members: Array) -> Array:
    return CONFIDENCE * members + (1 - CONFIDENCE) / members.shape[1]
