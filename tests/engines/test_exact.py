"""The exact engine: large embeddings, threads and its options; sums are checked in agreement/."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet.engines import Exact
from multifacet.problems import Gamma

from ..reference import KERNELS


@pytest.mark.parametrize("n", [650, 300])
def test_lanczos_and_block_lanczos_agree_with_dense(n):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(n // 2, 3)), rng.normal(size=(n - n // 2, 3)) + 3])
    kernel, W = KERNELS["gaussian"], np.linalg.qr(rng.standard_normal((3, 2)))[0]
    kept = Exact().attach(X, kernel)
    degrees = kept.degrees(W)
    K = np.exp(-((((X @ W)[:, None] - (X @ W)[None]) ** 2).sum(axis=2)) / (2 * 1.3**2))
    H = np.eye(n) - 1 / n
    expected = np.linalg.eigvalsh(H @ (K / np.sqrt(np.outer(degrees, degrees))) @ H)[::-1][:3]
    # The kernel matrix does not fit into a quarter of this.
    recomputed = Exact(memory=4 * 8 * n * n - 1, tile=32).attach(X, kernel)
    for sums in (kept, recomputed):
        values, U = sums.embedding(W, 3, degrees=degrees)
        np.testing.assert_allclose(values, expected, rtol=1e-5)
        again, V = sums.embedding(W, 3, degrees=degrees, start=U)
        np.testing.assert_allclose(again, expected, rtol=1e-5)
        np.testing.assert_allclose(np.abs(np.sum(U * V, axis=0)), 1, atol=1e-3)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 6))
    W = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    gamma = Gamma(rng.standard_normal((700, 2)), np.array([1.0, -1.0]))
    results = [
        Exact().attach(X, KERNELS["gaussian"], n_jobs=jobs).phi_and_objective(W, gamma)
        for jobs in (1, 2, 3)
    ]
    for phi, objective in results[1:]:
        assert objective == results[0][1]
        np.testing.assert_array_equal(phi, results[0][0])


@pytest.mark.parametrize("size", ["1 KiB", 1000])
def test_too_small_a_budget_is_refused_with_a_remedy(size):
    with pytest.raises(MemoryError, match=r"needs about .* MiB for 100 rows .* raise Exact"):
        Exact(memory=size).attach(np.zeros((100, 3)), KERNELS["gaussian"])


@pytest.mark.parametrize("size", ["lots", "12 parsecs", -1, 0])
def test_memory_must_be_a_size(size):
    with pytest.raises(ValueError, match="is not a size"):
        Exact(memory=size)


@pytest.mark.parametrize("option", [{"tile": 0}, {"tile": 2.5}, {"matrix_features": -1}])
def test_sizes_are_whole_numbers(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} must be a whole number of at leas"):
        Exact(**option)
