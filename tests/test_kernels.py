from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist

from multifacet.kernels import (
    Custom,
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    align,
    as_kernel,
    median_distance,
    needs_bandwidth,
    with_bandwidth,
)

from .reference import KERNELS, dense_kernel

PLAIN = [kernel for kernel in KERNELS.values() if len(kernel.terms) == 1]


@pytest.mark.parametrize("kernel", PLAIN, ids=lambda kernel: repr(kernel).split("(")[0])
def test_derivatives_by_finite_differences(kernel):
    beta = np.linspace(0.1, 4.0, 30)
    step = 1e-5
    first = (kernel.f(beta + step) - kernel.f(beta - step)) / (2 * step)
    second = (kernel.df(beta + step) - kernel.df(beta - step)) / (2 * step)
    np.testing.assert_allclose(kernel.df(beta), first, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(kernel.d2f(beta), second, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", [Squared(), Gaussian(0.5), Multiquadratic(), RelativeGaussian()])
def test_difference_kernels_are_similarities(kernel):
    assert (kernel.df(np.linspace(0, 5, 20)) < 0).all()


def test_conic_sum_is_the_sum_of_its_parts():
    X = np.random.default_rng(0).standard_normal((10, 3))
    W = np.eye(3)[:, :2]
    a, b = Gaussian(0.8), Polynomial(2)
    combined = dense_kernel(2 * a + 0.5 * b, X, W)
    np.testing.assert_allclose(combined, 2 * dense_kernel(a, X, W) + 0.5 * dense_kernel(b, X, W))
    assert (3 * (a + b)).terms == ((3.0, a), (3.0, b))
    assert (0 * a + b).terms == ((1.0, b),)
    assert sum([a, b]).terms == (a + b).terms
    assert "0.5 * Polynomial" in repr(a + 0.5 * b)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_only_conic_combinations(weight):
    with pytest.raises(ValueError, match="not negative"):
        weight * Linear()


def test_sums_with_other_things_are_type_errors():
    with pytest.raises(TypeError):
        Linear() + 1
    with pytest.raises(TypeError):
        Linear() * "2"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "sigma must be a positive number, got 0"),
        (lambda: Gaussian(np.nan), "sigma"),
        (lambda: Gaussian("auto"), "sigma must be a positive number, got 'auto'"),
        (lambda: Polynomial(0), "degree"),
        (lambda: Polynomial(1.5), "degree"),
        (lambda: Polynomial(coef0=-1), "coef0"),
        (lambda: Multiquadratic(0), "c must be"),
        (lambda: RelativeGaussian(0), "n_neighbors"),
        (lambda: Custom(np.exp, np.exp, np.exp, form="ratio"), "form"),
        (lambda: as_kernel("cosine"), "kernel='cosine' is not known: use one of 'gaussian'"),
        (lambda: as_kernel(3), "kernel=3"),
        (lambda: Gaussian().f(1.0), "no bandwidth"),
    ],
)
def test_errors_name_the_argument(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_bandwidth_is_filled_in_where_it_is_missing():
    assert with_bandwidth(Gaussian(), 2.0) == Gaussian(2.0)
    mixed = Gaussian() + Gaussian(3.0) + Linear()
    assert needs_bandwidth(mixed)
    filled = with_bandwidth(mixed, 2.0)
    assert [k for _, k in filled.terms] == [Gaussian(2.0), Gaussian(3.0), Linear()]
    assert with_bandwidth(Linear(), 2.0) == Linear()


def test_initial_slope_falls_back_to_the_sign():
    assert Polynomial(3, coef0=0.0).initial_slope == 1.0
    assert Gaussian(1.0).initial_slope == -0.5


@pytest.mark.parametrize("sparse", [False, True])
def test_median_distance_is_exact_for_small_n(sparse):
    X = np.random.default_rng(0).standard_normal((700, 3))
    data = csr_matrix(X) if sparse else X
    assert median_distance(data) == pytest.approx(np.median(pdist(X)), rel=1e-10)


def test_median_distance_of_a_subsample_is_seeded_and_close():
    X = np.random.default_rng(0).standard_normal((3000, 2))
    estimate = median_distance(X, max_rows=2000, random_state=1)
    assert estimate == median_distance(X, max_rows=2000, random_state=1)
    assert estimate == pytest.approx(median_distance(X, max_rows=3000), rel=0.05)


def test_relative_scales_are_distances_to_neighbours():
    X = np.random.default_rng(0).standard_normal((30, 2))
    distances = np.sort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)
    np.testing.assert_allclose(RelativeGaussian(4).point_scales(X), 1 / distances[:, 4], rtol=1e-6)
    new = X[:3] + 5
    expected = 1 / np.sort(np.linalg.norm(new[:, None] - X[None], axis=2), axis=1)[:, 3]
    np.testing.assert_allclose(RelativeGaussian(4).point_scales(new, X), expected, rtol=1e-6)


def test_relative_scales_survive_duplicates():
    X = np.vstack([np.zeros((20, 2)), np.ones((3, 2))])
    assert np.isfinite(RelativeGaussian(5).point_scales(X)).all()


def test_align_is_centred_alignment_over_the_norm():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
    kernels = [Gaussian(1.0), Polynomial(), RelativeGaussian(5)]
    H = np.eye(40) - 1 / 40
    Y = H @ (y[:, None] == y[None]).astype(float) @ H
    expected = []
    for kernel in kernels:
        K = H @ dense_kernel(kernel, X, np.eye(3)) @ H
        expected.append(max(np.sum(K * Y), 0) / np.sum(K * K))
    np.testing.assert_allclose(align(kernels, X, y), np.array(expected) / max(expected), rtol=1e-8)


def test_align_prefers_the_kernel_that_sees_the_target():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 2))
    ring = np.linalg.norm(X, axis=1) > 1
    kernels = [Gaussian(1.0), Linear()]
    norms = [np.linalg.norm(dense_kernel(k, X, np.eye(2))) for k in kernels]
    weights = align(kernels, X, ring) * norms
    assert weights[0] > 10 * weights[1]
    line = align(kernels, X, X[:, 0] * 1.0) * norms
    assert line[1] / line[0] > 5 * weights[1] / weights[0]


def test_align_errors():
    X = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(ValueError, match="y has 9 values for 10 rows"):
        align([Linear()], X, np.zeros(9))
