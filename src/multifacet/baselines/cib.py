"""CIB: the conditional information bottleneck, coordinated across the given clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp
from sklearn.utils import check_random_state

from ..linalg import Array
from ..search.residual import GroupResidual
from ..validation import check_choice, check_clusters, check_count, check_real
from .base import Rival, centred, cluster_means

#: Prices of information I(C; X), from a soft to a nearly hard clustering.
ANNEALING = (1.0, 0.5, 0.25, 0.1, 0.05)
#: Most steps, and the rise at which to stop, at one price.
MAX_STEPS, ENOUGH = 60, 1e-9
#: Pseudo-counts spread over the features of every multinomial.
SMOOTHING = 1e-2
#: Several given labelings are crossed if every cell then has this many rows per cluster.
ROWS_PER_CELL = 5


class CIB(Rival):
    """Clusters that tell about the features beyond what the given clusters Z tell already.

    Soft memberships p(c|x) maximise I(C; Y|Z) + gamma I(C; Y) - rho I(C; X), with Y the features
    and rho falling step by step (Gondek and Hofmann 2004). Without the second term the clusters
    found inside different given clusters would not belong together.

    Two choices are ours. Real data take Gaussians of one common width in the place of
    multinomials. And the "additive" mode ties the means of a cluster to m_c plus the mean of the
    given group, which clusters the data without their group means and needs no gamma.

    Several given labelings are crossed if every cell then has at least five rows per cluster;
    otherwise their conditional terms are added. Without any, this is the plain bottleneck.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters to find.
    mode : {"additive", "coordinated"}, default="additive"
        Tied means, or the objective of the paper.
    likelihood : {"gaussian", "multinomial"}, default="gaussian"
        Model of the features: real data, or non-negative counts (only "coordinated").
    gamma : float, default=0.1
        Weight of I(C; Y); too large a weight finds the given clusters again. No effect on the
        additive mode.
    n_init : int, default=5
        Random starts; the best objective wins.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row: the largest membership.
    memberships_ : array of shape (n, k)
        p(c|x).
    objective_ : float
        Objective at the last rho, up to terms that do not depend on the clusters.
    objective_path_ : list of list of float
        Objective after each step, for each rho. It rises for the Gaussian.

    Examples
    --------
    >>> from multifacet.baselines import CIB
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = CIB(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        mode: str = "additive",
        likelihood: str = "gaussian",
        gamma: float = 0.1,
        n_init: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.mode = mode
        self.likelihood = likelihood
        self.gamma = gamma
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        k = check_clusters(self.n_clusters, X)
        n_init = check_count("n_init", self.n_init, low=1)
        terms = self._terms(X, labelings, k)
        rng = check_random_state(self.random_state)
        runs = [_anneal(terms, rng.dirichlet(np.ones(k), len(X))) for _ in range(n_init)]
        self.memberships_, self.objective_path_ = max(runs, key=lambda run: run[1][-1][-1])
        self.objective_ = self.objective_path_[-1][-1]
        hard = np.argmax(self.memberships_, axis=1)
        self.labels_ = np.unique(hard, return_inverse=True)[1].astype(np.intp)

    def _terms(self, X: Array, labelings: list[Array], k: int) -> list[_Term]:
        """Return the expected log-likelihoods of which the objective consists."""
        mode = check_choice("mode", self.mode, ["additive", "coordinated"])
        likelihood = check_choice("likelihood", self.likelihood, ["gaussian", "multinomial"])
        gamma = check_real("gamma", self.gamma, positive=False)
        everything = np.zeros(len(X), dtype=int)
        if likelihood == "multinomial":
            if mode == "additive":
                raise ValueError(
                    "mode='additive' ties the means of Gaussians: use mode='coordinated' with "
                    "likelihood='multinomial'"
                )
            make: type[_Term] = _Multinomial
            data = _shares(X)
        else:
            make, data = _Gaussian, _unit_variance(X)
        if mode == "additive":
            if labelings:
                data = GroupResidual(data, labelings).columns(np.arange(data.shape[1]))
            return [make(data, everything, 1.0)]
        conditions = _crossed(labelings, k)
        weight = gamma if conditions else 1.0
        return [make(data, z, 1.0) for z in conditions] + [make(data, everything, weight)]


@dataclass(frozen=True)
class _Term(ABC):
    """One information term: its weight times the log-likelihood given the group of each row."""

    data: Array
    groups: Array
    weight: float

    def log_likelihood(self, q: Array) -> Array:
        """Return weight * log p(x_i | c, group of i), shape (n, k), at memberships q (n, k)."""
        result = np.empty_like(q)
        for z in np.unique(self.groups):
            rows = self.groups == z
            result[rows] = self._inside(self.data[rows], q[rows])
        return self.weight * result

    @abstractmethod
    def _inside(self, data: Array, q: Array) -> Array:
        """Return log p(x_i | c) inside one group."""


class _Gaussian(_Term):
    """Unit variance in every direction; the means follow the memberships."""

    def _inside(self, data: Array, q: Array) -> Array:
        means = cluster_means(data, q)
        empty = q.sum(axis=0) < 1e-10
        means[empty] = data.mean(axis=0)
        squares = (data**2).sum(axis=1)[:, None] + (means**2).sum(axis=1) - 2 * data @ means.T
        return -0.5 * squares


class _Multinomial(_Term):
    """Rows are shares of the features."""

    def _inside(self, data: Array, q: Array) -> Array:
        counts = q.T @ data + SMOOTHING / data.shape[1]
        return data @ np.log(counts / counts.sum(axis=1, keepdims=True)).T


def _anneal(terms: Sequence[_Term], q: Array) -> tuple[Array, list[list[float]]]:
    """Return the memberships and the objective of every step, from a start q (n, k)."""
    paths: list[list[float]] = []
    for rho in ANNEALING:
        path: list[float] = []
        while len(path) < MAX_STEPS:
            share = np.log(np.maximum(q.mean(axis=0), 1e-300))
            logits = share + sum(term.log_likelihood(q) for term in terms) / rho
            q = np.exp(log_softmax(logits, axis=1))
            # At the new q, E[log-likelihood] - rho I(C; X) is the mean log-normaliser.
            path.append(float(rho * logsumexp(logits, axis=1).mean()))
            if len(path) > 1 and path[-1] - path[-2] < ENOUGH:
                break
        paths.append(path)
    return q, paths


def _crossed(labelings: list[Array], k: int) -> list[Array]:
    """Return the conditions: the cross product of all labelings if its cells are large enough."""
    if len(labelings) < 2:
        return labelings
    cells = np.unique(np.column_stack(labelings), axis=0, return_inverse=True)[1].ravel()
    return [cells] if np.bincount(cells).min() >= ROWS_PER_CELL * k else labelings


def _unit_variance(X: Array) -> Array:
    """Return X (n, d) centred, with a mean variance of one over its features."""
    X = centred(X)
    return X / (np.sqrt((X**2).mean()) or 1.0)


def _shares(X: Array) -> Array:
    """Return counts (n, d) as shares of their row."""
    if X.min() < 0:
        raise ValueError(
            f"X has the negative value {X.min():g}, so it holds no counts: use "
            "likelihood='gaussian'"
        )
    totals = X.sum(axis=1)
    if (totals == 0).any():
        raise ValueError(
            f"row {int(np.argmin(totals))} of X has no counts at all: drop such rows first"
        )
    return X / totals[:, None]
