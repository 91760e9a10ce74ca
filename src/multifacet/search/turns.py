"""Two groupings that add up, found in turns: each where the other one is taken out.

Of ten kinds in five colours no grouping of few groups shows the kinds alone, and in noise the ways
between fifty small groups (:mod:`.factors`) cannot be told apart. Once some colours are guessed,
what is left without their means is about the kinds; and without the kinds the colours come out
whole. So two guesses lead to each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..linalg import Array
from ..metrics import nmi
from .factors import interaction_of
from .judge import chance_nmi
from .nested import directions_of_means, group_means, nested_groups
from .plan import SearchPlan
from .separation import NeighbourGraph

#: What a candidate is said to come from if it is one of two groupings that add up.
ONE_OF_TWO = "one of two"


@dataclass(frozen=True)
class _Clearest:
    """The finest of the clearest groupings on a path, and its separation."""

    separation: float
    labels: Array = field(repr=False)


def in_turns(
    points: Array, guesses: Iterable[Array], plan: SearchPlan, *, seed: int
) -> tuple[Array, Array] | None:
    """Return two clear groupings (m,) whose effects add up, None if no guess leads to such.

    Parameters
    ----------
    points : array of shape (m, r)
        Rows, of mean zero.
    guesses : iterable of arrays of shape (m,)
        Groupings to begin with; the first that leads to two groupings ends it.
    plan : SearchPlan
        Constants of the search.
    seed : int
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.metrics import nmi
    >>> from multifacet.search import PLAN
    >>> from multifacet.search.turns import in_turns
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 6, 500), rng.integers(0, 4, 500)
    >>> points = 5 * rng.normal(size=(6, 10))[a] + 3 * rng.normal(size=(4, 10))[b]
    >>> points += rng.normal(size=points.shape)
    >>> one, other = in_turns(points - points.mean(axis=0), [a], PLAN, seed=0)
    >>> nmi(one, a) > 0.95, nmi(other, b) > 0.95
    (True, True)
    """
    rows = np.sort(np.random.default_rng(seed).permutation(len(points))[: plan.turn_rows])
    few = points[rows] - points[rows].mean(axis=0)
    for guess in guesses:
        other = _beside(few, guess[rows], plan, seed)
        one = _beside(few, other.labels, plan, seed)
        other = _beside(few, one.labels, plan, seed)
        if _are_two(few, one, other, plan):
            return _of_all(points, rows, one.labels, other.labels)
    return None


def _beside(points: Array, known: Array, plan: SearchPlan, seed: int) -> _Clearest:
    """Return the finest of the clearest groupings of points (m, r) without the means of others."""
    rest = points - group_means(points, known)[0][known]
    most, steps = plan.turn_groups, plan.kmeans_steps
    found, last = [_Clearest(-np.inf, np.zeros(len(points), dtype=int))], np.inf
    for labels in nested_groups(rest, 2 * most, plan.turn_runs, steps=steps, seed=seed):
        sizes = np.bincount(labels)
        if len(sizes) * plan.turn_step > last and len(sizes) > plan.most_clusters:
            continue
        last = len(sizes)
        if last <= most and sizes.min() * last >= plan.small_group * len(labels):
            graph = NeighbourGraph.of(rest @ directions_of_means(rest, labels), plan)
            found.append(_Clearest(graph.separation(labels).score, labels))
    best = max(one.separation for one in found)
    return next(one for one in found if one.separation >= best - plan.turn_level)


def _are_two(points: Array, one: _Clearest, other: _Clearest, plan: SearchPlan) -> bool:
    """Whether two groupings are clear, independent of each other, and add up."""
    if min(one.separation, other.separation) < plan.clear:
        return False
    most = plan.independent + chance_nmi(one.labels, other.labels)
    if nmi(one.labels, other.labels) > most:
        return False
    return interaction_of(points, one.labels, other.labels) <= plan.interaction


def _of_all(points: Array, rows: Array, one: Array, other: Array) -> tuple[Array, Array]:
    """Return two groupings of some rows as groupings (m,) of all: of the nearest sum of means."""
    few = points[rows]
    first = group_means(few, one)[0]
    second = group_means(few - first[one], other)[0]
    first = group_means(few - second[other], one)[0]
    sums = (first[:, None] + second).reshape(-1, points.shape[1])
    cell = (points @ sums.T - 0.5 * (sums**2).sum(axis=1)).argmax(axis=1)
    return cell // len(second), cell % len(second)
