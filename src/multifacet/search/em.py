"""Gaussian mixtures, hundreds at once: EM as a few matrix products over all runs together.

A Gaussian is linear in the statistics (1, z, z z'), so one product with the statistics of all rows
gives the log-densities of every component of every run, and one product with the
responsibilities gives every mean and covariance. On some hundred rows this is a hundred times
faster than one object per mixture.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..linalg import Array

#: Rows that a component of its own covariance needs beyond one per dimension.
SPARE_ROWS = 4


@dataclass(frozen=True, eq=False)
class Mixtures:
    """The mixtures of R runs with k components each, in r dimensions.

    Attributes
    ----------
    weights : array of shape (R, k)
        Shares of the components.
    means : array of shape (R, k, r)
        Their means.
    precisions : array of shape (R, k, r, r)
        Inverse covariances; all the same within a run if ``shared``.
    shared : bool
        Whether the components of a run share one covariance.
    gains : array of shape (R,)
        Mean log-likelihood of a row beyond that of one Gaussian.
    labels : array of int of shape (R, n)
        Most likely component of each row.
    """

    weights: Array = field(repr=False)
    means: Array = field(repr=False)
    precisions: Array = field(repr=False)
    shared: bool
    gains: Array
    labels: Array = field(repr=False)

    def __len__(self) -> int:
        return len(self.weights)


def fit_mixtures(
    Z: Array,
    labels: Array,
    k: int,
    *,
    shared: bool,
    ridge: float,
    max_iter: int = 60,
    tol: float = 1e-4,
) -> Mixtures:
    """Fit mixtures by EM, all runs at once.

    Parameters
    ----------
    Z : array of shape (n, r)
        Whitened data: mean zero, covariance the identity.
    labels : array of int of shape (R, n)
        First clusters of each run, 0 to k - 1.
    k : int
        Number of components.
    shared : bool
        Whether the components of a run share one covariance.
    ridge : float
        Added to the variances: without it a component may shrink to a point.
    max_iter : int
        Most iterations.
    tol : float
        A run whose mean log-likelihood gains less than this per iteration has converged.

    Returns
    -------
    Mixtures
        In the order of the runs.
    """
    statistics, plain = _statistics(Z), _one_gaussian(Z)
    first = (labels == np.arange(k)[:, None, None]).astype(float)
    weights, means, precisions = _maximise(statistics, first, shared, ridge)
    gains = np.full(len(labels), -np.inf)
    active = np.arange(len(labels))
    for _ in range(max_iter):
        joint = _log_joint(statistics, weights[active], means[active], precisions[active])
        total, shares = expected(joint)
        new = total.mean(axis=1) - plain
        moved = new - gains[active] > tol
        gains[active] = new
        if not moved.any():
            break
        shares, active = shares[:, moved], active[moved]
        weights[active], means[active], precisions[active] = _maximise(
            statistics, shares, shared, ridge
        )
    joint = _log_joint(statistics, weights, means, precisions)
    gains = expected(joint)[0].mean(axis=1) - plain
    return Mixtures(weights, means, precisions, shared, gains, joint.argmax(axis=0))


def expected(joint: Array) -> tuple[Array, Array]:
    """Return log-likelihoods (R, n) and shares (k, R, n) from log(weight * density) (k, R, n).

    Components come first: over a short last axis sums take several times as long.
    """
    most = joint.max(axis=0)
    shares = np.exp(joint - most)
    total = shares.sum(axis=0)
    shares /= total
    return most + np.log(total), shares


def _statistics(Z: Array) -> Array:
    """Return 1, z and the products of z, shape (n, 1 + r + r (r + 1) / 2)."""
    i, j = np.triu_indices(Z.shape[1])
    return np.hstack([np.ones((len(Z), 1)), Z, Z[:, i] * Z[:, j]])


def _one_gaussian(Z: Array) -> float:
    """Return the mean log-likelihood of whitened rows under one Gaussian."""
    spread = np.einsum("ij,ij->", Z, Z) / len(Z)
    r = Z.shape[1]
    return float(-0.5 * (r * np.log(2 * np.pi) + spread))


def _maximise(
    statistics: Array, shares: Array, shared: bool, ridge: float
) -> tuple[Array, Array, Array]:
    """Return weights, means and precisions from responsibilities (k, R, n)."""
    k, runs, n = shares.shape
    r = int(np.sqrt(2 * statistics.shape[1] + 0.25) - 1.5)  # of (r + 1) (r + 2) / 2 statistics
    sums = (shares.reshape(k * runs, n) @ statistics).reshape(k, runs, -1).transpose(1, 0, 2)
    sizes = np.maximum(sums[:, :, 0], 1e-9)
    means = sums[:, :, 1 : r + 1] / sizes[:, :, None]
    i, j = np.triu_indices(r)
    squares = np.empty((runs, k, r, r))
    squares[:, :, i, j] = squares[:, :, j, i] = sums[:, :, r + 1 :]
    scatter = squares - sizes[:, :, None, None] * means[:, :, :, None] * means[:, :, None, :]
    pooled = scatter.sum(axis=1, keepdims=True) / n
    if shared:
        covariances = np.broadcast_to(pooled, scatter.shape)
    else:
        # A component of few rows borrows from the others until it has rows enough of its own.
        borrowed = r + SPARE_ROWS
        covariances = (scatter + borrowed * pooled) / (sizes + borrowed)[:, :, None, None]
    covariances = covariances + ridge * np.eye(r)
    return sizes / n, means, np.linalg.inv(covariances)


def _log_joint(statistics: Array, weights: Array, means: Array, precisions: Array) -> Array:
    """Return log(weight * density), shape (k, R, n)."""
    runs, k, r = means.shape
    pulled = np.einsum("Rkij,Rkj->Rki", precisions, means)
    constant = np.log(weights) + 0.5 * np.linalg.slogdet(precisions)[1]
    constant -= 0.5 * (np.einsum("Rki,Rki->Rk", pulled, means) + r * np.log(2 * np.pi))
    i, j = np.triu_indices(r)
    quadratic = -np.where(i == j, 0.5, 1.0) * precisions[:, :, i, j]
    parameters = np.concatenate([constant[:, :, None], pulled, quadratic], axis=2)
    joint = parameters.transpose(1, 0, 2).reshape(k * runs, -1) @ statistics.T
    return joint.reshape(k, runs, len(statistics))
