"""Code lengths of samples under their own kernel density estimate.

Two things differ from the textbook, and both decide what is found. A row that helps to estimate
its own density makes everything look dependent, the more so the more dimensions there are; so
each row is left out of its own estimate. And the rule-of-thumb bandwidth is far too wide for
clusters, so that several bandwidths are tried and the shortest code is taken.

Nothing is quadratic in the number of rows: densities are those of at most 2000 kernel centres,
in every dimension alike so that their errors cancel when code lengths are compared. In one and
two dimensions they are summed on a grid by the FFT, otherwise directly.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import fft, irfftn, rfft, rfftn

from ..linalg import Array

#: Kernel centres at most, and the number of bandwidths tried: each narrower by sqrt(2), so that
#: its kernel is the square of the one before.
MAX_CENTRES, N_WIDTHS = 2000, 10
#: Rows from which a grid is faster than all pairs, by dimension.
GRID_ROWS = {1: 0, 2: 10_000}
#: Grid cells per bandwidth, and cells of an axis at most.
CELLS_PER_BANDWIDTH, MAX_CELLS = 5, {1: 2**15, 2: 2**10}
#: Bandwidths beyond which a kernel is a rounding error.
REACH = 6.0
_BLOCK_ROWS = 256


def bandwidths(S: Array, n: int, dimension: int) -> Array:
    """Return the rule of thumb for each column of S, for n rows in so many dimensions.

    h = 0.9 n^(-1/(b + 4)) min(sd, IQR / 1.34)
    """
    low, high = np.percentile(S, [25, 75], axis=0)
    spread = S.std(axis=0, ddof=1)
    quartiles = (high - low) / 1.34
    # Half of the values may coincide; the standard deviation is not zero then.
    narrow = np.where(quartiles > 1e-3 * spread, np.minimum(spread, quartiles), spread)
    return 0.9 * n ** (-1.0 / (dimension + 4)) * narrow


def density_bits(S: Array, *, method: str = "auto", seed: int = 0) -> float:
    """Return the bits of a sample: -sum log2 f(s_i), f estimated without row i.

    Parameters
    ----------
    S : array of shape (n, b)
        Sample.
    method : {"auto", "pairs", "grid"}
        How kernels are summed; "auto" decides by n and b.
    seed : int
        Choice of the kernel centres.

    Returns
    -------
    float
        Bits at the bandwidth that makes them fewest.
    """
    n, b = S.shape
    centres = choose_rows(n, MAX_CENTRES, seed)
    h = bandwidths(S, len(centres), b)
    if method == "auto":
        method = "grid" if n >= GRID_ROWS.get(b, np.inf) else "pairs"
    points = (S - S.mean(axis=0)) / h
    sums = (_grid_sums if method == "grid" else _pair_sums)(points, centres)
    is_centre = np.zeros(n, dtype=bool)
    is_centre[centres] = True
    volume = np.log2(np.ptp(points, axis=0)).sum()
    logs = log_densities(sums / (len(centres) - is_centre), volume, len(centres), b)
    return float(-logs.sum(axis=1).max() + n * np.log2(h).sum())


def choose_rows(n: int, most: int, seed: int) -> Array:
    """Return so many of n rows at random, sorted."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])


def log_densities(means: Array, volume: Array | float, n: int, dimension: int) -> Array:
    """Return log2 densities from mean kernel values, whose first axis are the bandwidths.

    A share 1/n is uniform over the bounding box, whose log2 volume is given: without it the rows
    that have no neighbour would cost infinitely many bits.
    """
    logs = np.empty(means.shape)
    for j, mean in enumerate(means):
        height = 0.5 * dimension * (j - np.log2(2 * np.pi))  # log2, of a kernel
        uniform = np.exp2(np.clip(-np.log2(n) - volume - height, -1000, 1000))
        logs[j] = np.log2((1 - 1 / n) * mean.astype(float) + uniform) + height
    return logs


def _pair_sums(points: Array, centres: Array) -> Array:
    """Return sums of kernels (widths, n) over all centres other than the row itself."""
    n = len(points)
    others = points[centres].astype(np.float32)
    place = np.full(n, -1)
    place[centres] = np.arange(len(centres))
    sums = np.empty((N_WIDTHS, n))
    for begin in range(0, n, _BLOCK_ROWS):
        rows = slice(begin, begin + _BLOCK_ROWS)
        kernel = kernels(points[rows].astype(np.float32), others)
        own = np.flatnonzero(place[rows] >= 0)
        kernel[own, place[rows][own]] = 0.0
        for j in range(N_WIDTHS):
            sums[j, rows] = kernel.sum(axis=1)
            kernel *= kernel
    return sums


def kernels(rows: Array, others: Array) -> Array:
    """Return Gaussian kernels (m, n) of unit width and height between points."""
    exponent = np.zeros((len(rows), len(others)), dtype=rows.dtype)
    for a, b in zip(rows.T, others.T, strict=True):
        exponent -= np.square(a[:, None] - b)
    exponent *= 0.5
    return np.exp(exponent, out=exponent)


def _grid_sums(points: Array, centres: Array) -> Array:
    """Return the same sums by linear binning and the FFT."""
    return np.stack([_on_grid(points * 2 ** (j / 2), centres) for j in range(N_WIDTHS)])


def _on_grid(points: Array, centres: Array) -> Array:
    """Return sums of kernels (n,) of unit width over all centres other than the row itself.

    Reading the grid at a row mixes the 2^b corners of its cell, onto which the row itself may have
    been spread; what it contributes to its own sum is known exactly, and taken away.
    """
    b = points.shape[1]
    extent = np.ptp(points, axis=0) + 2 * REACH
    shape = np.minimum(np.ceil(extent * CELLS_PER_BANDWIDTH), MAX_CELLS[b]).astype(int) + 1
    step = extent / (shape - 1)
    place = (points - points.min(axis=0) + REACH) / step
    corner = np.minimum(place.astype(int), shape - 2)
    fraction = place - corner
    spread = np.zeros(shape.prod())
    corners = []
    for offset in np.ndindex(*(2,) * b):
        index = np.ravel_multi_index(tuple((corner + offset).T), tuple(shape))
        weight = np.where(offset, fraction, 1 - fraction).prod(axis=1)
        spread += np.bincount(index[centres], weight[centres], minlength=len(spread))
        corners.append((index, weight))
    smooth = _smooth(spread.reshape(shape), step).ravel()
    sums = sum(weight * smooth[index] for index, weight in corners)
    mixed = 2 * fraction[centres] * (1 - fraction[centres])
    sums[centres] -= (1 - mixed + mixed * np.exp(-0.5 * step**2)).prod(axis=1)
    return np.maximum(sums, 0.0)


def _smooth(grid: Array, step: Array) -> Array:
    """Convolve a grid with a Gaussian of unit width and height; its margin takes the wrap."""
    spectrum = rfftn(grid)
    for axis, size in enumerate(grid.shape):
        index = np.arange(size)
        kernel = np.exp(-0.5 * (np.minimum(index, size - index) * step[axis]) ** 2)
        line = (rfft if axis == grid.ndim - 1 else fft)(kernel).real
        spectrum *= line.reshape([-1 if a == axis else 1 for a in range(grid.ndim)])
    return irfftn(spectrum, s=grid.shape)
