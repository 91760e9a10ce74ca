"""mSC: several spectral clusterings at once, in subspaces that do not depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering

from ..alternate import cluster_embedding
from ..engines import as_engine
from ..engines.threads import single_threaded_blas
from ..kernels import Gaussian, typical_distance
from ..linalg import Array, fix_signs
from ..problems import one_hot
from ..search.starts import pairwise_dependence
from ..solvers import as_solver
from ..together import Part, refine_together
from ..validation import check_choice, check_count, check_real, draw_seed
from .base import SeveralViews, centred


class MSC(SeveralViews):
    """Multiple non-redundant spectral clustering: all views and their subspaces together.

    Each view v maximises the quality of its spectral clustering in its subspace W_v minus the
    dependence (HSIC) of X W_v on every other view and on the given labels (Niu, Dy and Jordan
    2010). The features are first divided into groups by spectral clustering of their pairwise
    dependence, and every view starts in one group; from there the views take turns. So there
    must be at least as many features as views, given and to be found, and the features should
    not be mixed by a rotation.

    Two things differ from the original: kernels of other views are scaled to a leading
    eigenvalue of one, so that the weight means the same at every number of rows, and degrees
    divide both terms (:mod:`multifacet.together`).

    Parameters
    ----------
    n_clusters : int or sequence of int, default=2
        Number of clusters, of all views or of each.
    n_views : int or "auto", default="auto"
        Number of labelings to find; "auto" is one beside the given ones, two without them.
    n_components : int or "auto", default="auto"
        Most dimensions of a subspace; "auto" takes the number of clusters of the view. A view
        whose group has fewer features has fewer.
    bandwidth : float or "median", default="median"
        Bandwidth of the Gaussian kernel; "median" is the median distance in the first subspace.
    novelty_weight : float, default=3.0
        Price of dependence.
    solver : str or Solver, default="ism"
        Solver of the W-step.
    max_rounds : int, default=30
        Most rounds over all views.
    tol : float, default=1e-4
        A round that moves no subspace by more (sine of the largest principal angle) is the last.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labelings_ : array of int of shape (n, n_views)
        The labelings found.
    labels_ : array of int of shape (n,)
        The first of them.
    subspaces_ : list of arrays of shape (q, d)
        Orthonormal basis of each subspace, over the features that vary.
    groups_ : list of arrays of int
        Features in which each view began.

    Examples
    --------
    >>> from multifacet.baselines import MSC
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import match_labelings
    >>> X, labelings = make_gaussian_views(200, [3, 3], rotate=False, random_state=0)
    >>> model = MSC(3, random_state=0).fit(X)
    >>> round(match_labelings(labelings, model.labelings_).score, 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int | Sequence[int] = 2,
        *,
        n_views: int | str = "auto",
        n_components: int | str = "auto",
        bandwidth: float | str = "median",
        novelty_weight: float = 3.0,
        solver: Any = "ism",
        max_rounds: int = 30,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_views = n_views
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.novelty_weight = novelty_weight
        self.solver = solver
        self.max_rounds = max_rounds
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        counts = self._clusters_of_views(X, labelings)
        dimensions = self._dimensions(counts)
        weight = check_real("novelty_weight", self.novelty_weight, positive=False)
        n_init = check_count("n_init", self.n_init, low=1)
        seed = draw_seed(self.random_state)
        X = centred(X)
        with single_threaded_blas():
            self.groups_ = _feature_groups(X, labelings, len(counts), seed)
            Ws = [_axes(X, g, q) for g, q in zip(self.groups_, dimensions, strict=True)]
            parts = [
                Part.of(X, W, k, Gaussian(self._bandwidth(X @ W)), as_engine("auto"))
                for W, k in zip(Ws, counts, strict=True)
            ]
            solutions = refine_together(
                X,
                labelings,
                parts,
                as_solver(self.solver),
                weight=weight,
                max_iter=check_count("max_rounds", self.max_rounds, low=1),
                tol=check_real("tol", self.tol),
            )
            found = [cluster_embedding(s.embedding, n_init=n_init, seed=seed)[0] for s in solutions]
        self.subspaces_ = [solution.W.T for solution in solutions]
        self._store(found)

    def _dimensions(self, counts: list[int]) -> list[int]:
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ["auto"])
            return counts
        return [check_count("n_components", self.n_components, low=1)] * len(counts)

    def _bandwidth(self, points: Array) -> float:
        if isinstance(self.bandwidth, str):
            check_choice("bandwidth", self.bandwidth, ["median"])
            return typical_distance(points)
        return check_real("bandwidth", self.bandwidth)


def _feature_groups(X: Array, labelings: list[Array], n_views: int, seed: int) -> list[Array]:
    """Return a group of features for every view, the largest group first.

    Given labelings take groups of their own: those that depend on them most.
    """
    d, wanted = X.shape[1], n_views + len(labelings)
    if d < wanted:
        raise ValueError(
            f"X has n_features={d} that vary, but MSC begins every view in a group of features: "
            f"it needs at least {wanted}, one for each view, given or to be found"
        )
    indicators = [one_hot(labels) for labels in labelings]
    dependence = pairwise_dependence(np.hstack([X, *indicators]))
    similarity = dependence[:d, :d]
    if d == wanted or wanted == 1:
        codes = np.arange(d) if d == wanted else np.zeros(d, dtype=int)
    else:
        model = SpectralClustering(wanted, affinity="precomputed", random_state=seed)
        codes = model.fit_predict(similarity)
    groups = [np.flatnonzero(codes == c) for c in np.unique(codes)]
    known = dependence[:d, d:].max(axis=1) if labelings else np.zeros(d)
    new = sorted(groups, key=lambda group: known[group].mean())[:n_views]
    return sorted(new, key=len, reverse=True)


def _axes(X: Array, group: Array, q: int) -> Array:
    """Return the q leading principal axes (d, q) of the features in a group, or all of them."""
    axes = np.linalg.svd(X[:, group], full_matrices=False)[2][:q]
    W = np.zeros((X.shape[1], len(axes)))
    W[group] = fix_signs(axes.T)
    return W
