"""The iterative spectral method: W becomes the dominant eigenvectors of Phi(W), and again.

The plain iteration (ISM 2018, Algorithm 2) makes long, useful jumps but has no descent guarantee:
it may fall into two-cycles. So it *explores*, the best W is kept, and a level-shifted iteration
*polishes* that W monotonically to a stationary point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, subspace_distance
from ..problems import Gamma
from .base import SolverResult, Step
from .eigen import as_eigensolver
from .level_shift import ascend
from .point import Point, evaluate, evaluate_slope, result_at
from .quasi_newton import follow_ridge

#: Steps after which a climb from the start is no longer short, and the part of all steps that they
#: may be: along a ridge they are cheaper.
SHORT_CLIMB, SHORT_PART = 20, 8
#: Evaluations along the first ridge, after which Phi is asked again how the objective is curved.
#: That changes less near the top, so each further ridge may be twice as long. Then so many steps
#: that exchange an axis of W for a higher one, which a ridge may pass by.
RIDGE, EXCHANGES = 30, 3


@dataclass(frozen=True)
class ISM:
    """Iterative spectral method with a level-shifted polish.

    Parameters
    ----------
    max_iter : int, default=10
        Most steps of the plain iteration; with 0 the start is polished as it is.
    max_polish : int, default=200
        Most steps of the polish.
    tol : float, default=1e-6
        A W with a smaller relative residual is stationary.
    eigen : {"auto", "dense", "lanczos", "block", "coordinate"}, default="auto"
        Eigen-solver of the plain iteration, which matters for many features only: LAPACK, Lanczos
        one vector or a block at a time, or the papers' coordinate-wise power method. "auto" takes
        the first one for up to 400 features and the second one above.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.solvers import ISM
    >>> model = KDAC(solver=ISM(max_iter=15))
    """

    max_iter: int = 10
    max_polish: int = 200
    tol: float = 1e-6
    eigen: str = "auto"

    def __post_init__(self) -> None:
        as_eigensolver(self.eigen)
        if self.max_iter < 0 or self.max_polish < 0 or not self.tol > 0:
            raise ValueError(f"ISM needs max_iter >= 0, max_polish >= 0 and tol > 0, got {self}")

    def shortened(self, steps: int) -> ISM:
        """Return the same method with at most so many plain steps."""
        return replace(self, max_iter=min(self.max_iter, steps))

    def solve(
        self, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
    ) -> SolverResult:
        """Return the W found from ``start`` (d, q); see :class:`~multifacet.solvers.Solver`."""
        began = time.perf_counter()
        history: list[Step] = []
        walk = self._explore(sums, gamma, start, history)
        explored = time.perf_counter()
        point, reason = walk.last, walk.ending
        if polish:
            climb = self._polish if self.max_iter else self._climb
            point, ending = climb(sums, gamma, walk, history)
            reason = f"{reason}; {ending}"
        timings = {"explore": explored - began, "polish": time.perf_counter() - explored}
        partner = None if walk.partner is None else walk.partner.W
        return result_at(point, self.tol, reason, history, timings, partner)

    def _polish(
        self, sums: PairSums, gamma: Gamma, walk: _Walk, history: list[Step]
    ) -> tuple[Point, str]:
        """Climb from the best point, and from the first one too if the walk found no rest.

        A restless walk may have jumped over the basin that it started in.
        """
        origins = [(walk.best, 0.0)] if walk.settled else [(walk.best, 0.0), (walk.first, 1.0)]
        summits = [
            ascend(
                origin,
                lambda W: evaluate(sums, gamma, W),
                history,
                max_iter=self.max_polish,
                tol=self.tol,
                caution=caution,
            )
            for origin, caution in origins
        ]
        point, ending = max(summits, key=lambda summit: summit[0].objective)
        return point, f"polish {ending}"

    def _climb(
        self, sums: PairSums, gamma: Gamma, walk: _Walk, history: list[Step]
    ) -> tuple[Point, str]:
        """Climb from the start, and along ridges for as long as that does not end soon."""

        def at(W: Array) -> Point:
            return evaluate(sums, gamma, W)

        def slope_at(W: Array) -> Point:
            return evaluate_slope(sums, gamma, W)

        last = len(history) + self.max_polish
        few = min(SHORT_CLIMB, -(-self.max_polish // SHORT_PART))
        point, _ = ascend(walk.first, at, history, max_iter=few, tol=self.tol, caution=1.0)
        length = RIDGE
        while point.residual > self.tol:
            if len(history) >= last:
                return point, f"climb stopped at its limit of {self.max_polish} steps"
            steps, length = min(length, last - len(history)), 2 * length
            ridge = follow_ridge(point, slope_at, history, max_iter=steps, tol=self.tol)
            left = min(EXCHANGES, last - len(history))
            further, _ = ascend(ridge, at, history, max_iter=left, tol=self.tol, caution=0.1)
            if not further.improves(point):
                return point, "climb found no further ascent"
            point = further
        return point, f"climb reached a stationary point after {len(history)} steps"

    def _explore(self, sums: PairSums, gamma: Gamma, start: Array, history: list[Step]) -> _Walk:
        """Iterate plainly until W rests, cycles or the limit is reached."""
        point = best = first = evaluate(sums, gamma, start)
        history.append(point.step("explore", 0.0))
        if not self.max_iter:
            return _Walk(first, best, point, "no plain iteration")
        before: Point | None = None
        values = np.full(start.shape[1], np.inf)
        eigenpairs = as_eigensolver(self.eigen)
        for iteration in range(1, self.max_iter + 1):
            if point.residual <= self.tol:
                ending = f"plain iteration reached a stationary point after {iteration - 1} steps"
                return _Walk(first, best, point, ending, settled=True)
            new_values, W = eigenpairs(point.phi, start.shape[1], start=point.W)
            after = evaluate(sums, gamma, W)
            change = subspace_distance(point.W, W)
            history.append(after.step("explore", change))
            if after.objective > best.objective:
                best = after
            # Two-cycle: W returns to where it was two steps ago but not to where it just was.
            if before is not None and subspace_distance(before.W, W) < 1e-2 * change:
                ending = f"plain iteration fell into a two-cycle after {iteration} steps"
                return _Walk(first, best, after, ending, partner=point)
            # Eigenvalues are the cheap test (IKDR 2019, Algorithm 1); the angle confirms it.
            if _settled(values, new_values, self.tol) and change < 1e-3:
                ending = f"plain iteration settled after {iteration} steps"
                return _Walk(first, best, after, ending, settled=True)
            before, point, values = point, after, new_values
        ending = f"plain iteration stopped at its limit of {self.max_iter} steps"
        return _Walk(first, best, point, ending, partner=before if change > 0.1 else None)


@dataclass(frozen=True)
class _Walk:
    """Where the plain iteration went: its points, and the other half of a cycle."""

    first: Point
    best: Point
    last: Point
    ending: str
    partner: Point | None = None
    settled: bool = False


def _settled(old: Array, new: Array, tol: float) -> bool:
    return bool(np.linalg.norm(new - old) <= tol * np.linalg.norm(new))
