"""Projected rows, and the closed form of linear kernels: its matrix, and what it explains."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..engines.base import LazyRows
from ..engines.wide import WIDE, phi_operator
from ..linalg import Array, Symmetric
from ..problems import Problem


def centred_product(X: Any, mean: Array, W: Array) -> Array:
    """Return (X - mean) W (n, q), where sparse rows stay sparse."""
    return np.asarray(X @ W) - mean @ W if issparse(X) else (X - mean) @ W


def linear_phi(X: Any, mean: Array, problem: Problem) -> Symmetric:
    """Return X' H (I + sum_c w_c f_c f_c') H X (d, d), the matrix behind the closed form."""
    columns, weights = problem.columns, problem.weights
    lazy = isinstance(X, LazyRows)
    if X.shape[1] > (X.matrix_features if lazy else WIDE):
        return phi_operator(X, mean, partial(_with_known, columns=columns, weights=weights))
    scatter, known = X.products(columns) if lazy else _products(X, columns)
    scatter -= X.shape[0] * np.outer(mean, mean)
    return scatter + (known * weights) @ known.T


def _with_known(V: Any, columns: Any, weights: Array) -> Any:
    """Return (I + sum_c w_c f_c f_c') V (n, m)."""
    return V + columns @ (weights[:, None] * (columns.T @ V)) if len(weights) else V


def _products(X: Any, columns: Array) -> tuple[Array, Array]:
    """Return X'X (d, d) and X'F (d, r) of rows in memory."""
    scatter = X.T @ X
    scatter = np.asarray(scatter.todense() if issparse(scatter) else scatter, dtype=float)
    return scatter, np.asarray(X.T @ columns, dtype=float)


def explained_share(projected: Array, columns: Array) -> float:
    """Share of the variance (n, q) in the span of ``columns`` (n, r) beyond the mean."""
    if not columns.shape[1]:
        return 0.0
    centred = projected - projected.mean(axis=0)
    fitted = columns @ np.linalg.lstsq(columns, centred, rcond=None)[0]
    return float((fitted**2).sum() / max((centred**2).sum(), np.finfo(float).tiny))


def explained_share_of_sums(projected: Any, columns: Any) -> float:
    """Do as :func:`explained_share` for rows in chunks, from sums over them."""
    if not columns.shape[1]:
        return 0.0
    centred = projected - projected.mean(axis=0)
    sums = (columns.T @ columns, columns.T @ centred, (centred**2).sum())
    gram, cross, total = (np.asarray(one) for one in sums)
    fitted = np.sum(cross * (np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ cross))
    return float(fitted / max(total, np.finfo(float).tiny))
