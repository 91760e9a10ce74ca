"""Subspaces in which data are least Gaussian, climbed to from many starts at once.

How far projected data are from a standard Gaussian is told by the distance between characteristic
functions, weighted by a Gaussian of standard deviation b (Henze and Zirkler's statistic). Here the
weight is a fixed set of frequencies t_1, ..., t_K drawn from it:

    1/K sum_k |1/n sum_i exp(i t_k'W'z_i) - exp(-|t_k|^2 / 2)|^2

which takes n K sines instead of n^2 exponentials, for all starts in one product of matrices.
"""

from __future__ import annotations

import numpy as np

from ..linalg import Array, subspace_distance
from .plan import PLAN, SearchPlan

#: How far the first step turns a subspace (radians, about), and by what steps grow and shrink.
FIRST_STEP, LONGER, SHORTER = 0.2, 1.3, 0.4


class NonGaussianity:
    """Distance of projected data from a standard Gaussian.

    Parameters
    ----------
    values : array of shape (n, m)
        Uncorrelated columns of unit variance.
    q : int
        Dimension of the subspaces.
    waves : int
        Frequencies per dimension.
    frequency : float
        Their spread b.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.pursuit import NonGaussianity
    >>> values = np.random.default_rng(0).standard_normal((500, 3))
    >>> values[:, 0] = np.sign(values[:, 0])
    >>> two_points, cloud = NonGaussianity(values, 1, 16, 3.0)(np.eye(3)[:2, :, None])[0]
    >>> bool(two_points > 10 * cloud)
    True
    """

    def __init__(self, values: Array, q: int, waves: int, frequency: float) -> None:
        self._values = np.asarray(values - values.mean(axis=0), dtype=np.float32)
        points = np.random.default_rng(0).standard_normal((waves * q, q))
        self._waves = (frequency * points).astype(np.float32)
        self._gaussian = np.exp(-0.5 * (self._waves**2).sum(axis=1))

    def __call__(self, W: Array) -> tuple[Array, Array]:
        """Return the distances (s,) in the subspaces W (s, m, q), and their gradients."""
        (s, m, _), count = W.shape, len(self._waves)
        directions = np.einsum("smq,kq->msk", W, self._waves).reshape(m, s * count)
        angles = self._values @ directions
        cosines, sines = np.cos(angles), np.sin(angles)
        real = cosines.mean(axis=0) - np.tile(self._gaussian, s)
        imaginary = sines.mean(axis=0)
        heights = (real**2 + imaginary**2).reshape(s, count).mean(axis=1)
        pull = self._values.T @ (cosines * imaginary - sines * real)
        pull *= 2 / (count * len(angles))
        return heights, np.einsum("msk,kq->smq", pull.reshape(m, s, count), self._waves)


def least_gaussian(
    values: Array, starts: Array, most: int, plan: SearchPlan = PLAN
) -> list[tuple[int, Array]]:
    """Return the least Gaussian subspaces near some, no two of them alike.

    That of the first start comes first, then the least Gaussian ones.

    Parameters
    ----------
    values : array of shape (n, m)
        Uncorrelated columns of unit variance.
    starts : array of shape (s, m, q)
        Bases of subspaces, the most promising first.
    most : int
        How many are wanted.
    plan : SearchPlan
        Constants.

    Returns
    -------
    list of (int, array of shape (m, q))
        From which start it came, and an orthonormal basis.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.pursuit import least_gaussian
    >>> values = np.random.default_rng(0).standard_normal((500, 3))
    >>> values[:, 0] = np.sign(values[:, 0])
    >>> [(_, found)] = least_gaussian(values, np.array([[[0.7], [0.7], [0.0]]]), 1)
    >>> bool(abs(found[0, 0]) > 0.99)
    True
    """
    (few, many), q, rows = plan.sharpen_waves, starts.shape[2], values[: plan.sharpen_rows]
    rough = NonGaussianity(rows, q, few, plan.sharpen_frequency)
    heights, W = _climb(rough, starts, plan.sharpen_steps[0])
    # The plane across two independent groupings is less Gaussian than that of either, so the first
    # start, of the most dependent pair, keeps its place.
    heights[0] = np.inf
    kept: list[int] = []
    for i in map(int, np.argsort(-heights, kind="stable")):
        if all(subspace_distance(W[i], W[other]) > plan.sharpen_apart for other in kept):
            kept.append(i)
    kept = kept[:most]
    fine = NonGaussianity(rows, q, many, plan.sharpen_frequency)
    _, W = _climb(fine, W[kept], plan.sharpen_steps[1])
    return [(start, basis.astype(float)) for start, basis in zip(kept, W, strict=True)]


def _climb(index: NonGaussianity, starts: Array, steps: int) -> tuple[Array, Array]:
    """Return heights (s,) and bases (s, m, q) after some steps uphill from each start."""
    W = np.linalg.qr(starts.astype(np.float32))[0]
    heights, gradients = index(W)
    step = np.full(len(W), FIRST_STEP, dtype=np.float32)
    for _ in range(steps):
        # A gradient on the manifold of subspaces: turning W in itself changes nothing.
        uphill = gradients - W @ (W.swapaxes(1, 2) @ gradients)
        length = np.sqrt((uphill**2).sum(axis=(1, 2))) + 1e-12
        tried = np.linalg.qr(W + (step / length)[:, None, None] * uphill)[0]
        found, turned = index(tried)
        better = found > heights
        W[better], heights[better], gradients[better] = tried[better], found[better], turned[better]
        step *= np.where(better, LONGER, SHORTER).astype(np.float32)
    return heights, W
