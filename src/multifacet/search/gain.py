"""How much likelier rows are as groups than as one cloud, whatever its columns look like.

Groups that overlap leave no gap, and along one direction they may look like one flat cloud. What
tells them is the likelihood of Gaussians of one shared covariance over a single one, in all
directions at once. It says nothing by itself about skewed or heavy-tailed columns, which several
Gaussians always describe better than one does. So every column is first made normal *by the law of
one cloud* that describes it best (:class:`.UnimodalLaw`): skewness, tails and boxes are gone then,
and two modes are not. On structureless tables of seven kinds the gain is the same but for chance,
and depends on the number of groups and directions only.

What is assumed: clouds depend on each other as Gaussians do. A curve does not, but it takes ever
more Gaussians; groups take as many as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtri

from ..linalg import Array
from ..metrics import nmi
from .candidate import Candidate
from .distinct import UnimodalLaw, best_unimodals
from .em import fit_mixtures
from .judge import gumbel_surprise
from .residual import GroupResidual
from .rounding import evened
from .sample import Sample
from .whitening import Whitened

#: Mean log-likelihood of values of variance one under a normal law.
NORMAL = -0.5 * (np.log(2 * np.pi) + 1)
#: Farthest that a value lies out when its column was made normal.
FARTHEST = 5.0
#: Steps of EM: it begins at the groups.
STEPS = 15


class Gains:
    """The likelihood of groups in the rows of one sample.

    Parameters
    ----------
    sample : Sample
        Dense rows, and what is given.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Sample, Settings
    >>> from multifacet.search.gain import Gains
    >>> rng = np.random.default_rng(0)
    >>> halves = np.repeat([0, 1], 200)
    >>> groups = rng.normal(size=(400, 4)) + 1.5 * halves[:, None]  # no gap along any feature
    >>> skewed = np.exp(rng.normal(size=(400, 4)))
    >>> found = []
    >>> for X in (groups, skewed):
    ...     apart = (X.sum(axis=1) > np.median(X.sum(axis=1))).astype(int)
    ...     found.append(Gains(Sample.draw(X, [], Settings(), seed=0)).excess(apart[None], 2)[0])
    >>> bool(found[0] > 3 > 0 > found[1])
    True
    """

    def __init__(self, sample: Sample) -> None:
        self._plan = sample.plan
        rows = normalised(sample)
        self._Z = Whitened.of(replace(sample, X=rows, mean=rows.mean(axis=0), labelings=[])).Z

    @staticmethod
    def tells(sample: Sample) -> bool:
        """Whether the rows of a sample are of the kind that it was measured for."""
        return not issparse(sample.X) and not sample.wide

    def surprise(self, candidates: Sequence[Candidate]) -> Array:
        """Return how surprising the gains of candidates are (N,), zero where they say nothing.

        Nothing is said of more groups than mixtures are asked for, and of groups of which any
        could be divided with a larger excess than they have themselves: pieces of a curve.
        """
        found = np.zeros(len(candidates))
        numbers = np.array([one.n_clusters for one in candidates])
        for k in np.unique(numbers[numbers <= self._plan.mixture_clusters]):
            own = np.flatnonzero(numbers == k)
            labelings = np.stack([candidates[int(i)].labels for i in own])
            excess = self.excess(labelings, int(k))
            found[own] = gumbel_surprise(excess)
            for i in np.flatnonzero(found[own] >= self._plan.believable):
                halved = np.stack(list(self._halved(labelings[i], int(k))))
                if self.excess(halved, int(k) + 1).max() > excess[i]:
                    found[own[i]] = 0.0
        return found

    def excess(self, labelings: Array, k: int) -> Array:
        """Return the gains of groups (N, m) beyond what is usual, in its scales, shape (N,).

        A gain counts as far as the Gaussians keep the groups.
        """
        plan, (m, r) = self._plan, self._Z.shape
        mixtures = fit_mixtures(
            self._Z, labelings, k, shared=True, ridge=plan.ridge, max_iter=STEPS
        )  # fmt: skip
        kept = [nmi(*pair) for pair in zip(labelings, mixtures.labels, strict=True)]
        (level, per_split), (slope, slope_per_split) = plan.usual_gain
        usual = level + per_split * (k - 1) + (slope + slope_per_split * (k - 1)) * r
        scale = plan.gain_scale[0] + plan.gain_scale[1] * (k - 1)
        return (m * mixtures.gains * np.array(kept) - usual) / scale

    def _halved(self, labels: Array, k: int) -> Iterator[Array]:
        """Yield groups (m,) with one of them cut in two, each in turn, along its longest axis."""
        for group in range(k):
            rows = np.flatnonzero(labels == group)
            centred = self._Z[rows] - self._Z[rows].mean(axis=0)
            along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
            cut = labels.copy()
            cut[rows[along > 0]] = k
            yield cut


def normalised(sample: Sample) -> Array:
    """Return the rows (m, d) without what is given, each column made normal if it is one cloud.

    Groups that are given may differ in mean and width. A law other than the normal one has to be
    worth its two further parameters (Schwarz 1978): otherwise columns stay as they are.
    """
    left = GroupResidual(evened(sample.X), sample.labelings).columns(np.arange(sample.X.shape[1]))
    for labels in sample.labelings:
        for group in range(int(labels.max()) + 1):
            rows = labels == group
            if rows.sum() >= sample.plan.rows_per_direction:
                left[rows] /= np.maximum(left[rows].std(axis=0), 1e-12)
    spread = left.std(axis=0)
    varying = spread > 1e-9 * spread.max(initial=0.0)
    columns = (left[:, varying] / spread[varying]).T
    better = len(left) * (best_unimodals(columns, np.ones(columns.shape)) - NORMAL)
    for i in np.flatnonzero(better > np.log(len(left))):
        shares = UnimodalLaw.of(columns[i]).share(columns[i])
        columns[i] = ndtri(np.clip(shares, 1e-12, 1 - 1e-12))
    return np.clip(columns, -FARTHEST, FARTHEST).T
