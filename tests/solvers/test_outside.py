"""A solver from outside, written from the page on contributing, and what is said of wrong ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from multifacet import KDAC, SupervisedKDR
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import nmi
from multifacet.solvers import ISM, evaluate, result_at


@dataclass(frozen=True)
class GradientAscent:
    """Gradient ascent with QR retraction; a step is halved until it improves the point."""

    max_iter: int = 2000
    tol: float = 1e-6

    def solve(self, sums, gamma, start, *, polish=True):
        phase, most = ("polish", self.max_iter) if polish else ("explore", min(self.max_iter, 10))
        point, size, reason = evaluate(sums, gamma, start), None, "reached a stationary point"
        history = [point.step(phase, 0.0)]
        while point.residual > self.tol:
            if len(history) > most:
                reason = "stopped at its limit"
                break
            slope = point.gradient - point.W @ (point.W.T @ point.gradient)
            unit = 1 / np.linalg.norm(slope)
            new, size = self._step(sums, gamma, point, slope, unit if size is None else 2 * size)
            if new is None:
                reason = "found no step that improves the objective"
                break
            change = np.linalg.norm(new.W - point.W @ (point.W.T @ new.W), 2)  # largest sine
            point = new
            history.append(point.step(phase, change))
        return result_at(point, self.tol, f"{reason} after {len(history) - 1} steps", history, {})

    def _step(self, sums, gamma, point, slope, size):
        for _ in range(60):
            new = evaluate(sums, gamma, np.linalg.qr(point.W + size * slope)[0])
            if new.improves(point):
                return new, size
            size /= 2
        return None, size


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussian_views(100, [3, 2], random_state=0)


@pytest.mark.parametrize("q", [1, 2])
def test_it_reaches_the_objective_of_ism(gaussians, q):
    X, labelings = gaussians
    ours = SupervisedKDR(q, solver=GradientAscent()).fit(X, labelings[:, 1])
    ism = SupervisedKDR(q).fit(X, labelings[:, 1])
    assert ours.result_.converged, ours.result_.reason
    objectives = [step.objective for step in ours.result_.history]
    assert (np.diff(objectives) > -1e-12 * max(objectives)).all()
    np.testing.assert_allclose(ours.objective_, ism.objective_, rtol=1e-6)


def test_it_finds_the_hidden_view(gaussians):
    X, labelings = gaussians
    settings = {"n_components": 2, "novelty_weight": 10.0, "init": "spectral", "random_state": 0}
    ours = KDAC(2, solver=GradientAscent(), **settings).fit(X, given=labelings[:, 0])
    assert nmi(ours.labels_, labelings[:, 1]) > 0.9


class Stretched(ISM):
    """Forgets that W has to be orthonormal."""

    def solve(self, sums, gamma, start, *, polish=True):
        result = super().solve(sums, gamma, start, polish=polish)
        return replace(result, W=2 * result.W)


class Silent:
    """Returns nothing."""

    def solve(self, sums, gamma, start, *, polish=True):
        return None


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (ISM, r"solver=ISM is a class: use ISM\(\)"),
        (object(), "is not known: use one of 'ism', .* an object with a method solve"),
        (Silent(), "Silent.solve returned a NoneType: return a SolverResult"),
        (Stretched(), r"Stretched.solve returned a W of shape \(4, 1\) that is not an orthonormal"),
    ],
)
def test_wrong_solvers_are_told_so(gaussians, solver, message):
    X, labelings = gaussians
    with pytest.raises((TypeError, ValueError), match=message):
        SupervisedKDR(1, solver=solver).fit(X, labelings[:, 1])
