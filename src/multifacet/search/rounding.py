"""What rounding did to a table, undone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array


def evened(X: Any, seed: int = 0) -> Any:
    """Return X (n, d) with repeated values of each column spread out; sparse data as they are.

    Values on a scale of few steps (counts, ratings, 0 and 1) lie in heaps with gaps between them,
    which look like groups and are none. Each is moved by at most half the distance to the nearer of
    its neighbouring values: a scale of even steps becomes even, and a value that is far more
    frequent than those next to it stays a heap.

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
        values, codes = np.unique(column, return_inverse=True)
        if not 1 < len(values) < len(column):
            continue
        gaps = np.diff(values)
        room = np.minimum(np.r_[gaps[0], gaps], np.r_[gaps, gaps[-1]]) / 2
        moved = column + rng.uniform(-1, 1, len(column)) * room[codes]
        repeated = np.bincount(codes)[codes] > 1
        column[repeated] = moved[repeated]
    return spread
