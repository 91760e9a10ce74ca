"""A W with what a solver needs to know there: its objective and Phi."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..engines.base import PairSums, phi_times_w
from ..linalg import Array, Symmetric, leading_eigenpairs
from ..problems import Gamma
from .base import SolverResult, Step, residual_of

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
    product : array of shape (d, q), optional
        Phi W, where it is known without Phi.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.solvers import Point
    >>> Point(np.array([[1.0], [0.0]]), 3.0, lambda: np.diag([2.0, 1.0])).residual
    0.0
    """

    def __init__(
        self,
        W: Array,
        objective: float,
        phi: Callable[[], Symmetric],
        product: Array | None = None,
    ) -> None:
        self.W = W
        self.objective = objective
        self._phi = phi
        self._product = product

    @cached_property
    def phi(self) -> Symmetric:
        """The surrogate matrix."""
        return self._phi()

    @cached_property
    def product(self) -> Array:
        """Phi W (d, q)."""
        return self.phi @ self.W if self._product is None else self._product

    @property
    def gradient(self) -> Array:
        """Euclidean gradient (d, q) of the objective."""
        return 2 * self.product

    @cached_property
    def residual(self) -> float:
        """Relative gradient of the Lagrangian."""
        return residual_of(self.product, self.W)

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
    """Return the point at W, in one pass over the pairs.

    Parameters
    ----------
    sums : PairSums
        Sums of an engine.
    gamma : Gamma
        What W should depend on.
    W : array of shape (d, q)
        Orthonormal columns.

    Returns
    -------
    Point
        W with its objective and Phi.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines import Exact
    >>> from multifacet.kernels import Linear
    >>> from multifacet.problems import supervised
    >>> from multifacet.solvers import evaluate
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -0.5]])
    >>> sums, gamma = Exact().attach(X, Linear()), supervised(X[:, :1]).gamma()
    >>> evaluate(sums, gamma, np.array([[0.0], [1.0]])).objective
    0.25
    """
    phi, objective = sums.phi_and_objective(W, gamma)
    return Point(W, objective, lambda: phi)


def evaluate_slope(sums: PairSums, gamma: Gamma, W: Array) -> Point:
    """Return the point at W (d, q) with its gradient; Phi is another pass, if it is asked for."""
    product, objective = phi_times_w(sums, W, gamma)
    return Point(W, objective, lambda: sums.phi_and_objective(W, gamma)[0], product)


def result_at(
    point: Point,
    tol: float,
    reason: str,
    history: list[Step],
    timings: dict[str, float],
    cycle_partner: Array | None = None,
) -> SolverResult:
    """Return what a solver hands over that ends at a point.

    Parameters
    ----------
    point : Point
        The last one.
    tol : float
        Relative residual at which it is stationary, so that the solver has converged.
    reason : str
        Why the solver stopped, in a sentence.
    history : list of Step
        Every W that was evaluated, in order.
    timings : dict
        Seconds spent per phase.
    cycle_partner : array of shape (d, q), optional
        The other W of a two-cycle.

    Returns
    -------
    SolverResult
        The result.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.solvers import Point, result_at
    >>> point = Point(np.array([[1.0], [0.0]]), 3.0, lambda: np.diag([2.0, 1.0]))
    >>> result_at(point, 1e-6, "there was nothing to do", [], {}).converged
    True
    """
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
