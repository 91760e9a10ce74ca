"""What a method of :class:`ViewFinder` is, and what it returns."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ...evidence import significance
from ...linalg import Array
from ...results.found import Found
from ...results.view import View
from ...search import Settings
from ...wording import Argument, ArgumentError

if TYPE_CHECKING:
    from ..finder import ViewFinder


#: How many groups a view is to have: a number, the least and the most, or None to be chosen.
Clusters: TypeAlias = int | tuple[int, int] | None


def as_range(n_clusters: Any) -> tuple[Any, Any] | None:
    """Return the least and the most groups if these are asked for, otherwise None.

    A tuple of two, where a list is of views; or as text, which records of runs can keep.

    Examples
    --------
    >>> from multifacet.finding.methods.base import as_range
    >>> as_range((2, 30)), as_range("2-30"), as_range([2, 30]), as_range("auto")
    ((2, 30), (2, 30), None, None)
    """
    if isinstance(n_clusters, str):
        found = re.fullmatch(r"(\d+)-(\d+)", n_clusters)
        return None if found is None else (int(found[1]), int(found[2]))
    return n_clusters if isinstance(n_clusters, tuple) and len(n_clusters) == 2 else None


def no_range(n_clusters: Any, method: str) -> ArgumentError:
    """Return what is said of a range that a method does not choose from."""
    return ArgumentError(
        Argument.of("n_clusters", n_clusters),
        " is a range, from which ",
        Argument.of("method", method),
        " does not choose: pass a number, or leave it out",
    )


def told(n_clusters: Clusters) -> int | None:
    """Return the number of groups, None if it is to be chosen."""
    return None if isinstance(n_clusters, tuple) else n_clusters


def asked(n_clusters: Clusters) -> Settings:
    """Return what a search is told about the number of groups."""
    between = n_clusters if isinstance(n_clusters, tuple) else None
    return Settings(told(n_clusters), between=between)


class Finding(ABC):
    """Finds the views of one table, one after the other."""

    @abstractmethod
    def next(self, known: Sequence[Array], n_clusters: Clusters, position: int) -> Found | None:
        """Return a view beside all that is known, or None if there is no further one.

        Parameters
        ----------
        known : sequence of arrays of shape (n,)
            What was given, and the views found before.
        n_clusters : int, tuple of int or None
            Number of groups; the least and the most, or None, are to be chosen from.
        position : int
            How many views were found before.
        """

    def chance(self, view: View, n_clusters: Clusters, stability: float | None) -> float:
        """Return how often data without groups lead to a view as good, of ``n_clusters`` asked for.

        By default by its separation, as if the kernel's search had found it.
        """
        n, d = len(view.labels), len(view.feature_weights)
        return significance(view.separation, n, d, told(n_clusters), stability=stability)

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        """Return how far other rows tell the same, if the method can tell."""
        return None

    def chance_among_twins(
        self, view: View, known: Sequence[Array], n_clusters: Clusters
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
    takes_range : bool
        Whether it chooses from a range of numbers of groups.
    """

    name: str
    uses: ClassVar[frozenset[str]] = frozenset()
    has_chance: ClassVar[bool] = True
    has_frontier: ClassVar[bool] = False
    refinable: ClassVar[bool] = False
    takes_range: ClassVar[bool] = False

    @abstractmethod
    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Look at the data (n, d) and what is given, and return what finds the views."""
