"""The rivals of ISM: correct derivatives and steps, true optima, and a place in every estimator."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from multifacet import KDAC, SemiSupervisedKDR, SupervisedKDR, UnsupervisedKDR
from multifacet.certificate import certify
from multifacet.engines import Exact
from multifacet.kernels import Gaussian, Linear, Polynomial
from multifacet.linalg import leading_eigenpairs, orthonormalise, subspace_distance
from multifacet.problems import one_hot, supervised
from multifacet.solvers import ISM, DimensionGrowth, Grassmann, Stiefel, as_solver
from multifacet.solvers.dimension_growth import (
    FLAT,
    LONGEST,
    RISE,
    Trial,
    ascent_direction,
    with_new_column,
    wolfe_search,
)
from multifacet.solvers.eigen import NAMES as EIGEN
from multifacet.solvers.eigen import as_eigensolver, coordinate_eigenpairs
from multifacet.solvers.grassmann import _Oracle
from multifacet.solvers.point import Point, evaluate
from multifacet.solvers.stiefel import cayley, tangent_gradient

from .test_ism import random_problem

RIVALS = [DimensionGrowth(), Stiefel(), Grassmann()]
NAMES = ["dimension_growth", "stiefel", "grassmann"]
rivals = pytest.mark.parametrize("solver", RIVALS, ids=NAMES)


@pytest.fixture(autouse=True)
def _needs_pymanopt(request):
    if "grassmann" in request.node.name:
        pytest.importorskip("pymanopt", reason="pymanopt is optional")


def random_symmetric(d, rng):
    A = rng.standard_normal((d, d))
    return A + A.T


# -- derivatives and curves -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(7))
def test_cayley_curve_is_that_of_the_dense_formula_and_rises_by_the_square_of_the_gradient(seed):
    sums, gamma, start = random_problem(seed)
    start = orthonormalise(start + 0.3 * np.random.default_rng(seed).standard_normal(start.shape))
    point = evaluate(sums, gamma, start)
    W, G, R = point.W, point.gradient, tangent_gradient(point)
    A, t = G @ W.T - W @ G.T, 0.7 / np.linalg.norm(G)
    identity = np.eye(len(W))
    dense = np.linalg.solve(identity - t / 2 * A, (identity + t / 2 * A) @ W)
    np.testing.assert_allclose(cayley(W, R, t), dense, atol=1e-12)
    far = cayley(W, R, 50 * t)
    np.testing.assert_allclose(far.T @ far, np.eye(W.shape[1]), atol=1e-12)
    h = 1e-5 / np.linalg.norm(R)
    ahead, behind = (evaluate(sums, gamma, cayley(W, R, s)).objective for s in (h, -h))
    assert (ahead - behind) / (2 * h) == pytest.approx(np.sum(R**2), rel=1e-5)


@pytest.mark.parametrize("seed", range(0, 7, 2))
def test_grassmann_oracle_agrees_with_finite_differences(seed):
    sums, gamma, start = random_problem(seed)
    rng = np.random.default_rng(seed)
    W, Z = orthonormalise(rng.standard_normal(start.shape)), rng.standard_normal(start.shape)
    oracle, h = _Oracle(sums, gamma, W, "polish", 1e-6), 1e-5
    slope = (oracle.cost(W + h * Z) - oracle.cost(W - h * Z)) / (2 * h)
    gradient = -evaluate(sums, gamma, W).gradient / oracle._scale
    assert np.sum(gradient * Z) == pytest.approx(slope, rel=1e-5, abs=1e-8)
    turned = [-evaluate(sums, gamma, W + s * Z).gradient / oracle._scale for s in (h, -h)]
    np.testing.assert_allclose(
        oracle.hessian(W, Z), (turned[0] - turned[1]) / (2 * h), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("seed", range(40))
def test_line_search_satisfies_both_wolfe_conditions(seed):
    """Wavy curves that rise at zero; the slope is exact."""
    rng = np.random.default_rng(seed)
    c, f, p = rng.standard_normal(4), rng.uniform(1, 12, 4), rng.uniform(0, 6, 4)

    def trial(a):
        value = float(np.sum(c * np.sin(f * a + p)) - 3 * a**2)
        slope = float(np.sum(c * f * np.cos(f * a + p)) - 6 * a)
        return Trial(a, Point(np.eye(1), value, lambda: np.eye(1)), slope)

    origin = trial(0.0)
    if origin.slope < 0:
        c = -c
        origin = trial(0.0)
    for guess in (1e-4, 0.1, 0.9):
        found = wolfe_search(trial, origin, guess)
        assert found.value >= origin.value + RISE * found.a * origin.slope
        assert abs(found.slope) <= FLAT * origin.slope or found.a == LONGEST


def test_a_new_column_is_orthogonal_even_if_the_start_is_spent():
    rng = np.random.default_rng(0)
    start = orthonormalise(rng.standard_normal((6, 3)))
    W = start[:, [1, 0]]  # the second column of the start is already there
    grown = with_new_column(W, start)
    np.testing.assert_allclose(grown.T @ grown, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(grown[:, 2]), np.abs(start[:, 2]), atol=1e-12)


# -- what the solvers reach -----------------------------------------------------------------


@rivals
def test_linear_kernel_has_a_closed_form(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X -= X.mean(axis=0)
    gamma = supervised(one_hot(rng.integers(0, 3, 50))).gamma()
    start = orthonormalise(rng.standard_normal((6, 2)))
    result = solver.solve(Exact().attach(X, Linear()), gamma, start)
    M = X.T @ (gamma.factors * gamma.weights) @ gamma.factors.T @ X
    assert result.converged
    assert result.objective == pytest.approx(np.linalg.eigvalsh(M)[-2:].sum(), rel=1e-9)


@pytest.fixture(scope="module")
def half_circle():
    """With two features and one direction every optimum can be seen on a half circle."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    X = rng.standard_normal((60, 2)) + np.outer(y, [2.0, -1.0])
    sums = Exact().attach(X, Gaussian(0.8), n_jobs=1)
    gamma = supervised(one_hot(y)).gamma()
    angles = np.linspace(0, np.pi, 1001)
    height = [sums.objective(np.array([[np.cos(t)], [np.sin(t)]]), gamma) for t in angles]
    return sums, gamma, max(height)


@rivals
def test_plane_against_brute_force(solver, half_circle):
    sums, gamma, highest = half_circle
    result = solver.solve(sums, gamma, np.array([[0.0], [1.0]]))
    assert result.converged
    assert result.objective == pytest.approx(highest, rel=1e-4)
    assert result.objective >= highest


@pytest.mark.parametrize("seed", range(1, 42, 4))
@rivals
def test_rivals_reach_local_maxima(solver, seed):
    sums, gamma, start = random_problem(seed)
    result = solver.solve(sums, gamma, start)
    phi, objective = sums.phi_and_objective(result.W, gamma)
    assert result.converged or "limit" in result.reason
    assert objective == pytest.approx(result.objective, rel=1e-9)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(start.shape[1]), atol=1e-11)
    certificate = certify(sums, result.W, gamma)
    assert certificate.stationary
    assert certificate.curvature >= -1e-6 * np.abs(np.linalg.eigvalsh(phi)).max()


def test_most_optima_are_those_of_ism():
    same = 0
    for seed in range(1, 31, 2):
        sums, gamma, start = random_problem(seed)
        ours = ISM().solve(sums, gamma, start).objective
        theirs = Stiefel().solve(sums, gamma, start).objective
        same += abs(ours - theirs) <= 1e-6 * abs(ours)
    assert same >= 12


def test_dimension_growth_never_descends_and_keeps_columns_orthonormal():
    for seed in (9, 10, 12, 13):
        sums, gamma, start = random_problem(seed)
        result = DimensionGrowth().solve(sums, gamma, start)
        complete = [s.objective for s in result.history if s.phase == "polish"]
        noise = 1e-12 * abs(result.objective)
        assert len(complete) > 0
        assert np.diff(complete).min(initial=0.0) >= -noise
        assert {s.phase for s in result.history} == {"grow", "polish"}


def test_gradient_of_a_column_is_orthogonal_to_all_columns():
    sums, gamma, start = random_problem(9)
    point = evaluate(sums, gamma, orthonormalise(start + 0.1))
    for column in range(start.shape[1]):
        direction = ascent_direction(point, column)
        np.testing.assert_allclose(point.W.T @ direction, 0, atol=1e-9 * np.linalg.norm(direction))


def test_stiefel_may_descend_but_returns_the_best():
    results = []
    for seed in range(4, 14):
        sums, gamma, start = random_problem(seed)
        results.append(Stiefel().solve(sums, gamma, start))
    for result in results:
        highest = max(step.objective for step in result.history)
        assert result.objective == pytest.approx(highest, rel=1e-10)
    falls = [np.diff([s.objective for s in r.history]).min(initial=0.0) for r in results]
    assert min(falls) < 0


@rivals
def test_trust_region_and_others_rise_from_the_start(solver):
    for seed in (1, 3, 6, 10):
        sums, gamma, start = random_problem(seed)
        result = solver.solve(sums, gamma, start)
        assert result.objective >= sums.objective(start, gamma) - 1e-9 * abs(result.objective)


@rivals
def test_exploring_ends_earlier(solver):
    sums, gamma, start = random_problem(13)
    thorough = solver.solve(sums, gamma, start)
    cheap = solver.solve(sums, gamma, start, polish=False)
    assert cheap.n_iter < thorough.n_iter
    assert cheap.residual <= 1e-3
    assert "explore" in cheap.timings
    assert "polish" in thorough.timings


@rivals
def test_limits_are_kept_and_said(solver):
    sums, gamma, start = random_problem(13)
    result = type(solver)(max_iter=2).solve(sums, gamma, start)
    assert not result.converged
    assert "limit of 2 steps" in result.reason


@rivals
@pytest.mark.parametrize("shape", [(4, 4), (1, 1)])
def test_nothing_to_choose(solver, shape):
    """W spans everything: every W is as good."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, shape[0]))
    gamma = supervised(one_hot(rng.integers(0, 2, 30))).gamma()
    sums = Exact().attach(X, Gaussian(1.0))
    result = solver.solve(sums, gamma, orthonormalise(rng.standard_normal(shape)))
    assert result.converged
    assert result.objective == pytest.approx(sums.objective(np.eye(shape[0]), gamma))


@rivals
def test_single_precision_and_repeatability(solver):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    X = (rng.standard_normal((80, 5)) + 2 * one_hot(y) @ rng.standard_normal((3, 5))).astype("f")
    gamma = supervised(one_hot(y)).gamma()
    start = np.eye(5)[:, :2]
    sums = Exact().attach(X, Gaussian(1.5))
    result, again = (solver.solve(sums, gamma, start) for _ in range(2))
    np.testing.assert_array_equal(result.W, again.W)
    double = solver.solve(Exact().attach(X.astype(float), Gaussian(1.5)), gamma, start)
    assert result.objective == pytest.approx(double.objective, rel=1e-5)


# -- in the estimators ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_views():
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, 90), rng.integers(0, 2, 90)
    X = 0.3 * rng.standard_normal((90, 4))
    X[:, 0] += 2 * known
    X[:, 1] += 2 * hidden
    return X - X.mean(axis=0), known, hidden


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("init", ["spectral", "random"])
def test_by_name_in_every_estimator(two_views, name, init):
    X, known, hidden = two_views
    common = {"solver": name, "init": init, "n_starts": 2, "random_state": 0}
    clusters = {**common, "max_iter": 4}
    model = KDAC(2, n_components=1, bandwidth=0.5, novelty_weight=10.0, **clusters)
    labels = model.fit(X, given=known).labels_
    assert len(np.unique(labels)) == 2
    if init == "spectral":
        assert max(np.mean(labels == hidden), np.mean(labels != hidden)) >= 0.95
    reduced = SupervisedKDR(2, bandwidth=1.0, **common).fit(X, known)
    reference = SupervisedKDR(2, bandwidth=1.0, init=init, n_starts=2, random_state=0).fit(X, known)
    assert reduced.objective_ == pytest.approx(reference.objective_, rel=1e-6)
    assert UnsupervisedKDR(2, n_components=2, bandwidth=0.8, **clusters).fit(X).quality_ > 1
    scores = X[:, [1]]
    semi = SemiSupervisedKDR(2, n_components=2, bandwidth=0.8, **clusters).fit(X, scores)
    assert semi.labels_.shape == (90,)


def test_names():
    assert [type(as_solver(name)).__name__ for name in NAMES] == [type(s).__name__ for s in RIVALS]


def test_missing_pymanopt_is_said_with_a_remedy(two_views, monkeypatch):
    X, known, _ = two_views
    monkeypatch.setitem(sys.modules, "pymanopt", None)
    with pytest.raises(ImportError, match=r"needs pymanopt: pip install pymanopt, or use solver="):
        SupervisedKDR(1, solver="grassmann").fit(X, known)
    assert SupervisedKDR(1, solver="stiefel").fit(X, known).n_components_ == 1


@rivals
def test_bad_options(solver):
    with pytest.raises(ValueError, match=rf"{type(solver).__name__} needs max_iter > 0, got"):
        type(solver)(max_iter=0)
    with pytest.raises(ValueError, match="needs tol > 0"):
        type(solver)(tol=float("nan"))


# -- eigen-solvers --------------------------------------------------------------------------


@pytest.mark.parametrize("name", EIGEN)
@pytest.mark.parametrize("d", [5, 60, 450])
def test_eigensolvers_agree_with_lapack(name, d):
    rng = np.random.default_rng(d)
    A = random_symmetric(d, rng)
    # Three eigenvalues that stand out, in the presence of large negative ones.
    V = orthonormalise(rng.standard_normal((d, 3)))
    A = A + 10 * np.sqrt(d) * (V * [3.0, 2.0, 1.5]) @ V.T
    values, vectors = as_eigensolver(name)(A, 3)
    exact, exact_vectors = np.linalg.eigh(A)
    np.testing.assert_allclose(values, exact[::-1][:3], rtol=1e-7)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-10)
    assert subspace_distance(exact_vectors[:, -3:], vectors) < 1e-4


@pytest.mark.parametrize("case", ["negative", "zero", "repeated", "close", "one"])
def test_coordinate_power_method_on_awkward_matrices(case):
    rng = np.random.default_rng(1)
    spectra = {
        "negative": -np.arange(1.0, 41.0),
        "zero": np.zeros(40),
        "repeated": np.r_[5.0, 5.0, 5.0, np.linspace(4, -4, 37)],
        "close": np.r_[1 + 1e-9 * np.arange(20), -np.arange(20.0)],
        "one": np.r_[1.0, np.zeros(39)],
    }
    Q = orthonormalise(rng.standard_normal((40, 40)))
    A = (Q * spectra[case]) @ Q.T
    A = 0.5 * (A + A.T)
    values, vectors = coordinate_eigenpairs(A, 3, tol=1e-8)
    np.testing.assert_allclose(values, np.sort(spectra[case])[::-1][:3], atol=1e-7)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-6)


def test_coordinate_power_method_uses_a_warm_start_and_leaves_it_alone():
    A = np.diag(np.r_[9.0, 7.0, np.linspace(1, -3, 198)])
    start = np.eye(200)[:, :2] + 1e-6
    before = start.copy()
    values, _ = coordinate_eigenpairs(A, 2, start=start)
    np.testing.assert_array_equal(start, before)
    np.testing.assert_allclose(values, [9.0, 7.0], rtol=1e-9)


@pytest.mark.parametrize("name", EIGEN)
def test_ism_with_any_eigensolver(name):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 60)
    X = rng.standard_normal((60, 30)) + 2 * one_hot(y) @ rng.standard_normal((3, 30))
    sums = Exact().attach(X - X.mean(axis=0), Polynomial(2))
    gamma = supervised(one_hot(y)).gamma()
    start = leading_eigenpairs(sums.initial_phi(gamma), 2)[1]
    usual = ISM().solve(sums, gamma, start)
    result = ISM(eigen=name).solve(sums, gamma, start)
    assert result.objective == pytest.approx(usual.objective, rel=1e-8)
    assert subspace_distance(usual.W, result.W) < 1e-4


def test_unknown_eigensolver():
    with pytest.raises(ValueError, match=r"eigen='qr' is not known: use one of 'auto', 'dense'"):
        ISM(eigen="qr")
