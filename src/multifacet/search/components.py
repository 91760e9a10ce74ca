"""Independent components of whitened rows, by FastICA with symmetric steps (Hyvärinen 1999).

On some hundred rows scikit-learn's spends nine tenths of its time on checks, and every search asks
for components several times.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..linalg import Array

#: Most steps, and how far a component may still turn in one (one minus the cosine): where rows are
#: Gaussian no direction is better than another, and an imperfect one is good enough for a start.
MOST_STEPS, TURN = 150, 1e-3


def _tanh(values: Array) -> tuple[Array, Array]:
    heights = np.tanh(values)
    return heights, 1.0 - np.einsum("rn,rn->r", heights, heights) / values.shape[1]


def _cube(values: Array) -> tuple[Array, Array]:
    squares = values * values
    return squares * values, 3.0 * squares.mean(axis=1)


#: Nonlinearities and the mean of their derivatives: the first finds groups of similar size, the
#: second small ones.
CONTRASTS: dict[str, Callable[[Array], tuple[Array, Array]]] = {"tanh": _tanh, "cube": _cube}


def independent_components(Z: Array, contrast: str, seed: int) -> Array:
    """Return directions (r, r), as orthonormal rows, along which whitened rows are least Gaussian.

    Parameters
    ----------
    Z : array of shape (n, r)
        Mean zero, covariance the identity.
    contrast : {"tanh", "cube"}
        How non-Gaussianity is measured.
    seed : int
        Seed of the first guess.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.components import independent_components
    >>> Z = np.random.default_rng(0).uniform(-np.sqrt(3), np.sqrt(3), (2000, 2))
    >>> turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> found = independent_components(Z @ turn, "tanh", seed=0) @ turn.T
    >>> np.abs(found).max(axis=1).round(1)
    array([1., 1.])
    """
    measure = CONTRASTS[contrast]
    n, r = Z.shape
    rows = np.ascontiguousarray(Z.T, dtype=np.float32)
    W = _nearest_rotation(np.random.default_rng(seed).standard_normal((r, r)))
    for _ in range(MOST_STEPS):
        heights, slopes = measure(W.astype(np.float32) @ rows)
        moved = _nearest_rotation((heights @ rows.T) / n - slopes[:, None] * W)
        turned = 1.0 - np.abs(np.einsum("ij,ij->i", moved, W))
        W = moved
        if turned.max() < TURN:
            break
    return W


def _nearest_rotation(W: Array) -> Array:
    """Return the orthogonal matrix nearest to W (r, r)."""
    left, _, right = np.linalg.svd(W)
    return left @ right
