"""A sample of rows with their target, in as few coordinates as it has, and its folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..engines.metric import Metric
from ..linalg import Array
from ..problems import Gamma, one_hot, supervised, target_factor
from ..validation import are_classes, as_numbers

#: Rows that can be held out in folds.
LEAST_ROWS = 12


@dataclass(frozen=True)
class Target:
    """A target of n rows, as it is maximised and as it is predicted.

    Attributes
    ----------
    columns : array of shape (n, s)
        F with K_Y = FF'.
    values : array of shape (n, t)
        Indicators of classes, or numbers of mean 0 and variance 1.
    classes : array of int of shape (n,) or None
        The classes, from 0.
    """

    columns: Array
    values: Array
    classes: Array | None = None

    @classmethod
    def of(cls, values: Array, kernel: str, n_features: int) -> Target:
        """Return the target of what a user passed, (n,) or (n, m), with a checked target kernel.

        With more features than rows every row can be moved along a direction of its own, and a
        curved target is followed by noise: then "auto" is linear.
        """
        if are_classes(values, kernel):
            if kernel == "gaussian":
                raise ValueError("target_kernel='gaussian' is for real targets, but y has classes")
            classes = np.unique(values, return_inverse=True)[1]
            columns = one_hot(classes)
            if columns.shape[1] < 2:
                raise ValueError("y has a single class: there is nothing to depend on")
            return cls(columns, columns, classes)
        real = as_numbers(values).reshape(len(values), -1)
        if not np.ptp(real, axis=0).any():
            raise ValueError("y is constant: there is nothing to depend on")
        linear = target_factor(real, "linear")
        if kernel == "linear" or (kernel == "auto" and n_features >= len(real)):
            return cls(linear, linear)
        return cls(target_factor(real, "gaussian"), linear)

    @property
    def can_be_held_out(self) -> bool:
        """Whether every part of the rows can tell something about the others."""
        if len(self.values) < LEAST_ROWS:
            return False
        return self.classes is None or bool(np.sort(np.bincount(self.classes))[-2] > 1)

    def take(self, rows: Array) -> Target:
        """Return the target of some rows."""
        classes = None if self.classes is None else self.classes[rows]
        return Target(self.columns[rows], self.values[rows], classes)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a table.

    Attributes
    ----------
    Z : array of shape (m, r)
        Centred: as they are or, if features are more than rows, in an orthonormal basis of their
        span, which is all that kernels see.
    target : Target
        Their target.
    positions : array of int of shape (m,)
        Where they are in the table.
    lift, lower : callable
        Map directions (r, q) in these coordinates to directions (d, q) of the features, and back.
    """

    Z: Array
    target: Target
    positions: Array
    lift: Callable[[Array], Array]
    lower: Callable[[Array], Array]

    @classmethod
    def draw(cls, X: Any, target: Target, size: int, per_class: int = 0) -> Rows:
        """Draw rows of a table X (n, d), the same ones at every call, and some of each class."""
        rows = _sample(X.shape[0], target.classes, size, per_class)
        return cls.of(X[rows], target.take(rows), rows)

    @classmethod
    def of(cls, X: Any, target: Target, positions: Array | None = None) -> Rows:
        """Return all rows of X (m, d), with their positions in a larger table if there is one."""
        Z, lift, lower = _coordinates(X)
        return cls(Z, target, np.arange(len(Z)) if positions is None else positions, lift, lower)

    @property
    def gamma(self) -> Gamma:
        """What W is to depend on."""
        return supervised(self.target.columns).gamma()

    def whitening(self, share: float) -> Metric:
        """Return the metric that takes out a share of the spread that the target does not tell."""
        return Metric.whitening(self.residual() if share else self.Z, share)

    def residual(self) -> Array:
        """Return the rows (m, r) without what the target tells about them.

        For classes that is the mean of each one, with one more row at the mean of all; for real
        targets the same formula is a kernel ridge regression.
        """
        F = self.target.columns - self.target.columns.mean(axis=0)
        return self.Z - F @ np.linalg.solve(F.T @ F + np.eye(F.shape[1]), F.T @ self.Z)

    def lifted(self, metric: Metric) -> Metric:
        """Return a metric of these coordinates as one of the features."""
        return replace(metric, basis=self.lift(metric.basis))

    def split(self, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
        """Return pairs of learning and held-out rows; classes are spread evenly over folds."""
        order = np.random.default_rng(seed).permutation(len(self.Z))
        if self.target.classes is not None:
            order = order[np.argsort(self.target.classes[order], kind="stable")]
        fold = np.empty(len(self.Z), dtype=int)
        fold[order] = np.arange(len(order)) % n_folds
        parts = ((np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds))
        return [
            (self._take(inside, inside), self._take(outside, inside)) for inside, outside in parts
        ]

    def _take(self, rows: Array, centre: Array) -> Rows:
        Z = self.Z[rows] - self.Z[centre].mean(axis=0)
        return replace(self, Z=Z, target=self.target.take(rows), positions=self.positions[rows])


def _sample(n: int, classes: Array | None, size: int, per_class: int) -> Array:
    """Return positions of rows in random order, those that each class needs first; sorted."""
    order = np.random.default_rng(0).permutation(n)
    if n > size and classes is not None:
        counts = np.bincount(classes)
        by_class = order[np.argsort(classes[order], kind="stable")]
        rank = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
        needed = np.zeros(n, dtype=bool)
        needed[by_class[rank < per_class]] = True
        order = np.concatenate([order[needed[order]], order[~needed[order]]])
        size = max(size, int(needed.sum()))
    return np.sort(order[:size])


def _coordinates(X: Any) -> tuple[Array, Callable[[Array], Array], Callable[[Array], Array]]:
    """Return rows (m, d), centred, and what maps directions of them to features, and back."""
    m, d = X.shape
    mean = np.asarray(X.mean(axis=0), dtype=float).ravel()
    if not issparse(X):
        X, mean = np.asarray(X, dtype=float) - mean, np.zeros(d)
        if d <= m:
            return X, lambda W: W, lambda W: W
    gram = X @ X.T
    gram = np.asarray(gram.toarray() if issparse(gram) else gram, dtype=float)
    gram = gram - gram.mean(axis=0)
    gram = gram - gram.mean(axis=1, keepdims=True)  # sparse rows minus their mean, never formed
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    kept = values > 1e-10 * max(float(values[-1]), np.finfo(float).tiny)
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]

    def lift(W: Array) -> Array:
        shares = (vectors / roots) @ W
        return np.asarray(X.T @ shares) - np.outer(mean, shares.sum(axis=0))

    def lower(W: Array) -> Array:
        return np.asarray((vectors / roots).T @ (X @ W - mean @ W))

    return vectors * roots, lift, lower
