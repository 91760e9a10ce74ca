"""Subspaces in which data are least Gaussian."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet.datasets import make_independent_views
from multifacet.linalg import orthonormalise
from multifacet.search.pursuit import NonGaussianity, least_gaussian


def one_odd_column(rng, m=5, n=400):
    values = rng.standard_normal((n, m))
    values[:, 0] = np.sign(values[:, 0]) + 0.1 * rng.standard_normal(n)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def test_the_gradient_is_that_of_the_height():
    rng = np.random.default_rng(0)
    index = NonGaussianity(one_odd_column(rng), 2, 16, 1.0)
    W = np.stack([orthonormalise(rng.standard_normal((5, 2))) for _ in range(3)])
    _, gradients = index(W)
    for _ in range(3):
        Z, step = rng.standard_normal(W.shape), 1e-2  # in single precision
        slopes = (index(W + step * Z)[0] - index(W - step * Z)[0]) / (2 * step)
        np.testing.assert_allclose((gradients * Z).sum(axis=(1, 2)), slopes, rtol=0.02, atol=1e-4)


def test_many_waves_tell_what_all_pairs_tell():
    """Henze and Zirkler's statistic in closed form, by a sum over all pairs."""
    rng = np.random.default_rng(1)
    values, b, q = one_odd_column(rng), 1.5, 2
    W = orthonormalise(rng.standard_normal((5, q)))
    y = (values - values.mean(axis=0)) @ W
    pairs = np.exp(-0.5 * b**2 * ((y[:, None] - y) ** 2).sum(axis=2)).mean()
    bells = np.exp(-0.5 * b**2 / (1 + b**2) * (y**2).sum(axis=1)).mean()
    expected = pairs - 2 * (1 + b**2) ** (-q / 2) * bells + (1 + 2 * b**2) ** (-q / 2)
    found = NonGaussianity(values, q, 20_000, b)(W[None])[0][0]
    assert found == pytest.approx(expected, rel=0.03)


def test_climbs_end_at_the_odd_column_once():
    rng = np.random.default_rng(2)
    values = one_odd_column(rng)
    starts = np.stack([orthonormalise(rng.standard_normal((5, 1))) for _ in range(8)])
    starts[:, 0] += 0.5
    found = least_gaussian(values, starts, 4)
    assert found[0][0] == 0
    assert sum(abs(axis[0, 0]) > 0.98 for _, axis in found) == 1


@pytest.mark.parametrize("shape", ["moons", "rings", "spirals"])
def test_a_turned_plane_among_noise_is_found_from_near_it(shape):
    X, _ = make_independent_views(500, [shape], n_noise=10, random_state=0)
    centred = X - X.mean(axis=0)
    whitening = np.linalg.inv(np.linalg.cholesky(np.cov(centred.T)).T)
    rng = np.random.default_rng(0)
    turn = orthonormalise(rng.standard_normal((12, 12)))
    plane = orthonormalise(turn.T @ np.linalg.solve(whitening, np.eye(12)[:, :2]))
    start = plane + 0.15 * rng.standard_normal((12, 2))
    [(_, found)] = least_gaussian(centred @ whitening @ turn, start[None], 1)
    cosines = np.linalg.svd(plane.T @ found)[1]
    assert cosines.min() > 0.97
    assert cosines.min() > np.linalg.svd(plane.T @ orthonormalise(start))[1].min()
