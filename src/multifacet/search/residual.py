"""What is left of data when the means of known groups are taken out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .plan import PLAN

#: Features up to which the principal axes come from a d x d matrix, and the size and passes of the
#: randomised range finder beyond.
DENSE_FEATURES, EXTRA_PROBES, PROBE_PASSES = 500, 10, 4


def residual_scores(X: Any, labelings: Sequence[Array], most: int = PLAN.start_components) -> Array:
    """Return the leading principal scores (n, r) of X without the means of the given groups."""
    return GroupResidual(X, labelings).principal(most)[1]


class GroupResidual:
    """Data minus the group means of all given labelings, without densifying sparse data."""

    def __init__(self, X: Any, labelings: Sequence[Array]) -> None:
        self._X = X
        groups = [np.ones((X.shape[0], 1))]
        groups += [(labels[:, None] == np.unique(labels)).astype(float) for labels in labelings]
        # Projecting on the span of all indicators removes the additive effect of each labeling.
        left, singular, _ = np.linalg.svd(np.hstack(groups), full_matrices=False)
        self._basis = left[:, singular > 1e-10 * singular[0]]
        self._loadings = np.asarray(X.T @ self._basis)  # (d, r)

    def columns(self, chosen: Array) -> Array:
        """Dense residual of a few columns (n, m)."""
        block = self._X[:, chosen]
        block = block.toarray() if issparse(block) else np.asarray(block, dtype=float)
        return block - self._basis @ self._loadings[chosen].T

    @property
    def variance(self) -> float:
        """Variance that is left, of all features together."""
        return float(self._left_over().sum()) / self._X.shape[0]

    def _left_over(self) -> Array:
        """Return the sums of squares (d,) that are left of features."""
        squares = self._X.multiply(self._X).sum(axis=0) if issparse(self._X) else None
        total = np.asarray(squares).ravel() if squares is not None else (self._X**2).sum(axis=0)
        return total - (self._loadings**2).sum(axis=1)

    def features(self, most: int) -> tuple[Array, Array]:
        """Axes (d, m) and values (n, m) of the features with most variance left."""
        left_over = self._left_over()
        order = np.argsort(-left_over, kind="stable")[:most]
        chosen = np.sort(order[left_over[order] > 1e-10 * max(left_over.max(), 1e-300)])
        axes = np.zeros((self._X.shape[1], len(chosen)))
        axes[chosen, np.arange(len(chosen))] = 1.0
        return axes, self.columns(chosen)

    def principal(self, most: int) -> tuple[Array, Array]:
        """Principal axes (d, m) and scores (n, m) of the residual, largest variance first."""
        n, d = self._X.shape
        if d <= DENSE_FEATURES:
            R = self.columns(np.arange(d))
            values, axes = np.linalg.eigh(R.T @ R / n)
            keep = np.argsort(values)[::-1][:most]
            keep = keep[values[keep] > 1e-10 * max(values.max(), 1e-300)]
            return axes[:, keep], R @ axes[:, keep]
        # Wide data: a randomised range finder needs products with X only.
        probe = np.random.default_rng(0).standard_normal((n, most + EXTRA_PROBES))
        for _ in range(PROBE_PASSES):
            probe = np.linalg.qr(self._times(self._transpose_times(probe)))[0]
        _, singular, axes = np.linalg.svd(self._transpose_times(probe).T, full_matrices=False)
        keep = singular[:most] > 1e-10 * max(singular[0], 1e-300)
        axes = axes[:most][keep].T
        return axes, self._times(axes)

    def _times(self, V: Array) -> Array:
        return np.asarray(self._X @ V) - self._basis @ (self._loadings.T @ V)

    def _transpose_times(self, V: Array) -> Array:
        return np.asarray(self._X.T @ V) - self._loadings @ (self._basis.T @ V)
