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
from .candidate import Candidate, Settings
from .judge import entropy
from .plan import PLAN, SearchPlan
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
        """Whether the winner is admissible and separated better than a structureless cloud."""
        return not self.chosen.rejected and self.chosen.separation >= self.plan.weak

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
    race = _Race(sample, callback)
    for source in sources:
        before = len(race)
        for proposal in source.propose(sample) or ():
            if not isinstance(proposal, Proposal) or not proposal.candidates:
                raise TypeError(
                    f"source {source.name!r} yields {proposal!r}: yield Proposal objects with at "
                    "least one candidate"
                )
            race.enter(proposal, before + proposal.total)
            if proposal.optional and race.decided:
                break
    if not race.candidates:
        names = ", ".join(repr(source.name) for source in sources)
        raise ValueError(f"source {names} proposed no candidate: use one that does")
    candidates = _confirmed(sample, sources, sorted(race.candidates, key=_rank, reverse=True))
    if not sample.given and sample.settings.n_clusters is None:
        candidates = _factor_first(candidates, sample.plan)
    selection = Selection(candidates, sample.rows, sample.settings, plan=sample.plan)
    return replace(selection, settings=candidates[0].settings) if selection.found else selection


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
    own, whole = entropy(one.labels), entropy(fine.labels)
    return nmi(one.labels, fine.labels) * np.sqrt(whole / max(own, 1e-12)) >= plan.determined


class _Race:
    """The candidates so far, the best of them, and how long ago it came in."""

    def __init__(self, sample: Sample, callback: Callback | None) -> None:
        self.candidates: list[Candidate] = []
        self._sample, self._callback = sample, callback
        self._done, self._waiting = 0, 0

    def enter(self, proposal: Proposal, total: int) -> None:
        """Add the candidates of a proposal, and tell how far the search is."""
        best_before = max(self.candidates, key=_rank, default=None)
        best = max(proposal.candidates, key=_rank)
        improved = best_before is None or best.rank > best_before.rank
        self._waiting = 0 if improved else self._waiting + 1
        self.candidates += proposal.candidates
        self._done += 1
        if self._callback is not None:
            shown = best if improved else best_before
            self._callback(
                {
                    "stage": "select",
                    "done": self._done,
                    "total": total,
                    "best": shown,
                    "rows": self._sample.rows,
                }
            )

    def __len__(self) -> int:
        return self._done

    @property
    def decided(self) -> bool:
        """Whether the best is clear and has not been beaten for a while."""
        best, plan = max(self.candidates, key=_rank), self._sample.plan
        clear = not best.rejected and best.separation >= plan.clear
        return clear and self._waiting >= plan.patience


def _rank(candidate: Candidate) -> tuple[bool, float]:
    return candidate.rank
