"""Independent subspace analysis: independent components, grouped by what they still share.

The separation principle (Szabo, Poczos and Lorincz 2012): if the data are a linear mixture of
independent subspaces, independent component analysis finds the coordinates of all of them, in
some order. What is left is to put components that depend on each other into one group.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from ..linalg import Array, fix_signs
from .sharpen import sharpen

#: Principal directions below this share of the largest variance carry no information.
RANK_TOLERANCE = 1e-10
#: Rows per component that independent components need; with fewer they fit single rows.
ROWS_PER_COMPONENT = 10
#: Contrast functions of FastICA. Its steps, and starts of each: the first that converges is taken.
CONTRASTS = ("logcosh", "cube", "exp")
ICA_STEPS, ICA_STARTS, ICA_TOLERANCE = 500, 2, 1e-4


@dataclass(frozen=True)
class Components:
    """Independent components of a data set.

    Attributes
    ----------
    sources : array of shape (n, m)
        Their values, of unit variance.
    demixing : array of shape (m, d)
        The map ``sources = (X - mean) @ demixing.T``.
    mean : array of shape (d,)
        Means of the features.
    bits : float
        -n log2 of the determinant of the map from whitened data: what the bits of the sources lack
        to be comparable between maps.
    converged : bool
        Whether FastICA did.
    """

    sources: Array = field(repr=False)
    demixing: Array = field(repr=False)
    mean: Array = field(repr=False)
    bits: float
    converged: bool


def independent_components(
    X: Array,
    *,
    n_components: int | None = None,
    contrast: str = CONTRASTS[0],
    sharper: bool = True,
    steps: int = ICA_STEPS,
    seed: int = 0,
) -> Components:
    """Return the independent components of X (n, d), fewer than d if its rank is lower.

    Without ``n_components`` there are at most n / 10: wider data are first reduced to those leading
    principal components that stand out of the noise. ``sharper`` goes on from FastICA, of at most
    so many ``steps``, to maximum likelihood.
    """
    n = len(X)
    mean = X.mean(axis=0)
    # Scaled features decide the rank alike; independent components do not depend on scale.
    scale = X.std(axis=0)
    _, singular, axes = np.linalg.svd((X - mean) / scale, full_matrices=False)
    rank = int((singular**2 > RANK_TOLERANCE * singular[0] ** 2).sum())
    if n_components is None:
        most = max(1, n // ROWS_PER_COMPONENT)
        n_components = rank if rank <= most else _n_leading(singular**2 / n, X.shape, most)
    m = min(rank, n_components)
    whitening = axes[:m] / singular[:m, None] * np.sqrt(n)  # of scaled features
    white = (X - mean) / scale @ whitening.T
    bits, converged = 0.0, True
    if m > 1:
        rotation, converged = _rotation(white, contrast, steps, seed)
        change = sharpen(white @ rotation.T) if sharper else np.eye(m)
        whitening = change @ rotation @ whitening
        bits = -n * float(np.linalg.slogdet(change)[1]) / np.log(2)
    demixing = fix_signs(whitening.T).T / scale
    return Components((X - mean) @ demixing.T, demixing, mean, bits, converged)


def _n_leading(variances: Array, shape: tuple[int, int], most: int) -> int:
    """Return how many principal components stand out, by the BIC of probabilistic PCA.

    The variances behind the first k directions are taken for one (Minka 2000). What stands out
    must also be most of the variance, else ``most`` are kept: uncorrelated features look like
    noise and may have clusters.
    """
    n, d = shape
    k = np.arange(1, most + 1)
    leading = np.cumsum(variances[:most])
    noise = (variances.sum() - leading) / (d - k)
    likelihood = -0.5 * n * (np.cumsum(np.log(variances[:most])) + (d - k) * np.log(noise))
    n_parameters = d * k - k * (k - 1) / 2
    best = int(np.argmax(likelihood - 0.5 * n_parameters * np.log(n)))
    return best + 1 if leading[best] > 0.5 * variances.sum() else most


def _rotation(white: Array, contrast: str, steps: int, seed: int) -> tuple[Array, bool]:
    """Return the rotation (m, m) that makes the columns of (n, m) independent; if it converged."""
    for attempt in range(ICA_STARTS):
        ica = FastICA(
            whiten=False,
            fun=contrast,
            max_iter=steps,
            tol=ICA_TOLERANCE,
            random_state=seed + attempt,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ica.fit(white)
        if ica.n_iter_ < steps:
            return ica.components_, True
    return ica.components_, False


def group_components(
    dependence: Array, sizes: Sequence[int], *, start: Sequence[Array] | None = None
) -> list[Array]:
    """Group components into blocks of given sizes, dependent ones together, by greedy exchange.

    Two components of different blocks are exchanged as long as that raises the dependence within
    blocks (the sum over their pairs), the best exchange first.

    Parameters
    ----------
    dependence : array of shape (m, m)
        Dependence between components, symmetric.
    sizes : sequence of int
        Sizes of the blocks; they sum to m.
    start : sequence of arrays of int, optional
        Blocks to begin with; otherwise the largest block takes the most dependent components
        first.

    Returns
    -------
    list of arrays of int
        Sorted indices of the components of each block.
    """
    T = np.array(dependence, dtype=float)
    np.fill_diagonal(T, 0.0)
    if sum(sizes) != len(T) or min(sizes) < 1:
        raise ValueError(f"sizes={list(sizes)} must be positive and sum to {len(T)}")
    blocks = _fill_blocks(T, sizes) if start is None else start
    block_of = np.empty(len(T), dtype=int)
    for label, block in enumerate(blocks):
        block_of[block] = label
    while True:
        gain = _exchange_gain(T, block_of, len(sizes))
        i, j = np.unravel_index(np.argmax(gain), gain.shape)
        if gain[i, j] <= 1e-12:
            return [np.flatnonzero(block_of == label) for label in range(len(sizes))]
        block_of[[i, j]] = block_of[[j, i]]


def _exchange_gain(T: Array, block_of: Array, n_blocks: int) -> Array:
    """Return by how much each exchange (m, m) raises the dependence within blocks."""
    with_block = T @ np.eye(n_blocks)[block_of]
    own = np.take_along_axis(with_block, block_of[:, None], axis=1)
    other = with_block[:, block_of]
    gain = other + other.T - 2 * T - own - own.T
    return np.where(block_of[:, None] == block_of, 0.0, gain)


def _fill_blocks(T: Array, sizes: Sequence[int]) -> list[Array]:
    """Fill the blocks, the largest first, each with the most dependent components left."""
    free = list(range(len(T)))
    blocks: list[Array] = [np.empty(0, dtype=int)] * len(sizes)
    for label in np.argsort(-np.asarray(sizes), kind="stable"):
        grown = [_grow(T, first, free, sizes[label]) for first in free]
        blocks[label] = np.array(max(grown, key=lambda block: T[np.ix_(block, block)].sum()))
        free = [i for i in free if i not in blocks[label]]
    return blocks


def _grow(T: Array, first: int, free: list[int], size: int) -> list[int]:
    """Return a block that takes one component after the other, each the most dependent."""
    block = [first]
    while len(block) < size:
        left = [i for i in free if i not in block]
        block.append(left[int(np.argmax(T[np.ix_(block, left)].sum(axis=0)))])
    return block
