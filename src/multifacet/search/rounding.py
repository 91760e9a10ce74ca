"""What rounding did to a table, undone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .plan import PLAN, SearchPlan

#: Heaps that are no rule yet, however few the features are.
FEW = 3
#: Share of the other values that tells how dense they are next to an end.
NEXT = 0.2


def heaps_are_usual(X: Array, plan: SearchPlan = PLAN) -> bool:
    """Tell whether most columns of X (n, d) have more rows at an end than at any value near it.

    Those of words, genes and pixels do, if only a few rows: it is how these columns are, and no
    state of a row.
    """
    found = 0
    for column in X.T:
        counts = np.unique(column, return_counts=True)[1]
        found += any(
            end[0] >= max(plan.fewest_rows, plan.heap_ratio * end[1 : 1 + plan.heap_near].max())
            for end in (counts, counts[::-1])
            if len(end) > 1
        )
    return found > max(plan.usual_heaps * X.shape[1], FEW)


def evened(X: Any, seed: int = 0, plan: SearchPlan = PLAN) -> Any:
    """Return X (n, d) with repeated values of each column spread out; sparse data as they are.

    Values on a scale of few steps (counts, ratings, 0 and 1) lie in heaps with gaps between them,
    which look like groups and are none. Each is moved by at most half the distance to the nearer of
    its neighbouring values: a scale of even steps becomes even, and a value that is far more
    frequent than those next to it stays a heap. Unless several are: whole numbers among
    measurements, or ages of 20, 25 and 30, were rounded, and are spread out between each other.
    Unless most columns have one at an end, too: small amounts were not seen there, and are spread
    out beyond the others, as densely as these lie.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.rounding import evened
    >>> dice = np.repeat(np.arange(1.0, 7.0), 50)[:, None]
    >>> float(np.diff(np.sort(evened(dice).ravel())).max()) < 0.2
    True
    """
    if issparse(X):
        return X
    spread: Array = np.array(X, dtype=float)
    rng = np.random.default_rng(seed)
    usual = heaps_are_usual(spread, plan)
    for column in spread.T:
        if usual:
            _spread_ends(column, rng, plan)
        values, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        if not 1 < len(values) < len(column):
            continue
        room = _room(values)
        spikes = counts >= plan.heap_ratio * max(np.median(counts), plan.fewest_rows / 2)
        if spikes.sum() > plan.usual_spikes:
            room[spikes] = _room(values[spikes])
        moved = column + rng.uniform(-1, 1, len(column)) * room[codes]
        repeated = counts[codes] > 1
        column[repeated] = moved[repeated]
    return spread


def _room(values: Array) -> Array:
    """Return half the distance of sorted values (m,) to the nearer of their neighbours."""
    gaps = np.diff(values)
    return np.minimum(np.r_[gaps[0], gaps], np.r_[gaps, gaps[-1]]) / 2


def _spread_ends(column: Array, rng: np.random.Generator, plan: SearchPlan) -> None:
    """Spread the rows of a column (n,) that lie at its ends out beyond the others, in place."""
    for side in (1.0, -1.0):
        along = side * column
        at = along == along.min()
        others = np.sort(along[~at])
        if at.sum() < plan.fewest_rows or len(others) < plan.fewest_rows:
            continue
        near = others[: max(int(NEXT * len(others)), 2)]
        width = (near[-1] - near[0]) * at.sum() / len(near)
        column[at] = side * (near[0] - rng.uniform(0.0, width, at.sum()))
