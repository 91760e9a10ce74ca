"""Several subspaces refined together: each keeps its clusters and avoids all the others.

The simultaneous formulation (mSC; Niu, Dy and Jordan 2010) maximises

    sum_v HSIC(X W_v, U_v) - weight * sum_{v < w} HSIC(X W_v, X W_w)

over all views. With the other views fixed this is the alternative problem again: their kernels
take the place of given labels, as factors K_w = F F'. Two choices differ from the original: a
kernel is scaled to a leading eigenvalue of one, as indicators of labels are, so that the weight
means the same for both and at every number of rows; and degrees divide both terms (ISM 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .alternate import Solution, embed
from .engines import Engine, PairSums
from .kernels import Kernel, typical_distance
from .linalg import Array, subspace_distance
from .problems import Problem, alternative, gaussian_factor, unsupervised
from .solvers.base import Solver, solve


@dataclass(frozen=True, eq=False)
class Part:
    """One of the views that are refined together.

    Attributes
    ----------
    W : array of shape (d, q)
        Its subspace.
    sums : PairSums
        Sums over pairs of rows, with its kernel.
    n_clusters : int
        Its number of clusters.
    """

    W: Array = field(repr=False)
    sums: PairSums = field(repr=False)
    n_clusters: int

    @classmethod
    def of(
        cls,
        X: Any,
        W: Array,
        n_clusters: int,
        kernel: Kernel,
        engine: Engine,
        n_jobs: int | None = None,
    ) -> Part:
        """Return the part of a view of X (n, d), with a kernel that has its bandwidth."""
        mean = np.asarray(X.mean(axis=0)).ravel()
        return cls(W, engine.attach(X, kernel, mean=mean, n_jobs=n_jobs), n_clusters)


def refine_together(
    X: Any,
    given: Sequence[Array],
    parts: Sequence[Part],
    solver: Solver,
    *,
    weight: float = 3.0,
    max_iter: int = 10,
    tol: float = 1e-3,
) -> list[Solution]:
    """Return the solutions of all views after alternating over them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    given : sequence of arrays of shape (n,)
        Labelings that every view avoids.
    parts : sequence of Part
        The views, each with the subspace at which it begins.
    solver : Solver
        Solver of the W-step.
    weight : float
        Novelty weight in unit scale.
    max_iter : int
        Most rounds over all views.
    tol : float
        A round that moves no subspace by more is the last.
    """
    Ws = [part.W for part in parts]
    factors = [_unit_factor(X, W) for W in Ws]
    solutions: list[Solution] = []
    for _ in range(max_iter):
        moved, solutions = 0.0, []
        for v, (W, part) in enumerate(zip(Ws, parts, strict=True)):
            others = [factor for w, factor in enumerate(factors) if w != v]
            problem = _avoiding(X.shape[0], given, others, weight, part.n_clusters)
            best = _better(part.sums, problem, solver, W)
            moved = max(moved, subspace_distance(W, best.W))
            Ws[v], factors[v] = best.W, _unit_factor(X, best.W)
            solutions.append(best)
        if moved < tol:
            break
    return solutions


def _better(sums: PairSums, problem: Problem, solver: Solver, W: Array) -> Solution:
    """Return the solution at W, or at what the solver makes of it."""
    here = embed(sums, problem, W)
    gamma = problem.gamma(here.embedding, here.degrees)
    moved = solve(solver, sums, gamma, W, polish=False).W
    there = embed(sums, problem, moved, warm=here.embedding)
    return max(here, there, key=lambda solution: solution.objective)


def _avoiding(
    n_rows: int, given: Sequence[Array], factors: Sequence[Array], weight: float, k: int
) -> Problem:
    """Return the problem of one view: k clusters, independent of labels and of other views."""
    known = alternative(given, weight, k) if len(given) else unsupervised(n_rows, k)
    columns = np.hstack([known.columns, *factors])
    new = columns.shape[1] - known.columns.shape[1]
    return Problem(columns, np.concatenate([known.weights, np.full(new, -weight)]), k)


def _unit_factor(X: Any, W: Array) -> Array:
    """Return the centred factor (n, r) of a view's kernel, scaled to a largest eigenvalue of 1."""
    points = np.asarray(X @ W)
    factor = gaussian_factor(points, typical_distance(points))
    factor = factor - factor.mean(axis=0)
    return factor / max(np.linalg.norm(factor, 2), 1e-12)
