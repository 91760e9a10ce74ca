"""Views by a source of candidates that someone passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...linalg import Array
from ...progress import as_callback
from ...results.found import Found
from ...results.summary import describe_selection
from ...search import Sample, Source, select
from .base import Clusters, Finding, Method, asked

if TYPE_CHECKING:
    from ..finder import ViewFinder


@dataclass(frozen=True)
class SourceMethod(Method):
    """The best candidate of one source."""

    source: Source

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the source."""
        return self.source.name

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what asks the source."""
        return _SourceFinding(finder, self.source, X, seed)


class _SourceFinding(Finding):
    def __init__(self, finder: ViewFinder, source: Source, X: Any, seed: int) -> None:
        self._finder, self._source, self._X, self._seed = finder, source, X, seed

    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        sample = Sample.draw(self._X, list(known), asked(n_clusters), self._seed)
        chosen = select(sample, [self._source], callback=as_callback(self._finder.verbose))
        best, n = chosen.chosen, self._X.shape[0]
        if best.rejected:
            return None
        labels = np.asarray(self._source.label(sample, best, self._X))
        if labels.shape != (n,):
            raise ValueError(
                f"source {self._source.name!r} labels {n} rows by an array of shape "
                f"{labels.shape}: return one group for each row"
            )
        basis = np.linalg.qr(best.W)[0].T
        return Found(
            labels,
            basis,
            best.settings,
            separation=best.separation,
            selection=describe_selection(chosen),
        )
