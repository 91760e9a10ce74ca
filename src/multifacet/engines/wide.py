"""Phi of wide data: products with it instead of a d x d matrix.

Phi = X' L X for an n x n matrix L that depends on Gamma and on the slope of the kernel, so that a
product with Phi is one with X, one with L and one with X', and d x d never exists. With many
features that is what eigen-solvers want anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..kernels import Kernel
from ..linalg import Array, symmetric_operator
from ..problems import Gamma
from .base import LazyRows

#: Features beyond which Phi is an operator.
WIDE = 1000
#: Dimensions that stand for all features of wide data.
RANDOM_DIMENSIONS = 500


def phi_operator(X: Any, mean: Array, multiply: Callable[[Array], Array]) -> LinearOperator:
    """Return Phi (d, d) = X' L X of the rows of X (n, d) minus their mean, from V -> L V."""
    lazy = isinstance(X, LazyRows)
    forth, back = (X.forth, X.back) if lazy else (partial(_forth, X), partial(_back, X))
    return symmetric_operator(lambda V: back(multiply(forth(V, mean)), mean), X.shape[1])


def _forth(X: Any, V: Array, mean: Array) -> Array:
    return np.asarray(X @ V) - mean @ V


def _back(X: Any, F: Array, mean: Array) -> Array:
    return np.asarray(X.T @ F, dtype=float) - np.outer(mean, F.sum(axis=0))


def initial_phi_operator(
    X: Any,
    mean: Array,
    terms: Sequence[tuple[float, Kernel]],
    scales: Sequence[Array | None],
    gamma: Gamma,
) -> LinearOperator:
    """Return Phi_0 (d, d): Phi with the slopes of the kernel's terms at W = 0."""

    def multiply(V: Array) -> Array:
        out = np.zeros_like(V)
        for (weight, part), scale in zip(terms, scales, strict=True):
            F = gamma.factors if scale is None else gamma.factors * scale[:, None]
            slopes = weight * part.initial_slope * gamma.weights
            product = F @ (slopes[:, None] * (F.T @ V))
            if part.form == "inner":
                out += product
            else:
                out += 2 * (F @ (slopes * F.sum(axis=0)))[:, None] * V - 2 * product
        return out

    return phi_operator(X, mean, multiply)


def all_features(n_features: int) -> Array:
    """Return W (d, p) that keeps the distances over all features.

    The identity; for wide data a random projection, which keeps distances to a few per cent
    (Johnson and Lindenstrauss 1984), instead of as many dense columns as there are features.
    """
    if n_features <= WIDE:
        return np.eye(n_features)
    rng = np.random.default_rng(0)
    return rng.standard_normal((n_features, RANDOM_DIMENSIONS)) / np.sqrt(RANDOM_DIMENSIONS)
