"""Bandwidths: which kernels wait for one, and the distances that make one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linalg import column_moments
from .base import ConicSum, Kernel
from .distances import distance_blocks
from .family import Gaussian


def needs_bandwidth(kernel: Kernel) -> bool:
    """Whether some Gaussian in ``kernel`` still waits for its bandwidth."""
    return any(isinstance(k, Gaussian) and k.sigma is None for _, k in kernel.terms)


def with_bandwidth(kernel: Kernel, sigma: float | None) -> Kernel:
    """Return ``kernel`` with ``sigma`` (if any) in every Gaussian that has no bandwidth."""
    if sigma is None or not needs_bandwidth(kernel):
        return kernel
    terms = tuple(
        (w, Gaussian(sigma) if isinstance(k, Gaussian) and k.sigma is None else k)
        for w, k in kernel.terms
    )
    return terms[0][1] if terms[0][0] == 1.0 and len(terms) == 1 else ConicSum(terms)


def typical_distance(X: Any) -> float:
    """Return the median distance of rows, or the total spread if most rows are duplicates."""
    return median_distance(X) or float(np.linalg.norm(column_moments(X)[1])) or 1.0


def median_distance(X: Any, *, max_rows: int = 2000, random_state: int = 0) -> float:
    """Return the median Euclidean distance between different rows.

    Exact for up to ``max_rows`` rows; beyond that on a seeded random subsample of that size.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    max_rows : int, default=2000
        Largest number of rows used.
    random_state : int, default=0
        Seed of the subsample.

    Returns
    -------
    float
        The median over pairs i < j. Zero only if at least half of the pairs coincide.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kernels import median_distance
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    n = X.shape[0]
    if n > max_rows:
        rows = np.random.default_rng(random_state).choice(n, size=max_rows, replace=False)
        X = X[np.sort(rows)]
    else:
        X = X[:]  # read once, wherever the rows are
    first = 0
    distances = []
    for block in distance_blocks(X, X):
        upper = np.triu_indices(block.shape[0], k=1 + first, m=block.shape[1])
        distances.append(np.sqrt(block[upper]))
        first += block.shape[0]
    return float(np.median(np.concatenate(distances)))
