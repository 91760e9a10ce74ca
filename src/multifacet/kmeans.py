"""k-means of some hundred rows, several runs at once.

The search clusters small embeddings thousands of times, where the checks of scikit-learn's k-means
and the loop over runs of SciPy's take longer than the arithmetic.
"""

from __future__ import annotations

import numpy as np

from .linalg import Array


def kmeans_runs(points: Array, k: int, runs: int, *, steps: int, seed: int) -> tuple[Array, Array]:
    """Return groups (runs, n) of k-means from k-means++ starts, and the spread within (runs,).

    Parameters
    ----------
    points : array of shape (n, r)
        Rows.
    k : int
        Number of groups; some may be left empty.
    runs : int
        Number of runs.
    steps : int
        Most steps of a run.
    seed : int
        Seed of the starts.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kmeans import kmeans_runs
    >>> rows = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> labels, spread = kmeans_runs(rows, 2, 3, steps=10, seed=0)
    >>> bool((labels[:, 0] != labels[:, 2]).all()), float(spread.max().round(3))
    (True, 0.01)
    """
    points = np.asarray(points, dtype=float)
    centres = _plus_plus(points, k, runs, np.random.default_rng(seed))
    labels = np.full((runs, len(points)), -1)
    for _ in range(steps):
        before, labels = labels, _nearest(points, centres)
        if np.array_equal(before, labels):
            break
        centres = _means(points, labels, centres)
    offsets = points - centres[np.arange(runs)[:, None], labels]
    return labels, np.einsum("Rnr,Rnr->R", offsets, offsets)


def best_kmeans(points: Array, k: int, runs: int, *, steps: int, seed: int) -> Array:
    """Return the tightest groups (n,) of a few runs."""
    labels, spread = kmeans_runs(points, k, runs, steps=steps, seed=seed)
    return labels[int(np.argmin(spread))]


def _plus_plus(points: Array, k: int, runs: int, rng: np.random.Generator) -> Array:
    """Return first centres (runs, k, r): each far from those before it, by chance."""
    n = len(points)
    chosen = rng.integers(n, size=runs)
    centres = np.empty((runs, k, points.shape[1]))
    centres[:, 0] = points[chosen]
    left = np.full((runs, n), np.inf)
    for c in range(1, k):
        offsets = points - centres[:, None, c - 1]
        left = np.minimum(left, np.einsum("Rnr,Rnr->Rn", offsets, offsets))
        heights = np.cumsum(left, axis=1)
        at = rng.random(runs) * heights[:, -1]
        chosen = np.minimum((heights < at[:, None]).sum(axis=1), n - 1)
        centres[:, c] = points[chosen]
    return centres


def _nearest(points: Array, centres: Array) -> Array:
    """Return the nearest centre (runs, n) of each row."""
    runs, k, r = centres.shape
    pull = (centres.reshape(runs * k, r) @ points.T).reshape(runs, k, len(points))
    return (pull - 0.5 * (centres**2).sum(axis=2)[:, :, None]).argmax(axis=1)


def _means(points: Array, labels: Array, centres: Array) -> Array:
    """Return the means (runs, k, r) of groups (runs, n); an empty group keeps its centre."""
    k = centres.shape[1]
    member = (labels[:, None] == np.arange(k)[:, None]).astype(float)  # (runs, k, n)
    sizes = member.sum(axis=2)[:, :, None]
    return np.where(sizes > 0, member @ points / np.maximum(sizes, 1.0), centres)
