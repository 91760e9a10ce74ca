"""A W with what a solver needs to know there: its objective and Phi."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, Symmetric, leading_eigenpairs
from ..problems import Gamma
from .base import SolverResult, Step, relative_residual

#: Relative residual at which a rival of ISM ends an exploring run: Gamma is about to change.
EXPLORED = 1e-3


class Point:
    """A W with its objective and Phi; Phi may be computed on first use.

    Parameters
    ----------
    W : array of shape (d, q)
        Orthonormal columns.
    objective : float
        Objective at W.
    phi : callable
        Returns Phi (d, d), a matrix or an operator; the gradient of the objective is 2 Phi W.
    """

    def __init__(self, W: Array, objective: float, phi: Callable[[], Symmetric]) -> None:
        self.W = W
        self.objective = objective
        self._phi = phi

    @cached_property
    def phi(self) -> Symmetric:
        """The surrogate matrix."""
        return self._phi()

    @cached_property
    def gradient(self) -> Array:
        """Euclidean gradient (d, q) of the objective."""
        return 2 * (self.phi @ self.W)

    @cached_property
    def residual(self) -> float:
        """Relative gradient of the Lagrangian."""
        return relative_residual(self.phi, self.W)

    def improves(self, other: Point) -> bool:
        """Whether this point is higher, or as high and closer to stationary.

        Close to a stationary point the objective changes by the square of the residual, which is
        below its rounding error; there a smaller residual is the better sign.
        """
        noise = 1e-13 * abs(other.objective)
        if abs(self.objective - other.objective) <= noise:
            return self.residual < other.residual
        return self.objective > other.objective

    def step(self, phase: str, change: float) -> Step:
        """Return the record of this point for the history."""
        return Step(phase, self.objective, self.residual, change)


def evaluate(sums: PairSums, gamma: Gamma, W: Array) -> Point:
    """Return the point at W (d, q), in one pass over the pairs."""
    phi, objective = sums.phi_and_objective(W, gamma)
    return Point(W, objective, lambda: phi)


def result_at(
    point: Point,
    tol: float,
    reason: str,
    history: list[Step],
    timings: dict[str, float],
    cycle_partner: Array | None = None,
) -> SolverResult:
    """Return what a solver hands over that ends at ``point``."""
    d, q = point.W.shape
    return SolverResult(
        W=point.W,
        objective=point.objective,
        residual=point.residual,
        eigenvalues=leading_eigenpairs(point.phi, min(q + 1, d))[0],
        converged=point.residual <= tol,
        reason=reason,
        cycle_partner=cycle_partner,
        history=history,
        timings=timings,
    )


def check_positive(solver: object, **options: float) -> None:
    """Raise a sentence that names the option of a solver that is not positive."""
    for name, value in options.items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{type(solver).__name__} needs {name} > 0, got {name}={value!r}")
