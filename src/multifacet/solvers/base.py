"""The protocol of a solver, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array
from ..problems import Gamma

#: How far W'W of a solver may be from the identity.
ORTHONORMAL = 1e-6


@dataclass(frozen=True)
class Step:
    """One evaluation of a solver: the state of a single W.

    Attributes
    ----------
    phase : str
        "explore", "polish", or "grow" while dimension growth has fewer than q columns.
    objective : float
        Tr(Gamma K).
    residual : float
        Relative gradient of the Lagrangian, see :func:`relative_residual`.
    change : float
        Sine of the largest principal angle to the previous W.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> model = SupervisedKDR(1).fit(X, labelings[:, 0])
    >>> model.result_.history[0].phase
    'explore'
    """

    phase: str
    objective: float
    residual: float
    change: float


@dataclass
class SolverResult:
    """What a solver found, and why it stopped.

    Attributes
    ----------
    W : array of shape (d, q)
        Orthonormal columns.
    objective : float
        Tr(Gamma K) at W.
    residual : float
        Relative gradient of the Lagrangian at W.
    eigenvalues : array of shape (min(d, q + 1),)
        Leading eigenvalues of Phi(W), one more than chosen where there is one.
    converged : bool
        Whether W is a stationary point within the tolerance.
    reason : str
        Why the solver stopped, in a sentence.
    cycle_partner : array of shape (d, q) or None
        The other W of a two-cycle, if an exploring run ended in one.
    history : list of Step
        Every W that was evaluated, in order.
    timings : dict
        Seconds spent per phase.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> result = SupervisedKDR(1).fit(X, labelings[:, 0]).result_
    >>> result.converged, result.W.shape
    (True, (4, 1))
    """

    W: Array = field(repr=False)
    objective: float
    residual: float
    eigenvalues: Array = field(repr=False)
    converged: bool
    reason: str
    cycle_partner: Array | None = field(default=None, repr=False)
    history: list[Step] = field(default_factory=list, repr=False)
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def n_iter(self) -> int:
        """Number of W evaluated."""
        return len(self.history)


@runtime_checkable
class Solver(Protocol):
    """Maximises Tr(Gamma K) over W'W = I for a fixed Gamma.

    A solver may also have an attribute ``needs``, a frozenset of operations that not every engine
    offers ("hessian", "curvature_bound"), and a method ``shortened(steps)``, which returns a solver
    with at most so many steps of an exploring run.

    Examples
    --------
    >>> from multifacet.solvers import ISM, Solver
    >>> isinstance(ISM(), Solver)
    True
    """

    def solve(
        self, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
    ) -> SolverResult:
        """Return the W found from ``start`` (d, q).

        With ``polish=False`` a cheap, exploring run is enough: the caller will change Gamma and
        come back (the alternation of U and W).
        """
        ...


def operations_needed(solver: Solver) -> frozenset[str]:
    """Return the operations of :class:`~multifacet.engines.PairSums` that a solver asks for.

    A solver says by an attribute ``needs`` which of those that an engine may leave out it needs;
    others need none of them.
    """
    return getattr(solver, "needs", frozenset())


def solve(
    solver: Solver, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
) -> SolverResult:
    """Ask a solver, which may be a user's own, and check what it returns."""
    result = solver.solve(sums, gamma, start, polish=polish)
    if not isinstance(result, SolverResult):
        raise TypeError(
            f"{type(solver).__name__}.solve returned a {type(result).__name__}: return a "
            "SolverResult, such as result_at makes"
        )
    W = result.W
    if W.shape != start.shape or not np.abs(W.T @ W - np.eye(W.shape[1])).max() < ORTHONORMAL:
        raise ValueError(
            f"{type(solver).__name__}.solve returned a W of shape {W.shape} that is not an "
            f"orthonormal basis {start.shape}: take the Q of its QR decomposition"
        )
    return result


def shortened(solver: Solver, steps: int) -> Solver:
    """Return a solver that takes at most so many steps of an exploring run, if it can be told.

    A solver says that it can by a method ``shortened(steps)``; others keep their own limits.
    """
    shorten = getattr(solver, "shortened", None)
    return solver if shorten is None else shorten(steps)


def relative_residual(phi: Array, W: Array) -> float:
    """Return ||Phi W - W (W' Phi W)|| / ||Phi W||, the relative gradient of the Lagrangian.

    It vanishes exactly at stationary points (ISM 2018, Eq. 7).

    Parameters
    ----------
    phi : array of shape (d, d)
        Phi at W.
    W : array of shape (d, q)
        Orthonormal columns.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.solvers import relative_residual
    >>> relative_residual(np.diag([2.0, 1.0]), np.array([[1.0], [0.0]]))  # an eigenvector
    0.0
    """
    return residual_of(phi @ W, W)


def residual_of(product: Array, W: Array) -> float:
    """Return the same from Phi W (d, q)."""
    gradient = product - W @ (W.T @ product)
    scale = np.linalg.norm(product)
    return float(np.linalg.norm(gradient) / scale) if scale > 0 else 0.0
