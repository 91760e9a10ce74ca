"""Generated data with known independent subspaces, and how well they are recovered."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import multivariate_normal

from multifacet import ISAAC

#: Distance between the centres of clusters, in standard deviations of the widest.
GAP = 5.0


def independent_subspaces(seed: int, *, n: int | None = None, sizes: list[int] | None = None):
    """Return data (n, m), labelings, dimensions of the subspaces, and the mixing matrix."""
    *data, _ = subspaces_and_densities(seed, n=n, sizes=sizes)
    return data


def subspaces_and_densities(seed: int, *, n: int | None = None, sizes: list[int] | None = None):
    """Return the same, and the true mixture of each subspace: weights, means, covariances."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1000, 2001))
    sizes = sizes or [int(rng.integers(1, 4)) for _ in range(int(rng.integers(2, 6)))]
    parts = [gaussian_mixture(n, b, int(rng.integers(2, 6)), rng) for b in sizes]
    S = np.hstack([points for points, _, _ in parts])
    mixing = rng.standard_normal((S.shape[1], S.shape[1]))
    labelings = np.column_stack([labels for _, labels, _ in parts])
    return S @ mixing.T, labelings, sizes, mixing, [density for _, _, density in parts]


def gaussian_mixture(n: int, b: int, k: int, rng: np.random.Generator):
    """Return rows of k Gaussians of unequal sizes and shapes in b dimensions, labels, density."""
    weights = rng.dirichlet(np.full(k, 20.0))
    labels = rng.choice(k, n, p=weights)
    side = 1.6 * GAP * k ** (1 / b)
    centres = rng.uniform(0, side, (k, b))
    while (np.linalg.norm(centres[:, None] - centres, axis=2) + np.eye(k) * side).min() < GAP:
        centres = rng.uniform(0, side, (k, b))
    points, covariances = np.empty((n, b)), np.empty((k, b, b))
    for c in range(k):
        shape = np.linalg.qr(rng.standard_normal((b, b)))[0] * rng.uniform(0.4, 1.0, b)
        points[labels == c] = centres[c] + rng.standard_normal(((labels == c).sum(), b)) @ shape.T
        covariances[c] = shape @ shape.T
    return points, labels, (weights, centres, covariances)


def shares(model: ISAAC, mixing: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Return the share (m, q) of each true subspace in each component."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    power = (model.components_ @ mixing) ** 2
    share = np.stack([power[:, block == b].sum(axis=1) for b in range(len(sizes))], axis=1)
    return share / share.sum(axis=1, keepdims=True)


def block_error(model: ISAAC, mixing: np.ndarray, sizes: list[int]) -> tuple[float, list[int]]:
    """Return the share of foreign subspaces in the components, and the true one of each found."""
    share = shares(model, mixing, sizes)
    owners = []
    for one in model.subspaces_:
        true = np.unique(share[one.members].argmax(axis=1))
        whole = len(true) == 1 and len(one.members) == sizes[true[0]]
        owners.append(int(true[0]) if whole else -1)
    return float(1 - share.max(axis=1).mean()), owners


def lost_dependence(model: ISAAC, mixing, sizes, densities, true: int, n: int):
    """Return the dependence between the parts of a split subspace, and what telling it costs.

    Both in bits. The first is n times the mutual information under the true density, the second
    the parameters of the whole beyond those of the parts. None if parts are mixed with others.
    """
    place = np.repeat(np.arange(len(sizes)), sizes) == true
    owner = shares(model, mixing, sizes).argmax(axis=1)
    parts = [one for one in model.subspaces_ if (owner[one.members] == true).any()]
    if not all((owner[one.members] == true).all() for one in parts):
        return None
    weights, means, covariances = densities[true]
    maps = [(model.components_ @ mixing)[one.members][:, place] for one in parts]
    rng = np.random.default_rng(0)
    labels = rng.choice(len(weights), 20_000, p=weights)
    noise = rng.standard_normal((20_000, len(means[0]), 1))
    x = means[labels] + (np.linalg.cholesky(covariances)[labels] @ noise)[..., 0]

    def log_density(T):
        cases = zip(weights, means, covariances, strict=True)
        return np.log2(
            sum(w * multivariate_normal(T @ m, T @ C @ T.T).pdf(x @ T.T) for w, m, C in cases)
        )

    information = (log_density(np.vstack(maps)) - sum(map(log_density, maps))).mean()
    counts = [(one.mixture.n_clusters, len(one.members)) for one in parts]
    number = n_parameters(len(weights), sizes[true]) - sum(n_parameters(*one) for one in counts)
    number -= sum(2 * a * b for (k, a), (h, b) in combinations(counts, 2) if k + h > 2)
    return float(n * information), 0.5 * number * float(np.log2(n))


def n_parameters(k: int, b: int) -> float:
    """Return the parameters of a mixture of k Gaussians in b dimensions."""
    return k * (b * (b + 3) / 2 + 1) - 1
