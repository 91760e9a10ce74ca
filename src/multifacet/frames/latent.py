"""Categories as features: what may lie under them, without the gaps that their values have.

A column of two values has a perfect gap, whatever the rows are like, so that a search for groups
finds the column and nothing else. Models of choice see such values as what is left of something
continuous: a column of ordered values says between which thresholds a normal score lies (probit),
and of several values without an order the one is taken that comes first in a race. A category is
drawn back to that: each column becomes normal scores that have no gap of their own, and from which
its values can still be told exactly. What two columns have in common stays, so that groups which
several columns, or a column and measurements, tell together are found.

The draw is made from the contents of the row. It is the same whenever and beside whatever other
rows it is made, so that labels can be told again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from ..linalg import Array

#: Draws stay so far from the ends of (0, 1): values can be told in single precision, too.
_MARGIN = 0.01
#: What tells draws of one row apart, and mixes bits well (splitmix64).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def row_keys(columns: Iterable[Array], n: int) -> Array:
    """Return a whole number (n,) for each row that depends on all of its values, and on no others.

    Numbers count in single precision, so that it does not matter how they were stored.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.latent import row_keys
    >>> keys = row_keys([np.array([1.5, 2.5, 1.5]), np.array([True, True, True])], 3)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    keys = np.zeros(n, dtype=np.uint64)
    for column in columns:
        with np.errstate(over="ignore"):
            single = column.astype(np.float32) + np.float32(0)  # there are two zeros
        keys = _mixed((keys ^ single.view(np.uint32)) + _STEP)
    return keys


def draws(keys: Array, first: int, count: int) -> Array:
    """Return numbers (n, count) between 0 and 1, the same for the same keys (n,)."""
    steps = np.arange(first + 1, first + 1 + count, dtype=np.uint64) * _STEP
    share = (_mixed(keys[:, None] + steps) >> np.uint64(11)) * 2.0**-53
    return np.asarray(_MARGIN + (1 - 2 * _MARGIN) * share)


def _mixed(keys: Array) -> Array:
    for shift, factor in _MIX:
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


@dataclass(frozen=True)
class Ordered:
    """A column of few ordered values, as the part of a normal score in which each lies.

    Scores have the mean and the variance of the values.

    Attributes
    ----------
    levels : tuple of float
        The values, ascending.
    shares : tuple of float
        How often each is there; they sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.latent import Ordered
    >>> yes = Ordered((0.0, 1.0), (0.5, 0.5))
    >>> scores = yes.scores(np.array([[0.0], [0.0], [1.0]]), np.array([[0.1], [0.9], [0.5]]))
    >>> scores.round(2).ravel().tolist()
    [-0.32, 0.44, 0.84]
    >>> yes.values(scores).ravel().tolist()
    [0.0, 0.0, 1.0]
    """

    levels: tuple[float, ...]
    shares: tuple[float, ...]

    def scores(self, numbers: Array, drawn: Array) -> Array:
        """Return scores (n, 1) of values (n, 1); one never seen lies between its neighbours."""
        below = self._ends[np.searchsorted(self.levels, numbers, side="left")]
        upto = self._ends[np.searchsorted(self.levels, numbers, side="right")]
        place = (below + drawn * (upto - below)).clip(1e-6, 1 - 1e-6)
        mean, spread = self._moments
        return np.asarray(mean + spread * ndtri(place))

    def values(self, scores: Array) -> Array:
        """Return the values (n, 1) that scores (n, 1) stand for."""
        mean, spread = self._moments
        place = np.searchsorted(self._ends[1:-1], ndtr((scores - mean) / spread))
        return np.asarray(self.levels)[place]

    @cached_property
    def _ends(self) -> Array:
        return np.concatenate([[0.0], np.cumsum(self.shares)])

    @cached_property
    def _moments(self) -> tuple[float, float]:
        mean = float(np.dot(self.shares, self.levels))
        return mean, float(np.sqrt(np.dot(self.shares, (np.asarray(self.levels) - mean) ** 2)))


@dataclass(frozen=True)
class Race:
    """A column of several categories without an order: the first of a race is the one seen.

    Waiting times are exponential, at rates that are the shares, so that each category comes first
    as often as it was seen. Given which one did, all times can be drawn; as normal scores, high for
    short times, they are independent of each other as long as nothing else depends on the column.
    Each score has the mean and the variance of the indicator of its category.

    Attributes
    ----------
    shares : tuple of float
        How often each of the c categories is there; they sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames.latent import Race
    >>> race = Race((0.5, 0.3, 0.2))
    >>> scores = race.scores(np.eye(3), np.array([[0.3, 0.5, 0.8]] * 3))
    >>> bool((race.values(scores) == np.eye(3)).all())
    True
    """

    shares: tuple[float, ...]

    def scores(self, numbers: Array, drawn: Array) -> Array:
        """Return scores (n, c) of indicators (n, c)."""
        rates, waits = np.asarray(self.shares), -np.log1p(-drawn)
        first = numbers > 0.5
        # The winner's time has rate 1. The others wait anew from then on: they have no memory.
        winner = waits[first][:, None]
        times = winner + np.where(first, 0.0, waits / rates)
        return np.asarray(rates + self._spread * ndtri(np.exp(-rates * times)))

    def values(self, scores: Array) -> Array:
        """Return the indicators (n, c) of the categories that scores (n, c) stand for."""
        rates = np.asarray(self.shares)
        chances = ndtr((np.asarray(scores, dtype=float) - rates) / self._spread)
        first = (-np.log(np.maximum(chances, np.finfo(float).tiny)) / rates).argmin(axis=1)
        return np.asarray(first[:, None] == np.arange(len(rates)), dtype=float)

    @cached_property
    def _spread(self) -> Array:
        rates = np.asarray(self.shares)
        return np.sqrt(rates * (1 - rates))
