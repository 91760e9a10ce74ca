"""Two overlapping groupings whose effects add up, fitted together.

Species and sex both move the measurements of a bird, each in its own way. A mixture of few
components mixes the two, and of one grouping alone little is to be seen while the other spreads the
rows. Where the mean of a row is the sum of an effect of each grouping, EM finds both at once, with
fewer parameters than a component for every combination takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ..linalg import Array
from .em import expected, one_gaussian
from .factors import are_independent
from .plan import SearchPlan
from .support import pairwise_nmi

#: Gain per row and step of EM from which it goes on.
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class Pair:
    """Two groupings of rows, fitted together.

    Attributes
    ----------
    shares : array of shape (a, b, n)
        Probabilities that a row is in a group of the one and a group of the other.
    gain : float
        Mean log-likelihood of a row beyond that of one Gaussian.
    """

    shares: Array = field(repr=False)
    gain: float

    @property
    def groupings(self) -> tuple[Array, Array]:
        """The likeliest groups (n,) of both."""
        return self.shares.sum(axis=1).argmax(axis=0), self.shares.sum(axis=0).argmax(axis=0)

    @property
    def effects(self) -> int:
        """How many differences between groups it has."""
        return self.shares.shape[0] + self.shares.shape[1] - 2


def likeliest_pair(Z: Array, groupings: Sequence[Array], plan: SearchPlan) -> Pair | None:
    """Return the two independent groupings that add up best, None if there are none.

    Parameters
    ----------
    Z : array of shape (n, r)
        Whitened data: mean zero, covariance the identity.
    groupings : sequence of arrays of int of shape (n,)
        Groupings to begin with, each numbered from 0.
    plan : SearchPlan
        Constants of the search.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.metrics import nmi
    >>> from multifacet.search import PLAN
    >>> from multifacet.search.additive import likeliest_pair
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 300))
    >>> X = rng.normal(size=(300, 3)) + 4 * np.outer(a, [1, 1, 0]) + 4 * np.outer(b, [1, 0, 1])
    >>> X -= X.mean(axis=0)
    >>> Z = X @ np.linalg.inv(np.linalg.cholesky(X.T @ X / 300)).T
    >>> rough = [np.where(rng.random(300) < 0.2, 1 - one, one) for one in (a, b)]
    >>> one, other = likeliest_pair(Z, rough, PLAN).groupings
    >>> nmi(one, a) > 0.9, nmi(other, b) > 0.9
    (True, True)
    """
    first, steps = plan.pair_steps
    agreement = pairwise_nmi(groupings)
    begun = [
        _fitted(Z, _combined(groupings[i], groupings[j]), first, plan)
        for i, j in combinations(range(len(groupings)), 2)
        if agreement[i, j] <= plan.further
    ]
    begun.sort(key=lambda pair: -_evidence(pair, Z))
    found = [_fitted(Z, pair.shares, steps, plan) for pair in begun[: plan.pairs_kept]]
    apart = [pair for pair in found if _are_two(*pair.groupings, plan)]
    return max(apart, key=lambda pair: _evidence(pair, Z), default=None)


def bayesian_evidence(gain: float, effects: int, Z: Array) -> float:
    """Return how much likelier (in nats) whitened data Z (n, r) are than with one Gaussian.

    A grouping pays for its share and its mean in r dimensions (Schwarz 1978), once for every
    difference between groups that it needs.
    """
    n, r = Z.shape
    return n * gain - 0.5 * effects * (r + 1) * float(np.log(n))


def _evidence(pair: Pair, Z: Array) -> float:
    return bayesian_evidence(pair.gain, pair.effects, Z)


def _combined(one: Array, other: Array) -> Array:
    """Return shares (a, b, n) of two groupings (n,)."""
    member = [labels == np.arange(labels.max() + 1)[:, None] for labels in (one, other)]
    return (member[0][:, None] & member[1]).astype(float)


def _fitted(Z: Array, shares: Array, steps: int, plan: SearchPlan) -> Pair:
    """Return the pair after some steps of EM, from shares (a, b, n)."""
    a, b, n = shares.shape
    design = np.hstack([np.repeat(np.eye(a), b, axis=0), np.tile(np.eye(b)[:, 1:], (a, 1))])
    covariance, plain, gain = Z.T @ Z / n, one_gaussian(Z), -np.inf
    for _ in range(steps):
        cells = shares.reshape(a * b, n)
        sizes = cells.sum(axis=1) + 1e-9
        # The means of all combinations are sums of two effects: weighted least squares.
        normal = (design.T * sizes) @ design
        means = design @ np.linalg.lstsq(normal, design.T @ (cells @ Z), rcond=None)[0]
        within = covariance - (means.T * (sizes / n)) @ means + plan.ridge * np.eye(Z.shape[1])
        # Independent groupings: the share of a combination is the product of both.
        grid = sizes.reshape(a, b) / n
        weights = np.outer(grid.sum(axis=1), grid.sum(axis=0)).ravel()
        joint = np.log(weights)[:, None] + _log_densities(Z, means, within)
        total, found = expected(joint[:, None])
        before, gain = gain, float(total.mean()) - plain
        shares = found.reshape(a, b, n)
        if gain - before < TOLERANCE:
            break
    return Pair(shares, gain)


def _log_densities(Z: Array, means: Array, covariance: Array) -> Array:
    """Return the logarithms (k, n) of k normal densities of one covariance."""
    inverse = np.linalg.inv(np.linalg.cholesky(covariance))
    rows, centres = Z @ inverse.T, means @ inverse.T
    squares = (centres**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * centres @ rows.T
    spread = np.linalg.slogdet(covariance)[1] + Z.shape[1] * np.log(2 * np.pi)
    return -0.5 * (squares + spread)


def _are_two(one: Array, other: Array, plan: SearchPlan) -> bool:
    """Whether two groupings (n,) are whole and independent of each other.

    Two effects along one line are none: who is in the one group and who in the other is open.
    """
    if min(len(np.unique(labels)) for labels in (one, other)) < 2:
        return False
    sizes = [np.bincount(labels).min() for labels in (one, other)]
    return min(sizes) >= plan.fewest_rows and are_independent(one, other, plan)
