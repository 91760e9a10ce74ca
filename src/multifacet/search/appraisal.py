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

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .candidate import Candidate
from .clouds import LongClouds
from .distinct import distinctnesses, gains_of_divisions
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
    """What the candidates of one sample are worth, as far as it was asked.

    Parameters
    ----------
    sample : Sample
        The rows.
    candidates : sequence of Candidate
        As :func:`.judge` returned them.
    sources : sequence of Source
        All that were asked.

    Attributes
    ----------
    sample : Sample
        The rows.
    candidates : list of Candidate
        As they were passed.
    plan : SearchPlan
        Constants of the search.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Appraisal, CompactSource, Sample, Settings, judge
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> X += np.repeat([0, 9], 40)[:, None]
    >>> sample = Sample.draw(X, [], Settings(), seed=0)
    >>> halves = (sample.X[:, 0] > 4.5).astype(int)
    >>> found = judge(sample, np.eye(2), halves, start="by hand", source="compact")
    >>> Appraisal(sample, [found], [CompactSource()]).answered()[0].surprise > 10
    True
    """

    def __init__(
        self, sample: Sample, candidates: Sequence[Candidate], sources: Sequence[Source]
    ) -> None:
        plan = sample.plan
        self.sample, self.plan = sample, plan
        self.candidates = list(candidates)
        even = evened(sample.X)
        self._even = None if issparse(even) or np.array_equal(even, sample.X) else even
        self._clouds = LongClouds(sample)
        self._place = [at for at, one in enumerate(candidates) if not one.rejected]
        self._fair = fair = [candidates[at] for at in self._place]
        self._freedom = {source.name: source.freedom(sample) for source in sources}
        alone = {source.name for source in sources if source.own_measure}
        self._alone = np.array([one.source in alone for one in fair], dtype=bool)
        self._own = np.array([np.nan if c.own_surprise is None else c.own_surprise for c in fair])
        self._apart = self._apart_at(fair, map(self._within, map(self._points, fair)))
        self._separations = np.array([one.separation for one in fair])
        self._extra = self._made(fair, {source.name for source in sources if source.discriminant})
        #: Surprise (N,) as far as was asked, and of which all questions were.
        self._surprise = self._gaps(self._separations - self._extra) + self._apart
        self._asked = self._alone.copy()
        self._scores = self._scored()

    def answered(
        self, candidates: Sequence[Candidate] | None = None, enough: int | None = None
    ) -> list[Candidate]:
        """Return candidates with surprise, whether that is beyond chance, and score.

        Surprise is asked in one way after the other, until there is none. Questions take time:
        when enough candidates have stood them, those of lower scores are taken as not believed. The
        best score is asked in any case: where nothing is believed, its surprise is the answer.

        Parameters
        ----------
        candidates : sequence of Candidate, optional
            The same ones, of which further ones may be rejected: these are not asked.
        enough : int, optional
            How many have to stand all questions; by default that of the plan.

        Returns
        -------
        list of Candidate
            In the same order.
        """
        shown = self.candidates if candidates is None else candidates
        enough = self.plan.enough_believed if enough is None else enough
        open_ones = [i for i, at in enumerate(self._place) if not shown[at].rejected]
        order = np.array(open_ones, dtype=int)
        order = order[np.argsort(-self._scores[order], kind="stable")]
        count = self._ask(order, enough)
        surprise = self._or_own(self._surprise)
        left = order[count:]
        surprise[left] = np.minimum(surprise[left], np.nextafter(self.plan.believable, 0.0))
        appraised = [replace(one, score=-np.inf) for one in shown]
        for i in order:
            appraised[self._place[i]] = replace(
                shown[self._place[i]],
                surprise=float(surprise[i]),
                believed=bool(surprise[i] >= self.plan.believable),
                score=float(self._scores[i]),
            )
        return appraised

    def division(self, fine: Candidate, coarse: Candidate) -> float:
        """Return how surprising it is that a candidate divides the groups of another one further.

        Of all neighbouring groups that the coarser one puts together, those count that are least
        distinct; as with candidates, in the rows as they are, without the means of what is given,
        and with rounding undone. Zero if nothing is divided.
        """
        points = self._points(fine)
        forms = [self._within(points)]
        if 0 < self._groups_given() < self.plan.alike_bent:
            forms.append(points)
        if self._even is not None:
            forms.append(self._within((self._even - self._even.mean(axis=0)) @ fine.W))
        gains = [gains_of_divisions(points, fine.labels, coarse.labels) for points in forms]
        if not gains[0].size:
            return 0.0
        least = np.concatenate(gains).min()
        return float(self._beyond_usual(least, self._freedom[fine.source]))

    def _ask(self, order: Array, enough: int) -> int:
        """Ask candidates in order until enough are believed; return how many had their turn."""
        at, stood, leader = 0, 0, order[:1]
        while at < len(order) and stood < enough:
            turn = order[at : at + min(self.plan.finalists, enough - stood)]
            asked = self._in_question(turn[~self._asked[turn]], leader)
            self._asked[asked] = True
            for check in self._checks():
                self._surprise[asked] = np.minimum(self._surprise[asked], check(asked))
                asked = self._in_question(asked, leader)
            stood += int((self._or_own(self._surprise)[turn] >= self.plan.believable).sum())
            at += len(turn)
        return at

    def _in_question(self, asked: Array, leader: Array) -> Array:
        return asked[(self._surprise[asked] >= self.plan.believable) | np.isin(asked, leader)]

    def _scored(self) -> Array:
        """Return what candidates are preferred by (N,), before any question."""
        plan, fair = self.plan, self._fair
        plain = self._or_own(self._gaps(self._separations))
        beyond = np.maximum(plain - plan.enough, 0.0)
        scores = np.minimum(plain, plan.enough) + np.log1p(beyond) + np.log1p(self._apart)
        scores += plan.support_weight * support(fair, self._freedom)
        # Ever more groups can be cut out of any cloud: many of them have to be there.
        numbers = np.array([one.n_clusters for one in fair])
        there = self._or_own(self._surprise) >= plan.believable
        told = (numbers <= plan.most_clusters) | there
        return scores + np.where(told, plan.detail_weight * np.log(numbers), 0.0)

    def _checks(self) -> list[Check]:
        """Return what is asked of candidates: their surprise (n,) in other forms of the rows."""
        plan, fair, apart, extra = self.plan, self._fair, self._apart, self._extra
        separations = self._separations

        def across_long_clouds(asked: Array) -> Array:
            # No length explains a gap that wide. What is asked afterwards is asked beyond it, too.
            plain = self._gaps(separations[asked] - extra[asked])
            doubted = asked[plain < plan.enough]
            extra[doubted] += [self._long(fair[i]) for i in doubted]
            return self._gaps(separations[asked] - extra[asked]) + apart[asked]

        def as_they_are(asked: Array) -> Array:
            some = [fair[i] for i in asked]
            found = self._apart_at(some, map(self._points, some))
            gap = self._gaps(separations[asked] - extra[asked])
            return gap + np.minimum(apart[asked], found)

        def with_rounding_undone(asked: Array) -> Array:
            return self._evened([fair[i] for i in asked], extra[asked])

        checks: list[Check] = [across_long_clouds]
        if 0 < self._groups_given() < plan.alike_bent:
            checks.append(as_they_are)
        if self._even is not None:
            checks.append(with_rounding_undone)
        return checks

    def _points(self, candidate: Candidate) -> Array:
        return self.sample.project(candidate.W)

    def _or_own(self, found: Array) -> Array:
        """Return surprise (N,) by the measure of a source that has one of its own.

        Groups that another source proposes too have both, and the larger counts.
        """
        return np.where(self._alone, self._own, np.fmax(found, self._own))

    def _made(self, candidates: Sequence[Candidate], fitted: Container[str]) -> Array:
        """Return the separation that candidates owe to where one looks at them.

        Subspaces of ``fitted`` sources are those in which their groups differ most.
        """
        found = []
        for one in candidates:
            m, q = len(one.labels), one.W.shape[1]
            made = self.plan.made * self._freedom[one.source] / (m * np.sqrt(q))
            alone = self.plan.one_direction if q == 1 else 0.0
            found.append(alone + (made if q == 1 or one.source in fitted else 0.0))
        return np.array(found)

    def _long(self, candidate: Candidate) -> float:
        """Return the separation that a candidate owes to the length of the cloud it lies in."""
        if candidate.W.shape[1] == 1:
            return 0.0
        return self._clouds.separation(self._points(candidate), candidate.labels)

    def _evened(self, candidates: Sequence[Candidate], extra: Array) -> Array:
        """Return the surprise of candidates in the rows with rounding undone."""
        assert self._even is not None
        even = self._even - self._even.mean(axis=0)
        points = [even @ one.W for one in candidates]
        found = [
            NeighbourGraph.of(place, self.plan).separation(one.labels).score
            for one, place in zip(candidates, points, strict=True)
        ]
        apart = self._apart_at(candidates, map(self._within, points))
        return self._gaps(np.array(found) - extra) + apart

    def _groups_given(self) -> int:
        """Return how many groups are given in all."""
        return sum(int(labels.max()) + 1 for labels in self.sample.labelings)

    def _within(self, points: Array) -> Array:
        """Return points (m, q) without the means of what is given."""
        if not self.sample.labelings:
            return points
        residual = GroupResidual(points, self.sample.labelings)
        return residual.columns(np.arange(points.shape[1]))

    def _gaps(self, found: Array) -> Array:
        return gap_surprise(self.sample, found)

    def _apart_at(self, candidates: Sequence[Candidate], points: Iterable[Array]) -> Array:
        """Return the surprise of the distinctness of candidates at points (m, q) each."""
        dimensions = np.array([self._freedom[one.source] for one in candidates])
        labels = [one.labels for one in candidates]
        return self._beyond_usual(
            distinctnesses(list(zip(points, labels, strict=True))), dimensions
        )

    def _beyond_usual(self, found: Array, dimensions: Array | float) -> Array:
        """Return the surprise of distinctness that was looked for in so many dimensions."""
        level, slope = self.plan.distinctness_scale
        excess = found - self.plan.usual_distinctness * dimensions
        return gumbel_surprise(excess / (level + slope * dimensions))


def gap_surprise(sample: Sample, found: Array) -> Array:
    """Return the surprise (N,) of separations (N,) in a sample, zero or more."""
    plan, k = sample.plan, sample.settings.n_clusters
    m, d = len(sample.rows), sample.X.shape[1]
    splits = 0.0 if k is None else np.log2(max(k, 2)) - 1
    shape = [1.0, np.log(min(m, plan.rows) / plan.rows), np.log(max(d, 3)), splits]
    usual = float(np.dot(plan.usual_separation, shape))
    return gumbel_surprise((found - usual) / plan.separation_scale)
