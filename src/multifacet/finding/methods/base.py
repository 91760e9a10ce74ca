"""What a method of :class:`ViewFinder` is, and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...evidence import significance
from ...linalg import Array
from ...results.found import Found
from ...results.view import View

if TYPE_CHECKING:
    from ..finder import ViewFinder


class Finding(ABC):
    """Finds the views of one table, one after the other."""

    @abstractmethod
    def next(self, known: Sequence[Array], n_clusters: int | None, position: int) -> Found | None:
        """Return a view beside all that is known, or None if there is no further one.

        Parameters
        ----------
        known : sequence of arrays of shape (n,)
            What was given, and the views found before.
        n_clusters : int or None
            Number of groups; None is to be chosen.
        position : int
            How many views were found before.
        """

    def chance(self, view: View, n_clusters: int | None, stability: float | None) -> float:
        """Return how often data without groups lead to a view as good, of ``n_clusters`` asked for.

        By default by its separation, as if the kernel's search had found it.
        """
        n, d = len(view.labels), len(view.feature_weights)
        return significance(view.separation, n, d, n_clusters, stability=stability)

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        """Return how far other rows tell the same, if the method can tell."""
        return None

    def chance_among_twins(
        self, view: View, known: Sequence[Array], n_clusters: int | None
    ) -> float | None:
        """Return how often tables like this one without groups look as good, if it can tell."""
        return None


class Method(ABC):
    """A way to find views.

    Attributes
    ----------
    name : str
        What users call it.
    uses : frozenset of str
        Options of :class:`ViewFinder` that it uses, of those that not every method does; others
        are refused unless they are left at their defaults.
    has_chance : bool
        Whether what chance gives is known, so that ``n_views="auto"`` can stop by it.
    has_frontier : bool
        Whether its first view has a frontier of quality against novelty.
    refinable : bool
        Whether its views can be refined together.
    """

    name: str
    uses: ClassVar[frozenset[str]] = frozenset()
    has_chance: ClassVar[bool] = True
    has_frontier: ClassVar[bool] = False
    refinable: ClassVar[bool] = False

    @abstractmethod
    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Look at the data (n, d) and what is given, and return what finds the views."""
