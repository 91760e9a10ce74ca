"""Views of every kind: from one bank of candidates of all sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ...engines.threads import single_threaded_blas, thread_count
from ...estimators.alternative import NOVELTY_WEIGHT
from ...evidence import found_again
from ...kernels import as_kernel
from ...linalg import Array
from ...metrics import nmi
from ...progress import as_callback
from ...results.found import Found
from ...results.summary import describe_selection
from ...results.view import View
from ...search import (
    PLAN,
    Bank,
    Candidate,
    CompactSource,
    KernelSource,
    Sample,
    Selection,
    Settings,
    Source,
    chance,
)
from ...search.candidate import in_order
from ...search.edges import with_likely_edges
from ...search.rounding import evened
from ...search.separation import NeighbourGraph
from ...search.sources import MixtureSource, every_source
from ...search.starts import PairStarts
from ...search.twins import chance_among, surprise_of_twins
from ...solvers import as_solver
from ...validation import check_clusters
from .base import Clusters, Finding, Method, as_range, asked, no_range, told
from .kernel import KernelMethod, found_by, kdac, kernel_stability

if TYPE_CHECKING:
    from ..finder import ViewFinder


#: Seed of samples, starts and refits.
SEED = 0
#: NMI with the groups that were judged from which a fit to all rows tells the same groups.
STILL_THE_SAME = 0.5
#: Rows with fewer of which no two groups could show, and none are looked for unless asked.
FEWEST_ROWS = 2 * (PLAN.fewest_rows + 1)
#: Options that are about the kernel objective: whoever sets one asks for it.
KERNEL_ONLY = {
    "n_components": "auto",
    "kernel": "gaussian",
    "bandwidth": "auto",
    "novelty_weight": "auto",
}


class AutoMethod(Method):
    """All sources: curved groups with gaps, overlapping ellipses, compact groups and steps.

    Their candidates are kept, and later views are first looked for among them. If an option of
    the kernel objective is set, its search is the only one.
    """

    name = "auto"
    uses = KernelMethod.uses | {"n_twins"}
    has_frontier = True
    refinable = True
    takes_range = True

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what searches once and then picks."""
        # Views are refined together by the kernel objective, and some options speak of it alone.
        if finder.strategy == "simultaneous" or any(
            not _is(getattr(finder, name), default) for name, default in KERNEL_ONLY.items()
        ):
            if as_range(finder.n_clusters) is not None:
                raise no_range(finder.n_clusters, KernelMethod.name)
            return KernelMethod().begin(finder, X, given, seed)
        thread_count(finder.n_jobs)  # refused before the work, not after it
        # What a table holds does not depend on a seed, so neither does what is found in it.
        return _AutoFinding(finder, X, given, SEED)


def _is(value: Any, default: str) -> bool:
    return isinstance(value, str) and value == default


@dataclass(frozen=True)
class _Choice:
    """The winner of a bank, and what proposed it."""

    sample: Sample
    selection: Selection
    source: Source

    @property
    def best(self) -> Candidate:
        return self.selection.chosen


class _AutoFinding(Finding):
    def __init__(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> None:
        self._finder, self._X, self._given, self._seed = finder, X, list(given), seed
        self._sources = self._ask(finder.n_starts)
        self._kernel = KernelMethod().begin(finder, X, given, seed)
        self._banks: dict[Clusters, Bank] = {}
        self._banks_beside: dict[bytes, Bank] = {}
        self._chosen: dict[str, Source] = {}
        #: Groups (n,) as they were proposed, of views whose edges were put elsewhere.
        self._proposed: dict[str, Array] = {}
        #: Subspaces (d, q) of views that were found, by their groups.
        self._subspaces: dict[bytes, Array] = {}

    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        found = known[len(self._given) :]
        low = n_clusters[0] if isinstance(n_clusters, tuple) else n_clusters
        check_clusters(low or 2, self._X)
        if n_clusters is None and self._X.shape[0] < FEWEST_ROWS:
            return None
        if n_clusters == 1:
            return Found(np.zeros(self._X.shape[0], int), np.eye(1, self._X.shape[1]), Settings(1))
        if n_clusters not in self._banks:
            self._banks[n_clusters] = self._search(self._given, n_clusters, self._sources)
        choice = self._best(self._banks[n_clusters], found)
        wide = choice.sample.wide
        if found and (wide or not self._clear(choice, n_clusters)):
            # What is left is looked for from the strongest starts only.
            few = self._ask(min(self._finder.n_starts, PLAN.refit_starts))
            if wide:  # with many features, among compact groups
                few = {name: s for name, s in few.items() if s.turn(choice.sample) == 0}
            again = self._best(self._search(known, n_clusters, few), found)
            if again.best.rank > choice.best.rank or (wide and again.best.believed):
                choice = again
        unseen = choice.sample.directions < self._X.shape[1] <= choice.sample.plan.papers_features
        if not choice.best.believed and unseen and not isinstance(n_clusters, tuple):
            # The quick sources saw the leading directions only; the papers' start sees all.
            beyond = self._kernel.next(known, n_clusters, position)
            return beyond and _with_rounding_undone(beyond, choice.sample)
        if n_clusters is None and not (self._given or choice.sample.wide):
            choice = self._divided(choice, found) if choice.best.believed else choice
        return self._finished(choice, known)

    def chance(self, view: View, n_clusters: Clusters, stability: float | None) -> float:
        if view.surprise is None:
            return super().chance(view, n_clusters, stability)
        n, d = len(view.labels), len(view.feature_weights)
        given = bool(self._given)
        return chance(view.surprise, n, d, told(n_clusters), given=given, stability=stability)

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        finder, source = self._finder, self._chosen.get(view.name)
        view = replace(view, labels=self._proposed.get(view.name, view.labels))
        by_kernel = source is None or source.name == KernelSource.name
        if by_kernel and self._X.shape[1] <= PLAN.papers_features:
            return kernel_stability(finder, self._X, view, known, self._seed)
        return found_again(
            self._X, view.labels, self._again(source), given=known, first=source,
            n_refits=finder.n_refits, random_state=self._seed,
        )  # fmt: skip

    def chance_among_twins(
        self, view: View, known: Sequence[Array], n_clusters: Clusters
    ) -> float | None:
        # The kernel's search takes as long as all twins together: its law has to do.
        chosen, finder = self._chosen.get(view.name), self._finder
        kernel = chosen is None or chosen.name == KernelSource.name
        if kernel or view.surprise is None or issparse(self._X):
            return None
        with single_threaded_blas():
            sample = self._drawn(known, asked(n_clusters))
            callback = as_callback(finder.verbose)
            sources = self._again(chosen)
            found = surprise_of_twins(sample, sources, view.surprise, finder.n_twins, callback)
        return chance_among(view.surprise, found)

    @property
    def _quick(self) -> list[Source]:
        """The sources that propose within tenths of a second."""
        return [one for one in self._sources.values() if one.name != KernelSource.name]

    def _again(self, source: Source | None) -> list[Source]:
        """Return what looks again for a view: with many features its own source, and compact."""
        if self._X.shape[1] <= PLAN.most_directions:
            return self._quick
        names = {CompactSource.name, CompactSource.name if source is None else source.name}
        return [one for one in self._sources.values() if one.name in names]

    def _ask(self, n_starts: int) -> dict[str, Source]:
        """Return all sources by name, the kernel's with so many starts of a dimension."""
        finder = self._finder
        starts = PairStarts(n_starts, self._seed)
        found = every_source(as_kernel(finder.kernel), as_solver(finder.solver), starts)
        return {source.name: source for source in found}

    def _search(
        self,
        known: Sequence[Array],
        n_clusters: Clusters,
        sources: dict[str, Source],
        *,
        announced: bool = True,
    ) -> Bank:
        """Ask sources beside what is known; how far they are is ``announced``."""
        # Without anything given there is nothing to weigh.
        settings = replace(asked(n_clusters), novelty_weight=None if known else NOVELTY_WEIGHT)
        with single_threaded_blas():
            sample = self._drawn(known, settings)
            callback = as_callback(self._finder.verbose) if announced else None
            return Bank.collect(sample, list(sources.values()), callback)

    def _drawn(self, known: Sequence[Array], settings: Settings) -> Sample:
        return Sample.draw(self._X, list(known), settings, self._seed, wide=True)

    def _best(self, bank: Bank, found: Sequence[Array]) -> _Choice:
        """Return the winner of a bank beside views that were found."""
        selection = bank.beside(found, self._subspaces_of(found))
        return _Choice(bank.sample, selection, self._sources[selection.chosen.source])

    def _divided(self, choice: _Choice, found: Sequence[Array]) -> _Choice:
        """Return a winner, or what divides its groups further beside other views (n,).

        In a table of two groupings the means of both hide finer groups of either. What is there
        beside the first view is as good as known.
        """
        labels, subspaces = np.asarray(self._labelled(choice).labels), self._subspaces_of(found)
        if not found:
            second = self._best(self._banks[None], [labels])
            if not (second.best.believed and self._clear(second, None)):
                return choice
            second = self._divided(second, [labels])
            found, subspaces = [np.asarray(self._labelled(second).labels)], [second.best.W]
        bank = self._finer_beside(found, choice.best.n_clusters)
        selection = bank.dividing(choice.best, labels, found, subspaces)
        if selection is None:
            return choice
        return _Choice(bank.sample, selection, self._sources[selection.chosen.source])

    def _subspaces_of(self, found: Sequence[Array]) -> list[Array | None]:
        """Return the subspaces (d, q) of views (n,), as far as they are known."""
        return [self._subspaces.get(in_order(labels).tobytes()) for labels in found]

    def _finer_beside(self, found: Sequence[Array], k: int) -> Bank:
        """Return mixtures of more than k groups beside views (n,), where nothing is given."""
        key = np.stack([*found, np.full(len(found[0]), k)]).tobytes()
        if key not in self._banks_beside:
            mixture = {MixtureSource.name: self._sources[MixtureSource.name]}
            numbers = (k + 1, max(k + 1, PLAN.most_clusters))
            self._banks_beside[key] = self._search(found, numbers, mixture, announced=False)
        return self._banks_beside[key]

    def _clear(self, choice: _Choice, n_clusters: Clusters) -> bool:
        """Tell whether a winner is beyond chance, as far as can be said without refits."""
        if choice.best.rejected or choice.best.surprise is None:
            return False
        n, d = self._X.shape
        p_value = chance(choice.best.surprise, n, d, told(n_clusters), given=bool(self._given))
        return p_value <= self._finder.significance

    def _finished(self, choice: _Choice, known: Sequence[Array]) -> Found | None:
        """Return a winner with the labels of all rows, None if nothing new is there."""
        if choice.best.rejected:
            return None
        # Evidence is asked of what proposed the groups, wherever their edges are put.
        name = f"view {len(known) - len(self._given) + 1}"
        self._chosen[name] = choice.source
        proposed, choice = choice, self._with_likely_edges(choice, known)
        if choice is not proposed:
            self._proposed[name] = np.asarray(self._labelled(proposed).labels)
        best = choice.best
        found = self._solved(choice, known) or self._labelled(choice)
        self._subspaces[in_order(np.asarray(found.labels)).tobytes()] = found.components.T
        return replace(
            found,
            separation=best.separation,
            selection=describe_selection(choice.selection),
            kind=choice.source.kind,
            surprise=best.surprise,
        )

    def _with_likely_edges(self, choice: _Choice, known: Sequence[Array]) -> _Choice:
        """Return a choice, and where its groups overlap one with the edges of a mixture."""
        mixture = self._sources.get(MixtureSource.name)
        if mixture is None:
            return choice
        later = known[len(choice.sample.given) :]  # found after the search that proposed it
        sample = choice.sample.beside(later)
        fine = with_likely_edges(sample, choice.best, proposed_beside=not later)
        if fine is choice.best:
            return choice
        candidates = [fine, *choice.selection.candidates]
        selection = replace(choice.selection, candidates=candidates, settings=fine.settings)
        return _Choice(sample, selection, mixture)

    def _solved(self, choice: _Choice, known: Sequence[Array]) -> Found | None:
        """Return the kernel objective's winner refined on all rows, if it still is what won.

        The objective has optima beside the one that was judged, and a climb may end there.
        """
        if choice.source.name != KernelSource.name:
            return None
        if self._X.shape[1] > PLAN.papers_features:  # judged in few directions, and kept there
            return None
        model = kdac(self._finder, choice.best.n_clusters, self._seed)
        model.fit_selected(self._X, choice.selection, given=list(known) or None)
        found = found_by(model)
        same = nmi(found.labels[choice.sample.rows], choice.best.labels)
        return found if same >= STILL_THE_SAME else None

    def _labelled(self, choice: _Choice) -> Found:
        """Return a winner with its own groups, and those of all other rows after them."""
        best = choice.best
        labels = np.asarray(choice.source.label_table(choice.sample, best))
        labels[choice.sample.rows] = best.labels
        settings = Settings(best.n_clusters, best.n_components)
        return Found(labels, np.linalg.qr(best.W)[0].T, settings)


def _with_rounding_undone(found: Found, sample: Sample) -> Found:
    """Return what was found with its separation where columns of few values have no gaps."""
    even, labels = evened(sample.X), in_order(found.labels[sample.rows])
    if issparse(even) or found.separation is None:
        return found
    points = (even - even.mean(axis=0)) @ found.components.T
    again = NeighbourGraph.of(points, sample.plan).separation(labels).score
    return replace(found, separation=min(found.separation, again))
