"""Weights of several kernels by their alignment with targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..linalg import Array
from .base import Kernel
from .distances import BLOCK_ROWS, squared_distances


def align(kernels: Sequence[Kernel], X: ArrayLike, y: ArrayLike) -> Array:
    """Return conic weights by centred kernel alignment with the targets.

    Each kernel, scaled to unit norm after centring, is weighted by its own centred alignment with
    the target kernel (Cortes, Mohri and Rostamizadeh 2012, the method "align"), as IKDR 2019 does
    for Gaussian + polynomial kernels. (Their joint optimum "alignf" gives the polynomial kernel
    weight zero on data like Wine, which is no combination any more.)

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels to combine, evaluated on all features.
    X : array of shape (n, d)
        Data, scaled as for the estimator.
    y : array of shape (n,) or (n, r)
        Class labels (one dimension of integers, booleans or strings) or real targets.

    Returns
    -------
    array of shape (len(kernels),)
        Non-negative weights, the largest one being 1; zero for kernels that are not aligned.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kernels import Gaussian, Polynomial, align
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> weights = align([Gaussian(1.0), Polynomial()], X, X[:, 0] > 0)
    >>> kernel = weights[0] * Gaussian(1.0) + weights[1] * Polynomial()
    """
    X = np.asarray(X, dtype=float)
    targets = _target_columns(y)
    if len(targets) != len(X):
        raise ValueError(f"y has {len(targets)} values for {len(X)} rows of X")
    targets = targets - targets.mean(axis=0)
    m, n = len(kernels), len(X)
    squares, agreement, sums = np.zeros(m), np.zeros(m), np.zeros((m, n))
    for rows, grams in gram_rows(kernels, [X] * m):
        target = targets[rows] @ targets.T
        for i, gram in enumerate(grams):
            sums[i, rows] = gram.sum(axis=1)
            squares[i] += np.vdot(gram, gram)
            agreement[i] += np.vdot(gram, target)
    # ||HKH||^2 = ||K||^2 - 2/n |K1|^2 + (1'K1)^2 / n^2: centring without an n x n array.
    squares += (sums.sum(axis=1) / n) ** 2 - 2 / n * (sums**2).sum(axis=1)
    norms = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
    alignment = np.maximum(agreement / (norms * np.linalg.norm(targets.T @ targets)), 0.0)
    if not alignment.any():
        raise ValueError("none of the kernels is aligned with y: no conic combination can be")
    weights = alignment / norms
    return weights / weights.max()


def _target_columns(y: ArrayLike) -> Array:
    y = np.asarray(y)
    if y.ndim == 1 and y.dtype.kind != "f":
        return (y[:, None] == np.unique(y)).astype(float)
    return y.reshape(len(y), -1).astype(float)


def gram_rows(
    kernels: Sequence[Kernel], data: Sequence[Array]
) -> Iterator[tuple[slice, list[Array]]]:
    """Yield blocks of rows of several kernel matrices, each on all features of its data (n, d)."""
    n = len(data[0])
    scales = [
        [part.point_scales(X) for _, part in kernel.terms]
        for kernel, X in zip(kernels, data, strict=True)
    ]
    for start in range(0, n, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, n))
        yield (
            rows,
            [_gram(k, X, rows, s) for k, X, s in zip(kernels, data, scales, strict=True)],
        )


def _gram(kernel: Kernel, X: Array, rows: slice, scales: list[Array | None]) -> Array:
    total = np.zeros((rows.stop - rows.start, len(X)))
    for (weight, part), scale in zip(kernel.terms, scales, strict=True):
        beta = X[rows] @ X.T if part.form == "inner" else squared_distances(X[rows], X)
        if scale is not None:
            beta = beta * np.outer(scale[rows], scale)
        total += weight * part.f(beta)
    return total
