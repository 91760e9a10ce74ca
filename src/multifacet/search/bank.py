"""All candidates of a table, and which of them wins.

Sources propose, one after the other, until the best candidate is clear and was not beaten for a
while. Among the best, separation and *stability* together decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from ..linalg import Array
from ..metrics import nmi
from ..progress import Callback
from .appraisal import Appraisal
from .candidate import Candidate, Settings, in_order
from .judge import chance_nmi
from .pieces import Earlier, doubted
from .plan import PLAN, SearchPlan
from .precedence import (
    clear_division_first,
    factor_first,
    factors_first,
    finest_first,
    one_of_two_first,
    whole_first,
    without_pieces,
)
from .sample import Sample
from .sources import Proposal, Source


@dataclass(frozen=True)
class Selection:
    """The chosen settings and the candidates they were chosen from, best first.

    Attributes
    ----------
    candidates : list of Candidate
        All candidates; the first one won.
    rows : array of shape (m,)
        Rows of the data on which they were judged.
    settings : Settings
        What to use. If no candidate was ``found``, those of the papers: the median distance and
        a subspace of k dimensions at most.
    rule : str
        How candidates were compared.
    plan : SearchPlan
        Constants of the search.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> selection = KDAC(2, random_state=0).fit(X, given=labelings[:, 0]).selection_
    >>> selection.found, selection.settings.n_clusters
    (True, 2)
    """

    candidates: list[Candidate]
    rows: Array = field(repr=False)
    settings: Settings
    rule: str = "separation"
    plan: SearchPlan = field(repr=False, default=PLAN)

    @property
    def found(self) -> bool:
        """Whether the winner is admissible and, if it was compared by separation, is separated."""
        by_surprise = self.chosen.surprise is not None
        return not self.chosen.rejected and (
            by_surprise or self.chosen.separation >= self.plan.weak
        )

    @property
    def chosen(self) -> Candidate:
        """The winner."""
        return self.candidates[0]

    def table(self) -> list[dict[str, Any]]:
        """Return the candidates as rows of a table, best first, ready for a data frame."""
        names = [name for name in Candidate.__dataclass_fields__ if name not in ("W", "labels")]
        return [{name: getattr(one, name) for name in names} for one in self.candidates]

    def __str__(self) -> str:
        one = self.chosen
        if not self.found:
            best = "" if one.rejected else f" (best separation {one.separation:.2f})"
            return (
                f"none of {len(self.candidates)} candidates is new and has clearly separated "
                f"clusters{best}: the median distance and the papers' start are used"
            )
        if one.surprise is not None:
            return (
                f"{one.n_clusters} groups in {one.n_components} dimensions, proposed by "
                f"{one.source} ({one.start}): surprise {one.surprise:.1f} nats, separation "
                f"{one.separation:.2f}, the best of {len(self.candidates)} candidates"
            )
        width = "" if one.bandwidth is None else f", bandwidth {one.bandwidth:.3g}"
        return (
            f"{one.n_clusters} clusters in {one.n_components} dimensions{width}, novelty weight "
            f"{one.novelty_weight:g}: separation {one.separation:.2f}, the best of "
            f"{len(self.candidates)} candidates by {self.rule} (from {one.start})"
        )


def select(
    sample: Sample,
    sources: Sequence[Source],
    *,
    callback: Callback | None = None,
) -> Selection:
    """Collect the candidates of all sources and rank them.

    Parameters
    ----------
    sample : Sample
        The rows to look at, and what is fixed.
    sources : sequence of Source
        What proposes candidates, in order: the first ones may make the others needless.
    callback : callable, optional
        Called with a dict after every proposal.

    Returns
    -------
    Selection
        All candidates, best first, and the settings of the best one if it was found.
    """
    found = _some(proposed(sample, sources, callback)[0], sources)
    candidates = _confirmed(sample, sources, sorted(found, key=_rank, reverse=True))
    if not sample.given and sample.settings.n_clusters is None:
        candidates = factor_first(candidates, sample.plan)
    selection = Selection(candidates, sample.rows, sample.settings, plan=sample.plan)
    return replace(selection, settings=candidates[0].settings) if selection.found else selection


def proposed(
    sample: Sample, sources: Sequence[Source], callback: Callback | None = None, done: int = 0
) -> tuple[list[Candidate], int]:
    """Return what sources propose, and how many proposals there were, with ``done`` before them.

    A source is stopped when its best is clear.
    """
    candidates: list[Candidate] = []
    for source in sources:
        race = _Race(sample, callback, done)
        for proposal in source.propose(sample) or ():
            if not isinstance(proposal, Proposal) or not proposal.candidates:
                raise TypeError(
                    f"source {source.name!r} yields {proposal!r}: yield Proposal objects with at "
                    "least one candidate"
                )
            race.enter(proposal)
            if proposal.optional and race.decided:
                break
        candidates += race.candidates
        done = race.done
    return candidates, done


def _confirmed(
    sample: Sample, sources: Sequence[Source], candidates: list[Candidate]
) -> list[Candidate]:
    """Return candidates, best first, after those in front have been asked for their stability."""
    by_name = {source.name: source for source in sources}
    # Stability is at most 1, so whoever is behind by more cannot win by it.
    close = candidates[0].separation - sample.plan.stability_weight
    front = candidates[: sample.plan.finalists]
    front = [one for one in front if not one.rejected and one.separation >= close]
    asked = [by_name[one.source].confirm(sample, one) for one in front]
    return sorted(asked, key=_rank, reverse=True) + candidates[len(front) :]


@dataclass(frozen=True, eq=False)
class Bank:
    """All candidates of a table on one scale, best first.

    Attributes
    ----------
    sample : Sample
        The rows on which they were found.
    appraisal : Appraisal
        What they are worth.
    """

    sample: Sample
    appraisal: Appraisal = field(repr=False)

    @property
    def candidates(self) -> list[Candidate]:
        """All of them, appraised, best first; none has the same groups as another."""
        return self.best()

    def best(self, enough: int | None = None) -> list[Candidate]:
        """Return all candidates, best first, of which those in front are asked what they stand.

        Parameters
        ----------
        enough : int, optional
            How many have to be believed, so that no more are asked; by default that of the plan.

        Returns
        -------
        list of Candidate
            Appraised (:class:`.Appraisal`); none has the same groups as another.
        """
        return _each_once(self.appraisal.answered(enough=enough))

    @classmethod
    def collect(
        cls,
        sample: Sample,
        sources: Sequence[Source],
        callback: Callback | None = None,
        *,
        first: Source | None = None,
    ) -> Bank:
        """Ask sources in turn, one of them ``first``, and appraise what they propose.

        The later ones are asked only if what the others propose leaves doubt.
        """

        def turn_of(source: Source) -> int:
            return -1 if source is first else source.turn(sample)

        candidates: list[Candidate] = []
        asked: list[Source] = []
        done = 0
        for turn, group in groupby(sorted(sources, key=turn_of), key=turn_of):
            if candidates and _perhaps_clear(candidates, turn, sample):
                bank = cls.of(sample, candidates, asked)
                if bank._spares(turn):
                    return bank
            asked += (now := list(group))
            found, done = proposed(sample, now, callback, done)
            candidates += found
        return cls.of(sample, _some(candidates, sources), sources)

    @classmethod
    def of(cls, sample: Sample, candidates: Sequence[Candidate], sources: Sequence[Source]) -> Bank:
        """Return the bank of what sources proposed.

        The same groups of several sources are appraised in the subspace of each: one that was
        fitted to them shows them better than it should.
        """
        own: dict[bytes, float] = {}
        unique: dict[tuple[bytes, str], Candidate] = {}
        for one in candidates:
            groups = in_order(one.labels).tobytes()
            if one.own_surprise is not None:
                own[groups] = max(own.get(groups, 0.0), one.own_surprise)
            other = unique.setdefault((groups, one.source), one)
            # Of equals the last: a source knows more about them in the end.
            unique[groups, one.source] = max(one, other, key=_rank)
        shown = [replace(one, own_surprise=own.get(groups)) for (groups, _), one in unique.items()]
        return cls(sample, Appraisal(sample, shown, sources))

    def _spares(self, turn: int) -> bool:
        """Whether its best candidate is so clear that sources of a turn need not be asked."""
        best, plan = self.best(1)[0], self.sample.plan
        limit = plan.enough if turn == 1 else plan.settled
        surprise = best.surprise or 0.0
        return best.believed and surprise >= limit and _perhaps_clear([best], turn, self.sample)

    def beside(self, known: Sequence[Array], subspaces: Sequence[Array | None] = ()) -> Selection:
        """Return the candidates that are new beside further labelings (n,), best first.

        Where nothing is given and the best is the product of two groupings, the better one of these
        comes first. Pieces of what was found in ``subspaces`` (d, q), as far as these are known,
        are not believed.
        """
        plan, here = self.sample.plan, self._here(known)
        new = [_unless_known(one, here, plan) for one in self.appraisal.candidates]
        candidates = _each_once(self.appraisal.answered(new))
        candidates = without_pieces(candidates, _earlier(here, subspaces), self.sample)
        if self.sample.settings.n_clusters is None:
            candidates = whole_first(candidates, plan)
            if not self.sample.wide:  # those have paths of many numbers, see below
                candidates = clear_division_first(candidates, self.appraisal)
            # Four groups at the corners of a square are one grouping, or two, and so are three.
            # Who has given one knows of products, and asks for the rest as it is.
            if not self.sample.labelings:
                candidates = factors_first(candidates, self.sample)
            candidates = one_of_two_first(candidates, self.appraisal.candidates, plan)
            if self.sample.wide:
                candidates = finest_first(candidates, plan)
        return self.selection(candidates)

    def dividing(
        self,
        candidate: Candidate,
        labels: Array,
        known: Sequence[Array],
        subspaces: Sequence[Array | None],
    ) -> Selection | None:
        """Return what rightly divides groups (n,) that a candidate of another bank tells.

        None if nothing does, or pieces of what is known (n,) and was found in ``subspaces`` (d, q).
        """
        best = replace(candidate, labels=in_order(self._here([labels])[0]))
        candidates = clear_division_first([best, *self.candidates], self.appraisal)
        earlier = _earlier(self._here(known), subspaces)
        if candidates[0] is best or not doubted(self.sample, candidates[0], earlier).believed:
            return None
        return self.selection(candidates)

    def _here(self, known: Sequence[Array]) -> list[Array]:
        """Return the groups of the rows of the sample (m,) in labelings (n,), numbered from 0."""
        rows = self.sample.rows
        return [np.unique(labels[rows], return_inverse=True)[1] for labels in known]

    def selection(self, candidates: list[Candidate]) -> Selection:
        """Return the selection of the first of candidates, which are in order."""
        rows, settings = self.sample.rows, candidates[0].settings
        return Selection(candidates, rows, settings, rule="surprise", plan=self.sample.plan)


def _perhaps_clear(candidates: Sequence[Candidate], turn: int, sample: Sample) -> bool:
    """Whether candidates may be clear enough to spare a turn, so that an appraisal is worth while.

    To spare the quicker sources of a large table, gaps must be so wide that no others could be told
    better; but among many features most planes show some gap, so compact groups that are there at
    all are taken before others. To spare the kernel's, there must be gaps, or whatever a source
    measures in its own way.
    """
    plan, fair = sample.plan, [one for one in candidates if not one.rejected]
    if turn == 1 and not sample.wide:
        return any(one.separation >= plan.plain and one.n_components > 1 for one in fair)
    own = 0.0 if turn == 1 else max((one.own_surprise or 0.0 for one in fair), default=0.0)
    return any(one.separation >= plan.weak for one in fair) or own >= plan.settled


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates, best first, without those that have the same groups as a better one."""
    best: dict[bytes, Candidate] = {}
    for one in sorted(candidates, key=_rank, reverse=True):
        best.setdefault(in_order(one.labels).tobytes(), one)
    return list(best.values())


def _some(candidates: list[Candidate], sources: Sequence[Source]) -> list[Candidate]:
    """Return candidates, of which there must be one at least."""
    if not candidates:
        names = ", ".join(repr(source.name) for source in sources)
        raise ValueError(f"source {names} proposed no candidate: use one that does")
    return candidates


def _earlier(here: Sequence[Array], subspaces: Sequence[Array | None]) -> list[Earlier]:
    """Return the labelings (m,) that were found in a subspace (d, q), as far as it is known."""
    both = zip(here, subspaces, strict=False)
    return [Earlier(labels, W) for labels, W in both if W is not None and W.size]


def _unless_known(candidate: Candidate, known: Sequence[Array], plan: SearchPlan) -> Candidate:
    """Return a candidate, rejected if it has too much in common with a labeling (m,)."""
    if candidate.rejected:
        return candidate
    shared = [nmi(candidate.labels, labels) for labels in known]
    limits = [plan.further + chance_nmi(candidate.labels, labels) for labels in known]
    novelty = max([candidate.novelty, *shared])
    if any(value > limit for value, limit in zip(shared, limits, strict=True)):
        return replace(candidate, rejected="repeats an earlier view", novelty=novelty)
    return replace(candidate, novelty=novelty)


class _Race:
    """The candidates so far, the best of them, and how long ago it came in."""

    def __init__(self, sample: Sample, callback: Callback | None, done: int = 0) -> None:
        self.candidates: list[Candidate] = []
        self.done = done
        self._sample, self._callback, self._before = sample, callback, done
        self._waiting = 0

    def enter(self, proposal: Proposal) -> None:
        """Add the candidates of a proposal, and tell how far the search is."""
        best_before = max(self.candidates, key=_rank, default=None)
        best = max(proposal.candidates, key=_rank)
        improved = best_before is None or best.rank > best_before.rank
        self._waiting = 0 if improved else self._waiting + 1
        self.candidates += proposal.candidates
        self.done += 1
        if self._callback is not None:
            shown = best if improved else best_before
            self._callback(
                {
                    "stage": "select",
                    "done": self.done,
                    "total": self._before + proposal.total,
                    "best": shown,
                    "rows": self._sample.rows,
                }
            )

    @property
    def decided(self) -> bool:
        """Whether the best is clear and has not been beaten for a while."""
        best, plan = max(self.candidates, key=_rank), self._sample.plan
        clear = not best.rejected and best.separation >= plan.clear
        return clear and self._waiting >= plan.patience


def _rank(candidate: Candidate) -> tuple[bool, bool, float]:
    return candidate.rank
