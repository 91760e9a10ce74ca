"""A plain dense float64 reference, written from the definitions and sharing no code with the
engine: loops over pairs, the matrices A_ij of IKDR 2019, Definition 1, spelled out.
"""

from __future__ import annotations

import numpy as np

from multifacet.kernels import (
    Custom,
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
)

CAUCHY = Custom(
    value=lambda b: 1 / (1 + b),
    slope=lambda b: -1 / (1 + b) ** 2,
    curvature=lambda b: 2 / (1 + b) ** 3,
    form="difference",
    nonnegative=True,
)

KERNELS = {
    "linear": Linear(),
    "squared": Squared(),
    "polynomial": Polynomial(degree=3, coef0=1.0),
    "polynomial-1": Polynomial(degree=1, coef0=0.0),
    "gaussian": Gaussian(1.3),
    "multiquadratic": Multiquadratic(0.7),
    "relative": RelativeGaussian(n_neighbors=4),
    "custom": CAUCHY,
    "sum": 2.0 * Gaussian(0.9) + 0.1 * Polynomial(2) + 0.5 * RelativeGaussian(3),
}


def dense_kernel(kernel, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """K from the closed form of each kernel."""
    P = X @ W
    n = len(X)
    K = np.zeros((n, n))
    for weight, part in kernel.terms:
        for i in range(n):
            for j in range(n):
                K[i, j] += weight * closed_form(part, X, P, i, j)
    return K


def closed_form(part, X, P, i, j) -> float:
    difference, inner = float(np.sum((P[i] - P[j]) ** 2)), float(P[i] @ P[j])
    match part:
        case Linear():
            return inner
        case Squared():
            return -difference
        case Polynomial(degree, coef0):
            return (inner + coef0) ** degree
        case Gaussian(sigma):
            return float(np.exp(-difference / (2 * sigma**2)))
        case Multiquadratic(c):
            return -float(np.sqrt(difference + c**2))
        case RelativeGaussian(m):
            scale = [np.sort(np.linalg.norm(X - X[a], axis=1))[m] for a in (i, j)]
            return float(np.exp(-difference / (2 * scale[0] * scale[1])))
        case Custom():
            return 1 / (1 + difference)
    raise AssertionError(part)


def dense_gamma(gamma) -> np.ndarray:
    return (gamma.factors * gamma.weights) @ gamma.factors.T


def dense_objective(kernel, X, W, gamma) -> float:
    return float(np.sum(dense_gamma(gamma) * dense_kernel(kernel, X, W)))


def numerical_gradient(function, W: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a scalar function of a matrix."""
    gradient = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        move = np.zeros_like(W)
        move[index] = step
        gradient[index] = (function(W + move) - function(W - move)) / (2 * step)
    return gradient


def random_problem(seed: int, n: int = 14, d: int = 5, q: int = 2):
    """Small data, an orthonormal W and a signed low-rank Gamma."""
    from multifacet.problems import Gamma

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    W = np.linalg.qr(rng.standard_normal((d, q)))[0]
    gamma = Gamma(rng.standard_normal((n, 3)), np.array([1.0, -0.7, 0.4]))
    return X, W, gamma
