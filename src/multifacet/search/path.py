"""Coarser and finer versions of a grouping, by their number of groups."""

from __future__ import annotations

from collections.abc import Sequence

from .candidate import Candidate
from .plan import SearchPlan
from .precedence import share_told


def path_of(candidates: Sequence[Candidate], plan: SearchPlan) -> list[Candidate]:
    """Return the best candidate of each number of groups that divides or merges those of the first.

    Parameters
    ----------
    candidates : sequence of Candidate
        Best first; the first one was chosen.
    plan : SearchPlan
        Constants of the search.

    Returns
    -------
    list of Candidate
        From the fewest to the most groups, the chosen one among them; empty if that was rejected.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import PLAN, Bank, CompactSource, Sample, Settings
    >>> from multifacet.search.path import path_of
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2)) + 12 * np.repeat([[0, 0], [0, 1], [5, 0]], 40, axis=0)
    >>> sample = Sample.draw(X, [], Settings(), seed=0)
    >>> found = Bank.collect(sample, [CompactSource()]).beside([])
    >>> [one.n_clusters for one in path_of(found.candidates, PLAN)][:2]
    [2, 3]
    """
    chosen = candidates[0]
    if chosen.rejected:
        return []
    best = {chosen.n_clusters: chosen}
    for one in candidates:
        if one.rejected or one.n_clusters in best:
            continue
        fine, coarse = (one, chosen) if one.n_clusters > chosen.n_clusters else (chosen, one)
        if share_told(fine, coarse) >= plan.determined:
            best[one.n_clusters] = one
    return [best[k] for k in sorted(best)]


def plateau_of(path: Sequence[Candidate], n_clusters: int, plan: SearchPlan) -> tuple[int, int]:
    """Return the least and the most groups around a number that are as separated but for chance.

    Parameters
    ----------
    path : sequence of Candidate
        As :func:`path_of` returns it, not empty.
    n_clusters : int
        The number that was chosen.
    plan : SearchPlan
        Constants of the search.
    """
    at = [one.n_clusters for one in path].index(n_clusters)
    alike = [abs(one.separation - path[at].separation) <= plan.separation_scale for one in path]
    low = high = at
    while low > 0 and alike[low - 1]:
        low -= 1
    while high + 1 < len(path) and alike[high + 1]:
        high += 1
    return path[low].n_clusters, path[high].n_clusters
