"""Views by :class:`ISAAC`, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...linalg import Array
from ...results.found import Found
from ...search import Settings
from ...wording import Argument, ArgumentError
from .base import Clusters, Finding, Method

if TYPE_CHECKING:
    from ...isaac import ISAAC
    from ..finder import ViewFinder


class IndependentMethod(Method):
    """:class:`ISAAC`: all views at once, with nothing to set."""

    name = "isaac"
    has_chance = False

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Find all views."""
        from ...isaac import ISAAC  # on demand: nobody else waits for it

        if given:
            raise ArgumentError(
                Argument.of("method", "isaac"),
                " finds all views at once and cannot avoid given labels: leave given out, or use ",
                Argument.of("method", "kdac"),
            )
        if finder.n_clusters != "auto":
            raise ArgumentError(
                Argument.of("n_clusters", finder.n_clusters),
                " but ",
                Argument.of("method", "isaac"),
                " chooses the number of clusters itself: leave it at 'auto'",
            )
        return _IndependentFinding(X, ISAAC(random_state=seed, verbose=finder.verbose))


class _IndependentFinding(Finding):
    def __init__(self, X: Any, model: ISAAC) -> None:
        self._X, self._model = X, model
        self._fitted = False

    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        if not self._fitted:
            self._model.fit(self._X)
            self._fitted = True
        if position >= self._model.n_views_:
            return None
        one = self._model.subspaces_[position]
        settings = Settings(one.mixture.n_clusters, len(one.basis), None, None)
        mixture = one.mixture
        return Found(mixture.labels, one.basis, settings, code_length=mixture.cluster_bits)
