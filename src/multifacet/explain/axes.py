"""A subspace that can be read: rotated to few large loadings."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import qr

from ..linalg import Array
from .differences import differences


def varimax(W: Any, *, max_iter: int = 500, tol: float = 1e-10) -> Array:
    """Find the rotation that makes loadings sparse: few large entries, many near zero.

    Parameters
    ----------
    W : array-like of shape (d, q)
        Loadings, one column per axis.
    max_iter : int, default=500
        Most iterations.
    tol : float, default=1e-10
        Relative gain of an iteration below which it stops.

    Returns
    -------
    array of shape (q, q)
        Orthogonal R; the columns of ``W @ R`` maximise the variance of their squared entries.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import varimax
    >>> W = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]) / np.sqrt(2)
    >>> np.round(np.abs(W @ varimax(W)), 6).sum(axis=0)
    array([1., 1.])
    """
    W = np.asarray(W, dtype=float)
    # Axes along the most distinct features: from W itself, the iteration can stand still at a
    # minimum, as in the example.
    R = qr(W.T, mode="economic", pivoting=True)[0]
    gain = 0.0
    for _ in range(max_iter):
        L = W @ R
        U, singular, Vt = np.linalg.svd(W.T @ (L**3 - L * (L**2).mean(axis=0)))
        if singular.sum() <= gain * (1 + tol):
            break
        gain = singular.sum()
        R = U @ Vt
    return R


def readable_rotation(components: Array, projected: Array, groups: Array) -> Array:
    """Return the varimax rotation (q, q), signs fixed, the axis that tells groups apart first."""
    rotation = varimax(components.T).T
    between = differences(projected @ rotation.T, groups)[2]
    rotation = rotation[np.argsort(-between.round(6), kind="stable")]
    loadings = rotation @ components
    largest = np.abs(loadings).argmax(axis=1)
    return rotation * np.sign(loadings[np.arange(len(loadings)), largest])[:, None]
