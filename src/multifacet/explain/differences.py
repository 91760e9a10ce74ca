"""How far groups differ in their means: by themselves, in effect sizes, as shares of variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..linalg import MOMENT_ROWS, Array, column_moments

#: Least effect size that is called a difference: Cohen's "medium", visible to the eye.
NOTICEABLE = 0.5
#: Least pooled variance as a share of the total: effect sizes stay finite when groups are pure.
MIN_WITHIN = 1e-4


def differences(X: Any, groups: Array) -> tuple[Array, Array, Array]:
    """Return mean differences (k, d) to all other rows, effect sizes (k, d), eta squared (d,)."""
    n = X.shape[0]
    sizes = np.bincount(groups)[:, None]
    means = _sums(X, groups, len(sizes)) / sizes
    mean = (sizes * means).sum(axis=0) / n
    variance = column_moments(X)[1] ** 2
    varying = np.sqrt(variance) > 1e-12 * np.sqrt(variance.max())
    scale = np.where(varying, variance, 1.0)
    between = (sizes * (means - mean) ** 2).sum(axis=0) / n
    shift = (means - mean) * n / np.maximum(n - sizes, 1)
    # The rows of a cluster and all others, each around its own mean: total minus between.
    within = scale - sizes * (n - sizes) / n**2 * shift**2
    pooled = np.sqrt(np.maximum(within, MIN_WITHIN * scale) * n / max(n - 2, 1))
    hedges = 1 - 3 / (4 * max(n - 2, 1) - 1)
    return shift, np.where(varying, hedges * shift / pooled, 0.0), varying * between / scale


def _sums(X: Any, groups: Array, k: int) -> Array:
    """Return the sums (k, d) of the rows of each group.

    In blocks of rows: all of them in single precision would be copied to double precision first.
    """
    total = np.zeros((k, X.shape[1]))
    for start in range(0, X.shape[0], MOMENT_ROWS):
        rows = X[start : start + MOMENT_ROWS]
        m = rows.shape[0]
        members = csr_matrix((np.ones(m), (groups[start : start + m], np.arange(m))), (k, m))
        sums = members @ rows
        total += sums.toarray() if issparse(sums) else sums
    return total


def direction_effect(projected: Array, groups: Array) -> float:
    """Return the largest effect size in the subspace, along the mean differences themselves."""
    shift, _, _ = differences(projected, groups)
    _, effects, _ = differences(projected @ shift.T, groups)
    return float(np.abs(np.diag(effects)).max())
