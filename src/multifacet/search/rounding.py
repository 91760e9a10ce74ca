"""What rounding did to a table, undone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .plan import PLAN, SearchPlan


def evened(X: Any, seed: int = 0, plan: SearchPlan = PLAN) -> Any:
    """Return X (n, d) with repeated values of each column spread out; sparse data as they are.

    Values on a scale of few steps (counts, ratings, 0 and 1) lie in heaps with gaps between them,
    which look like groups and are none. Each is moved by at most half the distance to the nearer of
    its neighbouring values: a scale of even steps becomes even, and a value that is far more
    frequent than those next to it stays a heap. Unless several are: whole numbers among
    measurements, or ages of 20, 25 and 30, were rounded, and are spread out between each other.

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
    for column in spread.T:
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
