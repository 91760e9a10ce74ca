"""Dimension growth: W column by column (KDAC 2014, section 2.2, Equations 6 to 8).

The first column is optimised alone, then a second one orthogonal to it, and so on; when there are
q, all columns are visited in turn until nothing moves. One step turns a column w towards the part
g of its gradient that is orthogonal to all columns,

    w(a) = sqrt(1 - a^2) w + a g ,  |g| = 1 ,

and a satisfies the two Wolfe conditions. Only the first guess of a is not in the paper: a
Barzilai-Borwein length, which spares most of the trials.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, subspace_distance
from ..problems import Gamma
from .base import SolverResult, Step
from .point import EXPLORED, Point, check_positive, evaluate, result_at

#: The constants a_1 and a_2 of the Wolfe conditions (Equation 8).
RISE, FLAT = 1e-4, 0.9
#: Longest a (at one the curve is perpendicular to where it began), first a, and trials at most.
LONGEST, FIRST, MAX_TRIALS = 0.999, 0.1, 20
#: Relative gradient, or length of a step, at which the next column is added.
GROWN, RESTING = 1e-2, 1e-3


@dataclass(frozen=True)
class DimensionGrowth:
    """Gradient ascent column by column, a rival of ISM.

    Parameters
    ----------
    max_growth : int, default=200
        Most steps of a column while W grows.
    max_iter : int, default=2000
        Most steps of all columns together when W is complete.
    tol : float, default=1e-6
        A W with a smaller relative residual is stationary.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.solvers import DimensionGrowth
    >>> model = SupervisedKDR(solver=DimensionGrowth(max_iter=500))
    """

    max_growth: int = 200
    max_iter: int = 2000
    tol: float = 1e-6

    def __post_init__(self) -> None:
        check_positive(self, max_growth=self.max_growth, max_iter=self.max_iter, tol=self.tol)

    def solve(
        self, sums: PairSums, gamma: Gamma, start: Array, *, polish: bool = True
    ) -> SolverResult:
        """Return the W found from ``start`` (d, q); see :class:`~multifacet.solvers.Solver`."""
        began = time.perf_counter()
        history: list[Step] = []
        climber = _Climber(lambda W: evaluate(sums, gamma, W), start.shape[1])
        point = self._grow(climber, start, history)
        grown = time.perf_counter()
        phase, tol = ("polish", self.tol) if polish else ("explore", max(self.tol, EXPLORED))
        point, reason = self._cycle(climber, point, history, phase, tol)
        timings = {"grow": grown - began, phase: time.perf_counter() - grown}
        return result_at(point, self.tol, reason, history, timings)

    def _grow(self, climber: _Climber, start: Array, history: list[Step]) -> Point:
        """Add one column after the other, each optimised with the ones before it held fixed."""
        point = climber.evaluate(start[:, :1])
        for column in range(start.shape[1]):
            if column:
                point = climber.evaluate(with_new_column(point.W, start))
            history.append(point.step("grow", 1.0))
            for _ in range(self.max_growth):
                if column_residual(point, column) <= GROWN:
                    break
                after = climber.step(point, column)
                if after is None:
                    break
                change = subspace_distance(point.W, after.W)
                history.append(after.step("grow", change))
                point = after
                if change < RESTING:
                    break
        return point

    def _cycle(
        self, climber: _Climber, point: Point, history: list[Step], phase: str, tol: float
    ) -> tuple[Point, str]:
        """Visit all columns in turn, one step each, until none of them can move."""
        q = point.W.shape[1]
        stuck = 0
        for iteration in range(self.max_iter):
            if point.residual <= tol:
                return point, f"all columns reached a stationary point after {iteration} steps"
            after = climber.step(point, iteration % q)
            stuck = stuck + 1 if after is None else 0
            if stuck == q:
                return point, f"no column found a further ascent after {iteration + 1} steps"
            if after is not None:
                history.append(after.step(phase, subspace_distance(point.W, after.W)))
                point = after
        return point, f"columns stopped at the limit of {self.max_iter} steps"


def with_new_column(W: Array, start: Array) -> Array:
    """Return W (d, j) with one more column: that of ``start`` which is least in the span of W.

    With j < q columns in W, the squared remainders of the q columns sum to at least q - j, so the
    longest remainder never vanishes.
    """
    remainder = start - W @ (W.T @ start)
    lengths = np.linalg.norm(remainder, axis=0)
    best = int(np.argmax(lengths))
    column = remainder[:, best] / lengths[best]
    column -= W @ (W.T @ column)
    return np.column_stack([W, column / np.linalg.norm(column)])


def ascent_direction(point: Point, column: int) -> Array:
    """Return the gradient (d,) of one column without its part in the span of W (Equation 6)."""
    gradient = point.gradient[:, column]
    return gradient - point.W @ (point.W.T @ gradient)


def column_residual(point: Point, column: int) -> float:
    """Return how much of the gradient of a column is orthogonal to W, from 0 to 1."""
    scale = float(np.linalg.norm(point.gradient[:, column]))
    return float(np.linalg.norm(ascent_direction(point, column))) / scale if scale > 0 else 0.0


class _Climber:
    """Steps of single columns; remembers the last length of each."""

    def __init__(self, evaluate: Callable[[Array], Point], q: int) -> None:
        self.evaluate = evaluate
        self._rates = [0.0] * q

    def step(self, point: Point, column: int) -> Point | None:
        """Return the point after one step of a column (Equation 7), or None without ascent."""
        direction = ascent_direction(point, column)
        slope = float(np.linalg.norm(direction))
        if slope <= 1e-15 * float(np.linalg.norm(point.gradient)):
            return None
        w, g = point.W[:, column], direction / slope

        def trial(a: float) -> Trial:
            root = np.sqrt(1 - a * a)
            after = self.evaluate(_with_column(point.W, column, root * w + a * g))
            return Trial(a, after, float(after.gradient[:, column] @ (g - a / root * w)))

        guess = self._rates[column] * slope or FIRST
        found = wolfe_search(trial, Trial(0.0, point, slope), min(guess, LONGEST))
        if found is None:
            return None
        after = found.point
        moved = after.W[:, column] - w
        turned = direction - ascent_direction(after, column)
        along, square = float(moved @ turned), float(turned @ turned)
        # The short Barzilai-Borwein length; where the curvature is upward, twice the step taken.
        self._rates[column] = along / square if along > 0 else 2 * found.a / slope
        return after


@dataclass(frozen=True)
class Trial:
    """A point of a line search: its parameter a, the point, and the slope of the objective."""

    a: float
    point: Point
    slope: float

    @property
    def value(self) -> float:
        """Objective at the point."""
        return self.point.objective


def wolfe_search(trial: Callable[[float], Trial], origin: Trial, guess: float) -> Trial | None:
    """Return a trial that satisfies both Wolfe conditions (Equation 8), or None.

    Between ``low``, which rises enough and still rises steeply, and ``high``, which rises too
    little or falls, the conditions hold somewhere (Nocedal and Wright 2006, section 3.5). At the
    end of the curve the second condition is waived.
    """
    low, high = origin, None
    a = guess
    noise = 1e-14 * abs(origin.value)
    for _ in range(MAX_TRIALS):
        here = trial(a)
        enough = here.value >= origin.value + RISE * a * origin.slope - noise
        if enough and (abs(here.slope) <= FLAT * origin.slope or (a == LONGEST and high is None)):
            return here
        if not enough or here.slope < 0:
            # Too far: the slope there tells nothing unless the value is good.
            high = here if enough else replace(here, slope=np.nan)
        elif here.slope > 0:
            if a == LONGEST:
                return here
            low = here
        a = min(3 * a, LONGEST) if high is None else _between(low, high)
        if a - low.a <= 1e-14:
            break
    return low if low is not origin else None


def _between(low: Trial, high: Trial) -> float:
    """Return where the objective is expected to be largest between two trials."""
    width = high.a - low.a
    if np.isfinite(high.slope):
        share = low.slope / (low.slope - high.slope)
    else:
        bend = low.slope * width - (high.value - low.value)
        share = 0.5 * low.slope * width / bend if bend > 0 else 0.5
    return low.a + min(max(share, 0.1), 0.9) * width


def _with_column(W: Array, column: int, w: Array) -> Array:
    """Return W with another column, cleared of what rounding errors leave in the other ones."""
    others = np.delete(W, column, axis=1)
    w = w - others @ (others.T @ w)
    W = W.copy()
    W[:, column] = w / np.linalg.norm(w)
    return W
