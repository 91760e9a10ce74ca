"""Gaussian mixtures of a subspace, and how many clusters make its description shortest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.special import logsumexp

from ..linalg import Array

#: Clusters at most, and how often more of them may cost more before the search stops.
MAX_CLUSTERS, PATIENCE = 10, 2
#: Starts of the EM algorithm and their steps, first of all and then of the best, and the rows they
#: see; the very best is finished on all rows.
STARTS, START_ROWS = ((8, 5), (2, 15)), 500
MAX_STEPS, TOLERANCE = 100, 3e-6
#: Added to the variances of clusters, as a share of the variance of the subspace: repeated values
#: would otherwise make clusters without width, which cost nothing.
FLOOR = 1e-4
_LOG2 = np.log(2.0)


@dataclass(frozen=True)
class Mixture:
    """A mixture of k Gaussians.

    Attributes
    ----------
    weights : array of shape (k,)
        Shares of the clusters.
    means : array of shape (k, b)
        Their centres.
    covariances : array of shape (k, b, b)
        Their shapes.
    labels : array of int of shape (n,)
        Cluster of each row it was fitted to.
    cluster_bits : float
        Bits of the rows and of the clusters when every row belongs to one cluster; infinite if a
        cluster is too small to have a shape. A single cluster may be uniform in a box instead.
    density_bits : float
        Bits of the rows and of the parameters under the mixture density.
    """

    weights: Array = field(repr=False)
    means: Array = field(repr=False)
    covariances: Array = field(repr=False)
    labels: Array = field(repr=False)
    cluster_bits: float
    density_bits: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.weights)

    def predict(self, S: Array) -> Array:
        """Return the most probable cluster of each row of S (m, b)."""
        parameters = tuple(part[None] for part in (self.weights, self.means, self.covariances))
        return _log_densities(_moments(S), *parameters)[0].argmax(axis=0)


def fit_mixtures(S: Array, *, seed: int = 0) -> list[Mixture]:
    """Fit mixtures of 1, 2, ... Gaussians to S (n, b) until more clusters do not pay.

    Full covariances, several starts. The search ends when neither the bits of the clusters nor
    those of the density have fallen for two numbers of clusters in a row.
    """
    found: list[Mixture] = []
    best, idle = np.full(2, np.inf), 0
    for mixture in _growing(S, np.random.default_rng(seed)):
        found.append(mixture)
        bits = np.array([mixture.cluster_bits, mixture.density_bits])
        idle = 0 if (bits < best).any() else idle + 1
        best = np.minimum(best, bits)
        if idle == PATIENCE:
            break
    return found


def choose_clusters(mixtures: list[Mixture]) -> Mixture:
    """Return the mixture whose clusters cost the fewest bits."""
    return min(mixtures, key=lambda mixture: mixture.cluster_bits)


def _growing(S: Array, rng: np.random.Generator) -> Iterator[Mixture]:
    moments = _moments(S)
    distinct = len(np.unique(S[:START_ROWS], axis=0))
    for k in range(1, min(MAX_CLUSTERS, distinct) + 1):
        yield _fit(S, moments, k, rng)


def _fit(S: Array, moments: Array, k: int, rng: np.random.Generator) -> Mixture:
    """Fit k Gaussians: several starts on some rows, the best finished on all."""
    floor = FLOOR * S.var(axis=0).mean()
    rows = rng.permutation(len(S))[:START_ROWS]
    responsibilities = np.ones((1, 1, len(S)))
    if k > 1:
        nearest = np.stack([_seed_labels(S[rows], k, rng) for _ in range(STARTS[0][0])])
        start = (nearest[:, None] == np.arange(k)[:, None]).astype(float)
        for n_kept, steps in STARTS:
            mean_log, start, parameters = _climb(moments[rows], start[:n_kept], floor, steps)
            start = start[np.argsort(-mean_log, kind="stable")]
        best = int(np.argmax(mean_log))
        responsibilities = _shares(_log_densities(moments, *(p[[best]] for p in parameters)))[1]
    _, _, parameters = _climb(moments, responsibilities, floor, MAX_STEPS)
    weights, means, covariances = (part[0] for part in parameters)
    return _as_mixture(S, moments, weights, means, covariances, floor)


def _seed_labels(S: Array, k: int, rng: np.random.Generator) -> Array:
    """Return the nearest of k rows, each drawn far from those before it (k-means++)."""
    distance = np.full(len(S), np.inf)
    labels = np.zeros(len(S), dtype=int)
    for c in range(k):
        share = None if c == 0 or not distance.sum() > 0 else distance / distance.sum()
        new = ((S - S[rng.choice(len(S), p=share)]) ** 2).sum(axis=1)
        labels[new < distance] = c
        distance = np.minimum(distance, new)
    return labels


def _moments(S: Array) -> Array:
    """Return 1, s and the lower half of s s^T of each row, (n, 1 + b + b (b + 1) / 2).

    Both steps of the EM algorithm are linear in them: one matrix product each, for all clusters
    of all starts.
    """
    low, high = _lower_half(S.shape[1])
    return np.column_stack([np.ones(len(S)), S, S[:, low] * S[:, high]])


@cache
def _lower_half(b: int) -> tuple[Array, Array]:
    return np.tril_indices(b)


def _climb(
    moments: Array, responsibilities: Array, floor: float, steps: int
) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """Run EM from responsibilities (starts, k, n); return mean log-likelihoods and the end."""
    before = -np.inf
    for _ in range(steps):
        parameters = _maximise(moments, responsibilities, floor)
        logs = _log_densities(moments, *parameters)
        densities, responsibilities = _shares(logs)
        mean_log = densities.mean(axis=1)
        if mean_log.max() - before < TOLERANCE * moments.shape[1]:
            break
        before = mean_log.max()
    return mean_log, responsibilities, parameters


def _shares(logs: Array) -> tuple[Array, Array]:
    """Return log densities (r, n) and the shares of the clusters (r, k, n), which replace logs."""
    top = logs.max(axis=1, keepdims=True)  # by hand several times faster than logsumexp
    logs -= top
    np.exp(logs, out=logs)
    total = logs.sum(axis=1, keepdims=True)
    logs /= total
    return (np.log(total) + top)[:, 0], logs


def _maximise(moments: Array, responsibilities: Array, floor: float) -> tuple[Array, Array, Array]:
    """Return weights (r, k), means (r, k, b) and covariances (r, k, b, b)."""
    r, k, n = responsibilities.shape
    sums = (responsibilities.reshape(r * k, n) @ moments).reshape(r, k, -1)
    b = int(np.sqrt(2 * sums.shape[2])) - 1
    low, high = _lower_half(b)
    size = np.maximum(sums[:, :, :1], 1e-10)  # a cluster may have lost all rows
    sums /= size
    means = sums[:, :, 1 : b + 1]
    covariances = np.empty((r, k, b, b))
    covariances[..., low, high] = sums[:, :, b + 1 :] - means[..., low] * means[..., high]
    covariances[..., high, low] = covariances[..., low, high]
    return size[:, :, 0] / n, means, covariances + floor * np.eye(b)


def _log_densities(moments: Array, weights: Array, means: Array, covariances: Array) -> Array:
    """Return log(weight * density) of each start, cluster and row, (r, k, n)."""
    r, k, b = means.shape
    precisions = np.linalg.inv(covariances)
    slopes = (precisions @ means[..., None])[..., 0]
    volumes = np.linalg.slogdet(covariances)[1] + b * np.log(2 * np.pi)
    constant = np.log(weights) - 0.5 * (volumes + (slopes * means).sum(axis=2))
    low, high = _lower_half(b)
    # Off the diagonal both halves of a precision share one moment.
    squares = precisions[..., low, high] * np.where(low == high, -0.5, -1.0)
    coefficients = np.concatenate([constant[..., None], slopes, squares], axis=2)
    return (coefficients.reshape(r * k, -1) @ moments.T).reshape(r, k, -1)


def _as_mixture(
    S: Array, moments: Array, weights: Array, means: Array, covariances: Array, floor: float
) -> Mixture:
    """Return the mixture without clusters that win no row, and its code lengths."""
    n, b = S.shape
    logs = _log_densities(moments, weights[None], means[None], covariances[None])[0]
    n_parameters = len(weights) * (b * (b + 3) / 2 + 1) - 1
    bits = -logsumexp(logs, axis=0).sum() / _LOG2 + 0.5 * n_parameters * np.log2(n)
    kept, labels = np.unique(logs.argmax(axis=0), return_inverse=True)
    weights, means, covariances = (part[kept] for part in (weights, means, covariances))
    cluster_bits = sum(cluster_code(S[labels == c], n, floor) for c in range(len(kept)))
    if len(kept) == 1:
        # Without clusters rows may be uniform as well, which Gaussians would cut into pieces.
        cluster_bits = min(cluster_bits, _box_code(S))
    return Mixture(
        weights / weights.sum(), means, covariances, labels, float(cluster_bits), float(bits)
    )


def _box_code(S: Array) -> float:
    """Return the bits of rows that are uniform in a box: their place, and two corners."""
    n, b = S.shape
    edges = np.maximum(np.ptp(S, axis=0), np.finfo(float).tiny)
    return float(n * np.log2(edges).sum() + b * np.log2(n))


def cluster_code(members: Array, n: int, floor: float) -> float:
    """Return the bits of one cluster of n rows: its rows, their label, its mean and covariance.

    sum -log2 N(x) + n_c log2(n / n_c) + (b^2 + 3b)/4 log2 n, with the full covariance of the rows
    it won; the published code takes standard deviations only, although it pays for all. It also
    pays log2 n_c in place of log2 n, so that a few rows at the rim make a cluster for nothing.
    """
    size, b = members.shape
    if size < 2 * (b + 1):
        return np.inf
    covariance = np.cov(members.T, bias=True).reshape(b, b)
    widened = covariance + floor * np.eye(b)
    inside = (
        np.linalg.slogdet(2 * np.pi * widened)[1] + np.linalg.solve(widened, covariance).trace()
    )
    return float(
        0.5 * size * inside / _LOG2 + size * np.log2(n / size) + b * (b + 3) / 4 * np.log2(n)
    )
