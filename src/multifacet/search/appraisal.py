"""One scale for the candidates of all sources, numbers of groups and dimensions.

A curved group with a gap around it and an ellipse that overlaps its neighbour are told by
different measures, so both are taken, each in terms of what structureless data of the same shape
reach (in nats, as -log p):

- *separation* on the neighbour graph (:mod:`.separation`);
- *distinctness* (:mod:`.distinct`): the likelihood of two Gaussians over one unimodal law.

What to *believe* is their sum where chance has had its say (``surprise``): groups must be there
with rounding undone (:mod:`.rounding`), with and without the means of what is given, and along one
direction, which a source found among many, a wider gap is asked for. What to *prefer* among the
believable ones (``score``) is separation, the order of magnitude of distinctness, which otherwise
grows with the rows without bound, and that a second feature shows the groups: a division of a
single feature is a grouping, but rarely the one that someone asks for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .candidate import Candidate
from .distinct import distinctness
from .residual import GroupResidual
from .rounding import evened
from .sample import Sample
from .separation import neighbour_graph, separation


class Appraisal:
    """Appraises the candidates of one sample.

    Parameters
    ----------
    sample : Sample
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Sample, Settings, judge
    >>> from multifacet.search.appraisal import Appraisal
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> X += np.repeat([0, 9], 40)[:, None]
    >>> sample = Sample.draw(X, [], Settings(), seed=0)
    >>> halves = (sample.X[:, 0] > 4.5).astype(int)
    >>> found = judge(sample, np.eye(2), halves, start="by hand")
    >>> Appraisal(sample).of(found, freedom=2).surprise > 10
    True
    """

    def __init__(self, sample: Sample) -> None:
        self._sample, self._plan = sample, sample.plan
        even = evened(sample.X)
        self._even = None if issparse(even) or np.array_equal(even, sample.X) else even

    def of(self, candidate: Candidate, freedom: float) -> Candidate:
        """Return a candidate with its surprise, whether that is beyond chance, and its score.

        Parameters
        ----------
        candidate : Candidate
            As :func:`.judge` returned it.
        freedom : float
            In how many dimensions its source looked for a direction.
        """
        if candidate.rejected:
            return replace(candidate, score=-np.inf)
        plan, W, labels = self._plan, candidate.W, candidate.labels
        points = self._sample.project(W)
        apart = self._apart(self._within(points), labels, freedom)
        score = self._gap(candidate.separation) + float(np.log1p(apart))
        score += plan.breadth_weight * self._breadth(labels)
        extra = 0.0
        if W.shape[1] == 1:
            level, overfit = plan.along_one_direction
            extra = level + overfit * freedom / len(labels)
        gap = self._gap(candidate.separation - extra)
        if self._sample.labelings:
            apart = min(apart, self._apart(points, labels, freedom))
        if self._even is not None:
            points = (self._even - self._even.mean(axis=0)) @ W
            graph = neighbour_graph(points, plan.neighbours)
            gap = min(gap, self._gap(separation(graph, labels, plan).score - extra))
            apart = min(apart, self._apart(self._within(points), labels, freedom))
        surprise = gap + apart
        believed = surprise >= plan.believable
        return replace(candidate, surprise=surprise, believed=believed, score=score)

    def _within(self, points: Array) -> Array:
        """Return points (m, q) without the means of what is given."""
        if not self._sample.labelings:
            return points
        residual = GroupResidual(points, self._sample.labelings)
        return residual.columns(np.arange(points.shape[1]))

    def _gap(self, found: float) -> float:
        """Return the surprise of a separation, zero or more."""
        plan, settings = self._plan, self._sample.settings
        m, d = len(self._sample.rows), self._sample.X.shape[1]
        splits = 0.0 if settings.n_clusters is None else np.log2(max(settings.n_clusters, 2)) - 1
        shape = [1.0, np.log(min(m, plan.rows) / plan.rows), np.log(max(d, 3)), splits]
        usual = float(np.dot(plan.usual_separation, shape))
        return max(gumbel_surprise((found - usual) / plan.separation_scale), 0.0)

    def _apart(self, points: Array, labels: Array, freedom: float) -> float:
        """Return the surprise of the distinctness of groups (m,), zero or more."""
        level, slope = self._plan.usual_distinctness
        usual = level + slope * freedom
        found = distinctness(points, labels)
        return max(gumbel_surprise((found - usual) / self._plan.distinctness_scale), 0.0)

    def _breadth(self, labels: Array) -> float:
        """Return the correlation ratio of the second feature that shows the groups, 0 to 1."""
        codes = np.eye(int(labels.max()) + 1)[labels]
        means = (codes.T @ self._features) / np.maximum(codes.sum(axis=0), 1.0)[:, None]
        explained = (means**2 * codes.sum(axis=0)[:, None]).sum(axis=0) / len(labels)
        return float(np.sqrt(np.sort(explained)[-2])) if len(explained) > 1 else 0.0

    @cached_property
    def _features(self) -> Any:
        """The features with most spread left (m, c) without the means of what is given, scaled."""
        residual = GroupResidual(self._sample.X, self._sample.labelings)
        values = residual.features(self._plan.start_features)[1]
        return values / np.maximum(values.std(axis=0), 1e-12)


def gumbel_surprise(deviation: float) -> float:
    """Return -log of how often a Gumbel law exceeds its mean by so many scales."""
    excess = float(deviation + np.euler_gamma)
    if excess > 30:  # there 1 - exp(-exp(-e)) is exp(-e)
        return excess
    return float(-np.log(-np.expm1(-np.exp(-max(excess, -30.0)))))
