"""Settings chosen by what they lead to: bandwidth, novelty weight, dimension, number of clusters.

The search works on a subsample, coarse to fine:

1. every start is a subspace; its clusters at a few bandwidths are *judged*;
2. the most promising starts are *explored* by short alternations at a few coarse settings, and the
   subspaces these lead to are judged in the same way;
3. among the best, separation and *stability* together decide.

The papers' own rules are here too, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .kernels import Kernel, needs_bandwidth, typical_distance
from .linalg import Array, leading_eigenpairs
from .metrics import nmi
from .search import STABILITY_WEIGHT, Candidate, Search, Settings, entropy
from .solvers import ISM
from .solvers.base import Solver
from .starts import Start, spectral_start

#: Share of the starts that is explored; with a clear separation in hand the search ends when this
#: many further ones brought nothing better.
PROMISING, CLEAR, PATIENCE = 0.4, 1.5, 2
#: Most dimensions that the papers' rule may choose.
MAX_DIMENSIONS = 100
#: Candidates whose stability is asked.
FINALISTS = 20
#: Share of a grouping's entropy that another determines, and NMI, that make a product of two.
DETERMINED, INDEPENDENT = 0.8, 0.05
#: Separation below which nothing counts as found, and the novelty weight that is taken then.
WEAK, WEAK_WEIGHT = 0.4, 10.0


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

    @property
    def found(self) -> bool:
        """Whether the winner is admissible and separated better than a structureless cloud."""
        return not self.chosen.rejected and self.chosen.separation >= WEAK

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
    X: Any,
    labelings: Sequence[Array],
    kernel: Kernel,
    solver: Solver,
    settings: Settings,
    make_starts: Callable[[int], Iterable[Start]],
    *,
    with_residual: bool = True,
    seed: int,
    callback: Callable[[dict], None] | None = None,
) -> Selection:
    """Choose the settings that are left open.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    labelings : sequence of arrays of shape (n,)
        What is given.
    kernel : Kernel
        Similarity; its bandwidth is chosen if it has one that is open.
    solver : Solver
        Solver of the short alternations.
    settings : Settings
        What is fixed.
    make_starts : callable
        Returns the starts of a dimension q.
    with_residual : bool
        Whether to add starts from the residual.
    seed : int
        Seed of the subsample and of k-means.
    callback : callable, optional
        Called with a dict after every start.

    Returns
    -------
    Selection
        All candidates, best first.
    """
    search = Search(X, labelings, kernel, solver, settings, seed)
    starts = [start for q in search.dimensions() for start in make_starts(q)]
    if with_residual:
        starts += [start for q in search.dimensions() for start in search.residual_starts(q)]
    n_explored = max(1, round(PROMISING * len(starts)))
    race = _Race(callback, search.rows, total=len(starts) + n_explored)
    # Threads do not pay: on some hundred rows the interpreter is the bottleneck.
    judged = [race.enter(search.judge_start(start)) for start in starts]
    leads = sorted(zip(judged, starts, strict=True), key=lambda pair: pair[0].rank, reverse=True)
    for best, start in leads[:n_explored]:
        race.enter(search.explore_start(start, best))
        if race.decided:
            break
    candidates = sorted(race.candidates, key=_rank, reverse=True)
    # Stability is at most 1, so whoever is behind by more cannot win by it.
    close = candidates[0].separation - STABILITY_WEIGHT
    finalists = [c for c in candidates[:FINALISTS] if not c.rejected and c.separation >= close]
    others = candidates[len(finalists) :]
    finalists = sorted(map(search.with_stability, finalists), key=_rank, reverse=True)
    candidates = finalists + others
    if not labelings and settings.n_clusters is None:
        candidates = _factor_first(candidates)
    selection = Selection(candidates, search.rows, settings)
    best = selection.chosen
    if selection.found:
        return replace(selection, settings=best.settings)
    return replace(selection, settings=_papers_settings(settings, X, kernel, best.n_clusters))


def _factor_first(candidates: list[Candidate]) -> list[Candidate]:
    """Put a factor first if the winner is the product of two independent groupings.

    Four clusters at the corners of a square are well separated, but as two independent pairs they
    are two views. The winner is such a product if two clear candidates are coarser versions of it
    and independent of each other. (With something given, that was for the user to say.)
    """
    coarser = [c for c in candidates[1:] if not c.rejected and _is_coarser(c, candidates[0])]
    for i, one in enumerate(coarser):
        if any(nmi(one.labels, other.labels) <= INDEPENDENT for other in coarser[i + 1 :]):
            return [one, *(c for c in candidates if c is not one)]
    return candidates


def _is_coarser(one: Candidate, fine: Candidate) -> bool:
    """Whether a clear candidate is determined by one with more clusters."""
    if one.separation < CLEAR or one.n_clusters >= fine.n_clusters:
        return False
    own, whole = entropy(one.labels), entropy(fine.labels)
    return nmi(one.labels, fine.labels) * np.sqrt(whole / max(own, 1e-12)) >= DETERMINED


def _papers_settings(fixed: Settings, X: Any, kernel: Kernel, k: int) -> Settings:
    """Fill in what is open as the papers do: groupings by direction, where there are no gaps."""
    k = fixed.n_clusters or k
    width = fixed.bandwidth
    if width is None and needs_bandwidth(kernel):
        width = typical_distance(X)
    q = fixed.n_components or min(k, max(1, X.shape[1] // 2))
    weight = WEAK_WEIGHT if fixed.novelty_weight is None else fixed.novelty_weight
    return Settings(k, q, width, weight)


def select_by_quality(
    X: Any, labelings: Sequence[Array], kernel: Kernel, fixed: Settings, *, seed: int
) -> Selection:
    """Choose bandwidth and novelty weight as the papers do: CQ under the second-order inequality.

    Every pair of a grid is run from the spectral start (ISM 2018, section 5). CQ rises to k
    as the bandwidth falls, whatever the clusters, so this rule is here to be compared with. If no
    pair satisfies the inequality, the highest CQ wins nevertheless and says so.
    """
    search = Search(X, labelings, kernel, ISM(), fixed, seed)
    k = fixed.n_clusters or 2
    q = fixed.n_components or min(k, max(1, search.d // 2))
    typical = typical_distance(search.X)
    shares = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if fixed.bandwidth is None else (1.0,)
    weights = (0.1, 1.0, 10.0, 100.0) if fixed.novelty_weight is None else (1.0,)
    scored = []
    for share in shares:
        for weight in weights:
            width, weight = search.width(share * typical), search.weight(weight)
            scored.append(search.judge_quality(k, q, width, weight))
    scored.sort(key=lambda pair: (not pair[1].rejected, pair[0]), reverse=True)
    candidates = [candidate for _, candidate in scored]
    return Selection(candidates, search.rows, candidates[0].settings, rule="quality")


def eigengap_dimension(X: Any, labelings: Sequence[Array], kernel: Kernel, k: int) -> int:
    """Return the papers' q: the largest gap between eigenvalues of Phi at the spectral start."""
    search = Search(X, labelings, kernel, ISM(), Settings(k), seed=0)
    sums = search.attach(search.filled(search.width(typical_distance(search.X))))
    gamma = spectral_start(sums, search.problem(k, 3.0), 1).gamma
    assert gamma is not None
    values = leading_eigenpairs(sums.initial_phi(gamma), min(search.d, MAX_DIMENSIONS))[0]
    most = max(1, len(values) - 1)
    return int(np.argmax(values[:most] - values[1 : most + 1])) + 1 if search.d > 1 else 1


class _Race:
    """The candidates so far, the best of them, and how long ago it came in."""

    def __init__(self, callback: Callable[[dict], None] | None, rows: Array, *, total: int) -> None:
        self.candidates: list[Candidate] = []
        self._callback, self._rows = callback, rows
        self._total, self._done, self._waiting = total, 0, 0

    def enter(self, found: list[Candidate]) -> Candidate:
        """Add the candidates of one start and return the best of them."""
        best_before = max(self.candidates, key=_rank, default=None)
        best = max(found, key=_rank)
        improved = best_before is None or best.rank > best_before.rank
        self._waiting = 0 if improved else self._waiting + 1
        self.candidates += found
        self._done += 1
        if self._callback is not None:
            shown = best if improved else best_before
            self._callback(
                {
                    "stage": "select",
                    "done": self._done,
                    "total": self._total,
                    "best": shown,
                    "rows": self._rows,
                }
            )
        return best

    @property
    def decided(self) -> bool:
        """Whether the best is clear and has not been beaten for a while."""
        best = max(self.candidates, key=_rank)
        return not best.rejected and best.separation >= CLEAR and self._waiting >= PATIENCE


def _rank(candidate: Candidate) -> tuple[bool, float]:
    return candidate.rank
