"""How far groups are told apart beyond what one skewed, heavy-tailed cloud would show.

Along one direction any cloud without groups can be divided, and two Gaussians always fit it better
than one does. What they have to beat is therefore the likeliest *unimodal* law: with a mode
anywhere, another width on either side of it, and tails from those of a box to heavier than
exponential ones. Skewed columns, outliers and boxes are described by one such law as well as by
two Gaussians; groups are not. The measure is a difference in log-likelihood, in nats over all rows
concerned, so that it is comparable between groups of any number and size.

What is assumed: between two groups that overlap there is a direction along which they show. It
holds for ellipses, compact groups and steps along a feature; it does not for rings, whose
separation (:mod:`.separation`) tells.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..linalg import Array
from ..metrics import nmi

#: Exponents of the unimodal laws exp(-|x|^p): from cusps with heavy tails, by Laplace and Gauss,
#: to a box.
EXPONENTS = np.array([0.7, 1.0, 1.4, 2.0, 4.0, 10.0])
#: Where modes are tried, as quantiles.
MODES = np.linspace(0.02, 0.98, 25)
#: Steps of EM for two Gaussians of one direction: they begin at the groups.
STEPS = 8
#: Smallest standard deviation of a component, as a share of that of both: narrower ones say more
#: about rounding than about groups.
NARROWEST = 0.05
#: Rows nearest to the middle that begin as the core of a cloud of two widths.
CORE = 0.75
#: Ridge of the covariance within two groups, as a share of its mean variance.
RIDGE = 0.02

_HEIGHTS = -(np.log(EXPONENTS) / EXPONENTS + gammaln(1 + 1 / EXPONENTS))


def distinctness(points: Array, labels: Array) -> float:
    """Return by how much groups are told apart beyond one unimodal cloud.

    Parameters
    ----------
    points : array of shape (n, q)
        Rows in a subspace.
    labels : array of int of shape (n,)
        Groups 0 to k - 1.

    Returns
    -------
    float
        Mean over the groups of the gain in log-likelihood (nats) of two Gaussians over the best
        unimodal law, for each group and the one nearest to it, along the direction in which these
        differ most; a gain counts as far as the Gaussians keep the groups. Negative if one
        cloud describes the rows better.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.distinct import distinctness
    >>> rng = np.random.default_rng(0)
    >>> halves = np.repeat([0, 1], 100)
    >>> groups = rng.normal(size=(200, 1)) + 5 * halves[:, None]
    >>> skewed = np.sort(rng.exponential(size=(200, 1)), axis=0)
    >>> distinctness(groups, halves) > 10 > 0 > distinctness(skewed, halves)
    True
    """
    gains: dict[tuple[int, int], float] = {}
    nearest = _nearest_groups(points, labels)
    for one, other in enumerate(nearest):
        pair = (min(one, other), max(one, other))
        if pair not in gains:
            rows = np.flatnonzero((labels == one) | (labels == other))
            gains[pair] = _pair_gain(points[rows], labels[rows] == one)
    pairs = [(min(one, other), max(one, other)) for one, other in enumerate(nearest)]
    return float(np.mean([gains[pair] for pair in pairs]))


def _nearest_groups(points: Array, labels: Array) -> Array:
    """Return for each group the one whose mean is nearest, in terms of the spread within groups."""
    k = int(labels.max()) + 1
    means = np.stack([points[labels == group].mean(axis=0) for group in range(k)])
    within = points - means[labels]
    scatter = within.T @ within / len(points)
    scatter += RIDGE * max(np.trace(scatter) / len(scatter), 1e-12) * np.eye(len(scatter))
    root = np.linalg.cholesky(np.linalg.inv(scatter))
    placed = means @ root
    distances = ((placed[:, None] - placed) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances.argmin(axis=1)


def _pair_gain(points: Array, second: Array) -> float:
    """Return the gain (nats) of two Gaussians over one unimodal law, along the discriminant."""
    x = points[:, 0] if points.shape[1] == 1 else points @ _discriminant(points, second)
    spread = x.std()
    if not spread > 0:
        return 0.0
    x = (x - x.mean()) / spread
    likelihood, kept = _two_gaussians(x, second)
    gain = len(x) * (likelihood - best_unimodal(x))
    return gain * kept if gain > 0 else gain


def _discriminant(points: Array, second: Array) -> Array:
    """Return the direction in which two groups differ most, relative to their spread."""
    a, b = points[~second], points[second]
    within = np.vstack([a - a.mean(axis=0), b - b.mean(axis=0)])
    scatter = within.T @ within / len(within)
    scatter += RIDGE * max(np.trace(scatter) / len(scatter), 1e-12) * np.eye(len(scatter))
    return np.linalg.solve(scatter, b.mean(axis=0) - a.mean(axis=0))


def _two_gaussians(x: Array, second: Array) -> tuple[float, float]:
    """Return the mean log-likelihood of two Gaussians, and the NMI of their groups with these."""
    shares = np.column_stack([~second, second]).astype(float)
    for _ in range(STEPS):
        sizes = shares.sum(axis=0) + 1e-9
        means = x @ shares / sizes
        squares = (x[:, None] - means) ** 2
        total, shares = _expectation(sizes, squares, (shares * squares).sum(axis=0) / sizes)
    return float(total.mean()), nmi(second.astype(int), shares.argmax(axis=1))


def best_unimodal(x: Array) -> float:
    """Return the mean log-likelihood of the best unimodal law of x (n,), of variance one.

    Laws exp(-|x - mode|^p / (p s^p)) with a width s on either side of the mode. For a mode and a
    p the widths are known: with S the sums of |x - mode|^p on both sides and
    T = S_1^(1 / (p + 1)) + S_2^(1 / (p + 1)), their sum is T (T / n)^(1 / p). For tails heavier
    than any of these, two Gaussians with one mean.
    """
    n = len(x)
    offsets = x - np.quantile(x, MODES)[:, None]
    left = offsets < 0
    sizes = np.log(np.maximum(np.abs(offsets), 1e-9))
    best = _core_and_tails(x)
    for p, height in zip(EXPONENTS, _HEIGHTS, strict=True):
        powers = np.exp(p * sizes)
        below = np.where(left, powers, 0.0).sum(axis=1)
        above = powers.sum(axis=1) - below
        root = 1 / (p + 1)
        T = np.maximum(below, 1e-12) ** root + np.maximum(above, 1e-12) ** root
        best = max(best, float((height - np.log(T) - (np.log(T / n) + 1) / p).max()))
    return best


def _core_and_tails(x: Array) -> float:
    """Return the mean log-likelihood of two Gaussians that share their mean."""
    offsets = np.abs(x - np.median(x))
    core = offsets <= np.quantile(offsets, CORE)
    shares = np.column_stack([core, ~core]).astype(float)
    widths = np.ones(2)
    for _ in range(STEPS):
        sizes = shares.sum(axis=0) + 1e-9
        pull = sizes / widths
        mean = (pull * (x @ shares / sizes)).sum() / pull.sum()
        squares = ((x - mean) ** 2)[:, None] * np.ones(2)
        widths = np.maximum((shares * squares).sum(axis=0) / sizes, NARROWEST**2)
        total, shares = _expectation(sizes, squares, widths)
    return float(total.mean())


def _expectation(sizes: Array, squares: Array, variances: Array) -> tuple[Array, Array]:
    """Return log-likelihoods (n,) and responsibilities (n, 2) at squared distances (n, 2)."""
    variances = np.maximum(variances, NARROWEST**2)
    joint = np.log(sizes / len(squares)) - 0.5 * (
        np.log(2 * np.pi * variances) + squares / variances
    )
    total = np.logaddexp(joint[:, 0], joint[:, 1])
    return total, np.exp(joint - total[:, None])
