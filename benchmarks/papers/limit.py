"""A time limit around any solver, so that all of them can be stopped in the same way."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from multifacet.solvers.point import evaluate, result_at


class TimeUp(Exception):
    """The time of a solver is spent."""


class Limited:
    """A solver that stops after so many seconds, over all its calls, at the best W seen.

    Seconds are those of the processor, so that other work on the machine does not count.
    """

    def __init__(self, solver: Any, seconds: float) -> None:
        self.solver, self.limit = solver, seconds
        self.spent, self.evaluations = 0.0, 0

    @property
    def stopped(self) -> bool:
        """Whether the limit was reached."""
        return self.spent >= self.limit

    def solve(self, sums: Any, gamma: Any, start: np.ndarray, *, polish: bool = True) -> Any:
        """Solve as long as time is left."""
        began = time.process_time()
        watch = Watch(sums, start, began + self.limit - self.spent)
        try:
            result = self.solver.solve(watch, gamma, start, polish=polish)
        except TimeUp:
            point = evaluate(sums, gamma, watch.best)
            reason = f"stopped at the time limit of {self.limit:g} s"
            result = result_at(point, self.solver.tol, reason, [point.step("polish", 0.0)], {})
        self.evaluations += watch.evaluations
        self.spent += time.process_time() - began
        return result


class Watch:
    """Pair sums that look at the clock and remember the best W."""

    def __init__(self, sums: Any, start: np.ndarray, deadline: float) -> None:
        self._sums, self._deadline = sums, deadline
        self.best, self._height = start, -np.inf
        self.evaluations = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sums, name)

    def phi_and_objective(self, W: np.ndarray, gamma: Any) -> tuple[np.ndarray, float]:
        """Return Phi and the objective unless time is up."""
        self._look()
        phi, objective = self._sums.phi_and_objective(W, gamma)
        if W.shape == self.best.shape and objective > self._height:
            self.best, self._height = W, objective
        return phi, objective

    def hessian(self, W: np.ndarray, gamma: Any, directions: np.ndarray) -> np.ndarray:
        """Return products with the Hessian unless time is up."""
        self._look()
        return self._sums.hessian(W, gamma, directions)

    def _look(self) -> None:
        if time.process_time() > self._deadline:
            raise TimeUp
        self.evaluations += 1
