"""Riemannian trust region on the Grassmann manifold, through pymanopt.

The objective depends on the span of W only, so the natural domain is the set of subspaces. The
trust-region method (Boumal and Absil 2011) solves a quadratic model by conjugate gradients in
every step; the engine supplies the exact product of the Hessian with a direction.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, orthonormalise, subspace_distance
from ..problems import Gamma
from .base import SolverResult, Step
from .point import EXPLORED, Point, check_positive, evaluate, result_at


@dataclass(frozen=True)
class Grassmann:
    """Riemannian trust region, a rival of ISM; needs the package pymanopt.

    Parameters
    ----------
    max_iter : int, default=200
        Most trust-region steps; each takes several products with the Hessian.
    tol : float, default=1e-6
        A W with a smaller relative residual is stationary.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.solvers import Grassmann
    >>> model = SupervisedKDR(solver=Grassmann(max_iter=50))
    """

    max_iter: int = 200
    tol: float = 1e-6
    needs: ClassVar[frozenset[str]] = frozenset({"hessian"})

    def __post_init__(self) -> None:
        check_positive(self, max_iter=self.max_iter, tol=self.tol)

    def solve(
        self, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
    ) -> SolverResult:
        """Return the W found from ``start`` (d, q); see :class:`~multifacet.solvers.Solver`."""
        pymanopt = _import_pymanopt()
        began = time.perf_counter()
        phase, tol = ("polish", self.tol) if polish else ("explore", max(self.tol, EXPLORED))
        oracle = _Oracle(sums, gamma, start, phase, tol)
        reason = "trust region began at a stationary point"
        if oracle.point.residual > tol:
            reason = self._run(pymanopt, oracle)
        timings = {phase: time.perf_counter() - began}
        return result_at(oracle.point, self.tol, reason, oracle.history, timings)

    def _run(self, pymanopt: Any, oracle: _Oracle) -> str:
        manifold = pymanopt.manifolds.Grassmann(*oracle.point.W.shape)
        on_manifold = pymanopt.function.numpy(manifold)
        problem = pymanopt.Problem(
            manifold,
            on_manifold(oracle.cost),
            euclidean_gradient=on_manifold(oracle.gradient),
            euclidean_hessian=on_manifold(oracle.hessian),
        )
        # Its own limits are absolute, so the oracle decides what is stationary.
        optimizer = pymanopt.optimizers.TrustRegions(
            max_time=np.inf, max_iterations=self.max_iter, min_gradient_norm=0, verbosity=0
        )
        try:
            optimizer.run(problem, initial_point=oracle.point.W)
        except _Stationary:
            steps = len(oracle.history) - 1
            return f"trust region reached a stationary point after {steps} steps"
        return f"trust region stopped at its limit of {self.max_iter} steps"


class _Stationary(Exception):
    """The current point is stationary: the run is over."""


class _Oracle:
    """Cost, gradient and Hessian of the negative objective, scaled to the order of one.

    The optimiser asks for the gradient only where it goes, so that call marks an accepted step.
    """

    def __init__(self, sums: PairSums, gamma: Gamma, start: Array, phase: str, tol: float) -> None:
        self._sums, self._gamma, self._phase, self._tol = sums, gamma, phase, tol
        self.point = self._last = evaluate(sums, gamma, orthonormalise(start))
        norm = float(np.linalg.norm(self.point.gradient))
        self._scale = max(norm, abs(self.point.objective)) or 1.0
        self.history: list[Step] = [self.point.step(phase, 0.0)]

    def cost(self, W: Array) -> float:
        """Return the cost at W (d, q)."""
        return -self._at(W).objective / self._scale

    def gradient(self, W: Array) -> Array:
        """Return the Euclidean gradient (d, q) at W, which becomes the current point."""
        before, self.point = self.point, self._at(W)
        if self.point is not before:
            change = subspace_distance(before.W, W)
            self.history.append(self.point.step(self._phase, change))
        if self.point.residual <= self._tol:
            raise _Stationary
        return -self.point.gradient / self._scale

    def hessian(self, W: Array, Z: Array) -> Array:
        """Return the derivative (d, q) of the Euclidean gradient at W in direction Z."""
        change = self._sums.hessian(W, self._gamma, Z[None])[0]
        return -2 * (self._at(W).phi @ Z + change) / self._scale

    def _at(self, W: Array) -> Point:
        """Return the point at W, evaluated once: the same W is asked for again and again."""
        for known in (self.point, self._last):
            if np.array_equal(known.W, W):
                return known
        self._last = evaluate(self._sums, self._gamma, W)
        return self._last


def _import_pymanopt() -> Any:
    try:
        return import_module("pymanopt")
    except ImportError as error:
        raise ImportError(
            "solver='grassmann' needs pymanopt: pip install pymanopt, or use solver='stiefel', "
            "which needs nothing"
        ) from error
