"""Every operation of every engine, in every way it can run, for every kernel: the definitions."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
import pytest

from multifacet.certificate import certify
from multifacet.engines.base import phi_times_w
from multifacet.linalg import as_matrix

from ..reference import (
    KERNELS,
    dense_bound,
    dense_comparison,
    dense_embedding_matrix,
    dense_gamma,
    dense_hessian,
    dense_initial_phi,
    dense_kernel,
    dense_objective,
    dense_phi,
    numerical_gradient,
    random_problem,
)
from .ways import ROWS, WAYS


class Definitions:
    """A problem and what the operations are for it, from the definitions; computed when asked."""

    def __init__(self, name: str) -> None:
        self.kernel = KERNELS[name]
        self.centred, self.W, self.gamma = random_problem(0, n=ROWS, d=4)
        self.X = self.centred + 3.0  # engines centre
        self.n_rows, self.n_features = self.X.shape
        self.directions = np.random.default_rng(0).standard_normal((2, *self.W.shape))

    @cached_property
    def K(self):
        return dense_kernel(self.kernel, self.centred, self.W)

    @cached_property
    def phi(self):
        return dense_phi(self.kernel, self.centred, self.W, self.gamma)

    @cached_property
    def degrees(self):
        """Degrees of kernels that are normalised by them."""
        return self.K.sum(axis=1) if self.kernel.nonnegative else None

    @cached_property
    def bound(self):
        return dense_bound(self.kernel, self.centred, self.W, self.gamma)

    @cached_property
    def initial_phi(self):
        return dense_initial_phi(self.kernel, self.centred, self.gamma)

    @cached_property
    def changes(self):
        return dense_hessian(self.kernel, self.centred, self.W, self.gamma, self.directions)

    # What the certificate asks an engine for.

    def phi_and_objective(self, W, gamma):
        return self.phi, float(np.sum(dense_gamma(gamma) * self.K))

    def curvature_bound(self, W, gamma):
        return self.bound

    def hessian(self, W, gamma, directions):
        return dense_hessian(self.kernel, self.centred, W, gamma, directions)

    @cached_property
    def certificate(self):
        return certify(self, self.W, self.gamma)


definitions = cache(Definitions)


@pytest.fixture(params=sorted(KERNELS))
def expected(request):
    return definitions(request.param)


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


def close(found, expected, tolerance):
    """Compare relative to the largest number: what cancels is not known any better."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_phi_of_the_definitions_is_half_the_gradient(name):
    kernel = KERNELS[name]
    X, W, gamma = random_problem(1)
    gradient = numerical_gradient(lambda V: dense_objective(kernel, X, V, gamma), W)
    close(2 * dense_phi(kernel, X, W, gamma) @ W, gradient, 1e-6)


def test_sums_of_the_kernel(expected, way):
    W, gamma, K = expected.W, expected.gamma, expected.K
    sums = way.attach(expected.X, expected.kernel)
    rows = (dense_gamma(gamma) * K).sum(axis=1)
    close(sums.row_objectives(W, gamma), rows, way.tolerance)
    assert sums.objective(W, gamma) == pytest.approx(
        rows.sum(), abs=way.tolerance * np.abs(rows).sum()
    )
    if expected.degrees is not None:
        close(sums.degrees(W), expected.degrees, way.tolerance)


def test_phi(expected, way):
    sums = way.attach(expected.X, expected.kernel)
    phi, objective = sums.phi_and_objective(expected.W, expected.gamma)
    sums.objective(expected.W[:, ::-1] * 0.5, expected.gamma)  # Phi stays where it was
    phi = as_matrix(phi)
    close(phi, expected.phi, way.tolerance)
    close(phi, phi.T, 1e-12)
    assert objective == pytest.approx(sums.objective(expected.W, expected.gamma), rel=1e-9)
    product, again = phi_times_w(sums, expected.W, expected.gamma)
    close(product, expected.phi @ expected.W, way.tolerance)
    assert again == pytest.approx(objective, rel=1e-9)
    close(as_matrix(sums.initial_phi(expected.gamma)), expected.initial_phi, way.tolerance)


def test_embedding(expected, way):
    sums, gamma = way.attach(expected.X, expected.kernel), expected.gamma
    tolerance = max(0.1 * way.tolerance, 1e-8)
    for degrees, extra in ((expected.degrees, None), (None, gamma)):
        M = dense_embedding_matrix(expected.K, degrees)
        M = M if extra is None else M + dense_gamma(extra)
        values, U = sums.embedding(expected.W, 3, degrees=degrees, extra=extra)
        U = np.asarray(U)
        leading = np.linalg.eigvalsh(M)[::-1][:3]
        close(values, leading, tolerance)
        np.testing.assert_allclose(M @ U, U * values, atol=10 * tolerance * np.abs(values).max())
        real = np.abs(leading) > 1e-9 * leading[0]  # a kernel may have fewer eigenvectors
        close((U.T @ U)[real][:, real], np.eye(real.sum()), 1e-9)


def test_second_derivatives(expected, way):
    sums = way.attach(expected.X, expected.kernel)
    found = sums.hessian(expected.W, expected.gamma, expected.directions)
    # Differences of Phi are as wrong as Phi is, divided by the step.
    scale = np.abs(expected.changes).max() + 1e-3 * np.abs(expected.phi).max()
    np.testing.assert_allclose(found, expected.changes, rtol=0, atol=1e-6 * scale)
    assert sums.curvature_bound(expected.W, expected.gamma) == pytest.approx(
        expected.bound, rel=1e-9
    )


def test_certificate(expected, way):
    found = certify(way.attach(expected.X, expected.kernel), expected.W, expected.gamma)
    certificate, scale = expected.certificate, np.abs(np.linalg.eigvalsh(expected.phi)).max()
    assert found.residual == pytest.approx(certificate.residual, abs=10 * way.tolerance)
    assert found.eigengap == pytest.approx(certificate.eigengap, abs=10 * way.tolerance * scale)
    assert found.bound == pytest.approx(certificate.bound, rel=1e-9)
    assert found.curvature == pytest.approx(certificate.curvature, abs=1e-5 * scale)


def test_new_rows(expected, way):
    new = np.random.default_rng(1).standard_normal((5, expected.n_features)) + 3.0
    V = np.random.default_rng(2).standard_normal((ROWS, 2))
    mean = expected.X.mean(axis=0)
    K = dense_comparison(expected.kernel, expected.centred, expected.W, new - mean)
    extension = way.attach(expected.X, expected.kernel).extension(expected.W, V)
    # Between landmarks a low-rank kernel is not exact, however many there are.
    close(extension.multiply(new), K @ V, max(way.tolerance, 1e-9))


def test_single_precision(expected, way):
    X = expected.X.astype(np.float32)
    sums = way.attach(X, expected.kernel)
    phi, _ = sums.phi_and_objective(expected.W, expected.gamma)
    close(as_matrix(phi), expected.phi, 1e-4)
