"""The iterative spectral method: W becomes the dominant eigenvectors of Phi(W), and again.

The plain iteration (ISM 2018, Algorithm 2) makes long, useful jumps but has no descent guarantee:
it may fall into two-cycles. So it *explores*, the best W is kept, and a level-shifted iteration
*polishes* that W monotonically to a stationary point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, leading_eigenpairs, subspace_distance
from ..problems import Gamma
from .base import SolverResult, Step, relative_residual


@dataclass(frozen=True)
class ISM:
    """Iterative spectral method with a level-shifted polish.

    Parameters
    ----------
    max_iter : int, default=10
        Most steps of the plain iteration.
    max_polish : int, default=200
        Most steps of the polish.
    tol : float, default=1e-6
        A W with a smaller relative residual is stationary.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.solvers import ISM
    >>> model = KDAC(solver=ISM(max_iter=15))
    """

    max_iter: int = 10
    max_polish: int = 200
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_iter < 1 or self.max_polish < 0 or not self.tol > 0:
            raise ValueError(f"ISM needs max_iter >= 1, max_polish >= 0 and tol > 0, got {self}")

    def solve(
        self, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
    ) -> SolverResult:
        """Return the W found from ``start`` (d, q); see :class:`~multifacet.solvers.Solver`."""
        began = time.perf_counter()
        history: list[Step] = []
        walk = self._explore(sums, gamma, start, history)
        explored = time.perf_counter()
        point, reason = (walk.best if polish else walk.last), walk.ending
        if polish and point.residual > self.tol:
            point, ending = self._polish(sums, gamma, point, history)
            reason = f"{reason}; {ending}"
        q = start.shape[1]
        return SolverResult(
            W=point.W,
            objective=point.objective,
            residual=point.residual,
            eigenvalues=leading_eigenpairs(point.phi, min(q + 1, len(point.phi)))[0],
            converged=point.residual <= self.tol,
            reason=reason,
            cycle_partner=None if walk.partner is None else walk.partner.W,
            history=history,
            timings={"explore": explored - began, "polish": time.perf_counter() - explored},
        )

    def _explore(self, sums: PairSums, gamma: Gamma, start: Array, history: list[Step]) -> _Walk:
        """Iterate plainly until W rests, cycles or the limit is reached."""
        point = best = _evaluate(sums, gamma, start)
        history.append(point.step("explore", 0.0))
        before: _Point | None = None
        values = np.full(start.shape[1], np.inf)
        for iteration in range(1, self.max_iter + 1):
            if point.residual <= self.tol:
                ending = f"plain iteration reached a stationary point after {iteration - 1} steps"
                return _Walk(best, point, ending)
            new_values, W = leading_eigenpairs(point.phi, start.shape[1])
            after = _evaluate(sums, gamma, W)
            change = subspace_distance(point.W, W)
            history.append(after.step("explore", change))
            if after.objective > best.objective:
                best = after
            # Two-cycle: W returns to where it was two steps ago but not to where it just was.
            if before is not None and subspace_distance(before.W, W) < 1e-2 * change:
                ending = f"plain iteration fell into a two-cycle after {iteration} steps"
                return _Walk(best, after, ending, partner=point)
            # Eigenvalues are the cheap test (IKDR 2019, Algorithm 1); the angle confirms it.
            if _settled(values, new_values, self.tol) and change < 1e-3:
                return _Walk(best, after, f"plain iteration settled after {iteration} steps")
            before, point, values = point, after, new_values
        ending = f"plain iteration stopped at its limit of {self.max_iter} steps"
        return _Walk(best, point, ending, partner=before if change > 0.1 else None)

    def _polish(
        self, sums: PairSums, gamma: Gamma, point: _Point, history: list[Step]
    ) -> tuple[_Point, str]:
        """Climb monotonically: dominant eigenvectors of Phi + mu W W', mu raised on failure."""
        q = point.W.shape[1]
        spread = float(np.ptp(np.linalg.eigvalsh(point.phi)))
        mu = 0.0
        for iteration in range(1, self.max_polish + 1):
            W = leading_eigenpairs(point.phi + mu * point.W @ point.W.T, q)[1]
            candidate = _evaluate(sums, gamma, W)
            if candidate.improves(point):
                history.append(candidate.step("polish", subspace_distance(point.W, W)))
                point = candidate
                mu /= 2
                if point.residual <= self.tol:
                    return point, f"polish reached a stationary point after {iteration} steps"
            else:
                mu = max(2 * mu, 0.1 * spread)
                if mu > 1e12 * spread:
                    return point, f"polish found no ascent after {iteration} steps"
        return point, (
            f"polish stopped at its limit of {self.max_polish} steps with a relative residual of "
            f"{point.residual:.1e}, above {self.tol:.0e}"
        )


@dataclass(frozen=True)
class _Point:
    W: Array
    phi: Array
    objective: float
    residual: float

    def step(self, phase: str, change: float) -> Step:
        return Step(phase, self.objective, self.residual, change)

    def improves(self, other: _Point) -> bool:
        # Close to a stationary point the objective changes by the square of the residual, below
        # its rounding error; there a smaller residual is the better sign.
        noise = 1e-13 * abs(other.objective)
        if abs(self.objective - other.objective) <= noise:
            return self.residual < other.residual
        return self.objective > other.objective


@dataclass(frozen=True)
class _Walk:
    """Where the plain iteration went: its best and last point, and the other half of a cycle."""

    best: _Point
    last: _Point
    ending: str
    partner: _Point | None = None


def _evaluate(sums: PairSums, gamma: Gamma, W: Array) -> _Point:
    phi, objective = sums.phi_and_objective(W, gamma)
    return _Point(W, phi, objective, relative_residual(phi, W))


def _settled(old: Array, new: Array, tol: float) -> bool:
    return bool(np.linalg.norm(new - old) <= tol * np.linalg.norm(new))
