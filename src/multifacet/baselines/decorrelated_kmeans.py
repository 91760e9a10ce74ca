"""Decorrelated k-means: representatives of one clustering orthogonal to the means of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..linalg import Array
from ..validation import check_count, check_real
from .base import SeveralViews, centred, cluster_means

#: Relative change of the objective at which to stop.
ENOUGH = 1e-8


class DecorrelatedKMeans(SeveralViews):
    """Cluster several views at once by k-means, with a penalty where clusters point the same way.

    Minimises over labels and representatives r, with a the means of the clusters, ::

        sum_t sum_i sum_{x in C_ti} |x - r_ti|^2 + lam sum_{t != s} sum_ij (r_ti' a_sj)^2

    (Jain, Meka and Dhillon 2008). Given labelings are clusterings that do not move.

    Parameters
    ----------
    n_clusters : int or sequence of int, default=2
        Number of clusters, of all views or of each.
    n_views : int or "auto", default="auto"
        Number of labelings to find; "auto" is one beside the given ones, two without them.
    decorrelation : float, default=10.0
        Strength of the penalty. The two parts of the objective have different units, so it is
        scaled (our choice): a representative shrinks by a factor of about 1 + decorrelation
        along the main direction of the other view's means.
    max_iter : int, default=100
        Most iterations of a start.
    n_init : int, default=10
        Starts; the best objective wins.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labelings_ : array of int of shape (n, n_views)
        The labelings found.
    labels_ : array of int of shape (n,)
        The first of them.
    representatives_ : list of arrays of shape (k, d)
        Representatives of each view found, relative to the mean of the data.
    penalty_weight_ : float
        lam.
    objective_ : float
        The best objective seen.
    objective_path_ : list of float
        Objective after each iteration of the best start; it may rise.
    n_iter_ : int
        Iterations of the best start.

    Examples
    --------
    >>> from multifacet.baselines import DecorrelatedKMeans
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = DecorrelatedKMeans(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 2,
        *,
        n_views: int | str = "auto",
        decorrelation: float = 10.0,
        max_iter: int = 100,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.decorrelation = decorrelation
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def _find(self, X: Array, labelings: list[Array]) -> None:
        counts = self._clusters_of_views(X, labelings)
        n_init = check_count("n_init", self.n_init, low=1)
        check_count("max_iter", self.max_iter, low=1)
        strength = check_real("decorrelation", self.decorrelation, positive=False)
        X = centred(X)
        plain = self._kmeans(X, counts[0])
        self.penalty_weight_ = strength * _scale(X, labelings or [plain], counts[0])
        rng = check_random_state(self.random_state)
        sizes = [int(labels.max()) + 1 for labels in labelings] + counts
        runs = []
        for _ in range(n_init):
            views = [rng.permutation(len(X)) % k for k in counts]
            if not labelings:
                views[0] = plain
            runs.append(self._descend(X, labelings + views, sizes, len(labelings)))
        lowest = min(state.objective for state, _ in runs)
        # Several runs often end alike; the first of them, lest rounding should choose.
        best, self.objective_path_ = next(
            run for run in runs if run[0].objective <= lowest + 1e-9 * abs(lowest)
        )
        self.objective_ = best.objective
        self.n_iter_ = len(self.objective_path_)
        self.representatives_ = best.representatives[len(labelings) :]
        self._store(best.labelings[len(labelings) :])

    def _descend(
        self, X: Array, labelings: list[Array], sizes: list[int], n_frozen: int
    ) -> tuple[_State, list[float]]:
        """Alternate representatives and labels; return the best state seen and all objectives.

        Labels are assigned as if the means stood still. They do not, so the objective may rise.
        """
        best = here = _State(X, labelings, sizes, self.penalty_weight_)
        path: list[float] = []
        while len(path) < self.max_iter:
            before = here
            here = _State(X, here.reassigned(X, n_frozen), sizes, self.penalty_weight_)
            path.append(here.objective)
            if here.objective < best.objective:
                best = here
            if abs(here.objective - before.objective) <= ENOUGH * before.objective:
                break
        return best, path


class _State:
    """Labels of all views with their means, best representatives and objective."""

    def __init__(self, X: Array, labelings: list[Array], sizes: list[int], lam: float) -> None:
        self.labelings = labelings
        members = [np.eye(k)[labels] for labels, k in zip(labelings, sizes, strict=True)]
        means = [cluster_means(X, M) for M in members]
        self.representatives: list[Array] = []
        self.objective = 0.0
        for t, (a, M) in enumerate(zip(means, members, strict=True)):
            foreign = np.vstack([*means[:t], *means[t + 1 :], np.zeros((1, X.shape[1]))])
            r = representatives(a, M.sum(axis=0), foreign, lam)
            self.representatives.append(r)
            self.objective += float(((X - M @ r) ** 2).sum())
            self.objective += lam * float(((r @ foreign.T) ** 2).sum())

    def reassigned(self, X: Array, n_frozen: int) -> list[Array]:
        """Return the labels of the nearest representatives; frozen views keep theirs."""
        new = list(self.labelings)
        for t in range(n_frozen, len(new)):
            r = self.representatives[t]
            gaps = (r**2).sum(axis=1) - 2 * X @ r.T
            new[t] = np.argmin(gaps, axis=1)
            away = gaps[np.arange(len(X)), new[t]] + (X**2).sum(axis=1)
            for c in np.setdiff1d(np.arange(len(r)), new[t]):
                # An empty cluster begins again at the row that is worst off.
                worst = int(np.argmax(away))
                new[t][worst], away[worst] = c, -np.inf
        return new


def representatives(means: Array, sizes: Array, foreign: Array, lam: float) -> Array:
    """Return r_i = (I + lam/n_i B'B)^-1 a_i for means a (k, d) and foreign means B (m, d).

    With B = U S V', only the coordinates of a_i along V shrink, each by 1 + lam/n_i s^2.
    """
    _, singular, axes = np.linalg.svd(foreign, full_matrices=False)
    strength = lam / np.maximum(sizes, 1.0)[:, None] * singular**2
    return means - (means @ axes.T * (strength / (1 + strength))) @ axes


def _scale(X: Array, labelings: list[Array], k: int) -> float:
    """Return (n / k) / |A'A|_2 for the stacked means A of the labelings; 0 if they all vanish."""
    means = [cluster_means(X, np.eye(labels.max() + 1)[labels]) for labels in labelings]
    largest = float(np.linalg.norm(np.vstack(means), 2)) ** 2
    return len(X) / k / largest if largest > 0 else 0.0
