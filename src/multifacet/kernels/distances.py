"""Squared distances of rows, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array

#: Rows of a block.
BLOCK_ROWS = 256


def squared_distances(A: Any, B: Any) -> Array:
    """Squared Euclidean distances (a, b) between rows; dense or sparse, result dense."""
    cross = A @ B.T
    cross = cross.toarray() if issparse(cross) else np.asarray(cross)
    return np.maximum(_squared_norms(A)[:, None] + _squared_norms(B) - 2 * cross, 0.0)


def _squared_norms(A: Any) -> Array:
    if issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def distance_blocks(X: Any, reference: Any) -> Iterator[Array]:
    """Yield squared distances (b, m) of blocks of rows of X to all rows of a reference."""
    for start in range(0, X.shape[0], BLOCK_ROWS):
        yield squared_distances(X[start : start + BLOCK_ROWS], reference)
