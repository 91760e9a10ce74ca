from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import normalized_mutual_info_score

from multifacet.kernels import Gaussian, Linear, Polynomial
from multifacet.metrics import (
    cluster_quality,
    dunn_index,
    hsic,
    kernel_mean_squared_error,
    match_labelings,
    mean_squared_error,
    nmi,
    novelty,
    pair_f1,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
A, B = RNG.integers(0, 3, 60), RNG.integers(0, 4, 60)
H = np.eye(60) - 1 / 60


def test_nmi_agrees_with_scikit_learn():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(0, 4, 50), rng.integers(0, 3, 50)
        expected = normalized_mutual_info_score(a, b, average_method="geometric")
        assert nmi(a, b) == pytest.approx(expected, abs=1e-12)
    assert nmi(A, np.array(list("xyz"))[A]) == pytest.approx(1)
    assert nmi(np.zeros(5), np.zeros(5)) == 0
    with pytest.raises(ValueError, match="equally long"):
        nmi([0, 1], [0, 1, 2])


def test_novelty_is_the_worst_case_over_given():
    assert novelty(A, np.column_stack([B, A])) == pytest.approx(1)
    assert novelty(A, B) == nmi(A, B)


def test_hsic_against_the_dense_formula():
    Y = RNG.standard_normal((60, 2))
    K = np.exp(-(cdist(X, X) ** 2) / (2 * 1.5**2))
    L = np.exp(-(cdist(Y, Y) ** 2) / (2 * np.median(pdist(Y)) ** 2))
    assert hsic(X, Y, kernel=Gaussian(1.5)) == pytest.approx(np.trace(K @ H @ L @ H) / 59**2)
    same = (A[:, None] == A).astype(float)
    expected = np.trace(K @ H @ same @ H) / 59**2
    assert hsic(X, A, kernel=Gaussian(1.5)) == pytest.approx(expected)
    linear = hsic(X, A, kernel=Gaussian(1.5), target_kernel="linear")
    assert linear == pytest.approx(expected)
    assert hsic(X, X[:, 0], kernel=Linear(), target_kernel=Linear()) > 0
    with pytest.raises(ValueError, match="Y has 59 rows"):
        hsic(X, A[:-1])


def test_cluster_quality_against_the_dense_formula():
    K = np.exp(-(cdist(X, X) ** 2) / 2)
    root = 1 / np.sqrt(K.sum(axis=1))
    M = H @ (root[:, None] * K * root) @ H
    U = np.eye(3)[A] / np.sqrt(np.bincount(A))
    expected = np.trace(U.T @ M @ U)
    assert cluster_quality(X, A, kernel=Gaussian(1.0)) == pytest.approx(expected)
    assert cluster_quality(X, U, kernel=Gaussian(1.0)) == pytest.approx(expected)
    assert cluster_quality(X, A) <= 3
    with pytest.raises(ValueError, match="can be negative"):
        cluster_quality(X, A, kernel="linear")


def test_errors_around_the_mean():
    expected = sum(((X[c == A] - X[c == A].mean(axis=0)) ** 2).sum() for c in range(3)) / 60
    assert mean_squared_error(X, A) == pytest.approx(expected)
    assert kernel_mean_squared_error(X, A, kernel="linear") == pytest.approx(expected)
    K = (X @ X.T + 1) ** 3
    pairs = sum(K[np.ix_(c == A, c == A)].sum() / (c == A).sum() for c in range(3))
    polynomial = kernel_mean_squared_error(X, A, kernel=Polynomial())
    assert polynomial == pytest.approx((np.trace(K) - pairs) / 60)
    assert 0 <= kernel_mean_squared_error(X, A) < 1
    with pytest.raises(ValueError, match=r"labels has shape \(59,\) for 60 rows"):
        mean_squared_error(X, A[:-1])


def test_dunn_index_variants():
    D = cdist(X, X)
    groups = [np.flatnonzero(c == A) for c in range(3)]
    pairs = list(combinations(groups, 2))
    apart = {
        "single": min(D[np.ix_(a, b)].min() for a, b in pairs),
        "average": min(D[np.ix_(a, b)].mean() for a, b in pairs),
        "centroid": min(np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0)) for a, b in pairs),
    }
    size = {
        "diameter": max(D[np.ix_(g, g)].max() for g in groups),
        "mean_pair": max(pdist(X[g]).mean() for g in groups),
        "centroid": max(
            2 * np.linalg.norm(X[g] - X[g].mean(axis=0), axis=1).mean() for g in groups
        ),
    }
    for separation, top in apart.items():
        for diameter, bottom in size.items():
            value = dunn_index(X, A, separation=separation, diameter=diameter)
            assert value == pytest.approx(top / bottom, abs=1e-6)
    assert dunn_index([[0.0], [1.0]], [0, 1]) == np.inf
    with pytest.raises(ValueError, match="single cluster"):
        dunn_index(X, np.zeros(60))
    with pytest.raises(ValueError, match="separation"):
        dunn_index(X, A, separation="complete")
    with pytest.raises(ValueError, match="diameter"):
        dunn_index(X, A, diameter="radius")


def brute_force_f1(truth, found):
    tp = fp = fn = 0
    for i, j in combinations(range(len(truth)), 2):
        together = (truth[i] == truth[j]).any()
        claimed = (found[i] == found[j]).any()
        tp += together and claimed
        fp += claimed and not together
        fn += together and not claimed
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


@pytest.mark.parametrize("columns", [(1, 1), (2, 3), (7, 7)])
def test_pair_f1_against_counting_pairs(columns):
    rng = np.random.default_rng(sum(columns))
    truth, found = (rng.integers(0, 5, (40, m)) for m in columns)
    assert pair_f1(truth, found) == pytest.approx(brute_force_f1(truth, found))


def test_pair_f1_ignores_structureless_columns():
    truth = np.column_stack([A, np.zeros(60, int)])
    assert pair_f1(truth, A) == 1
    assert pair_f1(np.zeros(60), A) == 0
    with pytest.raises(ValueError, match="rows"):
        pair_f1(A, B[:-1])


def test_matching_is_optimal():
    truth = np.column_stack([A, B])
    found = np.column_stack([B, RNG.integers(0, 2, 60), A])
    matching = match_labelings(truth, found)
    assert matching.pairs == [(0, 2), (1, 0)]
    assert matching.score == pytest.approx(1)
    assert matching.table.shape == (2, 3)
    assert matching.redundancy == pytest.approx(
        np.mean([nmi(a, b) for a, b in combinations(found.T, 2)])
    )
    assert match_labelings(A, A).redundancy == 0


@pytest.mark.parametrize("bad", [np.full((3, 2), np.nan), np.zeros((0, 2)), np.zeros((2, 2, 2))])
def test_bad_data(bad):
    with pytest.raises(ValueError, match="data"):
        mean_squared_error(bad, np.zeros(len(bad)))
