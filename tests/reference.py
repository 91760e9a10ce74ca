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


def dense_derivative(kernel, X, W, order: int) -> dict[str, np.ndarray]:
    """Derivative (n, n) of K with respect to each form of beta, the scales of rows included."""
    P = X @ W
    beta = {
        "difference": ((P[:, None] - P[None]) ** 2).sum(axis=2),
        "inner": P @ P.T,
    }
    found = {form: np.zeros((len(X), len(X))) for form in beta}
    for weight, part in kernel.terms:
        s = part.point_scales(X)
        S = np.ones((len(X), len(X))) if s is None else np.outer(s, s)
        slope = part.derivatives(S * beta[part.form], order)[order]
        found[part.form] += weight * slope * S**order
    return found


def pair_matrix(form: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A_ij of a pair of rows, twice the one of IKDR 2019, Definition 1."""
    a, b = (x - y, x - y) if form == "difference" else (x, y)
    return np.outer(b, a) + np.outer(a, b)


def dense_phi(kernel, X, W, gamma) -> np.ndarray:
    """Phi = 1/2 sum_ij Gamma_ij f'(beta_ij) A_ij (IKDR 2019, Eq. 6)."""
    return _summed(kernel, X, dense_gamma(gamma), dense_derivative(kernel, X, W, 1))


def dense_initial_phi(kernel, X, gamma) -> np.ndarray:
    """Phi with the slope at W = 0, or its sign where that vanishes."""
    slopes = {form: np.zeros((len(X), len(X))) for form in ("difference", "inner")}
    for weight, part in kernel.terms:
        s = part.point_scales(X)
        s = np.ones(len(X)) if s is None else s
        slopes[part.form] += weight * part.initial_slope * np.outer(s, s)
    return _summed(kernel, X, dense_gamma(gamma), slopes)


def _summed(kernel, X, G, slopes) -> np.ndarray:
    total = np.zeros((X.shape[1], X.shape[1]))
    for form in {part.form for _, part in kernel.terms}:
        for i in range(len(X)):
            for j in range(i):  # A_ii is not zero where beta is an inner product
                total += G[i, j] * slopes[form][i, j] * pair_matrix(form, X[i], X[j])
            total += 0.5 * G[i, i] * slopes[form][i, i] * pair_matrix(form, X[i], X[i])
    return total


def dense_bound(kernel, X, W, gamma) -> float:
    """1/2 sum_ij |Gamma_ij f''(beta_ij)| ||A_ij||^2, for each form of beta."""
    G, total = np.abs(dense_gamma(gamma)), 0.0
    curvatures = dense_derivative(kernel, X, W, 2)
    for form in {part.form for _, part in kernel.terms}:
        for i in range(len(X)):
            for j in range(len(X)):
                A = pair_matrix(form, X[i], X[j])
                total += 0.5 * G[i, j] * abs(curvatures[form][i, j]) * np.sum(A**2)
    return float(total)


def dense_hessian(kernel, X, W, gamma, directions, step: float = 1e-5) -> np.ndarray:
    """d/dt Phi(W + tZ) W for each direction Z, by central differences of Phi."""
    return np.array(
        [
            (dense_phi(kernel, X, W + step * Z, gamma) - dense_phi(kernel, X, W - step * Z, gamma))
            @ (W / (2 * step))
            for Z in directions
        ]
    )


def dense_embedding_matrix(K, degrees=None) -> np.ndarray:
    """H D^-1/2 K D^-1/2 H."""
    root = np.ones(len(K)) if degrees is None else 1 / np.sqrt(degrees)
    H = np.eye(len(K)) - 1 / len(K)
    return H @ (root[:, None] * K * root) @ H


def dense_comparison(kernel, X, W, new) -> np.ndarray:
    """K (m, n) of new rows with the rows of X."""
    P, Q = X @ W, new @ W
    total = np.zeros((len(new), len(X)))
    for weight, part in kernel.terms:
        beta = Q @ P.T if part.form == "inner" else ((Q[:, None] - P[None]) ** 2).sum(axis=2)
        scales = part.point_scales(X)
        if scales is not None:  # a new row is not its own neighbour
            m = part.n_neighbors
            own = [1 / np.sort(np.linalg.norm(X - row, axis=1))[m - 1] for row in new]
            beta = beta * np.outer(own, scales)
        total += weight * part.f(beta)
    return total


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
