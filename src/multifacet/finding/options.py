"""What the options of :class:`ViewFinder` ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..validation import check_choice, check_count
from ..wording import Argument, ArgumentError
from .methods import METHODS, Method
from .methods.base import Clusters, as_range, no_range

if TYPE_CHECKING:
    from .finder import ViewFinder


def refuse_idle_options(finder: ViewFinder, method: Method, defaults: dict[str, Any]) -> None:
    """Raise for an option that was set although the method does not use it."""
    every = frozenset().union(*(one.uses for one in METHODS.values()))
    for name in sorted(every - method.uses):
        value = getattr(finder, name)
        idle = isinstance(value, type(defaults[name])) and value == defaults[name]
        if not idle and not (name == "n_refits" and value == 0):  # none are asked for
            used = Argument.of("method", method.name)
            raise ArgumentError(
                Argument.of(name, value), " has no effect on ", used, ": leave it out"
            )


def clusters_asked(n_clusters: Any, position: int) -> Clusters:
    """Return the number of groups asked of a view, a range, or None if it is to be chosen."""
    between = as_range(n_clusters)
    if between is not None:
        return int(between[0]), int(between[1])
    if isinstance(n_clusters, str):
        return None
    return int(n_clusters[position]) if np.ndim(n_clusters) else int(n_clusters)


def check_clusters_asked(n_clusters: Any, n_views: int | str, limit: int, method: Method) -> int:
    """Check the numbers of groups, and return the largest number of views that they allow."""
    between = as_range(n_clusters)
    if between is not None:
        _check_range(between, method)
        return limit
    if isinstance(n_clusters, str):
        check_choice("n_clusters", n_clusters, ["auto"])
        return limit
    # A single group is a grouping that no further view could avoid.
    for k in np.atleast_1d(n_clusters).tolist():
        check_count("n_clusters", k, low=1 if n_views in (1, "auto") else 2)
    if not np.ndim(n_clusters):
        return limit
    count = len(n_clusters)
    if count != limit and not isinstance(n_views, str):
        raise ArgumentError(
            Argument("n_clusters"),
            f" has {count} entries for {limit} views: pass one of each, or one number for all",
        )
    return min(count, limit)


def _check_range(n_clusters: tuple[Any, Any], method: Method) -> None:
    """Raise for a range of numbers of groups that is none, or that a method cannot choose from."""
    low, high = (check_count("n_clusters", k, low=2) for k in n_clusters)
    if low > high:
        raise ArgumentError(
            Argument.of("n_clusters", n_clusters),
            " ends before it begins: pass the least and the most, or a list of one number a view",
        )
    if not method.takes_range:
        raise no_range(n_clusters, method.name)
