"""Without room for the kernel matrix, memory stays linear in the number of rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from multifacet.engines import Exact
from multifacet.kernels import Gaussian
from multifacet.metrics import hsic
from multifacet.problems import Gamma

N = 3000
FULL = 8 * N * N  # one n x n array


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def sums():
    X = np.random.default_rng(0).standard_normal((N, 5))
    small = Exact(memory=FULL).attach(X, Gaussian(2.0), n_jobs=2)
    assert not small._keep_gram
    return small


OPERATIONS = {
    "degrees": lambda s, W, g: s.degrees(W),
    "objective": lambda s, W, g: s.objective(W, g),
    "phi": lambda s, W, g: s.phi_and_objective(W, g),
    "embedding": lambda s, W, g: s.embedding(W, 2, degrees=np.full(N, 100.0)),
    "hessian": lambda s, W, g: s.hessian(W, g, np.ones((1, 5, 2))),
    "bound": lambda s, W, g: s.curvature_bound(W, g),
    "extension": lambda s, W, g: s.extension(W, np.ones((N, 2))).multiply(np.ones((500, 5))),
}


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_no_square_array(sums, name):
    W = np.eye(5)[:, :2]
    gamma = Gamma(np.random.default_rng(1).standard_normal((N, 3)), np.ones(3))
    assert peak_of(lambda: OPERATIONS[name](sums, W, gamma)) < 0.5 * FULL


def test_hsic_has_no_square_array():
    X = np.random.default_rng(0).standard_normal((N, 2))
    peak = peak_of(lambda: hsic(X, X[:, 0], kernel=Gaussian(1.0), target_kernel=Gaussian(1.0)))
    assert peak < FULL
