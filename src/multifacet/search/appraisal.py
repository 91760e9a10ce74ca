"""One scale for the candidates of all sources, numbers of groups and dimensions.

A curved group with a gap around it and an ellipse that overlaps its neighbour are told by
different measures, so both are taken, each in terms of what structureless data of the same shape
reach (in nats, as -log p):

- *separation* on the neighbour graph (:mod:`.separation`);
- *distinctness* (:mod:`.distinct`): the likelihood of two Gaussians over one unimodal law.

What to *believe* is their sum where chance has had its say (``surprise``): groups must be there
with rounding undone (:mod:`.rounding`), with and without the means of what is given, and a wider
gap is asked for along one direction, across a long cloud (:mod:`.clouds`), and where one looks at
groups from where they differ most.
What to *prefer* among the believable ones (``score``) is separation, as far as more of it still
says more, the order of magnitude of distinctness, which otherwise grows with the rows without
bound, that other sources propose the groups too (:mod:`.support`), and how many groups are told.
A source that has a measure of its own, as for rows at one place, is believed by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .candidate import Candidate
from .clouds import LongClouds
from .distinct import distinctnesses
from .judge import gumbel_surprise
from .residual import GroupResidual
from .rounding import evened
from .sample import Sample
from .separation import NeighbourGraph
from .sources import Source
from .support import support

#: Returns the surprise (n,) of the candidates at positions (n,), looked at in another way.
Check = Callable[[Array], Array]


class Appraisal:
    """Appraises the candidates of one sample.

    Parameters
    ----------
    sample : Sample
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Appraisal, CompactSource, Sample, Settings, judge
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> X += np.repeat([0, 9], 40)[:, None]
    >>> sample = Sample.draw(X, [], Settings(), seed=0)
    >>> halves = (sample.X[:, 0] > 4.5).astype(int)
    >>> found = judge(sample, np.eye(2), halves, start="by hand", source="compact")
    >>> Appraisal(sample).of([found], [CompactSource()])[0].surprise > 10
    True
    """

    def __init__(self, sample: Sample) -> None:
        self._sample, self._plan = sample, sample.plan
        even = evened(sample.X)
        self._even = None if issparse(even) or np.array_equal(even, sample.X) else even
        self._clouds = LongClouds(sample)

    def of(self, candidates: Sequence[Candidate], sources: Sequence[Source]) -> list[Candidate]:
        """Return candidates with surprise, whether that is beyond chance, and score.

        Parameters
        ----------
        candidates : sequence of Candidate
            As :func:`.judge` returned them.
        sources : sequence of Source
            All that were asked.

        Returns
        -------
        list of Candidate
            In the same order. Surprise is asked in one way after the other, until there is none.
        """
        plan, fair = self._plan, [one for one in candidates if not one.rejected]
        freedom = {source.name: source.freedom(self._sample) for source in sources}
        apart = self._apart(fair, map(self._within, map(self._points, fair)), freedom)
        extra = self._made(fair, sources, freedom)
        separations = np.array([one.separation for one in fair])
        plain = self._or_own(fair, self._gaps(separations), sources)
        beyond = np.maximum(plain - plan.enough, 0.0)
        scores = np.minimum(plain, plan.enough) + np.log1p(beyond) + np.log1p(apart)
        scores += plan.support_weight * support(fair, freedom)
        surprise = self._gaps(separations - extra) + apart
        # Ever more groups can be cut out of any cloud: many of them have to be there.
        numbers = np.array([one.n_clusters for one in fair])
        there = self._or_own(fair, surprise, sources) >= plan.believable
        told = (numbers <= plan.most_clusters) | there
        scores += np.where(told, plan.detail_weight * np.log(numbers), 0.0)
        checks = self._checks(fair, apart, extra, freedom)
        surprise = self._or_own(fair, self._checked(surprise, scores, checks), sources)
        appraised = {
            id(one): replace(
                one,
                surprise=float(found),
                believed=bool(found >= plan.believable),
                score=float(score),
            )
            for one, found, score in zip(fair, surprise, scores, strict=True)
        }
        return [appraised.get(id(one)) or replace(one, score=-np.inf) for one in candidates]

    def _checked(self, surprise: Array, scores: Array, checks: Sequence[Check]) -> Array:
        """Return surprise (N,) where it stands further questions, best scores first.

        Questions take time. When enough have stood them, the others are taken as not believed. The
        best score is asked in any case: where nothing is believed, its surprise is the answer.
        """
        plan, surprise = self._plan, surprise.copy()
        order = np.argsort(-scores, kind="stable")
        leader, stood = order[:1], 0  # nobody, where all are rejected

        def in_question(asked: Array) -> Array:
            return asked[(surprise[asked] >= plan.believable) | np.isin(asked, leader)]

        order = in_question(order)
        for at in range(0, len(order), plan.finalists):
            asked = order[at : at + plan.finalists]
            if stood >= plan.enough_believed:
                surprise[asked] = np.nextafter(plan.believable, 0.0)
                continue
            for check in checks:
                surprise[asked] = np.minimum(surprise[asked], check(asked))
                asked = in_question(asked)
            stood += len(asked)
        return surprise

    def _checks(
        self, fair: Sequence[Candidate], apart: Array, extra: Array, freedom: Mapping[str, float]
    ) -> list[Check]:
        """Return what is asked of candidates: their surprise (n,) in other forms of the rows."""
        plan = self._plan
        separations = np.array([one.separation for one in fair])

        def across_long_clouds(asked: Array) -> Array:
            # No length explains a gap that wide. What is asked afterwards is asked beyond it, too.
            plain = self._gaps(separations[asked] - extra[asked])
            doubted = asked[plain < plan.enough]
            extra[doubted] += [self._long(fair[i]) for i in doubted]
            return self._gaps(separations[asked] - extra[asked]) + apart[asked]

        def as_they_are(asked: Array) -> Array:
            some = [fair[i] for i in asked]
            found = self._apart(some, map(self._points, some), freedom)
            gap = self._gaps(separations[asked] - extra[asked])
            return gap + np.minimum(apart[asked], found)

        def with_rounding_undone(asked: Array) -> Array:
            return self._evened([fair[i] for i in asked], extra[asked], freedom)

        checks: list[Check] = [across_long_clouds]
        if 0 < self._groups_given() < plan.alike_bent:
            checks.append(as_they_are)
        if self._even is not None:
            checks.append(with_rounding_undone)
        return checks

    def _points(self, candidate: Candidate) -> Array:
        return self._sample.project(candidate.W)

    @staticmethod
    def _or_own(candidates: Sequence[Candidate], found: Array, sources: Sequence[Source]) -> Array:
        """Return surprise (N,) by the measure of a source that has one of its own.

        Groups that another source proposes too have both, and the larger counts.
        """
        alone = {source.name for source in sources if source.own_measure}
        own = np.array([np.nan if c.own_surprise is None else c.own_surprise for c in candidates])
        return np.where([c.source in alone for c in candidates], own, np.fmax(found, own))

    def _made(
        self,
        candidates: Sequence[Candidate],
        sources: Sequence[Source],
        freedom: Mapping[str, float],
    ) -> Array:
        """Return the separation that candidates owe to where one looks at them."""
        fitted = {source.name for source in sources if source.discriminant}
        found = []
        for one in candidates:
            m, q = len(one.labels), one.W.shape[1]
            made = self._plan.made * freedom[one.source] / (m * np.sqrt(q))
            alone = self._plan.one_direction if q == 1 else 0.0
            found.append(alone + (made if q == 1 or one.source in fitted else 0.0))
        return np.array(found)

    def _long(self, candidate: Candidate) -> float:
        """Return the separation that a candidate owes to the length of the cloud it lies in."""
        if candidate.W.shape[1] == 1:
            return 0.0
        return self._clouds.separation(self._points(candidate), candidate.labels)

    def _evened(
        self, candidates: Sequence[Candidate], extra: Array, freedom: Mapping[str, float]
    ) -> Array:
        """Return the surprise of candidates in the rows with rounding undone."""
        assert self._even is not None
        even = self._even - self._even.mean(axis=0)
        points = [even @ one.W for one in candidates]
        found = [
            NeighbourGraph.of(place, self._plan).separation(one.labels).score
            for one, place in zip(candidates, points, strict=True)
        ]
        return self._gaps(np.array(found) - extra) + self._apart(
            candidates, map(self._within, points), freedom
        )

    def _groups_given(self) -> int:
        """Return how many groups are given in all."""
        return sum(int(labels.max()) + 1 for labels in self._sample.labelings)

    def _within(self, points: Array) -> Array:
        """Return points (m, q) without the means of what is given."""
        if not self._sample.labelings:
            return points
        residual = GroupResidual(points, self._sample.labelings)
        return residual.columns(np.arange(points.shape[1]))

    def _gaps(self, found: Array) -> Array:
        return gap_surprise(self._sample, found)

    def _apart(
        self, candidates: Sequence[Candidate], points: Iterable[Array], freedom: Mapping[str, float]
    ) -> Array:
        """Return the surprise of the distinctness of candidates at points (m, q) each."""
        dimensions = np.array([freedom[one.source] for one in candidates])
        level, slope = self._plan.distinctness_scale
        labels = [one.labels for one in candidates]
        found = distinctnesses(list(zip(points, labels, strict=True)))
        excess = found - self._plan.usual_distinctness * dimensions
        return gumbel_surprise(excess / (level + slope * dimensions))


def gap_surprise(sample: Sample, found: Array) -> Array:
    """Return the surprise (N,) of separations (N,) in a sample, zero or more."""
    plan, k = sample.plan, sample.settings.n_clusters
    m, d = len(sample.rows), sample.X.shape[1]
    splits = 0.0 if k is None else np.log2(max(k, 2)) - 1
    shape = [1.0, np.log(min(m, plan.rows) / plan.rows), np.log(max(d, 3)), splits]
    usual = float(np.dot(plan.usual_separation, shape))
    return gumbel_surprise((found - usual) / plan.separation_scale)
