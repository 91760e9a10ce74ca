"""Sums in another metric are those of the rows times the metric."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from multifacet.engines import Exact, LowRank
from multifacet.engines.metric import Metric, MetricSums
from multifacet.kernels import Gaussian, Polynomial
from multifacet.linalg import as_matrix
from multifacet.problems import one_hot, supervised

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5)) @ RNG.standard_normal((5, 5))
X -= X.mean(axis=0)
GAMMA = supervised(one_hot(np.arange(40) % 3)).gamma()
W = np.linalg.qr(RNG.standard_normal((5, 2)))[0]


def matrix(metric, d):
    return metric @ np.eye(d)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Polynomial(2)])
@pytest.mark.parametrize("engine", [Exact(), Exact(matrix_features=2), LowRank(rank=40)])
def test_sums_are_those_of_stretched_rows(kernel, engine):
    metric = Metric.whitening(X, 0.7)
    ours = MetricSums(engine.attach(X, kernel), metric)
    direct = Exact().attach(X @ matrix(metric, 5), kernel)
    phi, objective = ours.phi_and_objective(W, GAMMA)
    expected, value = direct.phi_and_objective(W, GAMMA)
    assert objective == pytest.approx(value, rel=1e-4)
    assert ours.objective(W, GAMMA) == pytest.approx(value, rel=1e-4)
    assert isinstance(phi, LinearOperator) == (engine == Exact(matrix_features=2))
    size = np.abs(expected).max()
    np.testing.assert_allclose(as_matrix(phi), expected, atol=1e-3 * size)
    first = direct.initial_phi(GAMMA)
    scale = np.abs(first).max()
    np.testing.assert_allclose(as_matrix(ours.initial_phi(GAMMA)), first, atol=1e-9 * scale)


def test_second_order_parts():
    metric = Metric.whitening(X, 0.9)
    ours = MetricSums(Exact().attach(X, Gaussian(1.0)), metric)
    direct = Exact().attach(X @ matrix(metric, 5), Gaussian(1.0))
    directions = RNG.standard_normal((3, 5, 2))
    np.testing.assert_allclose(
        ours.hessian(W, GAMMA, directions), direct.hessian(W, GAMMA, directions), atol=1e-9
    )
    np.testing.assert_allclose(
        ours.row_objectives(W, GAMMA), direct.row_objectives(W, GAMMA), atol=1e-9
    )
    assert ours.curvature_bound(W, GAMMA) >= direct.curvature_bound(W, GAMMA)


def test_whitening_spreads_rows_evenly():
    covariance = np.cov(X @ matrix(Metric.whitening(X, 1.0), 5), rowvar=False)
    np.testing.assert_allclose(covariance, covariance[0, 0] * np.eye(5), atol=1e-9)
    np.testing.assert_array_equal(matrix(Metric.whitening(X, 0.0), 5), np.eye(5))
    half = np.linalg.cond(np.cov(X @ matrix(Metric.whitening(X, 0.5), 5), rowvar=False))
    assert 1 < half < np.linalg.cond(np.cov(X, rowvar=False))


def test_wide_rows_have_the_same_metric_in_their_span():
    wide = RNG.standard_normal((6, 30))
    metric = Metric.whitening(wide, 0.7)
    covariance = wide.T @ wide
    spectrum = np.linalg.eigvalsh(wide @ wide.T)
    expected = np.linalg.inv(0.3 * np.eye(30) + 0.7 * covariance / spectrum.mean())
    M = matrix(metric, 30)
    np.testing.assert_allclose(M @ M, expected, atol=1e-9)
    assert metric.largest == pytest.approx(np.linalg.eigvalsh(M)[-1])


def test_division_undoes_multiplication():
    metric = Metric.whitening(X, 0.95)
    back = metric.divided(metric @ W)
    np.testing.assert_allclose(back @ (back.T @ W), W, atol=1e-9)
