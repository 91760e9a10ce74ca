from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet.datasets import make_independent_views, make_moons_views
from multifacet.kernels import Gaussian
from multifacet.linalg import orthonormalise, subspace_distance
from multifacet.metrics import hsic
from multifacet.search.residual import residual_scores
from multifacet.search.starts import (
    pair_starts,
    pairwise_dependence,
    random_start,
)


@pytest.fixture(scope="module")
def moons():
    return make_moons_views(400, n_noise=6, random_state=0)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_the_strongest_pairs_are_the_two_coordinates_of_the_moons(moons, kind):
    X, labelings = moons
    starts = pair_starts(kind(X), [labelings[:, 0]], 2, 4, np.random.default_rng(0))
    assert [start.name.split()[0] for start in starts] == ["feature", "component"] * 2
    assert starts[0].name == "feature pair 2-3"
    np.testing.assert_allclose(np.abs(starts[0].W), np.eye(10)[:, 2:4])
    assert subspace_distance(np.eye(10)[:, 2:4], starts[1].W) < 0.3


def test_rotated_data_need_the_components():
    X, labelings = make_moons_views(600, n_noise=2, rotate=True, random_state=1)
    plain, _ = make_moons_views(600, n_noise=2, random_state=1)
    rotation = np.linalg.lstsq(plain, X, rcond=None)[0]
    starts = pair_starts(X, [labelings[:, 0]], 2, 2, np.random.default_rng(0))
    truth = rotation.T[:, 2:4]
    assert subspace_distance(truth, starts[1].W) < 0.5
    assert subspace_distance(truth, starts[0].W) > 0.6


def test_group_means_of_the_given_labels_are_removed():
    """Features that share nothing but the given groups must not pair up."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 500)
    noise = rng.standard_normal((500, 6))
    noise[:, :2] += 5 * groups[:, None]
    noise[:, 5] = noise[:, 4] ** 2 + 0.1 * rng.standard_normal(500)
    start = pair_starts(noise, [groups], 2, 1, rng)[0]
    assert start.name == "feature pair 4-5"


@pytest.mark.parametrize("q", [1, 3, 5])
def test_other_dimensions(moons, q):
    X, labelings = moons
    starts = pair_starts(X, [labelings[:, 0]], q, 5, np.random.default_rng(0))
    assert len(starts) == 5
    for start in starts:
        assert start.W.shape == (10, q)
        np.testing.assert_allclose(start.W.T @ start.W, np.eye(q), atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_wide_data(kind):
    rng = np.random.default_rng(0)
    X = 0.1 * rng.standard_normal((150, 600))
    X[:, 7] = rng.uniform(-2, 2, 150)
    X[:, 9] = X[:, 7] ** 2
    starts = pair_starts(kind(X), [], 2, 2, rng)
    assert starts[0].name.startswith("feature pair")
    np.testing.assert_allclose(np.abs(starts[0].W[[7, 9]]), np.eye(2))
    assert starts[1].W.shape == (600, 2)


def test_one_feature_has_no_pairs():
    X = np.random.default_rng(0).standard_normal((50, 1))
    assert pair_starts(X, [], 1, 3, np.random.default_rng(0)) == []


def test_dependence_is_normalised_hsic():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 3))
    Z[:, 1] = Z[:, 0] ** 2 + 0.3 * rng.standard_normal(300)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    table = pairwise_dependence(Z)
    np.testing.assert_allclose(np.diag(table), 1)
    kernel = {"kernel": Gaussian(0.5), "target_kernel": Gaussian(0.5)}

    def exact(i, j):
        return hsic(Z[:, [i]], Z[:, [j]], **kernel)

    for i, j in ((0, 1), (0, 2)):
        expected = exact(i, j) / np.sqrt(exact(i, i) * exact(j, j))
        assert table[i, j] == pytest.approx(expected, rel=0.05, abs=0.003)
    assert table[0, 1] > 5 * table[0, 2]


def test_random_starts_follow_their_generator():
    a, b = (random_start(6, 2, np.random.default_rng(4)).W for _ in range(2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(3))
def test_sharpened_starts_find_a_rotated_ring_among_noise(seed):
    plain, _ = make_independent_views(500, ["rings"], n_noise=6, random_state=seed)
    turn = orthonormalise(np.random.default_rng(seed).standard_normal((8, 8)))
    starts = pair_starts(plain @ turn, [], 2, 8, np.random.default_rng(0))
    cosines = [np.linalg.svd(turn[:2] @ start.W)[1].min() for start in starts]
    assert max(cosines) > 0.98


def test_the_residual_start_ignores_what_is_given():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    X = 0.3 * rng.standard_normal((200, 4))
    X[:, 0] += 6 * given
    X[:, 1] += 2 * hidden
    scores = residual_scores(X, [given])
    assert scores.shape == (200, 4)
    assert abs(np.corrcoef(scores[:, 0], hidden)[0, 1]) > 0.9
    assert max(abs(np.corrcoef(scores.T, given)[-1, :-1])) < 1e-8
