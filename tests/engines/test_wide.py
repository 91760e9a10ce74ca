"""Many features: Phi as an operator, all features by a random projection, no d x d anywhere."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.engines import text

from multifacet import KDAC, EmbeddingKDAC, LinearKDAC, SupervisedKDR, UnsupervisedKDR
from multifacet.datasets import make_moons_views
from multifacet.engines import Exact, LowRank
from multifacet.engines.wide import WIDE, all_features
from multifacet.linalg import (
    as_matrix,
    complement,
    largest_outside,
    orthonormalise,
    plus_outer,
    spectrum_bounds,
    symmetric_operator,
)
from multifacet.metrics import nmi
from multifacet.solvers.eigen import NAMES as EIGENSOLVERS


def symmetric(size: int, seed: int = 0) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((size, size))
    return A + A.T


@pytest.mark.parametrize("size", [8, 60, 500])
def test_bounds_enclose_the_spectrum(size):
    A = symmetric(size)
    values = np.linalg.eigvalsh(A)
    low, high = spectrum_bounds(A)
    slack = 1e-9 * np.ptp(values)
    assert low <= values[0] + slack
    assert high >= values[-1] - slack
    assert high - low <= 2 * np.ptp(values)
    assert spectrum_bounds(symmetric_operator(A.__matmul__, size)) == pytest.approx((low, high))


@pytest.mark.parametrize("shift", [-100.0, 0.0, 100.0])
def test_largest_eigenvalue_outside_a_subspace(shift):
    A = symmetric(30) + shift * np.eye(30)
    W = orthonormalise(np.random.default_rng(1).standard_normal((30, 3)))
    V = complement(W)
    expected = np.linalg.eigvalsh(V.T @ A @ V).max()
    assert largest_outside(A, W) == pytest.approx(expected, abs=1e-8)
    assert largest_outside(symmetric_operator(A.__matmul__, 30), W) == pytest.approx(expected)


def test_a_shifted_operator_is_the_shifted_matrix():
    A, W = symmetric(12), np.random.default_rng(1).standard_normal((12, 2))
    operator = symmetric_operator(A.__matmul__, 12)
    np.testing.assert_allclose(as_matrix(plus_outer(operator, 0.7, W)), plus_outer(A, 0.7, W))


@pytest.mark.parametrize("name", sorted(EIGENSOLVERS))
def test_every_eigensolver_takes_an_operator(name):
    A = symmetric(450) + np.diag(np.where(np.arange(450) < 3, 100.0 * np.arange(450), 0.0))
    operator = symmetric_operator(A.__matmul__, 450)
    values, vectors = EIGENSOLVERS[name](operator, 2)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:2], rtol=1e-6)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-3 * values[0])


def test_distances_over_all_features_are_kept():
    assert (all_features(5) == np.eye(5)).all()
    X = np.random.default_rng(0).standard_normal((40, 3000))
    P = X @ all_features(3000)
    ratio = np.linalg.norm(P[:20] - P[20:], axis=1) / np.linalg.norm(X[:20] - X[20:], axis=1)
    assert np.abs(ratio - 1).max() < 0.15


@pytest.mark.parametrize("engine", [Exact(), LowRank(rank=150)])
def test_operators_lead_to_the_same_solution(engine):
    X, labelings = make_moons_views(150, random_state=0)
    settings = {"n_components": 2, "bandwidth": 0.5, "novelty_weight": 3.0, "random_state": 0}
    settings["init"] = np.eye(4)[:, 1:3]
    model = KDAC(2, engine=engine, **settings).fit(X, given=labelings[:, 0])
    operators = replace(engine, matrix_features=0)
    same = KDAC(2, engine=operators, **settings).fit(X, given=labelings[:, 0])
    assert nmi(same.labels_, model.labels_) == pytest.approx(1.0)
    assert same.objective_ == pytest.approx(model.objective_, rel=1e-4)
    assert same.certificate_.eigengap == pytest.approx(model.certificate_.eigengap, rel=1e-2)


@pytest.fixture(scope="module")
def words():
    return text(600, 4000)


def test_text_with_two_labelings(words):
    X, (given, hidden) = words
    settings = {"n_components": 2, "bandwidth": 0.3, "novelty_weight": 3.0, "random_state": 0}
    with pytest.warns(UserWarning, match="constant features"):
        model = KDAC(3, **settings).fit(X, given=given)
    assert nmi(model.labels_, hidden) >= 0.7
    assert nmi(model.labels_, given) <= 0.05
    assert model.components_.shape == (2, 4000)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize(
    "model",
    [
        EmbeddingKDAC(3, random_state=0),
        LinearKDAC(3, random_state=0),
        SupervisedKDR(2, whitening=0.7),
        UnsupervisedKDR(3, 2, bandwidth=0.5, max_iter=2, random_state=0),
    ],
)
def test_no_square_of_the_features(words, model):
    X, (given, _) = words
    known = {"given": given} if hasattr(model, "novelty_weight") else {"y": given}
    square = 8 * X.shape[1] ** 2
    tracemalloc.start()
    try:
        model.fit(X, **known)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < square
    assert X.shape[1] > WIDE
