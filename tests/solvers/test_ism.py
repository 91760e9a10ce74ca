"""ISM on random problems: it never does worse than simpler methods, and says where it stands."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale

from multifacet.engines import Exact
from multifacet.kernels import (
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    median_distance,
)
from multifacet.linalg import leading_eigenpairs, orthonormalise, subspace_distance
from multifacet.problems import alternative, one_hot, supervised
from multifacet.solvers import ISM, as_solver, evaluate, relative_residual
from multifacet.solvers.ism import SHORT_CLIMB
from multifacet.solvers.quasi_newton import _Chart, follow_ridge

#: Two of each combination of kernel, paradigm and start.
N_PROBLEMS = 2 * 7 * 3 * 2


def random_problem(seed: int):
    """A W-step of some paradigm with some kernel; bandwidths from 0.1 to 5 median distances."""
    rng = np.random.default_rng(seed)
    n, d, q = int(rng.integers(40, 120)), int(rng.integers(6, 12)), int(rng.integers(1, 6))
    X = 0.5 * rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    X += 3 * rng.standard_normal((3, d))[rng.integers(0, 3, n)]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    sigma = median_distance(X) * np.exp(rng.uniform(np.log(0.1), np.log(5)))
    kernel = [
        Linear(),
        Squared(),
        Polynomial(),
        Gaussian(sigma),
        Multiquadratic(sigma),
        RelativeGaussian(),
        Gaussian(sigma) + 0.1 * Polynomial(2),
    ][seed % 7]
    sums = Exact().attach(X, kernel, n_jobs=1)
    classes, known = rng.integers(0, 3, n), rng.integers(0, 2, n)
    if seed % 3 == 0:
        gamma = supervised(one_hot(classes)).gamma()
    else:
        columns = rng.standard_normal((n, 2)) if seed % 3 == 1 else one_hot(classes)
        degrees = sums.degrees(np.eye(d)) if kernel.nonnegative else None
        gamma = alternative([known], 1.0, 2).gamma(np.linalg.qr(columns)[0], degrees)
    if seed % 2:
        start = orthonormalise(rng.standard_normal((d, q)))
    else:
        start = leading_eigenpairs(sums.initial_phi(gamma), q)[1]
    return sums, gamma, start


def projected_gradient(sums, gamma, W, steps: int = 400) -> float:
    """Plain gradient ascent with a QR retraction and backtracking."""
    phi, value = sums.phi_and_objective(W, gamma)
    rate = 1.0 / np.abs(np.linalg.eigvalsh(phi)).max()
    for _ in range(steps):
        gradient = phi @ W - W @ (W.T @ phi @ W)
        if np.linalg.norm(gradient) < 1e-8 * np.linalg.norm(phi @ W):
            break
        for _ in range(40):
            V = np.linalg.qr(W + rate * gradient)[0]
            phi_next, value_next = sums.phi_and_objective(V, gamma)
            if value_next >= value + 2e-4 * rate * np.sum(gradient**2):
                break
            rate /= 2
        else:
            break
        W, phi, value, rate = V, phi_next, value_next, 2 * rate
    return value


def test_random_problems():
    at_least_as_good = stationary = 0
    for seed in range(N_PROBLEMS):
        sums, gamma, start = random_problem(seed)
        result = ISM().solve(sums, gamma, start)
        explored = max(s.objective for s in result.history if s.phase == "explore")
        noise = 1e-9 * abs(explored)
        assert result.objective >= explored - noise, f"the polish lost ground at seed {seed}"
        phi, objective = sums.phi_and_objective(result.W, gamma)
        assert objective == pytest.approx(result.objective, rel=1e-9)
        assert relative_residual(phi, result.W) == pytest.approx(result.residual, abs=1e-9)
        np.testing.assert_allclose(result.W.T @ result.W, np.eye(start.shape[1]), atol=1e-10)
        assert result.residual <= 1e-5 or "limit" in result.reason or "no further" in result.reason
        assert result.converged == (result.residual <= ISM().tol)
        stationary += result.residual <= 1e-5
        rival = projected_gradient(sums, gamma, start)
        at_least_as_good += result.objective >= rival - 1e-6 * abs(rival)
    assert at_least_as_good >= 0.95 * N_PROBLEMS
    assert stationary >= 0.95 * N_PROBLEMS


def test_a_fixed_point_satisfies_the_first_order_condition():
    for seed in range(0, 40, 2):
        sums, gamma, start = random_problem(seed)
        result = ISM().solve(sums, gamma, start)
        if result.converged:
            phi, _ = sums.phi_and_objective(result.W, gamma)
            residual = phi @ result.W - result.W @ (result.W.T @ phi @ result.W)
            assert np.linalg.norm(residual) <= 1e-6 * np.linalg.norm(phi @ result.W)


def test_linear_kernel_is_solved_in_closed_form():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X -= X.mean(axis=0)
    gamma = supervised(one_hot(rng.integers(0, 3, 50))).gamma()
    result = ISM().solve(Exact().attach(X, Linear()), gamma, orthonormalise(np.eye(6)[:, :2]))
    M = X.T @ (gamma.factors * gamma.weights) @ gamma.factors.T @ X
    assert result.objective == pytest.approx(np.linalg.eigvalsh(M)[-2:].sum())
    assert result.converged


def test_squared_and_linear_kernels_give_the_same_supervised_subspace():
    """Row sums of H K_Y H vanish, so the two objectives differ by a factor only."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    X -= X.mean(axis=0)
    gamma = supervised(one_hot(rng.integers(0, 3, 60))).gamma()
    start = orthonormalise(rng.standard_normal((5, 2)))
    found = [ISM().solve(Exact().attach(X, k), gamma, start).W for k in (Linear(), Squared())]
    assert subspace_distance(*found) < 1e-6


def test_two_cycles_are_reported_with_both_halves():
    reasons = []
    for seed in range(60):
        sums, gamma, start = random_problem(seed)
        result = ISM(max_iter=30).solve(sums, gamma, start, polish=False)
        reasons.append(result.reason)
        if "two-cycle" in result.reason:
            assert result.cycle_partner is not None
            back = leading_eigenpairs(sums.phi_and_objective(result.W, gamma)[0], start.shape[1])[1]
            assert subspace_distance(back, result.cycle_partner) < 0.1
    assert any("two-cycle" in reason for reason in reasons)
    assert any("stationary" in reason for reason in reasons)


def test_history_and_timings_are_kept():
    sums, gamma, start = random_problem(3)
    result = ISM().solve(sums, gamma, start)
    assert result.n_iter == len(result.history) > 1
    assert {step.phase for step in result.history} <= {"explore", "polish"}
    assert set(result.timings) == {"explore", "polish"}
    assert len(result.eigenvalues) == start.shape[1] + 1


@pytest.mark.parametrize("bad", ["newton", 3, None])
def test_unknown_solver(bad):
    with pytest.raises(ValueError, match=r"solver=.*is not known: use one of 'ism'"):
        as_solver(bad)


def test_bad_options():
    with pytest.raises(ValueError, match="max_iter >= 0"):
        ISM(max_iter=-1)


def test_without_plain_steps_the_start_is_climbed_from():
    """At a narrow bandwidth level-shifted steps alone are too short to arrive.

    The ridge is followed in the scales that Phi tells, with gradients in the place of Phi.
    """
    X, y = load_digits(return_X_y=True)
    X = scale(X[:300, X[:300].std(axis=0) > 0])
    sums = Exact().attach(X, Gaussian(1.0), n_jobs=1)
    gamma = supervised(one_hot(y[:300])).gamma()
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1], 2)))[0]
    result = ISM(max_iter=0).solve(sums, gamma, start)
    assert result.residual < 1e-4
    near = [step.objective for step in result.history[:80]]
    assert max(near) > (1 - 1e-4) * result.objective  # plain L-BFGS needs twice as many
    short = ISM(max_iter=0, max_polish=SHORT_CLIMB).solve(sums, gamma, start)
    assert short.residual > result.residual
    assert result.objective > short.objective > evaluate(sums, gamma, start).objective


@pytest.fixture(scope="module")
def pixels():
    """Digits in the units that they come in, whose spread differs greatly between directions."""
    X, y = load_digits(return_X_y=True)
    X = X[:600, X[:600].std(axis=0) > 0]
    return X - X.mean(axis=0), supervised(one_hot(y[:600])).gamma()


@pytest.mark.parametrize("bandwidth", [16.0, 10.0, 8.0])
def test_axes_of_little_use_come_to_rest_beside_those_of_much(pixels, bandwidth):
    """Nine axes, of which four are hardly curved: ten thousandths of the others, or even less.

    At the narrow bandwidths the objective has risen to nine digits where the residual has two.
    """
    X, gamma = pixels
    sums = Exact().attach(X, Gaussian(bandwidth), n_jobs=1)
    start = leading_eigenpairs(sums.initial_phi(gamma), 9)[1]
    result = ISM(max_iter=0).solve(sums, gamma, start)
    assert result.converged
    assert result.residual < 1e-6
    assert "stationary point" in result.reason


def test_coordinates_along_a_ridge(pixels):
    """They are true to the objective, and it is about as curved along all of them."""
    X, gamma = pixels
    sums = Exact().attach(X, Gaussian(16.0), n_jobs=1)
    start = leading_eigenpairs(sums.initial_phi(gamma), 4)[1]
    point = evaluate(sums, gamma, ISM(max_iter=0).solve(sums, gamma, start).W)
    chart, rng, step = _Chart(point), np.random.default_rng(0), 1e-3

    def at(entries):
        W, R = chart.basis(entries)
        here = evaluate(sums, gamma, W)
        return here.objective, chart.slope(here, R)

    entries, along = rng.standard_normal((2, chart.size))
    along /= np.linalg.norm(along)
    high, low = (at(entries + sign * step * along)[0] for sign in (1, -1))
    np.testing.assert_allclose(at(entries)[1] @ along, (high - low) / (2 * step), rtol=1e-5)

    units = np.eye(chart.size)[rng.permutation(chart.size)[:60]]
    curvatures = [-(at(step * e)[1] - at(-step * e)[1]) @ e / (2 * step) for e in units]
    assert max(curvatures) < 10 * min(curvatures)  # without the scales 10,000 times


def test_a_ridge_ends_at_the_first_stationary_point(pixels):
    X, gamma = pixels
    sums = Exact().attach(X, Gaussian(32.0), n_jobs=1)

    def at(W):
        return evaluate(sums, gamma, W)

    first = at(leading_eigenpairs(sums.initial_phi(gamma), 4)[1])
    history = []
    top = follow_ridge(first, at, history, max_iter=100, tol=1e-2)
    assert top.residual == history[-1].residual <= 1e-2
    assert all(step.residual > 1e-2 for step in history[:-1])
    assert top.objective > first.objective
