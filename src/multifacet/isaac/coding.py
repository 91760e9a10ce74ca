"""How many bits a partition of components into subspaces costs.

A group of components is described by the shorter of two codes: a kernel density estimate, which
fits everything with some waste, and a Gaussian mixture, which wastes nothing on clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..linalg import Array
from .density import N_WIDTHS, bandwidths, choose_rows, density_bits, kernels, log_densities
from .mixture import fit_mixtures

#: Rows on which all pairs of groups are screened.
SCREENED_ROWS = 1000
#: Kernel values held at a time.
_BLOCK_VALUES = 4_000_000


class CodingCost:
    """Bits of partitions of the components ``sources`` (n, m); each group is computed once."""

    def __init__(self, sources: Array, *, seed: int = 0) -> None:
        self._sources = sources
        self._seed = seed
        # A number costs half of log2 n bits, at the precision that n rows allow.
        self._number = 0.5 * np.log2(len(sources))
        self._known: dict[tuple[int, ...], tuple[float, bool]] = {}

    def group(self, members: Array) -> float:
        """Return the bits of a group (L_pdf): its rows and what describes their density."""
        return self._describe(members)[0]

    def _describe(self, members: Array) -> tuple[float, bool]:
        """Return the bits of a group, and whether a single Gaussian is its shortest code."""
        key = tuple(sorted(members.tolist()))
        if key not in self._known:
            S = self._sources[:, list(key)]
            # A kernel density adapts to mean and covariance, as a Gaussian does, and has a width.
            # Without the former near-Gaussian rows would be told by kernels, at too low a price.
            b = S.shape[1]
            kernel = density_bits(S, seed=self._seed) + (b * (b + 3) / 2 + 1) * self._number
            mixtures = [mixture.density_bits for mixture in fit_mixtures(S, seed=self._seed)]
            shortest = min(kernel, *mixtures)
            self._known[key] = float(shortest), mixtures[0] == shortest
        return self._known[key]

    def demixing(self, a: Array, b: Array) -> float:
        """Return the bits of the entries of the demixing matrix that keep two groups apart.

        A linear map within a group is part of its density already, so that of the m^2 entries
        those between groups are left. Gaussian groups need none: any directions do.
        """
        free = self._describe(a)[1] and self._describe(b)[1]
        return 0.0 if free else 2 * len(a) * len(b) * self._number

    def merged(self, a: Array, b: Array) -> float:
        """Return the bits that merging two groups adds (C_M); negative pays."""
        both = np.concatenate([a, b])
        saved = self.demixing(a, b) + self._size(a) + self._size(b) - self._size(both)
        return self.group(both) - self.group(a) - self.group(b) - saved

    def __call__(self, groups: Sequence[Array]) -> float:
        """Return the bits of a partition (L_I): groups, their sizes and the demixing matrix."""
        alone = sum(self.group(group) + self._size(group) for group in groups)
        return alone + sum(self.demixing(a, b) for a, b in combinations(groups, 2))

    def _size(self, members: Array) -> float:
        """Return the bits that tell which components are in a group."""
        m, size = self._sources.shape[1], len(members)
        return 0.5 * size * float(np.log2(m / size))


def merge_indicators(sources: Array, groups: Sequence[Array], *, seed: int = 0) -> Array:
    """Return the bits (q, q) that merging each two groups adds, by kernel densities alone.

    A product kernel makes all pairs one batch of matrix products: the kernel sums of row i are
    K_i K_i^T, with K_i (q, n) the kernels of all groups around row i. At most 1000 rows are used;
    the result is scaled to all.
    """
    rows = choose_rows(len(sources), SCREENED_ROWS, seed)
    S = sources[rows]
    sizes = np.array([len(group) for group in groups])
    total = sizes[:, None] + sizes
    joint = np.zeros(total.shape)
    for dimension in np.unique(total[np.triu_indices(len(groups), k=1)]):
        pairs = total == dimension
        used = np.flatnonzero(pairs.any(axis=1))
        block = _joint_bits(S, [groups[i] for i in used.tolist()], int(dimension))
        wanted = np.ix_(used, used)
        joint[wanted] = np.where(pairs[wanted], block, joint[wanted])
    alone = np.array([density_bits(S[:, group], seed=seed) for group in groups])
    added = joint - alone[:, None] - alone
    np.fill_diagonal(added, np.inf)
    return added * (len(sources) / len(S))


def _joint_bits(S: Array, groups: Sequence[Array], dimension: int) -> Array:
    """Return the bits (q, q) of each two groups together, if they have that dimension."""
    n = len(S)
    h = bandwidths(S, n, dimension)
    points = ((S - S.mean(axis=0)) / h).astype(np.float32)
    volumes = np.array([np.log2(np.ptp(points[:, group], axis=0)).sum() for group in groups])
    logs = np.zeros((N_WIDTHS, len(groups), len(groups)))
    chunk = max(1, _BLOCK_VALUES // (n * len(groups)))
    for begin in range(0, n, chunk):
        rows = np.arange(begin, min(begin + chunk, n))
        K = np.stack([kernels(points[rows][:, g], points[:, g]) for g in groups], axis=1)
        K[np.arange(len(rows)), :, rows] = 0.0
        means = np.empty((N_WIDTHS, len(rows), len(groups), len(groups)), dtype=np.float32)
        for j in range(N_WIDTHS):
            means[j] = K @ K.transpose(0, 2, 1) / (n - 1)
            K *= K
        logs += log_densities(means, volumes[:, None] + volumes, n, dimension).sum(axis=1)
    widths = np.array([np.log2(h[group]).sum() for group in groups])
    return -logs.max(axis=0) + n * (widths[:, None] + widths)
