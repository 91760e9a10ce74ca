"""Eigen-solvers for Phi: dense, Lanczos, block Lanczos, and the coordinate-wise power method.

The first three are those of :mod:`multifacet.linalg`. The coordinate-wise power method (Lei, Zhong
and Dhillon, NIPS 2016), which the ISM papers use for wide data, keeps z = A x up to date while it
changes only the coordinates of x that are furthest from where the power method would put them. A
step that changes a twentieth of them costs a twentieth of a product with A.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..linalg import (
    BLOCK_DEPTH,
    BLOCK_MARGIN,
    Array,
    Symmetric,
    as_matrix,
    fix_signs,
    leading_eigenpairs,
    orthonormalise,
    spectrum_bounds,
)

EigenSolver = Callable[..., tuple[Array, Array]]

#: Share of the coordinates that a step changes, but at least so many (fewer cost as much), and
#: steps after which z is computed afresh.
SHARE, LEAST, REFRESH = 0.05, 16, 200
#: Work at most, in products with A per eigenvector.
MAX_PRODUCTS = 60


def coordinate_eigenpairs(
    A: Symmetric, k: int, *, start: Array | None = None, tol: float = 1e-6
) -> tuple[Array, Array]:
    """Return the ``k`` largest eigenpairs of A by the coordinate-wise power method.

    Parameters
    ----------
    A : array of shape (d, d)
        Symmetric.
    k : int
        Number of eigenpairs.
    start : array of shape (d, m), optional
        Approximate eigenvectors.
    tol : float
        Residual |A x - value x| at which a vector is done, relative to the spread of A.

    Returns
    -------
    values : array of shape (k,)
        In descending order.
    vectors : array of shape (d, k)
        Orthonormal, signs fixed. Where eigenvalues are too close for a power method, after as
        much work as 60 products with A, Lanczos finishes from what was found.

    Examples
    --------
    >>> import numpy as np
    >>> values, vectors = coordinate_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values.round(6)
    array([3., 2.])
    """
    A = as_matrix(A)
    d = len(A)
    low, high = spectrum_bounds(A)
    guess = np.random.default_rng(0).standard_normal((d, k))
    if start is not None:
        columns = min(k, start.shape[1])
        guess[:, :columns] = start[:, :columns] + 1e-3 / np.sqrt(d) * guess[:, :columns]
    found = np.zeros((d, 0))
    done = True
    for column in range(k):
        # Shifted by -low all eigenvalues are positive, so that the largest one dominates.
        x, converged = _dominant(A, -low, found, guess[:, column], tol * (high - low))
        found = np.column_stack([found, x])
        done = done and converged
    if not done:
        return leading_eigenpairs(A, k, start=found)
    # Vectors of close eigenvalues come out mixed and out of order: sort them out in their span.
    basis = orthonormalise(found)
    values, turn = np.linalg.eigh(basis.T @ A @ basis)
    return values[::-1].copy(), fix_signs(basis @ turn[:, ::-1])


def _dominant(A: Array, shift: float, known: Array, x: Array, enough: float) -> tuple[Array, bool]:
    """Return the dominant eigenvector (d,) of A + shift orthogonal to ``known``, and if it is one.

    Known vectors are deflated: B = (I - V V') (A + shift) has eigenvalue zero on them.
    """
    d = len(x)
    size = min(d, max(LEAST, round(SHARE * d)))
    limit = MAX_PRODUCTS * d // size
    images = A @ known + shift * known  # (A + shift) V
    for step in range(limit):
        if step % REFRESH == 0:
            x = x - known @ (known.T @ x)
            x /= np.linalg.norm(x)
            z = A @ x + shift * x
            z -= known @ (known.T @ z)
        value = float(x @ z) / float(x @ x)
        distance = z - value * x
        if np.linalg.norm(distance) <= enough * np.linalg.norm(x):
            x = x - known @ (known.T @ x)
            return x / np.linalg.norm(x), True
        chosen = np.argpartition(np.abs(distance), d - size)[d - size :]
        change = distance[chosen] / value
        x[chosen] += change
        z += change @ A[chosen]
        z[chosen] += shift * change
        z -= known @ (change @ images[chosen])
    return x / np.linalg.norm(x), False


def block_eigenpairs(A: Symmetric, k: int, *, start: Array | None = None) -> tuple[Array, Array]:
    """Return the ``k`` largest eigenpairs by block Lanczos where its Krylov space fits."""
    krylov = (k + BLOCK_MARGIN) * BLOCK_DEPTH
    return leading_eigenpairs(A, k, start=start, dense_size=krylov, block=True)


NAMES: dict[str, EigenSolver] = {
    "auto": leading_eigenpairs,
    "dense": partial(leading_eigenpairs, dense_size=np.iinfo(np.int64).max),
    "lanczos": partial(leading_eigenpairs, dense_size=0),
    "block": block_eigenpairs,
    "coordinate": coordinate_eigenpairs,
}


def as_eigensolver(name: str) -> EigenSolver:
    """Return the function (A, k, start=None) -> (values, vectors) behind a name."""
    if name in NAMES:
        return NAMES[name]
    known = ", ".join(map(repr, NAMES))
    raise ValueError(f"eigen={name!r} is not known: use one of {known}")
