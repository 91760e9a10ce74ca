"""Views by :class:`KDAC`, one fit for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.kdac import KDAC
from ...evidence import stability
from ...linalg import Array
from ...results.found import Found
from ...results.measures import separation_of
from ...results.summary import describe_selection
from ...results.view import View
from ...search import Selection, Settings
from ...search.residual import GroupResidual
from .base import Clusters, Finding, Method, told

if TYPE_CHECKING:
    from ..finder import ViewFinder


class KernelMethod(Method):
    """:class:`KDAC` with all that is open chosen by its search."""

    name = "kdac"
    uses = frozenset(
        {"n_components", "kernel", "bandwidth", "novelty_weight", "n_starts", "solver", "engine"}
        | {"n_refits"}
    )
    has_frontier = True
    refinable = True

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what fits KDAC again and again."""
        return _KernelFinding(finder, X, seed)


class _KernelFinding(Finding):
    def __init__(self, finder: ViewFinder, X: Any, seed: int) -> None:
        self._finder, self._X, self._seed = finder, X, seed

    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        model = kdac(self._finder, told(n_clusters), self._seed)
        model.fit(self._X, given=list(known) or None)
        found = found_by(model)
        if model.selection_ is None:
            return found
        return self._as_selected(found, model.selection_, known)

    def _as_selected(self, found: Found, chosen: Selection, known: Sequence[Array]) -> Found:
        """Return it with the separation that the search saw on its subsample.

        The null of the significance is that of the search; minus infinity where nothing new was
        found.
        """
        judged = chosen.chosen.separation
        if known and not chosen.chosen.rejected:
            found = found.completed(self._X, known)
            judged = 0.5 * (judged + min(judged, _separation_within(found, known, chosen.rows)))
        return replace(found, separation=judged, selection=describe_selection(chosen))

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        return kernel_stability(self._finder, self._X, view, known, self._seed)


def kdac(finder: ViewFinder, n_clusters: int | None, seed: int) -> KDAC:
    """Return KDAC with the options of a finder."""
    return KDAC(
        n_clusters="auto" if n_clusters is None else n_clusters,
        n_components=finder.n_components,
        kernel=finder.kernel,
        bandwidth=finder.bandwidth,
        novelty_weight=finder.novelty_weight,
        n_starts=finder.n_starts,
        solver=finder.solver,
        engine=finder.engine,
        random_state=seed,
        n_jobs=finder.n_jobs,
        verbose=finder.verbose,
    )


def found_by(model: KDAC) -> Found:
    """Return what a fitted model found."""
    settings = Settings(
        model.n_clusters_, model.n_components_, model.bandwidth_, model.novelty_weight_
    )
    return Found(model.labels_, model.components_, settings, quality=model.quality_)


def kernel_stability(
    finder: ViewFinder, X: Any, view: View, known: Sequence[Array], seed: int
) -> float:
    """Return how far the kernel's search finds a view again on other rows."""
    return stability(
        X,
        view.labels,
        view.settings,
        given=known,
        kernel=finder.kernel,
        solver=finder.solver,
        n_refits=finder.n_refits,
        random_state=seed,
    )


def _separation_within(found: Found, known: Sequence[Array], rows: Array) -> float:
    """Return the separation of groups when the means of the known groups are removed.

    A view that is independent of the known groups stays then, gaps between the groups themselves
    go; so both readings count.
    """
    assert found.projection is not None
    points = GroupResidual(found.projection[rows], [labels[rows] for labels in known])
    inside = points.columns(np.arange(found.projection.shape[1]))
    return separation_of(inside, found.labels[rows])
