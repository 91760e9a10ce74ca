"""Axes of few features each: what they cost in the prediction of held-out rows.

Two things make axes hard to read: features that hardly matter, and axes that mix the others. So,
from step to step, the features with the least part in the subspace are dropped and W is found
again among the rest; the axes are rotated to few large loadings (varimax), and of these only the
largest are kept. What an axis is without a feature is told by a regression of its coordinate on
the features that are left, so that a feature can stand in for another that it resembles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse

from ..engines.choose import few_rows
from ..explain import varimax
from ..kernels import Kernel, with_bandwidth
from ..linalg import Array, orthonormalise
from .choosing import HeldOutChoice
from .climbing import climbed, held_out_scores
from .held_out import PLAN
from .sampled import Rows, Target
from .sparsity import SparseStep

#: Features (s,), among those that vary, and axes (s, q) of them.
Place: TypeAlias = tuple[Array, Array]
#: Features that are left after the first step at most, and the share of loadings that a step
#: leaves; steps are larger while the loadings are more than so many.
WIDEST, STEP, LARGE_STEP, MANY = 256, 2**-0.5, 0.5, 64
#: Share of the loadings that is left between two regressions.
GENTLE = 0.7


@dataclass(frozen=True, eq=False)
class Walk:
    """Some rows in all features, on the way to fewer of them.

    Attributes
    ----------
    X : array or CSR matrix of shape (m, d)
        The rows.
    target : Target
        Their target.
    kernel : Kernel
        With its bandwidth.
    share : float
        Share of whitening.
    """

    X: Any
    target: Target
    kernel: Kernel
    share: float

    def narrowed(self, features: Array, W: Array, n_features: int) -> tuple[Array, Array]:
        """Return the features (s,) with the largest part in W (s, q), and W found again on them."""
        if n_features >= len(features):
            return features, W
        part = np.sqrt((W**2).sum(axis=1)) * self._spread(features)
        kept = np.sort(np.argsort(-part, kind="stable")[:n_features])
        features, W = features[kept], W[kept]
        rows = Rows.of(self.X[:, features], self.target)
        metric = rows.whitening(self.share)
        sums = few_rows((metric @ rows.Z.T).T, self.kernel)
        start = metric.divided(orthonormalise(rows.lower(W)))
        W = climbed(sums, rows.gamma, start, PLAN.steps, PLAN.tol).W
        return features, rows.lift(orthonormalise(metric @ W))

    def axes(self, features: Array, W: Array, n_loadings: int) -> Array:
        """Return axes (s, q) of unit length with so many loadings in all, in the place of W."""
        if n_loadings >= W.size:
            return W
        return sparse_axes(W, _dense(self.X[:, features]), n_loadings)

    def down(self, W: Array, counts: Sequence[int]) -> list[Place]:
        """Return features and axes at each number of loadings; the first one is all of W (d, q)."""
        features = np.arange(len(W))
        found = [(features, W)]
        for n_loadings in counts[1:]:
            features, W = self.narrowed(features, W, n_loadings)
            found.append((features, self.axes(features, W, n_loadings)))
        return found

    def _spread(self, features: Array) -> Array:
        X = self.X[:, features]
        if not issparse(X):
            return np.asarray(X.std(axis=0))
        mean, square = X.mean(axis=0), X.multiply(X).mean(axis=0)
        return np.sqrt(np.maximum(np.asarray(square - np.square(mean)).ravel(), 0.0))


def sparse_axes(W: Array, X: Array, n_loadings: int) -> Array:
    """Return axes (s, q) of unit length along which rows X (m, s) lie nearly as along those of W.

    Axes are rotated to few large loadings first. Every one keeps at least one loading, the largest
    one is positive, and the axis along which rows spread most comes first.
    """
    X = X - X.mean(axis=0)
    gram = X.T @ X / len(X)
    spread = np.sqrt(np.diag(gram))[:, None]
    W = W @ varimax(W * spread)
    found, kept = W, np.ones(W.shape, dtype=bool)
    while kept.sum() > n_loadings:
        part = np.abs(found) * spread / np.linalg.norm(found * spread, axis=0)
        part[part.argmax(axis=0), np.arange(W.shape[1])] = 2.0
        n_left = max(n_loadings, int(GENTLE * kept.sum()))
        order = np.argsort(-np.where(kept, part, -1.0), axis=None, kind="stable")
        kept = np.zeros(W.shape, dtype=bool)
        kept.flat[order[:n_left]] = True
        found = np.column_stack(
            [_stand_in(gram, w, support) for w, support in zip(W.T, kept.T, strict=True)]
        )
    found = found / np.linalg.norm(found, axis=0)
    found = found[:, np.argsort(-(X @ found).std(axis=0).round(6), kind="stable")]
    signs = np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return found * signs + 0.0  # no "-0"


def _stand_in(gram: Array, w: Array, support: Array) -> Array:
    """Return the direction (s,) of some features along which rows lie most nearly as along w."""
    inner = gram[np.ix_(support, support)]
    ridge = 1e-6 * np.trace(inner) / len(inner) * np.eye(len(inner))
    found = np.zeros(len(w))
    found[support] = np.linalg.solve(inner + ridge, gram[support] @ w)
    return found


def steps_down(d: int, q: int, last: int | None = None) -> list[int]:
    """Return numbers of loadings from all of d x q to one per axis, or to the last one."""
    least = min(max(q, last or q), d * q)
    counts = [d * q]
    while counts[-1] > least:
        large = counts[-1] > MANY * q
        n = int(counts[-1] * (LARGE_STEP if large else STEP))
        counts.append(max(least, min(n, WIDEST * q)))
    return counts


@dataclass(frozen=True, eq=False)
class Sparsifier:
    """Finds axes of few features on a sample of rows.

    Attributes
    ----------
    choice : HeldOutChoice
        With the sample, and how W is found on it.
    X : array or CSR matrix of shape (m, d)
        The rows of the sample in all features.
    bandwidth : float or None
        Bandwidth; None for kernels without one.
    share : float
        Share of whitening.
    """

    choice: HeldOutChoice
    X: Any
    bandwidth: float | None
    share: float

    def path(self, W: Array, last: int | None = None) -> tuple[list[SparseStep], list[Place]]:
        """Return steps to ever fewer loadings, and the axes at each of them.

        Parameters
        ----------
        W : array of shape (d, q)
            Where the path begins on the whole sample; folds find their own beginning.
        last : int, optional
            Number of loadings at which it ends; by default one per axis.
        """
        counts = steps_down(len(W), W.shape[1], last)
        places = self.walk(np.arange(self.X.shape[0])).down(W, counts)
        scores: list[list[Array]] = [[] for _ in counts]
        for learning, out in self.choice.folds():
            inside, outside = (self._positions(rows) for rows in (learning, out))
            found = self.walk(inside).down(self._start(learning, W.shape[1]), counts)
            for kept, (features, axes) in zip(scores, found, strict=True):
                near, new = (self.X[rows][:, features] @ axes for rows in (inside, outside))
                kept.append(held_out_scores(near, learning.target, new, out.target, PLAN))
        steps = [
            _step(place, np.concatenate(one)) for place, one in zip(places, scores, strict=True)
        ]
        return steps, places

    def walk(self, rows: Array) -> Walk:
        """Return the walk of some rows of the sample."""
        kernel = with_bandwidth(self.choice.kernel, self.bandwidth)
        return Walk(self.X[rows], self.choice.rows.target.take(rows), kernel, self.share)

    def _positions(self, rows: Rows) -> Array:
        return np.searchsorted(self.choice.rows.positions, rows.positions)

    def _start(self, learning: Rows, q: int) -> Array:
        """Return the W (d, q) of all features to which the bandwidths lead on a fold."""
        choice, metric = replace(self.choice, rows=learning), learning.whitening(self.share)
        widths = choice.descent(metric, q, self.bandwidth)
        return learning.lift(orthonormalise(metric @ choice.start(metric, q, widths)))


def _step(place: Place, scores: Array) -> SparseStep:
    features, axes = place
    used = features[axes.any(axis=1)]
    error = float(scores.std() / np.sqrt(len(scores)))
    n_loadings = int(np.count_nonzero(axes))
    return SparseStep(n_loadings, len(used), used, float(scores.mean()), error, scores)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if issparse(X) else X, dtype=float)
