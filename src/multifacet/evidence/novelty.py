"""What novelty costs in quality: solutions along the novelty weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..alternate import Start, cluster_embedding, explore
from ..engines.choose import few_rows
from ..engines.threads import single_threaded_blas
from ..kernels import Kernel, as_kernel, needs_bandwidth, typical_distance, with_bandwidth
from ..linalg import Array
from ..metrics import nmi
from ..problems import Problem, alternative
from ..search import PLAN, Settings
from ..search.residual import GroupResidual
from ..solvers import as_solver
from ..solvers.base import Solver, shortened

#: Rows on which frontiers are computed.
FRONTIER_ROWS = 300
#: Novelty weights of the frontier, in unit scale.
WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def _leading(X: Any, given: Sequence[Array], W: Array) -> tuple[Array, Array]:
    """Return rows (n, r) and a subspace (r, q) in the directions of most variance and those of W.

    Both as they are and without what is given: a path between the two goes through their span.
    """
    residuals = [GroupResidual(X, labelings) for labelings in ([], given)]
    axes = [one.principal(PLAN.most_directions)[0] for one in residuals]
    basis = np.linalg.qr(np.hstack([W, *axes]))[0]
    return np.asarray(X @ basis), basis.T @ W


@dataclass(frozen=True)
class Frontier:
    """Solutions along the novelty weight.

    Attributes
    ----------
    weights : array of shape (m,)
        Novelty weights, in unit scale.
    quality : array of shape (m,)
        Cluster quality CQ at each weight.
    dependence : array of shape (m,)
        HSIC with the given labels, in the units of CQ.
    novelty : array of shape (m,)
        Largest NMI of the clusters with a given labeling.
    labels : array of int of shape (m, rows)
        The clusters, for the rows in ``rows``.
    rows : array of int
        Rows on which the path was computed.
    chosen : int or None
        Index of the weight closest to the one that was used.

    Examples
    --------
    >>> from multifacet import find_views
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> views = find_views(X, given=labelings[:, 0], n_views=1, n_clusters=2, n_refits=0)
    >>> views.frontier.weights[:3]
    array([0. , 0.1, 0.3])
    """

    weights: Array
    quality: Array
    dependence: Array
    novelty: Array
    labels: Array = field(repr=False)
    rows: Array = field(repr=False)
    chosen: int | None = None


def frontier(
    X: Any,
    given: Sequence[Array],
    settings: Settings,
    W: Array,
    *,
    kernel: Kernel | str = "gaussian",
    solver: Solver | str = "ism",
    weights: Sequence[float] = WEIGHTS,
    random_state: int = 0,
) -> Frontier:
    """Return the path of solutions over the novelty weight (KDAC 2014, figure 9).

    It runs from the largest weight down, each solution starting from the one before, so that the
    path tells what is given up rather than what other starts would find.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    given : sequence of arrays of shape (n,)
        What is given; at least one labeling.
    settings : Settings
        Number of clusters and bandwidth; the weight marks the chosen point.
    W : array of shape (d, q)
        Subspace where the path begins.
    kernel : Kernel or str
        Similarity.
    solver : Solver or str
        How subspaces are found.
    weights : sequence of float
        Novelty weights in unit scale.
    random_state : int, default=0
        Seed of the subsample and of k-means.

    Returns
    -------
    Frontier
        The solutions, by increasing weight.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.evidence import frontier
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> known = labelings[:, 0]
    >>> model = KDAC(2, n_components=1, random_state=0).fit(X, given=known)
    >>> settings = model.selection_.settings
    >>> path = frontier(X, [known], settings, model.components_.T, weights=(0.0, 10.0))
    >>> path.quality.shape
    (2,)
    """
    if not len(given):
        raise ValueError("given is empty: without known labels there is no novelty to trade")
    rows = np.sort(np.random.default_rng(random_state).permutation(X.shape[0])[:FRONTIER_ROWS])
    X, given = X[rows], [np.unique(np.asarray(one)[rows], return_inverse=True)[1] for one in given]
    if X.shape[1] > PLAN.most_directions:
        X, W = _leading(X, given, W)
    kernel, width = as_kernel(kernel), settings.bandwidth
    if width is None and needs_bandwidth(kernel):  # the groups were not found by a kernel
        width = typical_distance(np.asarray(X @ W))
    kernel = with_bandwidth(kernel, width)
    k = settings.n_clusters or 2
    points = []
    with single_threaded_blas():
        mean = np.asarray(X.mean(axis=0)).ravel()
        sums = few_rows(X.astype(np.float32), kernel, mean=mean)  # a path of rough solutions
        short = shortened(as_solver(solver), PLAN.explore_solver_steps)
        for weight in sorted(weights, reverse=True):
            problem = alternative(given, weight, k, scale="unit")
            run = explore(
                sums, problem, short, Start("path", W), keep="best", max_iter=PLAN.explore_steps,
                tol=PLAN.explore_tolerance, seed=random_state,
            )  # fmt: skip
            found = run.solution
            W = found.W
            known = Problem(problem.columns, np.ones(problem.columns.shape[1]))
            dependence = sums.objective(W, known.gamma(None, found.degrees))
            labels, _ = cluster_embedding(found.embedding, n_init=3, seed=random_state)
            points.append((weight, found.quality, dependence, labels))
    points.reverse()
    values = np.array([point[:3] for point in points])
    labels = np.array([point[3] for point in points])
    used = settings.novelty_weight
    distance = np.abs(np.log1p(values[:, 0]) - np.log1p(used or 0.0))
    return Frontier(
        weights=values[:, 0],
        quality=values[:, 1],
        dependence=values[:, 2],
        novelty=np.array([max(nmi(one, known) for known in given) for one in labels]),
        labels=labels,
        rows=rows,
        chosen=None if used is None else int(np.argmin(distance)),
    )
