from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from multifacet.certificate import certify
from multifacet.engines import Exact
from multifacet.kernels import Gaussian
from multifacet.linalg import complement
from multifacet.problems import one_hot, supervised
from multifacet.solvers import ISM

from .reference import KERNELS, dense_objective, random_problem


def numerical_curvature(kernel, X, W, gamma, step: float = 2e-3) -> float:
    """Smallest eigenvalue of the numerical Hessian of -Tr(Gamma K) in geodesic coordinates."""
    d, q = W.shape
    V = complement(W)
    frame = np.hstack([W, V])
    m = (d - q) * q

    def value(x):
        B = x.reshape(d - q, q)
        generator = np.block([[np.zeros((q, q)), -B.T], [B, np.zeros((d - q, d - q))]])
        return -dense_objective(kernel, X, frame @ expm(generator)[:, :q], gamma)

    hessian = np.zeros((m, m))
    E = step * np.eye(m)
    for a in range(m):
        for b in range(m):
            hessian[a, b] = (
                value(E[a] + E[b]) - value(E[a] - E[b]) - value(E[b] - E[a]) + value(-E[a] - E[b])
            ) / (4 * step**2)
    return float(np.linalg.eigvalsh(0.5 * (hessian + hessian.T)).min())


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_curvature_agrees_with_a_numerical_hessian(name):
    X, W, gamma = random_problem(3, n=9, d=4, q=2)
    kernel = KERNELS[name]
    # At a stationary point geodesic coordinates and tangent directions have the same Hessian.
    W = ISM().solve(Exact().attach(X, kernel), gamma, W).W
    certificate = certify(Exact().attach(X, kernel), W, gamma)
    expected = numerical_curvature(kernel, X, W, gamma)
    assert certificate.curvature == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_guarantee_implies_positive_curvature():
    """For a large bandwidth the inequality of ISM 2018, Eq. 10, holds, and it is sufficient."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    X = rng.standard_normal((40, 4)) + 3 * y[:, None] * np.array([1, 0, 0, 0])
    X -= X.mean(axis=0)
    gamma = supervised(one_hot(y)).gamma()
    sums = Exact().attach(X, Gaussian(60.0))
    W = ISM().solve(sums, gamma, np.eye(4)[:, :1]).W
    certificate = certify(sums, W, gamma)
    assert certificate.guaranteed
    assert certificate.local_maximum
    assert certificate.curvature > 0
    assert "reaches" in str(certificate)


def test_eq_10_of_the_2018_paper():
    """Our inequality is the paper's: Phi there is -2 Phi here and both sides carry sigma^2."""
    X, W, gamma = random_problem(1, n=10, d=4, q=2)
    sigma = 1.7
    certificate = certify(Exact().attach(X, Gaussian(sigma)), W, gamma)
    G = np.abs((gamma.factors * gamma.weights) @ gamma.factors.T)
    right = 0.0
    for i in range(10):
        for j in range(10):
            A = np.outer(X[i] - X[j], X[i] - X[j])
            k = np.exp(-np.trace(W.T @ A @ W) / (2 * sigma**2))
            right += G[i, j] / sigma**2 * k * np.trace(A.T @ A)
    assert 2 * sigma**2 * certificate.bound == pytest.approx(right)


def test_not_stationary_is_said():
    X, W, gamma = random_problem(2)
    certificate = certify(Exact().attach(X, Gaussian(1.0)), W, gamma)
    assert not certificate.stationary
    assert not certificate.local_maximum
    assert "not a stationary point" in str(certificate)
    assert "say nothing" in str(certificate)


def test_full_space_has_no_other_direction():
    X, _, gamma = random_problem(2)
    certificate = certify(Exact().attach(X, Gaussian(1.0)), np.eye(5), gamma)
    assert certificate.eigengap == np.inf
    assert certificate.curvature is None


def test_large_problems_skip_the_curvature():
    X, _, gamma = random_problem(2, n=20, d=30)
    W = np.eye(30)[:, :10]
    certificate = certify(Exact().attach(X, Gaussian(5.0)), W, gamma)
    assert certificate.curvature is None
    assert certificate.local_maximum is None or certificate.guaranteed
    assert "curvature" not in str(certificate)
