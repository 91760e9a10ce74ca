"""Every engine stays within its budget, and says so before it would not."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from multifacet import KDAC
from multifacet.engines import Exact, LowRank
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


@pytest.mark.parametrize("memory", ["24 MiB", "96 MiB"])
@pytest.mark.parametrize("name", ["degrees", "objective", "phi", "embedding", "extension"])
def test_the_low_rank_engine_keeps_to_its_budget(name, memory):
    n = 30_000
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((n, 5)), np.eye(5)[:, :2]
    gamma = Gamma(rng.standard_normal((n, 3)), np.ones(3))
    engine = LowRank(memory=memory)

    def call() -> None:
        sums = engine.attach(X, Gaussian(0.5), n_jobs=1)
        operations = {**OPERATIONS, "embedding": lambda s, W, g: s.embedding(W, 2, degrees=None),
                      "extension": lambda s, W, g: s.extension(W, np.ones((n, 2)))}  # fmt: skip
        operations[name](sums, W, gamma)

    peak = peak_of(call)
    assert peak < engine.budget()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_on_many_rows_is_linear_in_memory():
    n = 40_000
    rng = np.random.default_rng(0)
    given = rng.integers(0, 2, n)
    X = rng.standard_normal((n, 4)) + 4 * np.column_stack([given, rng.integers(0, 2, n)] * 2)
    model = KDAC(2, n_components=1, bandwidth=1.0, novelty_weight=3.0, init="spectral",
                 engine=LowRank(memory="64 MiB"), max_iter=2, random_state=0)  # fmt: skip
    peak = peak_of(lambda: model.fit(X, given=given))
    assert peak < 96 * 2**20  # the kernel matrix would take 12 GiB


@pytest.mark.parametrize("engine", [Exact(memory="1 MiB"), LowRank(memory="1 MiB")])
def test_too_small_a_budget_is_a_sentence_before_anything_is_allocated(engine):
    X = np.zeros((50_000, 3))
    began = []

    def call() -> None:
        with pytest.raises(MemoryError, match=r"needs about .* MiB for 50000 rows and 3 .* raise"):
            engine.attach(X, Gaussian(1.0))
        began.append(True)

    assert peak_of(call) < 2**20
    assert began


def test_hsic_has_no_square_array():
    X = np.random.default_rng(0).standard_normal((N, 2))
    peak = peak_of(lambda: hsic(X, X[:, 0], kernel=Gaussian(1.0), target_kernel=Gaussian(1.0)))
    assert peak < FULL
