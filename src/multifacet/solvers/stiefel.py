"""Curvilinear search on the Stiefel manifold (Wen and Yin, Math. Programming 142, 2013).

From W the search follows the curve W(t) = (I - t/2 A)^-1 (I + t/2 A) W with the skew matrix
A = G W' - W G' of the gradient G: a Cayley transform, so W(t) stays orthonormal. Steps have
Barzilai-Borwein lengths; they are accepted by a non-monotone rule (Zhang and Hager 2004), which
compares with a running mean of the objective, not with its last value.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, subspace_distance
from ..problems import Gamma
from .base import SolverResult
from .point import EXPLORED, Point, check_positive, evaluate, result_at

#: Share of the promised rise that a step has to keep, factor by which a step is cut, cuts at most,
#: and weight of the past in the running mean (the values of the authors' code).
RISE, CUT, MAX_CUTS, PAST = 1e-4, 0.2, 12, 0.85
#: First step and longest step, times the norm of the gradient: about a tenth of a radian, and a
#: right angle, beyond which the curve returns.
FIRST, LONGEST = 0.1, 2.0
#: Steps without a better point after which the search gives up, and the relative difference of
#: objectives that rounding errors can make where large terms cancel.
PATIENCE, ROUNDING = 50, 1e-10


@dataclass(frozen=True)
class Stiefel:
    """Curvilinear search along the Cayley transform, a rival of ISM.

    Parameters
    ----------
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-6
        A W with a smaller relative residual is stationary.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.solvers import Stiefel
    >>> model = SupervisedKDR(solver=Stiefel(max_iter=200))
    """

    max_iter: int = 1000
    tol: float = 1e-6

    def __post_init__(self) -> None:
        check_positive(self, max_iter=self.max_iter, tol=self.tol)

    def solve(
        self, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
    ) -> SolverResult:
        """Return the W found from ``start`` (d, q); see :class:`~multifacet.solvers.Solver`."""
        began = time.perf_counter()
        phase, tol = ("polish", self.tol) if polish else ("explore", max(self.tol, EXPLORED))
        point = best = evaluate(sums, gamma, start)
        history = [point.step(phase, 0.0)]
        search = _Search(sums, gamma, point)
        idle = 0
        for iteration in range(self.max_iter):
            if point.residual <= tol and _as_high(point, best):
                best = point
                reason = f"curvilinear search reached a stationary point after {iteration} steps"
                break
            after = search.step(point) if idle < PATIENCE else None
            if after is None:
                reason = f"curvilinear search found no further ascent after {iteration} steps"
                break
            history.append(after.step(phase, subspace_distance(point.W, after.W)))
            point = after
            idle += 1
            if point.improves(best):
                best, idle = point, 0
        else:
            reason = f"curvilinear search stopped at its limit of {self.max_iter} steps"
        timings = {phase: time.perf_counter() - began}
        return result_at(best, self.tol, reason, history, timings)


def _as_high(point: Point, best: Point) -> bool:
    return point.objective >= best.objective - ROUNDING * abs(best.objective)


class _Search:
    """Step length and running mean of the curvilinear search."""

    def __init__(self, sums: PairSums, gamma: Gamma, point: Point) -> None:
        self._sums, self._gamma = sums, gamma
        self._mean, self._weight = point.objective, 1.0
        norm = float(np.linalg.norm(tangent_gradient(point)))
        self._length = FIRST / norm if norm > 0 else 0.0
        self._odd = False

    def step(self, point: Point) -> Point | None:
        """Return the next point, or None if no step along the curve is good enough."""
        R = tangent_gradient(point)
        square = float(np.sum(R * R))
        length = min(self._length, LONGEST / float(np.linalg.norm(R, 2)))
        noise = 1e-13 * abs(point.objective)
        for _ in range(MAX_CUTS):
            after = evaluate(self._sums, self._gamma, cayley(point.W, R, length))
            if after.objective >= self._mean + RISE * length * square - noise:
                break
            length *= CUT
        else:
            return None
        self._remember(after.objective)
        self._length = self._barzilai_borwein(point, after, R) or length
        return after

    def _remember(self, objective: float) -> None:
        weight = PAST * self._weight + 1
        self._mean = (PAST * self._weight * self._mean + objective) / weight
        self._weight = weight

    def _barzilai_borwein(self, point: Point, after: Point, R: Array) -> float:
        """Return the length that fits the change of the gradient; long and short in turn."""
        moved, turned = after.W - point.W, tangent_gradient(after) - R
        along = abs(float(np.sum(moved * turned)))
        self._odd = not self._odd
        above, below = (
            (float(np.sum(moved**2)), along) if self._odd else (along, float(np.sum(turned**2)))
        )
        return above / below if below > 0 else 0.0


def tangent_gradient(point: Point) -> Array:
    """Return the gradient (d, q) without its part in the span of W.

    W' G is symmetric because the objective does not change when W is turned in itself, so this is
    G - W G' W, the gradient on the manifold in its canonical metric.
    """
    G = point.gradient
    return G - point.W @ (point.W.T @ G)


def cayley(W: Array, R: Array, length: float) -> Array:
    """Return the point (d, q) of the Cayley curve from W along R, where W'R = 0.

    With A = R W' - W R' the inverse of I - t/2 A acts in the span of W and R only, and
    W(t) = W (I - t^2/2 M a) + t R a with M = R'R and a = (I + t^2/4 M)^-1: one q x q system,
    whatever d.
    """
    M = R.T @ R
    identity = np.eye(len(M))
    a = np.linalg.solve(identity + 0.25 * length**2 * M, identity)
    V = W @ (identity - 0.5 * length**2 * M @ a) + length * R @ a
    # Rounding errors would add up over many steps; one Newton step keeps V orthonormal.
    return V @ (1.5 * identity - 0.5 * V.T @ V)
