"""A search that goes on: views one by one, beside what someone says in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..linalg import Array
from ..results.view import View


@dataclass(frozen=True, eq=False)
class Ongoing:
    """Finds one view after the other, see :meth:`ViewFinder.begin`.

    Attributes
    ----------
    given : list of arrays of shape (n,)
        What is known, in which the search looks for something else.
    following : callable
        Returns the view beside labelings, of which so many were found, or None.

    Examples
    --------
    >>> from multifacet import ViewFinder
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> finder = ViewFinder(n_clusters=2, method="linear", random_state=0)
    >>> finder.begin(X).next().n_clusters
    2
    """

    given: list[Array] = field(repr=False)
    following: Callable[[list[Array], int], View | None] = field(repr=False)

    def next(self, found: Sequence[Array] = ()) -> View | None:
        """Return a view beside what is given and some labelings, None if there is no further one.

        Candidates that were seen before are not looked for again, so this takes a moment where
        another one of them is clear. After the views that it has returned, in their order, it
        returns what a :class:`ViewFinder` would find next.

        Parameters
        ----------
        found : sequence of arrays of shape (n,)
            Labelings that the view should not repeat: those found before, be they liked or not.

        Examples
        --------
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(90, [2, 2], rotate=False, random_state=0)
        >>> ongoing = ViewFinder(n_clusters=2, n_refits=0, random_state=0).begin(X)
        >>> first = ongoing.next()
        >>> second = ongoing.next([first.labels])
        >>> round(second.novelty, 1)
        0.0
        """
        return self.following([*self.given, *found], len(found))
