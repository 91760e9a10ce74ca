"""How far groups are told apart beyond what one skewed, heavy-tailed cloud would show.

Along one direction any cloud without groups can be divided, and two Gaussians always fit it better
than one does. What they have to beat is therefore the likeliest law of *one cloud*: with a mode
anywhere, another width on either side of it, and tails from those of a box to heavier than
exponential ones. Skewed columns, outliers and boxes are described by one such law as well as by
two Gaussians; groups are not. (A law that is dense at its ends, as the projection of an arc, would
take a heap at one end, such as zero hours, for one cloud with the rest.) The measure is a
difference in log-likelihood, in nats over all rows concerned, so that it is comparable between
groups of any number and size.

What is assumed: between two groups that overlap there is a direction along which they show. It
holds for ellipses, compact groups and steps along a feature; it does not for rings, whose
separation (:mod:`.separation`) tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, gammaln

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
#: Lines that are described at once: with all modes they stay in the processor's cache.
AT_ONCE = 12

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
    return float(distinctnesses([(points, labels)])[0])


def distinctnesses(cases: Sequence[tuple[Array, Array]]) -> Array:
    """Return the :func:`distinctness` of many groupings, pairs of points and labels, at once."""
    pairs: list[tuple[Array, Array]] = []
    owners: list[int] = []
    shares: list[float] = []
    for owner, (points, labels) in enumerate(cases):
        nearest = _nearest_groups(points, labels)
        for (one, other), count in zip(*_neighbours(nearest), strict=True):
            rows = np.flatnonzero((labels == one) | (labels == other))
            pairs.append((points[rows], labels[rows] == one))
            owners.append(owner)
            shares.append(count / len(nearest))
    found = np.zeros(len(cases))
    np.add.at(found, owners, gains_of_two(pairs) * shares)
    return found


def gains_of_divisions(points: Array, fine: Array, coarse: Array) -> Array:
    """Return the gain (nats) of each two neighbouring groups that a coarser grouping puts together.

    Parameters
    ----------
    points : array of shape (n, q)
        Rows in the subspace of the finer groups.
    fine, coarse : array of int of shape (n,)
        Groups; a finer one belongs to the coarser one in which most of its rows are.

    Returns
    -------
    array of shape (p,)
        Gains of two Gaussians over the best unimodal law, as in :func:`distinctness`, of each
        group and the nearest one beside it; empty if nothing is divided.
    """
    counts = np.zeros((int(fine.max()) + 1, int(coarse.max()) + 1))
    np.add.at(counts, (fine, coarse), 1.0)
    owner = counts.argmax(axis=1)
    pairs: list[tuple[Array, Array]] = []
    for whole in np.flatnonzero(np.bincount(owner) > 1):
        rows = np.flatnonzero(owner[fine] == whole)
        parts = np.unique(fine[rows], return_inverse=True)[1]
        for one, other in _neighbours(_nearest_groups(points[rows], parts))[0]:
            here = (parts == one) | (parts == other)
            pairs.append((points[rows[here]], parts[here] == one))
    return gains_of_two(pairs)


def _neighbours(nearest: Array) -> tuple[Array, Array]:
    """Return pairs (p, 2) of groups of which one is nearest (k,) to the other, and how often."""
    pairs = np.sort(np.column_stack([np.arange(len(nearest)), nearest]), axis=1)
    return np.unique(pairs, axis=0, return_counts=True)


def gains_of_two(pairs: Sequence[tuple[Array, Array]]) -> Array:
    """Return the gains (p,) of two Gaussians over one cloud, of pairs of points and sides."""
    lines = [_standardised(points, second) for points, second in pairs]
    sides = [second for _, second in pairs]
    gains = [
        _gains(lines[at : at + AT_ONCE], sides[at : at + AT_ONCE])
        for at in range(0, len(lines), AT_ONCE)
    ]
    return np.concatenate([np.zeros(0), *gains])


def _nearest_groups(points: Array, labels: Array) -> Array:
    """Return for each group the one whose mean is nearest, in terms of the spread within groups."""
    k = int(labels.max()) + 1
    if k == 2:
        return np.array([1, 0])
    means = np.stack([points[labels == group].mean(axis=0) for group in range(k)])
    within = points - means[labels]
    scatter = within.T @ within / len(points)
    scatter += RIDGE * max(np.trace(scatter) / len(scatter), 1e-12) * np.eye(len(scatter))
    root = np.linalg.cholesky(np.linalg.inv(scatter))
    placed = means @ root
    distances = ((placed[:, None] - placed) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances.argmin(axis=1)


def _standardised(points: Array, second: Array) -> Array:
    """Return rows (n, q) along the discriminant of two groups; zeros if they are all the same."""
    x = points[:, 0] if points.shape[1] == 1 else points @ _discriminant(points, second)
    spread = x.std()
    return (x - x.mean()) / spread if spread > 0 else np.zeros(len(x))


def _discriminant(points: Array, second: Array) -> Array:
    """Return the direction in which two groups differ most, relative to their spread."""
    a, b = points[~second], points[second]
    within = np.vstack([a - a.mean(axis=0), b - b.mean(axis=0)])
    scatter = within.T @ within / len(within)
    scatter += RIDGE * max(np.trace(scatter) / len(scatter), 1e-12) * np.eye(len(scatter))
    return np.linalg.solve(scatter, b.mean(axis=0) - a.mean(axis=0))


def _gains(lines: Sequence[Array], sides: Sequence[Array]) -> Array:
    """Return the gain (nats) of two Gaussians over one unimodal law of each of B lines, (B,)."""
    sizes = np.array([len(line) for line in lines])
    # Lines of different lengths lie in one array; what fills up the shorter ones weighs nothing.
    weights = (np.arange(sizes.max()) < sizes[:, None]).astype(float)
    x, second = np.zeros(weights.shape), np.zeros(weights.shape)
    for row, (line, side) in enumerate(zip(lines, sides, strict=True)):
        x[row, : len(line)], second[row, : len(side)] = line, side
    likelihoods, likelier = _two_gaussians(x, second, weights)
    gains = sizes * (likelihoods - best_unimodals(x, weights))
    gains[[not line.any() for line in lines]] = 0.0
    for better in map(int, np.flatnonzero(gains > 0)):
        gains[better] *= nmi(
            sides[better].astype(int), likelier[better, : sizes[better]].astype(int)
        )
    return gains


def _two_gaussians(x: Array, second: Array, weights: Array) -> tuple[Array, Array]:
    """Return the mean log-likelihoods (B,) of two Gaussians, and which one is likelier (B, n)."""
    shares = np.stack([weights * (1 - second), weights * second])  # (2, B, n)
    for _ in range(STEPS):
        sizes = shares.sum(axis=2) + 1e-9
        means = np.einsum("cbn,bn->cb", shares, x) / sizes
        squares = (x - means[:, :, None]) ** 2
        variances = np.einsum("cbn,cbn->cb", shares, squares) / sizes
        total, shares = _expectation(sizes, squares, variances, weights)
    return total, shares[1] > shares[0]


def best_unimodal(x: Array) -> float:
    """Return the mean log-likelihood of the best unimodal law of x (n,), of variance one."""
    return float(best_unimodals(x[None], np.ones((1, len(x))))[0])


def best_unimodals(x: Array, weights: Array) -> Array:
    """Return the mean log-likelihood (B,) of the best unimodal law of each line of x (B, n).

    Laws exp(-|x - mode|^p / (p s^p)) with a width s on either side of the mode. For a mode and a
    p the widths are known: with S the sums of |x - mode|^p on both sides and
    T = S_1^(1 / (p + 1)) + S_2^(1 / (p + 1)), their sum is T (T / n)^(1 / p). For tails heavier
    than any of these, two Gaussians with one mean. Values count by their weights, 0 or 1.
    """
    sizes = weights.sum(axis=1)
    best = _core_and_tails(x, weights)
    modes = _quantiles(x, weights, MODES)
    # Single precision is enough for sums of some hundred positive terms, and twice as fast.
    x, modes, counted = (part.astype(np.float32) for part in (x, modes, weights))
    offsets = x[:, None] - modes[:, :, None]  # (B, modes, n)
    left = np.where(offsets < 0, counted[:, None], np.float32(0))
    right = counted[:, None] - left
    logarithms = np.log(np.maximum(np.abs(offsets), np.float32(1e-9)))
    for p, height in zip(EXPONENTS.astype(np.float32), _HEIGHTS, strict=True):
        powers = np.exp(p * logarithms)
        root = 1 / (p + 1)
        below, above = (np.einsum("bmn,bmn->bm", powers, side) for side in (left, right))
        T = np.maximum(below, 1e-12) ** root + np.maximum(above, 1e-12) ** root
        level = height - np.log(T) - (np.log(T / sizes[:, None]) + 1) / p
        best = np.maximum(best, level.max(axis=1))
    return best


@dataclass(frozen=True)
class UnimodalLaw:
    """A law exp(-|x - mode|^p / (p s^p)) with a width s on either side of its mode.

    Attributes
    ----------
    mode, exponent, left, right : float
        Mode, p, and the widths below and above the mode.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.distinct import UnimodalLaw
    >>> law = UnimodalLaw.of(np.random.default_rng(0).exponential(size=2000))
    >>> law.right > 5 * law.left, law.quantile(np.array([0.5])).round(1).tolist()
    (True, [0.7])
    """

    mode: float
    exponent: float
    left: float
    right: float

    @classmethod
    def of(cls, x: Array) -> UnimodalLaw:
        """Return the likeliest law of x (n,), of those in :func:`best_unimodals`."""
        found = []
        for mode in np.quantile(x, MODES):
            offsets = np.abs(x - mode)
            below = x < mode
            for p, height in zip(EXPONENTS, _HEIGHTS, strict=True):
                powers = offsets**p
                sides = np.maximum([powers[below].sum(), powers[~below].sum()], 1e-12)
                roots = sides ** (1 / (p + 1))
                T = roots.sum()
                widths = roots * (T / len(x)) ** (1 / p)
                level = height - np.log(T) - (np.log(T / len(x)) + 1) / p
                found.append((level, mode, p, *widths))
        return cls(*(float(part) for part in max(found)[1:]))

    def quantile(self, shares: Array) -> Array:
        """Return the values below which shares (n,) of the law lie."""
        p, below = self.exponent, self.left / (self.left + self.right)
        outer = np.where(shares < below, 1 - shares / below, (shares - below) / (1 - below))
        # |x - mode|^p / (p s^p) follows a gamma law.
        distance = (p * gammaincinv(1 / p, np.clip(outer, 0.0, 1 - 1e-12))) ** (1 / p)
        return self.mode + np.where(shares < below, -self.left, self.right) * distance


def _core_and_tails(x: Array, weights: Array) -> Array:
    """Return the mean log-likelihoods (B,) of two Gaussians that share their mean."""
    offsets = np.abs(x - _quantiles(x, weights, np.array([0.5])))
    core = offsets <= _quantiles(offsets, weights, np.array([CORE]))
    shares = np.stack([core, ~core]) * weights
    widths = np.ones((2, len(x)))
    for _ in range(STEPS):
        sizes = shares.sum(axis=2) + 1e-9
        pull = 1 / widths
        mean = (pull * np.einsum("cbn,bn->cb", shares, x)).sum(axis=0) / (sizes * pull).sum(axis=0)
        squares = np.broadcast_to((x - mean[:, None]) ** 2, shares.shape)
        widths = np.einsum("cbn,cbn->cb", shares, squares) / sizes
        widths = np.maximum(widths, NARROWEST**2)
        total, shares = _expectation(sizes, squares, widths, weights)
    return total


def _expectation(
    sizes: Array, squares: Array, variances: Array, weights: Array
) -> tuple[Array, Array]:
    """Return mean log-likelihoods (B,) and shares (2, B, n) at squared distances (2, B, n)."""
    variances = np.maximum(variances, NARROWEST**2)
    level = np.log(sizes / sizes.sum(axis=0)) - 0.5 * np.log(2 * np.pi * variances)
    joint = level[:, :, None] - 0.5 * squares / variances[:, :, None]
    most = joint.max(axis=0)
    shares = np.exp(joint - most)
    both = shares.sum(axis=0)
    mean = ((most + np.log(both)) * weights).sum(axis=1) / weights.sum(axis=1)
    return mean, shares * (weights / both)


def _quantiles(x: Array, weights: Array, shares: Array) -> Array:
    """Return quantiles (B, m) of each line of x (B, n), of the values that weigh something."""
    ordered = np.sort(np.where(weights > 0, x, np.inf), axis=1)
    place = shares * (weights.sum(axis=1)[:, None] - 1)
    below, above = (
        np.take_along_axis(ordered, at.astype(int), axis=1)
        for at in (np.floor(place), np.ceil(place))
    )
    return below + (place % 1) * (above - below)
