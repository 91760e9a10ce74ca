"""The exact engine against the dense float64 reference: every kernel, every way to run it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet.engines import Exact, exact, tiles
from multifacet.linalg import as_matrix
from multifacet.problems import Gamma

from ..reference import (
    KERNELS,
    dense_gamma,
    dense_kernel,
    dense_objective,
    numerical_gradient,
    random_problem,
)


@pytest.fixture(params=sorted(KERNELS))
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture(params=["kept", "recomputed", "threads", "sparse", "tiles", "wide", "wide sparse"])
def attach(request, monkeypatch):
    """Every way the engine can run, all to give the same numbers."""
    way = request.param
    if way in ("tiles", "threads", "recomputed"):  # several tiles, the last one incomplete
        for module in (tiles, exact):
            monkeypatch.setattr(module, "TILE", 4)

    if "wide" in way:  # Phi as an operator
        monkeypatch.setattr(exact, "WIDE", 0)

    def attach(X, kernel):
        jobs = 2 if way == "threads" else 1
        mean = X.mean(axis=0)
        data = csr_matrix(X) if "sparse" in way else X
        sums = Exact().attach(data, kernel, mean=mean, n_jobs=jobs)
        if way == "recomputed":
            sums._keep_gram = False
        return sums

    return attach


def test_kernel_sums(kernel, attach):
    X, W, gamma = random_problem(0)
    X = X + 3.0  # the engine centres
    sums, K = attach(X, kernel), dense_kernel(kernel, X - X.mean(axis=0), W)
    np.testing.assert_allclose(sums.degrees(W), K.sum(axis=1), rtol=1e-9, atol=1e-10)
    expected = (dense_gamma(gamma) * K).sum(axis=1)
    np.testing.assert_allclose(sums.row_objectives(W, gamma), expected, rtol=1e-9, atol=1e-9)
    assert sums.objective(W, gamma) == pytest.approx(expected.sum(), rel=1e-9, abs=1e-9)


def test_gradient_is_twice_phi_w(kernel, attach):
    X, W, gamma = random_problem(1)
    phi, objective = attach(X, kernel).phi_and_objective(W, gamma)
    gradient = numerical_gradient(lambda V: dense_objective(kernel, X, V, gamma), W)
    assert objective == pytest.approx(dense_objective(kernel, X, W, gamma), rel=1e-9)
    phi = as_matrix(phi)
    np.testing.assert_allclose(phi, phi.T, atol=1e-12 * np.abs(phi).max())
    np.testing.assert_allclose(2 * phi @ W, gradient, rtol=0, atol=1e-6 * np.abs(gradient).max())


def test_phi_from_its_definition(kernel):
    """Phi = 1/2 sum_ij Gamma_ij f'(beta_ij) A_ij, term by term (IKDR 2019, Eq. 6)."""
    X, W, gamma = random_problem(2)
    sums, G, P = Exact().attach(X, kernel), dense_gamma(gamma), X @ W
    expected = np.zeros((X.shape[1], X.shape[1]))
    for weight, part in kernel.terms:
        scale = part.point_scales(X)
        scale = np.ones(len(X)) if scale is None else scale
        for i in range(len(X)):
            for j in range(len(X)):
                if part.form == "difference":
                    a = b = X[i] - X[j]
                    beta = np.sum((P[i] - P[j]) ** 2)
                else:
                    a, b = X[i], X[j]
                    beta = P[i] @ P[j]
                s = scale[i] * scale[j]
                A = np.outer(b, a) + np.outer(a, b)
                expected += 0.5 * weight * G[i, j] * float(part.df(s * beta)) * s * A
    phi, _ = sums.phi_and_objective(W, gamma)
    np.testing.assert_allclose(phi, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_initial_phi_is_phi_with_the_slope_at_zero(kernel, attach):
    X, W, gamma = random_problem(3)
    sums = attach(X, kernel)
    at_zero = as_matrix(sums.phi_and_objective(np.zeros_like(W), gamma)[0])
    np.testing.assert_allclose(
        as_matrix(sums.initial_phi(gamma)), at_zero, rtol=0, atol=1e-9 * np.abs(at_zero).max()
    )


def test_hessian(kernel, attach):
    X, W, gamma = random_problem(4)
    sums = attach(X, kernel)
    directions = np.random.default_rng(0).standard_normal((3, *W.shape))
    step = 1e-5
    for Z, product in zip(directions, sums.hessian(W, gamma, directions), strict=True):
        ahead, behind = (
            as_matrix(sums.phi_and_objective(W + t * Z, gamma)[0]) for t in (step, -step)
        )
        expected = (ahead - behind) / (2 * step) @ W
        scale = np.abs(expected).max() + np.abs(ahead).max() * 1e-3
        np.testing.assert_allclose(product, expected, rtol=0, atol=1e-6 * scale)


def test_curvature_bound(kernel, attach):
    """1/2 sum |Gamma f''| ||A||^2 with A_ij as in IKDR 2019, Definition 1, pair by pair."""
    X, W, gamma = random_problem(5)
    G, P = np.abs(dense_gamma(gamma)), X @ W
    expected = 0.0
    for i in range(len(X)):
        for j in range(len(X)):
            for form in ("difference", "inner"):
                a, b = (X[i] - X[j],) * 2 if form == "difference" else (X[i], X[j])
                A = np.outer(b, a) + np.outer(a, b)
                beta = np.sum((P[i] - P[j]) ** 2) if form == "difference" else P[i] @ P[j]
                curvature = 0.0
                for weight, part in kernel.terms:
                    if part.form == form:
                        s = part.point_scales(X)
                        s = 1.0 if s is None else s[i] * s[j]
                        curvature += weight * float(part.d2f(s * beta)) * s**2
                expected += 0.5 * G[i, j] * abs(curvature) * np.sum(A**2)
    assert attach(X, kernel).curvature_bound(W, gamma) == pytest.approx(expected, rel=1e-9)


def test_embedding_against_numpy(kernel, attach):
    X, W, _ = random_problem(6)
    sums, K = attach(X, kernel), dense_kernel(kernel, X, W)
    degrees = K.sum(axis=1) if kernel.nonnegative else None
    root = np.ones(len(X)) if degrees is None else 1 / np.sqrt(degrees)
    H = np.eye(len(X)) - 1 / len(X)
    M = H @ (root[:, None] * K * root) @ H
    values, U = sums.embedding(W, 3, degrees=degrees)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(M)[::-1][:3], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(M @ U, U * values, atol=1e-7 * np.abs(values).max())
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-9)


def test_extension_compares_new_rows(kernel, attach):
    X, W, _ = random_problem(7)
    new = np.random.default_rng(1).standard_normal((5, X.shape[1]))
    V = np.random.default_rng(2).standard_normal((len(X), 2))
    extension = attach(X, kernel).extension(W, V)
    mean = X.mean(axis=0)
    expected = np.zeros((5, len(X)))
    P, Q = (X - mean) @ W, (new - mean) @ W
    for weight, part in kernel.terms:
        beta = Q @ P.T if part.form == "inner" else ((Q[:, None] - P[None]) ** 2).sum(axis=2)
        scales = part.point_scales(X)
        if scales is not None:
            m = part.n_neighbors
            own = [1 / np.sort(np.linalg.norm(X - row, axis=1))[m - 1] for row in new]
            beta = beta * np.outer(own, scales)
        expected += weight * part.f(beta)
    np.testing.assert_allclose(extension.multiply(new), expected @ V, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", [650, 300])
def test_lanczos_and_block_lanczos_agree_with_dense(n):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(n // 2, 3)), rng.normal(size=(n - n // 2, 3)) + 3])
    kernel, W = KERNELS["gaussian"], np.linalg.qr(rng.standard_normal((3, 2)))[0]
    kept = Exact().attach(X, kernel)
    assert kept._keep_gram
    degrees = kept.degrees(W)
    K = np.exp(-((((X @ W)[:, None] - (X @ W)[None]) ** 2).sum(axis=2)) / (2 * 1.3**2))
    H = np.eye(n) - 1 / n
    expected = np.linalg.eigvalsh(H @ (K / np.sqrt(np.outer(degrees, degrees))) @ H)[::-1][:3]
    recomputed = Exact().attach(X, kernel)
    recomputed._keep_gram = False
    for sums in (kept, recomputed):
        values, U = sums.embedding(W, 3, degrees=degrees)
        np.testing.assert_allclose(values, expected, rtol=1e-5)
        again, V = sums.embedding(W, 3, degrees=degrees, start=U)
        np.testing.assert_allclose(again, expected, rtol=1e-5)
        np.testing.assert_allclose(np.abs(np.sum(U * V, axis=0)), 1, atol=1e-3)


def test_embedding_with_extra_term():
    X, W, gamma = random_problem(8)
    sums, K = Exact().attach(X, KERNELS["gaussian"]), dense_kernel(KERNELS["gaussian"], X, W)
    H = np.eye(len(X)) - 1 / len(X)
    expected = np.linalg.eigvalsh(H @ K @ H + dense_gamma(gamma))[::-1][:2]
    for keep in (True, False):
        sums._keep_gram = keep
        values, _ = sums.embedding(W, 2, degrees=None, extra=gamma)
        np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_float32_stays_close_to_float64(kernel):
    X, W, gamma = random_problem(9, n=40)
    exact64 = Exact().attach(X, kernel)
    exact32 = Exact().attach(X.astype(np.float32), kernel)
    phi64, _ = exact64.phi_and_objective(W, gamma)
    phi32, _ = exact32.phi_and_objective(W, gamma)
    np.testing.assert_allclose(phi32, phi64, rtol=0, atol=1e-4 * np.abs(phi64).max())
    np.testing.assert_allclose(exact32.degrees(W), exact64.degrees(W), rtol=0, atol=1e-3)


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
