"""Independent components of whitened rows, by FastICA with symmetric steps (Hyvärinen 1999).

On some hundred rows scikit-learn's spends nine tenths of its time on checks, and it goes from one
start to the nearest optimum. Here several starts are tried and the least Gaussian components win.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..linalg import Array

#: Starts, most steps of each, and how far a component may still turn in one (one minus the cosine):
#: where rows are Gaussian no direction is better than another, and none need be found.
STARTS, MOST_STEPS, TURN = 4, 60, 1e-4
#: Mean of log cosh of a standard Gaussian.
GAUSSIAN_LOG_COSH = 0.37457


@dataclass(frozen=True)
class Contrast:
    """How far values (r, n) are from Gaussian.

    Attributes
    ----------
    step : callable
        Returns the nonlinearity (r, n) of a step, and the mean of its derivative (r,).
    index : callable
        Returns the measure (r,) that steps raise.
    """

    step: Callable[[Array], tuple[Array, Array]]
    index: Callable[[Array], Array]


def _tanh(values: Array) -> tuple[Array, Array]:
    heights = np.tanh(values)
    return heights, 1.0 - np.einsum("rn,rn->r", heights, heights) / values.shape[1]


def _log_cosh(values: Array) -> Array:
    heights = np.logaddexp(values, -values) - np.float32(np.log(2))  # cosh itself overflows
    return (heights.mean(axis=1) - GAUSSIAN_LOG_COSH) ** 2


def _cube(values: Array) -> tuple[Array, Array]:
    squares = values * values
    return squares * values, 3.0 * squares.mean(axis=1)


def _kurtosis(values: Array) -> Array:
    return ((values**4).mean(axis=1) - 3.0) ** 2


#: The first finds groups of similar size, the second small ones.
CONTRASTS = {"tanh": Contrast(_tanh, _log_cosh), "cube": Contrast(_cube, _kurtosis)}


def independent_components(Z: Array, contrast: str, seed: int) -> Array:
    """Return directions (r, r), as orthonormal rows, along which whitened rows are least Gaussian.

    Parameters
    ----------
    Z : array of shape (n, r)
        Mean zero, covariance the identity.
    contrast : {"tanh", "cube"}
        How non-Gaussianity is measured.
    seed : int
        Seed of the starts.

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
    measure, rng = CONTRASTS[contrast], np.random.default_rng(seed)
    rows = np.ascontiguousarray(Z.T, dtype=np.float32)
    starts = rng.standard_normal((STARTS, len(rows), len(rows)))
    found = [_ascended(rows, _nearest_rotation(start), measure) for start in starts]
    return max(found, key=lambda W: float(measure.index(_along(W, rows)).sum()))


def _ascended(rows: Array, W: Array, contrast: Contrast) -> Array:
    """Return the components (r, r) to which steps from W lead."""
    for _ in range(MOST_STEPS):
        heights, slopes = contrast.step(_along(W, rows))
        moved = _nearest_rotation((heights @ rows.T) / rows.shape[1] - slopes[:, None] * W)
        turned = 1.0 - np.abs(np.einsum("ij,ij->i", moved, W))
        W = moved
        if turned.max() < TURN:
            break
    return W


def _along(W: Array, rows: Array) -> Array:
    """Return the values (r, n) of rows along components, in single precision."""
    return W.astype(np.float32) @ rows


def _nearest_rotation(W: Array) -> Array:
    """Return the orthogonal matrix nearest to W (r, r)."""
    left, _, right = np.linalg.svd(W)
    return left @ right
