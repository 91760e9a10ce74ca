"""Views by the closed forms, :class:`LinearKDAC` and :class:`EmbeddingKDAC`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.closed_forms import EmbeddingKDAC, LinearKDAC
from ...linalg import Array
from ...results.found import Found
from ...search import PLAN, Settings
from .base import Clusters, Finding, Method

if TYPE_CHECKING:
    from ..finder import ViewFinder


class LinearMethod(Method):
    """:class:`LinearKDAC`: compact groups in a linear subspace, in closed form."""

    name = "linear"
    uses = frozenset({"n_components", "novelty_weight"})
    takes_range = True

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what solves the closed form."""
        return _ClosedFinding(partial(self._fit, finder, X, seed), X)

    @staticmethod
    def _fit(finder: ViewFinder, X: Any, seed: int, known: Sequence[Array], k: int) -> Found:
        model = LinearKDAC(
            k,
            n_components=finder.n_components,
            novelty_weight=finder.novelty_weight,
            random_state=seed,
        ).fit(X, given=list(known) or None)
        settings = Settings(k, model.n_components_, None, model.novelty_weight_)
        return Found(model.labels_, model.components_, settings, quality=model.quality_)


class EmbeddingMethod(Method):
    """:class:`EmbeddingKDAC`: groups of any shape on all features, in closed form."""

    name = "embedding"
    uses = frozenset({"kernel", "bandwidth", "novelty_weight", "engine"})
    takes_range = True

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what solves the closed form."""
        return _ClosedFinding(partial(self._fit, finder, X, seed), X)

    @staticmethod
    def _fit(finder: ViewFinder, X: Any, seed: int, known: Sequence[Array], k: int) -> Found:
        model = EmbeddingKDAC(
            k,
            kernel=finder.kernel,
            bandwidth=finder.bandwidth,
            novelty_weight=finder.novelty_weight,
            engine=finder.engine,
            random_state=seed,
            n_jobs=finder.n_jobs,
        ).fit(X, given=list(known) or None)
        settings = Settings(k, None, model.bandwidth_, model.novelty_weight_)
        none = np.zeros((0, X.shape[1]))
        return Found(model.labels_, none, settings, model.embedding_, model.quality_)


class _ClosedFinding(Finding):
    """Fits once per number of groups, and keeps the best separated result."""

    def __init__(self, fit: Callable[[Sequence[Array], int], Found], X: Any) -> None:
        self._fit, self._X = fit, X

    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        if isinstance(n_clusters, int):
            return self._fit(known, n_clusters)
        low, high = n_clusters or (2, PLAN.most_clusters)
        counts = [low, *(k for k in range(low + 1, high + 1) if 2 * k <= self._X.shape[0])]
        tried = [self._fit(known, k).completed(self._X, known) for k in counts]
        return max(tried, key=attrgetter("separation"))
