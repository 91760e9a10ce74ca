"""All candidates of a table, and which of them wins.

Sources propose, one after the other, until the best candidate is clear and was not beaten for a
while. Among the best, separation and *stability* together decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..linalg import Array
from ..metrics import nmi
from ..progress import Callback
from .appraisal import Appraisal
from .candidate import Candidate, Settings, in_order
from .judge import chance_nmi, entropy
from .pieces import Earlier, doubted
from .plan import PLAN, SearchPlan
from .residual import GroupResidual
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
    found = proposed(sample, sources, callback)
    candidates = _confirmed(sample, sources, sorted(found, key=_rank, reverse=True))
    if not sample.given and sample.settings.n_clusters is None:
        candidates = _factor_first(candidates, sample.plan)
    selection = Selection(candidates, sample.rows, sample.settings, plan=sample.plan)
    return replace(selection, settings=candidates[0].settings) if selection.found else selection


def proposed(
    sample: Sample, sources: Sequence[Source], callback: Callback | None = None
) -> list[Candidate]:
    """Return what all sources propose; a source is stopped when its best is clear."""
    candidates: list[Candidate] = []
    done = 0
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
    if not candidates:
        names = ", ".join(repr(source.name) for source in sources)
        raise ValueError(f"source {names} proposed no candidate: use one that does")
    return candidates


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
    candidates : list of Candidate
        Appraised (:class:`.Appraisal`); none has the same groups as another.
    """

    sample: Sample
    candidates: list[Candidate] = field(repr=False)

    @classmethod
    def collect(
        cls, sample: Sample, sources: Sequence[Source], callback: Callback | None = None
    ) -> Bank:
        """Ask all sources, and appraise what they propose."""
        unique: dict[bytes, Candidate] = {}
        for one in proposed(sample, sources, callback):
            key = in_order(one.labels).tobytes()
            unique[key] = _better(unique.get(key, one), one)
        found = Appraisal(sample).of(list(unique.values()), sources)
        return cls(sample, sorted(found, key=_rank, reverse=True))

    def beside(self, known: Sequence[Array], subspaces: Sequence[Array | None] = ()) -> Selection:
        """Return the candidates that are new beside further labelings (n,), best first.

        If the best is the product of two groupings, the better one of these comes first. Pieces of
        what was found in ``subspaces`` (d, q), as far as these are known, are not believed.
        """
        plan, rows = self.sample.plan, self.sample.rows
        here = [np.unique(labels[rows], return_inverse=True)[1] for labels in known]
        candidates = [_unless_known(one, here, plan) for one in self.candidates]
        candidates.sort(key=_rank, reverse=True)
        earlier = [
            Earlier(labels, W)
            for labels, W in zip(here, subspaces, strict=False)
            if W is not None and W.size
        ]
        candidates = _without_pieces(candidates, earlier, self.sample)
        if self.sample.settings.n_clusters is None:
            candidates = _factors_first(_whole_first(candidates, plan), self.sample)
        settings = candidates[0].settings
        return Selection(candidates, rows, settings, rule="surprise", plan=plan)


def _better(one: Candidate, other: Candidate) -> Candidate:
    """Return the higher of two candidates with the same groups, with what both have shown."""
    first = one if one.rank >= other.rank else other
    shown = [c.own_surprise for c in (one, other) if c.own_surprise is not None]
    return replace(first, own_surprise=max(shown, default=None))


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


def _without_pieces(
    candidates: list[Candidate], earlier: Sequence[Earlier], sample: Sample
) -> list[Candidate]:
    """Return candidates, best first, of which the winner stands the question for pieces."""
    for _ in range(len(candidates) if earlier else 0):
        asked = doubted(sample, candidates[0], earlier)
        if asked.believed == candidates[0].believed:
            return [asked, *candidates[1:]]
        candidates = sorted([asked, *candidates[1:]], key=_rank, reverse=True)
    return candidates


def _whole_first(candidates: list[Candidate], plan: SearchPlan) -> list[Candidate]:
    """Put a believed candidate first if the winner divides its groups further without clear gaps.

    Pieces of a moon or a ring are distinct along its curve, but the whole is better separated.
    """
    best = candidates[0]
    if best.rejected or best.separation >= plan.clear:
        return candidates
    for one in candidates[1:]:
        coarser = one.n_clusters < best.n_clusters and one.separation >= best.separation
        if one.believed and not one.rejected and coarser and _determines(best, one, plan):
            return [one, *(c for c in candidates if c is not one)]
    return candidates


def _factors_first(candidates: list[Candidate], sample: Sample) -> list[Candidate]:
    """Put a factor first if the winner is the product of two groupings, as :func:`_factor_first`.

    Four groups are the product of two pairs if they lie at the corners of a parallelogram: the
    effects of both groupings add up. Four groups anywhere else are four groups, although two of
    their divisions into pairs are always independent.
    """
    best, plan = candidates[0], sample.plan
    if best.rejected or best.n_clusters < 4:
        return candidates
    coarser = [
        one
        for one in candidates[1 : plan.finalists * 5]
        if not one.rejected and one.n_clusters < best.n_clusters and _determines(best, one, plan)
    ]
    points = sample.project(np.linalg.qr(best.W)[0])
    for i, one in enumerate(coarser):
        for other in coarser[i + 1 :]:
            cells = one.n_clusters * other.n_clusters
            if cells < best.n_clusters or nmi(one.labels, other.labels) > plan.independent:
                continue
            if _interaction(points, one.labels, other.labels) <= plan.interaction:
                return [one, *(c for c in candidates if c is not one)]
    return candidates


def _interaction(points: Array, a: Array, b: Array) -> float:
    """Return the share of the spread between the cells of two labelings that their sum leaves."""
    cells = np.unique(a * (b.max() + 1) + b, return_inverse=True)[1]
    between = points - GroupResidual(points, [cells]).columns(np.arange(points.shape[1]))
    left = GroupResidual(between, [a, b]).columns(np.arange(points.shape[1]))
    total = float(((between - between.mean(axis=0)) ** 2).sum())
    return float((left**2).sum()) / max(total, 1e-300)


def _determines(fine: Candidate, one: Candidate, plan: SearchPlan) -> bool:
    """Whether the groups of a finer candidate say nearly all about those of another."""
    own, whole = entropy(one.labels), entropy(fine.labels)
    return nmi(one.labels, fine.labels) * np.sqrt(whole / max(own, 1e-12)) >= plan.determined


def _factor_first(candidates: list[Candidate], plan: SearchPlan) -> list[Candidate]:
    """Put a factor first if the winner is the product of two independent groupings.

    Four clusters at the corners of a square are well separated, but as two independent pairs they
    are two views. The winner is such a product if two clear candidates are coarser versions of it
    and independent of each other. (With something given, that was for the user to say.)
    """
    coarser = [c for c in candidates[1:] if not c.rejected and _is_coarser(c, candidates[0], plan)]
    for i, one in enumerate(coarser):
        if any(nmi(one.labels, other.labels) <= plan.independent for other in coarser[i + 1 :]):
            return [one, *(c for c in candidates if c is not one)]
    return candidates


def _is_coarser(one: Candidate, fine: Candidate, plan: SearchPlan) -> bool:
    """Whether a clear candidate is determined by one with more clusters."""
    if one.separation < plan.clear or one.n_clusters >= fine.n_clusters:
        return False
    return _determines(fine, one, plan)


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
