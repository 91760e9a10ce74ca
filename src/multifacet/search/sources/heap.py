"""Rows in one heap: at the same end of a feature, or on an exact relation between features.

Zero hours of work, no advertising, alive at the end of the study, a total that is one of its parts:
a state, not an amount, and often the one that somebody has a column for. Rows at one place have no
distances among them, so a graph of neighbours says nothing about them. What tells is their number:
a column of measurements has a value once or a few times, a heap has it for a tenth of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...linalg import Array
from ..candidate import Candidate
from ..judge import judge
from ..plan import SearchPlan
from ..rounding import heaps_are_usual
from ..sample import Sample
from ..separation import NeighbourGraph
from .base import Proposal, Source

#: Distance (standard deviations) that is none after arithmetic in double precision, and the digits
#: that are left then.
NONE, DIGITS = 1e-7, 7
#: The same of further rows, perhaps in single precision.
SAME = 1e-5
#: Steps of a median regression, of its last fits to the better half, and rows that it is tried on.
MEDIAN_STEPS, LAST_STEPS, TRIED_ROWS = 20, 10, 60
#: Coordinates in which rows at one place are told apart, and how far they are then.
APART, APART_BY = 3, 1e-6


@dataclass(frozen=True, eq=False)
class Heap:
    """Rows at one place.

    Attributes
    ----------
    axes : list of arrays of shape (d,)
        Directions along which they are at one place.
    member : array of bool of shape (m,)
        Which rows these are.
    surprise : float
        How surprising so many are (nats) where values are as frequent as those next to it.
    """

    axes: list[Array] = field(repr=False)
    member: Array = field(repr=False)
    surprise: float


class HeapSource(Source):
    """Heaps, each against all other rows."""

    name = "heap"
    kind = "rows at one value"
    own_measure = True

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield every heap, if two groups may be asked for."""
        if issparse(sample.X) or sample.settings.n_clusters not in (None, 2):
            return
        found = [_judged(sample, heap) for heap in heaps(sample.X, sample.plan)]
        if found:
            yield Proposal(found, optional=False)

    def freedom(self, sample: Sample) -> float:
        """Choosing one of m ends is worth log2(m) dimensions."""
        return float(np.log2(2 * max(sample.X.shape[1], 1)))

    def label(self, sample: Sample, candidate: Candidate, X: Array) -> Array:
        """Return the groups (n,) of rows X (n, d): 1 at the place of the heap, 0 elsewhere."""
        points = sample.project(candidate.W)
        place = points[candidate.labels == 1][0]
        distance = np.linalg.norm(X @ candidate.W - sample.mean @ candidate.W - place, axis=1)
        return (distance < SAME * points.std()).astype(np.intp)


def heaps(X: Array, plan: SearchPlan) -> list[Heap]:
    """Return the heaps of a table (m, d), those of the same rows as one.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import PLAN
    >>> from multifacet.search.sources.heap import heaps
    >>> X = np.random.default_rng(0).exponential(size=(100, 2))
    >>> X[:40, 1] = 0.0
    >>> [int(heap.member.sum()) for heap in heaps(X, PLAN)]
    [40]
    """
    found: dict[bytes, Heap] = {}
    ends = [] if heaps_are_usual(X, plan) else list(_at_ends(X, plan))
    for heap in ends:
        same = found.get(heap.member.tobytes())
        if same is not None:
            heap = Heap(same.axes + heap.axes, heap.member, same.surprise + heap.surprise)
        found[heap.member.tobytes()] = heap
    for heap in _on_relations(X, plan):
        found.setdefault(heap.member.tobytes(), heap)
    return list(found.values())


def _judged(sample: Sample, heap: Heap) -> Candidate:
    W = np.linalg.qr(np.column_stack(heap.axes))[0]
    points = sample.project(W)
    # Which of its equals are the nearest of a row is left to chance, not to their order.
    rng = np.random.default_rng(sample.seed)
    spread = APART_BY * max(points.std(), NONE) * rng.standard_normal((len(points), APART))
    graph = NeighbourGraph.of(np.hstack([points, spread]), sample.plan)
    found = judge(
        sample, W, heap.member.astype(np.intp), start="heap", source=HeapSource.name, graph=graph,
        smallest=sample.plan.small_group,
    )  # fmt: skip
    return replace(found, own_surprise=heap.surprise, believed=not found.rejected)


def _at_ends(X: Array, plan: SearchPlan) -> Iterator[Heap]:
    """Yield the heaps at the lower and upper ends of features."""
    for end in (X.min(axis=0), X.max(axis=0)):
        at = end == X
        for feature in np.flatnonzero(_enough(at.sum(axis=0), len(X), plan)):
            surprise = _surprise(X[:, feature], end[feature], X.shape[1], plan)
            if surprise >= plan.heap_surprise:
                axis = np.eye(1, X.shape[1], int(feature))[0]
                yield Heap([axis], at[:, feature], surprise)


def _on_relations(X: Array, plan: SearchPlan) -> Iterator[Heap]:
    """Yield the rows for which one feature is an exact linear function of the others."""
    m, d = X.shape
    if not 2 <= d <= min(plan.start_components, m // 4):
        return
    some = np.random.default_rng(0).permutation(m)[: max(TRIED_ROWS, 4 * d)]
    for feature in range(d):
        axis, constant = _median_regression(X[some], feature)
        left = np.round(X @ axis - constant, DIGITS)
        on = left == 0
        values = len(np.unique(X[on, feature]))
        # Whole numbers are equal or in line by chance; measurements are not.
        if _enough(on.sum(), m, plan) and values >= plan.relation_values * on.sum():
            surprise = _surprise(left, 0.0, d, plan)
            if surprise >= plan.heap_surprise:
                yield Heap([axis / np.linalg.norm(axis)], on, surprise)


def _median_regression(X: Array, feature: int) -> tuple[Array, float]:
    """Return axis (d,) and constant of the hyperplane that the better half of the rows is nearest.

    Least absolute deviations, by weights, pass exactly through rows if most lie on a plane.
    """
    others = np.delete(np.column_stack([X, np.ones(len(X))]), feature, axis=1)
    target, weights = X[:, feature], np.ones(len(X))
    for _ in range(MEDIAN_STEPS):
        slopes = _weighted_fit(others, target, weights)
        weights = 1 / np.maximum(np.abs(target - others @ slopes), NONE)
    for _ in range(LAST_STEPS):
        off = np.abs(target - others @ slopes)
        slopes = _weighted_fit(others, target, (off <= np.median(off)).astype(float))
    return np.insert(-slopes[:-1], feature, 1.0), float(slopes[-1])


def _weighted_fit(A: Array, b: Array, weights: Array) -> Array:
    root = np.sqrt(weights)
    return np.linalg.lstsq(A * root[:, None], b * root, rcond=None)[0]


def _enough(count: Any, m: int, plan: SearchPlan) -> Any:
    """Whether so many of m rows, and all others, are a group each."""
    least = max(plan.heap_share * m, plan.fewest_rows)
    return (count >= least) & (count <= m - least)


def _surprise(x: Array, place: float, lines: int, plan: SearchPlan) -> float:
    """Return how surprising it is (nats) that so many values of x (m,) are at one place.

    Against as many as the most frequent of the values next to it, for the best of all lines.
    """
    values, counts = np.unique(x, return_counts=True)
    if len(values) < plan.heap_values:  # ratings and codes: every value is a heap
        return 0.0
    at = int(np.argmin(np.abs(values - place)))
    near = np.delete(counts, at)[max(at - plan.heap_near, 0) : at + plan.heap_near]
    count, usual = counts[at], near.max()
    # Where several other values are as frequent, rounding makes them so.
    rounded = (counts >= count).sum() > plan.usual_spikes
    if rounded or count < plan.heap_ratio * usual:
        return 0.0
    return float(count * np.log(count / usual) - (count - usual) - np.log(2 * lines))
