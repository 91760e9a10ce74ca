"""Groupings that differ from those already known: what the methods for it share."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import ClusterMixin

from ..linalg import Array
from ..problems import Problem, alternative_by_rows, strength, unsupervised
from ..validation import check_choice, check_labelings, check_real
from ..wording import Argument, ArgumentWarning

#: Novelty weight behind "auto" where nothing is searched, in unit scale.
NOVELTY_WEIGHT = 3.0


class Alternative(ClusterMixin):
    """How the given labels enter, shared by the three methods."""

    #: Words that ``novelty_weight`` may be.
    _weight_rules: tuple[str, ...] = ("auto",)

    novelty_weight: Any
    novelty_scale: Any
    novelty_weight_: float

    def fit_predict(self, X: Any, y: Any = None, *, given: Any = None) -> Array:
        """Fit and return ``labels_``; see :meth:`fit`."""
        return self.fit(X, given=given).labels_

    def _labelings(self, given: Any, n_rows: int, y: Any) -> list[Array]:
        """Return the given labelings, checked."""
        if y is not None and given is None:
            warnings.warn("y is ignored: pass known labels as given=", UserWarning, stacklevel=3)
        check_choice("novelty_scale", self.novelty_scale, ["unit", "paper"])
        if isinstance(self.novelty_weight, str):
            check_choice("novelty_weight", self.novelty_weight, self._weight_rules)
        else:
            check_real("novelty_weight", self.novelty_weight, positive=False)
        return check_labelings(given, n_rows)

    def _problem(
        self, labelings: list[Array], n_rows: int, k: int, weight: float = NOVELTY_WEIGHT
    ) -> Problem:
        """Return the problem; sets ``novelty_weight_``: ``weight`` (unit scale) if it is open."""
        if not isinstance(self.novelty_weight, str):
            self.novelty_weight_ = float(self.novelty_weight)
        else:
            self.novelty_weight_ = weight / strength(labelings, n_rows, self.novelty_scale)
        if not labelings:
            return unsupervised(n_rows, k)
        return alternative_by_rows(labelings, self.novelty_weight_, k, scale=self.novelty_scale)


class AlternativeSubspace(Alternative):
    """The dimension of a subspace that is to avoid something."""

    def _alternative_dimension(self, k: int, d: int, labelings: list[Array]) -> int:
        q = self._dimension(min(k, max(1, d // 2)))
        if q == d and labelings:
            idle = (
                f" keeps all {d} features, so given has no effect on the subspace: use fewer "
                "components"
            )
            warnings.warn(ArgumentWarning(Argument.of("n_components", q), idle), stacklevel=3)
        return q
