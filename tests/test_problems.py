from __future__ import annotations

import numpy as np
import pytest

from multifacet.alternate import embed
from multifacet.engines import Exact
from multifacet.kernels import Gaussian
from multifacet.linalg import incomplete_cholesky
from multifacet.problems import (
    alternative,
    alternative_by_rows,
    one_hot,
    semi_supervised,
    supervised,
    target_factor,
    unsupervised,
    with_moving_degrees,
)

from .reference import dense_gamma, numerical_gradient

H = np.eye(12) - 1 / 12
A = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
B = np.array([0, 1] * 6)


@pytest.mark.parametrize("scale", ["paper", "unit"])
def test_columns_of_some_rows_are_those_of_all(scale):
    labelings = [A, 10**9 * B - 5]
    whole = alternative(labelings, 0.3, 2, scale=scale)
    by_rows = alternative_by_rows(labelings, 0.3, 2, scale=scale)
    rows = np.array([3, 0, 11])
    assert (by_rows.columns[rows] == whole.columns[rows]).all()
    assert by_rows.columns.shape == whole.columns.shape == (12, 5)
    taken = by_rows.take(rows)
    assert (taken.columns == whole.take(rows).columns).all()
    np.testing.assert_allclose(taken.columns.sum(axis=0), 0, atol=1e-12)


def test_supervised_gamma():
    Y = one_hot(A)
    np.testing.assert_allclose(dense_gamma(supervised(Y).gamma()), H @ Y @ Y.T @ H, atol=1e-12)


def test_alternative_gamma_in_both_scales():
    rng = np.random.default_rng(0)
    U, degrees = np.linalg.qr(rng.standard_normal((12, 2)))[0], rng.uniform(1, 3, 12)
    root = np.diag(1 / np.sqrt(degrees))
    for scale in ("paper", "unit"):
        Y = np.hstack([one_hot(A), one_hot(B)])
        if scale == "unit":
            Y = Y / np.linalg.norm(Y, axis=0)
        expected = root @ H @ (U @ U.T - 0.3 * Y @ Y.T) @ H @ root
        gamma = alternative([A, B], 0.3, 2, scale=scale).gamma(U, degrees)
        np.testing.assert_allclose(dense_gamma(gamma), expected, atol=1e-12)


def test_unit_scale_does_not_depend_on_the_number_of_rows():
    labels = np.array([0, 1] * 10)
    few = alternative([labels], 1.0, 2)
    many = alternative([np.tile(labels, 7)], 1.0, 2)
    np.testing.assert_allclose(np.linalg.norm(few.columns), np.linalg.norm(many.columns))


def test_semi_supervised_scores_have_the_trace_of_the_clusters():
    scores = np.random.default_rng(0).standard_normal((12, 3)) * 100 + 5
    problem = semi_supervised(scores, 2.0, 4)
    assert np.sum(problem.columns**2) == pytest.approx(4)
    np.testing.assert_allclose(problem.columns.sum(axis=0), 0, atol=1e-12)
    assert (problem.weights == 2).all()


def test_unsupervised_has_nothing_known():
    problem = unsupervised(12, 3)
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 3)))[0]
    np.testing.assert_allclose(dense_gamma(problem.gamma(U)), H @ U @ U.T @ H, atol=1e-12)


def test_wrong_uses():
    with pytest.raises(ValueError, match="at least one given labeling"):
        alternative([], 1.0, 2)
    with pytest.raises(ValueError, match="novelty_scale"):
        alternative([A], 1.0, 2, scale="raw")
    with pytest.raises(ValueError, match="target_kernel"):
        target_factor(np.zeros((3, 1)), "cubic")


def test_target_factors():
    Y = np.random.default_rng(0).standard_normal((50, 2)) * [1, 1000]
    Z = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    np.testing.assert_allclose(target_factor(Y) @ target_factor(Y).T, Z @ Z.T, atol=1e-10)
    F = target_factor(Y, "gaussian", sigma=1.0)
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / 2)
    assert F.shape[1] < 50
    np.testing.assert_allclose(F @ F.T, K, atol=1e-3)
    assert np.trace(K - F @ F.T) <= 1e-6 * np.trace(K)


def test_incomplete_cholesky_of_a_low_rank_matrix_is_exact():
    G = np.random.default_rng(0).standard_normal((30, 4))
    K = G @ G.T
    F = incomplete_cholesky(lambda i: K[:, i], np.diag(K), tol=1e-12)
    assert F.shape == (30, 4)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-10)
    assert incomplete_cholesky(lambda i: K[:, i], np.diag(K), max_rank=2).shape == (30, 2)


def test_gradient_of_the_joint_objective_with_moving_degrees():
    """J(W), with U and D taken at W, has the gradient 2 Phi W of the corrected Gamma."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((25, 4)) + 2 * rng.integers(0, 2, 25)[:, None]
    X -= X.mean(axis=0)
    W = np.linalg.qr(rng.standard_normal((4, 2)))[0]
    sums = Exact().attach(X, Gaussian(0.8))
    problem = alternative([rng.integers(0, 2, 25)], 2.0, 2)
    solution = embed(sums, problem, W)
    gamma = problem.gamma(solution.embedding, solution.degrees)
    rows = sums.row_objectives(W, gamma)
    phi, _ = sums.phi_and_objective(W, with_moving_degrees(gamma, rows, solution.degrees))
    gradient = numerical_gradient(lambda V: embed(sums, problem, V).objective, W)
    np.testing.assert_allclose(2 * phi @ W, gradient, atol=1e-6 * np.abs(gradient).max())


def test_a_problem_on_some_rows_keeps_its_scale():
    labels = np.repeat([0, 1], 500)
    whole = alternative([labels], 3.0, 2)
    part = whole.take(np.arange(0, 1000, 10))
    assert np.allclose((part.columns**2).sum(axis=0), 10 * (whole.columns[::10] ** 2).sum(axis=0))
    assert np.allclose((part.columns**2).sum(axis=0), (whole.columns**2).sum(axis=0))
    assert np.allclose(part.columns.sum(axis=0), 0)
