"""Tables like the one at hand, without groups: what the same search finds in them is chance.

A twin has the rows, features and given groups of a table, the skewness, tails and steps of its
columns, and their correlations, but every column has one mode within the given groups, and they
depend on each other as Gaussians do. The stored laws (:mod:`.null`) know the shape of a table;
twins know the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from ..linalg import Array
from ..progress import Callback
from .bank import Bank
from .distinct import UnimodalLaw
from .residual import GroupResidual
from .sample import Sample
from .sources import Source

#: Twins with as much surprise after which no more are asked: chance has answered.
ENOUGH = 3


class Twins:
    """Makes twins of a sample.

    Parameters
    ----------
    sample : Sample
        Dense rows, and what is given.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Sample, Settings
    >>> from multifacet.search.twins import Twins
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.array([0, 9]) * rng.integers(0, 2, (200, 1))
    >>> twin = Twins(Sample.draw(X, [], Settings(), seed=0)).draw(rng)
    >>> gap = lambda x: float(np.diff(np.sort(x)).max())  # between the groups, and in a twin
    >>> gap(X[:, 1]) > 2 > gap(twin.X[:, 1])
    True
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        residual = GroupResidual(sample.X, sample.labelings)
        left = residual.columns(np.arange(sample.X.shape[1]))
        self._means = sample.X - left
        self._laws = [UnimodalLaw.of(column) for column in left.T]
        scores = ndtri((rankdata(left, axis=0) - 0.5) / len(left))
        # A root (r, d) of their covariance, scaled to unit variances, whatever the features.
        _, spread, axes = np.linalg.svd(scores, full_matrices=False)
        scale = np.sqrt(len(left)) * np.maximum(scores.std(axis=0), 1e-12)
        self._root = spread[:, None] * axes / scale
        self._grids = [np.unique(column) for column in np.asarray(sample.X).T]

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return a twin: the same places, groups and settings, other values."""
        shares = ndtr(rng.standard_normal((len(self._means), len(self._root))) @ self._root)
        columns = [law.quantile(share) for law, share in zip(self._laws, shares.T, strict=True)]
        X = self._means + np.column_stack(columns)
        X = np.column_stack([_snapped(*pair) for pair in zip(X.T, self._grids, strict=True)])
        return replace(self._sample, X=X, mean=X.mean(axis=0), table=X)


def _snapped(x: Array, grid: Array) -> Array:
    """Return x (m,) rounded as its column was: to the values that it has, if some repeat."""
    if len(grid) == len(x):
        return x
    if len(grid) == 1:
        return np.full(len(x), grid[0])
    above = np.clip(np.searchsorted(grid, x), 1, len(grid) - 1)
    nearer = x - grid[above - 1] <= grid[above] - x
    return np.where(nearer, grid[above - 1], grid[above])


def surprise_of_twins(
    sample: Sample,
    sources: Sequence[Source],
    surprise: float,
    count: int,
    callback: Callback | None = None,
) -> Array:
    """Return the surprise (b,) of what sources find in up to ``count`` twins of a sample.

    Fewer, if some have more than a ``surprise`` before that.
    """
    twins, rng = Twins(sample), np.random.default_rng(sample.seed)
    found: list[float] = []
    while len(found) < count and sum(one >= surprise for one in found) < ENOUGH:
        best = Bank.collect(twins.draw(rng), sources).beside([]).chosen
        found.append(0.0 if best.rejected or best.surprise is None else best.surprise)
        if callback is not None:
            callback({"stage": "twins", "done": len(found), "total": count})
    return np.array(found)


def chance_among(surprise: float, twins: Array) -> float:
    """Return the p-value of a surprise beside those of twins (b,).

    If enough of them have as much, their share (Besag and Clifford 1991); otherwise by the Gumbel
    law of their moments, which tells smaller values than 1 / b from so few. Surprise is in nats, so
    its scale is one at least; that of a few twins is taken somewhat wider than it looks.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.twins import chance_among
    >>> twins = np.random.default_rng(0).gumbel(2, 1, 19)
    >>> chance_among(12.0, twins) < 0.01 < 0.2 < chance_among(2.0, twins)
    True
    """
    beyond = int((twins >= surprise).sum())
    if beyond >= ENOUGH:
        return beyond / len(twins)
    doubt = 1 + 1 / np.sqrt(2 * (len(twins) - 1))
    scale = max(1.0, doubt * twins.std(ddof=1) * np.sqrt(6) / np.pi)
    excess = (surprise - twins.mean()) / scale + np.euler_gamma
    return float(max(-np.expm1(-np.exp(-excess)), beyond / len(twins)))
