"""Linear algebra that every other module stands on: eigenpairs, subspaces, low-rank factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import issparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

Array = NDArray[Any]
#: A symmetric matrix, or only its products with vectors.
Symmetric: TypeAlias = Array | LinearOperator

#: Up to this size a dense LAPACK decomposition is as fast as Lanczos and cannot fail to converge.
DENSE_EIGEN_SIZE = 400
#: A Lanczos run that failed is repeated densely up to this size.
DENSE_FALLBACK_SIZE = 4000
#: Block Lanczos: vectors beyond those asked for, blocks per cycle, and cycles.
BLOCK_MARGIN, BLOCK_DEPTH, BLOCK_RESTARTS = 4, 8, 6
#: Rows per block of the mean and the spread.
MOMENT_ROWS = 4096
#: Restarts after which Lanczos gives up: eigenvalues crowd together when K is close to identity.
LANCZOS_RESTARTS = 12
#: Lanczos steps for bounds on the spectrum.
BOUND_STEPS = 12
#: What is wrong with values whose squares leave the range of their precision.
TOO_LARGE = "too large to be squared: use another unit"
TOO_SMALL = "too small to be squared: use another unit"


def is_array_like(data: Any) -> bool:
    """Tell arrays and nested lists from objects that numpy would take apart item by item."""
    if isinstance(data, str | bytes):
        return False
    return isinstance(data, Sequence) or hasattr(type(data), "__array__")


def column_moments(X: Any) -> tuple[Array, Array]:
    """Return mean and standard deviation (d,) of the columns of an array or CSR matrix.

    In blocks of rows, so that data on disk are read once and never as a whole; deviations are
    taken from the first row, which keeps columns with a large offset exact.
    """
    if hasattr(X, "column_moments"):  # rows in chunks know how to do it in one pass
        return X.column_moments()
    n, d = X.shape
    if issparse(X):
        mean = np.asarray(X.mean(axis=0), dtype=float).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0), dtype=float).ravel()
        return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))
    origin = np.array(X[0], dtype=float)
    total, squares = np.zeros(d), np.zeros(d)
    for start in range(0, n, MOMENT_ROWS):
        part = block_moments(X[start : start + MOMENT_ROWS], origin)
        total += part[0]
        squares += part[1]
    mean = total / n
    return mean + origin, np.sqrt(np.maximum(squares / n - mean**2, 0.0))


def block_moments(X: Array, origin: Array) -> tuple[Array, Array]:
    """Return the sums and sums of squares (d,) of the columns of X (n, d) minus an origin (d,)."""
    block = X - origin
    return block.sum(axis=0), np.einsum("ij,ij->j", block, block)


def projected(X: Any, W: Array) -> Array:
    """Return X W (n, q) for rows X (n, d) of any kind.

    Of another type than W, such as single precision, rows are multiplied in blocks: numpy would
    copy all of them to that of W first.
    """
    n = X.shape[0]
    if not isinstance(X, np.ndarray) or X.dtype == W.dtype or n <= MOMENT_ROWS:
        return np.asarray(X @ W)
    starts = range(0, n, MOMENT_ROWS)
    return np.concatenate([X[start : start + MOMENT_ROWS] @ W for start in starts])


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest magnitude is positive (reproducible output)."""
    largest = np.argmax(np.abs(vectors), axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def symmetric_operator(multiply: Callable[[Array], Array], size: int) -> LinearOperator:
    """Return the operator whose products with columns (size, m) are given by a function."""

    def apply(V: Array) -> Array:
        return multiply(V.reshape(size, -1))

    return LinearOperator((size, size), matvec=apply, matmat=apply, dtype=np.float64)


def plus_outer(A: Symmetric, factor: float, W: Array) -> Symmetric:
    """Return A + factor W W' for W of shape (n, q)."""
    if isinstance(A, LinearOperator):
        return symmetric_operator(lambda V: A @ V + factor * (W @ (W.T @ V)), len(W))
    return A + factor * W @ W.T


def spectrum_bounds(A: Symmetric) -> tuple[float, float]:
    """Return numbers below and above all eigenvalues of A, from a few Lanczos steps.

    The extreme Ritz values miss the ends of the spectrum by at most the norm of the remainder,
    except for what the first vector does not contain (Zhou and Li 2011).
    """
    d = A.shape[0]
    if d <= BOUND_STEPS and not isinstance(A, LinearOperator):  # Lanczos would find all of them
        values = np.linalg.eigvalsh(A)
        margin = 1e-12 * float(np.abs(values).max())
        return float(values[0]) - margin, float(values[-1]) + margin
    first = np.random.default_rng(0).standard_normal(d)
    basis = [first / np.linalg.norm(first)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(BOUND_STEPS, d)):
        z = np.ravel(A @ basis[-1])
        diagonal.append(float(basis[-1] @ z))
        Q = np.array(basis)
        z = z - Q.T @ (Q @ z)
        rest = float(np.linalg.norm(z))
        if rest <= 1e-12 * max(map(abs, diagonal)):
            break
        beside.append(rest)
        basis.append(z / rest)
    off = beside[: len(diagonal) - 1]
    ritz = np.linalg.eigvalsh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))
    margin = beside[-1] if len(beside) == len(diagonal) else 1e-12 * float(np.abs(ritz).max())
    return float(ritz[0]) - margin, float(ritz[-1]) + margin


def largest_outside(A: Symmetric, W: Array) -> float:
    """Return the largest eigenvalue of A restricted to the complement of the columns of W (d, q).

    W is moved below the rest of the spectrum instead of forming a basis of its complement.
    """
    low, high = spectrum_bounds(A)

    def outside(V: Array) -> Array:
        inside = W @ (W.T @ V)
        product = A @ (V - inside)
        return product - W @ (W.T @ product) + (2 * low - high) * inside

    return float(leading_eigenpairs(symmetric_operator(outside, len(W)), 1)[0][0])


def leading_eigenpairs(
    A: Symmetric,
    k: int,
    *,
    start: Array | None = None,
    dense_size: int = DENSE_EIGEN_SIZE,
    block: bool = False,
) -> tuple[Array, Array]:
    """Return the ``k`` algebraically largest eigenpairs of a symmetric matrix or operator.

    Parameters
    ----------
    A : array or LinearOperator of shape (n, n)
        Symmetric.
    k : int
        Number of eigenpairs.
    start : array of shape (n, m), optional
        Approximate eigenvectors of a nearby problem (warm start).
    dense_size : int
        Explicit matrices up to this size are decomposed densely.
    block : bool
        Use block Lanczos, which multiplies by a block of vectors at once and needs few passes:
        the right choice when one application of ``A`` costs far more than the arithmetic on the
        vectors.

    Returns
    -------
    values : array of shape (k,)
        In descending order.
    vectors : array of shape (n, k)
        Orthonormal, signs fixed by :func:`fix_signs`.
    """
    n = A.shape[0]
    # A block Krylov space as large as the whole space has no room for orthogonal vectors.
    if n <= dense_size or 5 * k >= n or (block and BLOCK_DEPTH * (k + BLOCK_MARGIN) >= n):
        return _dense_eigenpairs(as_matrix(A), k)
    guess = np.random.default_rng(0).standard_normal((n, k + BLOCK_MARGIN)) / np.sqrt(n)
    if start is not None and start.shape[0] == n:
        columns = min(start.shape[1], k + BLOCK_MARGIN)
        guess[:, :columns] = start[:, :columns] + 1e-3 * guess[:, :columns]
    if block:
        return _block_lanczos(A, k, guess)
    large = n > DENSE_FALLBACK_SIZE
    try:
        # A few more Krylov vectors than ARPACK's default pay off when eigenvalues crowd near one.
        size = min(n - 1, max(4 * k + 1, 32))
        values, vectors = eigsh(
            A,
            k=k,
            which="LA",
            v0=guess.sum(axis=1),
            ncv=size,
            tol=1e-8,
            maxiter=None if large else LANCZOS_RESTARTS,
        )
    except ArpackError:  # no convergence, or an exact invariant subspace, as A of low rank has
        if large or isinstance(A, LinearOperator):
            return leading_eigenpairs(A, k, start=start, dense_size=dense_size, block=True)
        return _dense_eigenpairs(as_matrix(A), k)
    order = np.argsort(values)[::-1]
    return values[order], fix_signs(vectors[:, order])


def _block_lanczos(A: Symmetric, k: int, guess: Array) -> tuple[Array, Array]:
    """Return the leading eigenpairs by block Lanczos with full orthogonalisation and restarts."""
    size = guess.shape[1]
    block = np.linalg.qr(guess)[0]
    for _ in range(BLOCK_RESTARTS):
        Q, AQ = block, A @ block
        for _ in range(BLOCK_DEPTH - 1):
            fresh = AQ[:, -size:]
            for _ in range(2):  # once is not enough in floating point
                fresh = np.linalg.qr(fresh - Q @ (Q.T @ fresh))[0]
            Q, AQ = np.hstack([Q, fresh]), np.hstack([AQ, A @ fresh])
        T = Q.T @ AQ
        values, Y = _dense_eigenpairs(0.5 * (T + T.T), size)
        block = Q @ Y
        residual = np.linalg.norm(AQ @ Y[:, :k] - block[:, :k] * values[:k], axis=0)
        if residual.max() <= 1e-5 * np.abs(values[:k]).max():
            break
    return values[:k], fix_signs(block[:, :k])


def as_matrix(A: Symmetric) -> Array:
    """Return a matrix from an operator, column by column."""
    return A @ np.eye(A.shape[0]) if isinstance(A, LinearOperator) else A


def _dense_eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    n = A.shape[0]
    try:
        values, vectors = eigh(A, subset_by_index=(n - k, n - 1), check_finite=False)
        complete = len(values) == k  # LAPACK may lose members of a multiple eigenvalue
    except np.linalg.LinAlgError:
        complete = False
    if not complete:
        found = eigh(A, driver="ev", check_finite=False)  # the slowest, and the most robust
        values, vectors = (part[..., n - k :] for part in found)
    return values[::-1].copy(), fix_signs(vectors[:, ::-1])


def orthonormalise(W: Array) -> Array:
    """Return an orthonormal basis of the columns of ``W`` (d, q), signs fixed."""
    if W.shape[1] == 1 and (length := float(np.linalg.norm(W))) > 0:
        return fix_signs(W / length)
    return fix_signs(np.linalg.qr(W)[0])


def complement(W: Array) -> Array:
    """Return an orthonormal basis (d, d - q) of the orthogonal complement of ``W`` (d, q)."""
    return qr(W)[0][:, W.shape[1] :]


def subspace_distance(V: Array, W: Array) -> float:
    """Return the sine of the largest principal angle between two orthonormal bases (d, q).

    Computed from the residual of the projection, which is accurate for small angles, where the
    cosine is not.
    """
    return float(np.linalg.norm(W - V @ (V.T @ W), 2))


def incomplete_cholesky(
    column: Callable[[int], Array], diagonal: Array, *, tol: float = 1e-6, max_rank: int = 200
) -> Array:
    """Factor a positive semi-definite matrix by pivoted incomplete Cholesky.

    Parameters
    ----------
    column : callable
        ``column(i)`` returns column ``i`` of the matrix, shape (n,).
    diagonal : array of shape (n,)
        Diagonal of the matrix.
    tol : float
        Stop when the trace of the remainder is at most ``tol`` times the trace.
    max_rank : int
        Largest number of columns.

    Returns
    -------
    array of shape (n, r)
        ``G`` with ``G @ G.T`` close to the matrix.
    """
    n = len(diagonal)
    residual = np.array(diagonal, dtype=float)
    enough = tol * residual.sum()
    G = np.zeros((n, min(n, max_rank)))
    for r in range(G.shape[1]):
        pivot = int(np.argmax(residual))
        if residual.sum() <= enough or residual[pivot] <= 0:
            return G[:, :r]
        G[:, r] = (column(pivot) - G[:, :r] @ G[pivot, :r]) / np.sqrt(residual[pivot])
        residual = np.maximum(residual - G[:, r] ** 2, 0.0)
        residual[pivot] = 0.0
    return G
