"""The alternation of U and W that every paradigm with unknown clusters shares.

For fixed W the embedding U is a spectral decomposition; for fixed U and degrees D, W is a solver
call (ISM 2018, Algorithm 1). D is refreshed together with U and constant while W moves.

The joint objective of a subspace is J(W) = sum of the k leading eigenvalues of
H D^-1/2 K D^-1/2 H plus the weighted dependence on what is known, U and D taken at W. The
alternation makes large jumps but does not climb J, so it is used to *explore* from several
starts, the best solution seen is kept, and :func:`climb` refines it towards a stationary point of
J itself without changing the clusters.

Why not choose the largest J of all? Among many noise features J can be raised beyond its value at
the true grouping by fitting the noise. The solutions that the alternation visits do not do that;
a thorough ascent does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
from sklearn.cluster import KMeans

from .engines.base import PairSums
from .kmeans import best_kmeans
from .linalg import Array, leading_eigenpairs, subspace_distance
from .problems import Gamma, Problem, with_moving_degrees
from .rowwise import by_rows
from .solvers.base import Solver, SolverResult, solve
from .solvers.level_shift import ascend
from .solvers.point import Point

#: Clusters smaller than this share of the average size n / k are fragments.
FRAGMENT_SHARE = 0.25
#: Rows from which k-means learns its centres.
KMEANS_ROWS = 20_000
#: Rows up to which a search asks hundreds of times for fragments, and steps of k-means then.
FEW_ROWS, KMEANS_STEPS = 1000, 15
#: Outer iterations without a better solution after which an exploring run ends.
PATIENCE = 4

#: Relative residual at which a climb ends: by then the objective is right to six digits, and the
#: clusters have long been settled.
STATIONARY = 1e-3
#: Why a climb ends that could go on only by moving rows to other clusters.
AT_CLUSTER_BOUNDARY = "stopped where the joint objective rises only by changing the clusters"

#: Which solution of an exploration counts: the best one seen; the one at which the alternation
#: settles, as in the papers; or the start as it is.
Keep = Literal["best", "settled", "first"]


@dataclass(frozen=True)
class Start:
    """A beginning of the alternation.

    Attributes
    ----------
    name : str
        Where it comes from, for reports.
    W : array of shape (d, q)
        First subspace.
    gamma : Gamma or None
        Gamma of the first W-step, if it does not follow from W.
    """

    name: str
    W: Array
    gamma: Gamma | None = None


@dataclass(frozen=True)
class Solution:
    """One W with everything that follows from it.

    Attributes
    ----------
    W : array of shape (d, q)
        Subspace.
    embedding : array of shape (n, k)
        U, the leading eigenvectors at W.
    eigenvalues : array of shape (k,)
        Their eigenvalues; the sum is the cluster quality CQ, at most k.
    degrees : array of shape (n,) or None
        Row sums of K at W; None for kernels that are not normalised.
    objective : float
        Joint objective J(W).
    fragmented : bool
        Whether some cluster is only a fragment: a few rows split off.
    """

    W: Array = field(repr=False)
    embedding: Array = field(repr=False)
    eigenvalues: Array = field(repr=False)
    degrees: Array | None = field(repr=False)
    objective: float
    fragmented: bool

    @property
    def quality(self) -> float:
        """Cluster quality CQ = HSIC(XW, U)."""
        return float(self.eigenvalues.sum())

    @property
    def rank(self) -> tuple[bool, float]:
        """Sorts solutions: whole before fragmented, then by joint objective."""
        return not self.fragmented, self.objective


@dataclass(frozen=True)
class Exploration:
    """What one start led to.

    Attributes
    ----------
    start : str
        Name of the start.
    solution : Solution
        The solution kept.
    objectives : list of float
        Joint objective after every outer iteration.
    """

    start: str
    solution: Solution
    objectives: list[float] = field(default_factory=list)


def explore(
    sums: PairSums,
    problem: Problem,
    solver: Solver,
    start: Start,
    *,
    keep: Keep,
    max_iter: int,
    tol: float,
    seed: int,
) -> Exploration:
    """Alternate U and W from one start.

    The plain iteration of the W-step often ends in a two-cycle. Then both halves are tried and
    the one with the better solution goes on; which of them an iteration limit happens to hit
    would otherwise decide the result.
    """
    candidates: list[Array | None] = [start.W]
    if start.gamma is not None:
        first = solve(solver, sums, start.gamma, start.W, polish=False)
        candidates = [first.W, first.cycle_partner]
    seen: list[Solution] = []
    while True:
        warm = seen[-1].embedding if seen else None
        tried = [embed(sums, problem, W, seed=seed, warm=warm) for W in candidates if W is not None]
        seen.append(max(tried, key=lambda solution: solution.rank))
        here = seen[-1]
        if len(seen) == max_iter or keep == "first":
            break
        if len(seen) > 1 and subspace_distance(seen[-2].W, here.W) < tol:
            break
        best = max(range(len(seen)), key=lambda i: seen[i].rank)
        if keep == "best" and len(seen) - best > PATIENCE:
            break
        gamma = problem.gamma(here.embedding, here.degrees)
        move = solve(solver, sums, gamma, here.W, polish=False)
        candidates = [move.W, move.cycle_partner]
    settled = keep == "settled" and not seen[-1].fragmented
    solution = seen[-1] if settled else max(seen, key=lambda solution: solution.rank)
    return Exploration(start.name, solution, [s.objective for s in seen])


def climb(
    sums: PairSums,
    problem: Problem,
    solution: Solution,
    *,
    seed: int,
    max_iter: int = 100,
    tol: float = STATIONARY,
) -> tuple[Solution, Gamma, SolverResult]:
    """Refine a solution towards a stationary point of the joint objective.

    Phi belongs to Gamma corrected for moving degrees. (With frozen degrees the W-step can be
    raised in a useless way: K, and with it the objective, grows when all distances shrink.) The
    climb ends where a row would change its cluster.
    """
    labels, _ = cluster_embedding(solution.embedding, n_init=3, seed=seed)
    start = _JointPoint(sums, problem, solution)

    def evaluate(W: Array) -> _JointPoint:
        return _JointPoint(sums, problem, embed(sums, problem, W, warm=solution.embedding))

    def veto(candidate: Point) -> str | None:
        assert isinstance(candidate, _JointPoint)
        if _same_clusters(candidate.solution.embedding, labels):
            return None
        return AT_CLUSTER_BOUNDARY

    history = [start.step("polish", 0.0)]
    point, reason = ascend(start, evaluate, history, max_iter=max_iter, tol=tol, veto=veto)
    assert isinstance(point, _JointPoint)
    q = solution.W.shape[1]
    result = SolverResult(
        W=point.W,
        objective=point.objective,
        residual=point.residual,
        eigenvalues=leading_eigenpairs(point.phi, min(q + 1, len(point.W)))[0],
        converged=point.residual <= tol,
        reason=f"climb {reason}",
        history=history,
    )
    return replace(point.solution, fragmented=solution.fragmented), point.gamma, result


class _JointPoint(Point):
    """A solution as a point of the joint objective, with degrees that move with W."""

    def __init__(self, sums: PairSums, problem: Problem, solution: Solution) -> None:
        super().__init__(
            solution.W,
            solution.objective,
            lambda: sums.phi_and_objective(solution.W, self.gamma)[0],
        )
        self._sums, self._problem, self.solution = sums, problem, solution

    @cached_property
    def gamma(self) -> Gamma:
        """Gamma whose gradient is that of the joint objective."""
        W, degrees = self.solution.W, self.solution.degrees
        gamma = self._problem.gamma(self.solution.embedding, degrees)
        if degrees is None:
            return gamma
        return with_moving_degrees(gamma, self._sums.row_objectives(W, gamma), degrees)


def _same_clusters(U: Array, labels: Array) -> bool:
    """Whether every row of the embedding U is still closest to the centre of its own cluster."""
    k = U.shape[1]
    members = by_rows(partial(_members, k=k), labels, width=k)
    sums = np.asarray(members.T @ by_rows(_unit_rows_and_ones, U, width=k + 1))
    sizes = sums[:, -1:]
    # A cluster without rows is far away from all rows, which have unit length.
    centres = np.where(sizes > 0, sums[:, :-1] / np.maximum(sizes, 1.0), 1e6)
    return bool(by_rows(partial(_are_nearest, centres=centres), U, labels, dtype=bool).all())


def _members(labels: Array, k: int) -> Array:
    return (labels[:, None] == np.arange(k)).astype(float)


def _unit_rows_and_ones(U: Array) -> Array:
    rows = unit_rows(U)
    return np.hstack([rows, np.ones_like(rows[:, :1])])


def _are_nearest(U: Array, labels: Array, centres: Array) -> Array:
    return nearest_centres(unit_rows(U), centres) == labels


def embed(
    sums: PairSums,
    problem: Problem,
    W: Array,
    *,
    seed: int | None = None,
    warm: Array | None = None,
) -> Solution:
    """Return the solution at W; without a seed nobody asks whether it is fragmented."""
    degrees = sums.degrees(W) if sums.kernel.nonnegative else None
    values, U = sums.embedding(W, problem.n_clusters, degrees=degrees, start=warm)
    known = sums.objective(W, problem.gamma(None, degrees)) if len(problem.weights) else 0.0
    fragmented = seed is not None and is_fragmented(U, seed)
    return Solution(W, U, values, degrees, float(values.sum()) + known, fragmented)


def cluster_embedding(U: Array, *, n_init: int, seed: int) -> tuple[Array, Array]:
    """Return labels (n,) and centres (k, k) of k-means on the unit-length rows of U (n, k).

    Centres of many rows come from a sample, and one pass assigns all rows.
    """
    rows = unit_rows(U)
    model = KMeans(U.shape[1], n_init=n_init, random_state=seed)
    if isinstance(rows, np.ndarray) and len(rows) <= KMEANS_ROWS:
        model.fit(rows)
        return model.labels_, model.cluster_centers_
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:KMEANS_ROWS])
    centres = model.fit(np.asarray(rows[chosen])).cluster_centers_
    return nearest_centres(rows, centres), centres


def nearest_centres(rows: Array, centres: Array) -> Array:
    """Return the index (n,) of the nearest centre (k, r) for each row (n, r)."""
    return by_rows(partial(_nearest, centres=centres), rows, dtype=np.intp)


def _nearest(rows: Array, centres: Array) -> Array:
    return np.argmax(rows @ centres.T - 0.5 * (centres**2).sum(axis=1), axis=1)


def unit_rows(U: Array) -> Array:
    """Scale rows to unit length; rows of zeros stay zero."""
    return by_rows(_unit_rows, U, width=U.shape[1])


def _unit_rows(U: Array) -> Array:
    norms = np.linalg.norm(U, axis=1, keepdims=True)
    return U / np.where(norms > 0, norms, 1.0)


def is_fragmented(U: Array, seed: int) -> bool:
    """Whether clustering U splits off a few rows instead of dividing the data."""
    n, k = U.shape
    if isinstance(U, np.ndarray) and n <= FEW_ROWS:
        labels = best_kmeans(unit_rows(U), k, 1, steps=KMEANS_STEPS, seed=seed)
    else:
        labels, _ = cluster_embedding(U, n_init=1, seed=seed)
    return bool(np.bincount(labels, minlength=k).min() < FRAGMENT_SHARE * n / k)
