"""The low-rank engine below full rank: close to the exact one, and how close."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import KDAC, EmbeddingKDAC, SupervisedKDR
from multifacet.datasets import make_moons_views
from multifacet.engines import Exact, LowRank
from multifacet.engines.alike import Alike
from multifacet.kernels import Gaussian, Linear, Multiquadratic, Polynomial, Squared
from multifacet.linalg import orthonormalise, subspace_distance
from multifacet.metrics import nmi
from multifacet.problems import Gamma, alternative, one_hot, supervised

from ..reference import KERNELS


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 6))
    X[:450, 0] += 4
    W = orthonormalise(np.eye(6)[:, :2] + 0.1 * rng.standard_normal((6, 2)))
    return X, W, rng.integers(0, 3, 900)


def compare(engine, kernel, X, W, given):
    """Relative errors of everything that a fit uses, against the exact engine."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    exact, low = Exact().attach(X, kernel, mean=mean), engine.attach(X, kernel, mean=mean)
    degrees = exact.degrees(W) if kernel.nonnegative else None
    values, U = exact.embedding(W, 2, degrees=degrees)
    near, V = low.embedding(W, 2, degrees=degrees)
    gamma = alternative([given], 3.0, 2).gamma(U, degrees)
    phi, objective = exact.phi_and_objective(W, gamma)
    low_phi, low_objective = low.phi_and_objective(W, gamma)
    return low, {
        "values": np.abs(values - near).max() / values.max(),
        "vectors": subspace_distance(U, V),
        "phi": np.linalg.norm(phi - low_phi) / np.linalg.norm(phi),
        "objective": abs(objective - low_objective) / abs(objective),
    }


@pytest.mark.parametrize("method", ["nystrom", "cholesky"])
@pytest.mark.parametrize("sparse", [False, True])
def test_errors_stay_below_the_tolerance(problem, method, sparse):
    X, W, given = problem
    X = csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0)) if sparse else X
    low, errors = compare(LowRank(method=method, tolerance=0.01), Gaussian(0.8), X, W, given)
    assert low.error <= 0.01
    assert low.rank < 300
    assert max(errors.values()) <= 0.02


def test_a_higher_rank_has_a_smaller_error(problem):
    X, W, given = problem
    found = [compare(LowRank(rank=rank), Gaussian(0.8), X, W, given) for rank in (10, 30, 90, 270)]
    estimates = [low.error for low, _ in found]
    assert estimates == sorted(estimates, reverse=True)
    assert found[-1][1]["phi"] < 1e-3 < found[0][1]["phi"]


@pytest.mark.parametrize("kernel", [Linear(), Squared(), KERNELS["polynomial"]])
def test_kernels_of_finite_rank_are_exact(problem, kernel):
    X, W, given = problem
    _, errors = compare(LowRank(), kernel, X, W, given)
    assert max(errors.values()) < 1e-8


def test_random_features_come_closer_with_their_number(problem):
    X, W, given = problem
    rough, far = compare(LowRank(rank=50, method="fourier"), Gaussian(2.0), X, W, given)
    fine, near = compare(LowRank(rank=2000, method="fourier"), Gaussian(2.0), X, W, given)
    assert fine.error < rough.error
    assert near["phi"] < far["phi"]
    assert near["phi"] < 0.1


def test_more_eigenvectors_than_the_kernel_has(problem):
    X, W, _ = problem
    sums = LowRank().attach(X, Linear(), mean=X.mean(axis=0))
    values, U = sums.embedding(W, 4, degrees=None)
    assert values.shape == (4,)
    assert U.shape == (900, 4)
    assert np.allclose(values[2:], 0)
    assert np.allclose(U[:, :2].T @ U[:, :2], np.eye(2))


def test_degrees_stay_positive_far_from_all_landmarks(problem):
    X, W, _ = problem
    X = X.copy()
    X[0] += 50
    degrees = LowRank(rank=20, method="nystrom").attach(X, Gaussian(0.3)).degrees(W)
    assert degrees.min() >= 1.0  # what every row has with itself


def test_threads_and_blocks_do_not_change_a_bit(problem):
    X, W, given = problem
    gamma = alternative([given], 1.0, 2).gamma(None, None)
    one, two = (
        LowRank().attach(X, Gaussian(0.8), n_jobs=jobs).phi_and_objective(W, gamma)[0]
        for jobs in (1, 2)
    )
    assert (one == two).all()


def test_the_same_with_and_without_the_kept_matrix(problem):
    X, W, given = problem
    gamma = alternative([given], 1.0, 2).gamma(None, None)
    kept, fresh = (
        LowRank(rank=100, memory=memory).attach(X, Gaussian(0.8)).phi_and_objective(W, gamma)[0]
        for memory in ("2 GiB", "1 MiB")
    )
    assert np.allclose(kept, fresh, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "squared"])
def test_reduction_finds_the_same_subspace(problem, kernel):
    X, _, _ = problem
    y = np.arange(900) < 450
    exact, low = (
        SupervisedKDR(1, kernel=kernel, engine=engine).fit(X, y) for engine in ("exact", "lowrank")
    )
    assert subspace_distance(exact.components_.T, low.components_.T) < 0.1


@pytest.fixture(scope="module")
def moons():
    X, labelings = make_moons_views(800, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), labelings


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kdac_finds_the_same_grouping_and_predicts_it(moons):
    X, labelings = moons
    model = KDAC(2, engine="lowrank", random_state=0).fit(X, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) >= 0.95
    assert nmi(model.predict(X), model.labels_) >= 0.99
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X[:50]) == model.predict(X[:50])).all()


def test_embedding_kdac_accepts_it(moons):
    X, labelings = moons
    options = {"bandwidth": 1.0, "random_state": 0}
    exact, low = (
        EmbeddingKDAC(2, engine=engine, **options).fit(X, given=labelings[:, 0])
        for engine in ("exact", LowRank(tolerance=1e-3))
    )
    assert nmi(exact.labels_, low.labels_) >= 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "kmeans"}, "method='kmeans' is not known"),
        ({"rank": 0}, "rank must be a whole number of at least 1"),
        ({"rank": "many"}, "rank must be a whole number of at least 1"),
        ({"max_rank": 0}, "max_rank must be a whole number of at least 1"),
        ({"tolerance": 2.0}, "tolerance must be between 0 and 1"),
        ({"rank": 2.5}, "rank must be a whole number of at least 1, got 2.5"),
        ({"matrix_features": -1}, "matrix_features must be a whole number of at least 0"),
        ({"memory": "much"}, "memory='much' is not a size"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        LowRank(**options)


def test_methods_that_do_not_fit_the_kernel(problem):
    X = problem[0]
    with pytest.raises(ValueError, match="'fourier' is for the Gaussian kernel"):
        LowRank(method="fourier").attach(X, Multiquadratic())
    with pytest.raises(ValueError, match="'cholesky' is for positive definite kernels"):
        LowRank(method="cholesky").attach(X, Squared())


def test_too_little_memory_is_said_before_it_is_used(problem):
    with pytest.raises(MemoryError, match=r"needs about .* MiB for 900 rows and 6 features"):
        LowRank(memory="10 KiB").attach(problem[0], Gaussian(1.0))


@pytest.mark.parametrize("n_classes", [2, 7, 60])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Gaussian(2.0) + 0.1 * Polynomial(2)])
def test_rows_of_a_class_are_taken_together(n_classes, kernel):
    """The same Gamma with factors that differ in every row gives the same sums."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((700, 6)), orthonormalise(rng.standard_normal((6, 2)))
    one = supervised(one_hot(np.arange(700) % n_classes)).gamma()
    v = rng.standard_normal((700, 1))
    other = Gamma(np.hstack([one.factors, v, v]), np.r_[one.weights, 1.0, -1.0])
    sums = LowRank(rank=100).attach(X, kernel)
    for operation in ("phi_and_objective", "phi_times_w"):
        (found, value), (expected, level) = (getattr(sums, operation)(W, g) for g in (one, other))
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found / scale, expected / scale, atol=1e-10)
        assert value == pytest.approx(level, rel=1e-10)


def test_factors_of_the_same_mark_are_not_taken_for_alike():
    F = np.array([[np.cos(2), 0.0], [0.0, np.cos(1)], [np.cos(2), 0.0]])
    assert Alike.of(F) is None
    alike = Alike.of(F[[0, 2]])
    assert [list(rows) for rows in alike.groups] == [[0, 1]]
