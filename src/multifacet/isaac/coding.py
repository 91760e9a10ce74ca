"""How many bits a partition into subspaces costs, and the search for the cheapest one.

A group of components is described by the shorter of two codes: a kernel density estimate, which
fits everything with some waste, and a Gaussian mixture, which wastes nothing on clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..linalg import Array
from ..starts import pairwise_dependence
from .density import N_WIDTHS, bandwidths, choose_rows, density_bits, kernels, log_densities
from .isa import group_components
from .mixture import fit_mixtures

#: Rows on which all pairs of groups are screened, and the partners of each group that are then
#: tried in earnest.
SCREENED_ROWS, N_PARTNERS = 1000, 3
#: Kernel values held at a time.
_BLOCK_VALUES = 4_000_000

Groups = list[Array]


@dataclass(frozen=True)
class Partition:
    """A partition of components into independent subspaces.

    Attributes
    ----------
    groups : list of arrays of int
        Components of each subspace.
    cost : float
        Bits of the data and of the partition.
    path : list of (tuple of int, float)
        Sizes and costs of all partitions that were tried.
    """

    groups: Groups
    cost: float
    path: list[tuple[tuple[int, ...], float]] = field(repr=False)


class CodingCost:
    """Bits of partitions of the components ``sources`` (n, m); each group is computed once."""

    def __init__(self, sources: Array, *, seed: int = 0) -> None:
        self._sources = sources
        self._seed = seed
        self._known: dict[tuple[int, ...], float] = {}

    def group(self, members: Array) -> float:
        """Return the bits of a group (L_pdf): its rows and what describes their density."""
        key = tuple(sorted(members.tolist()))
        if key not in self._known:
            S = self._sources[:, list(key)]
            # One bandwidth per dimension, at the precision that n rows allow.
            kernel = density_bits(S, seed=self._seed) + 0.5 * S.shape[1] * np.log2(len(S))
            mixtures = fit_mixtures(S, seed=self._seed)
            self._known[key] = min(kernel, *(mixture.density_bits for mixture in mixtures))
        return self._known[key]

    def merged(self, a: Array, b: Array) -> float:
        """Return the bits that merging two groups adds (C_M); negative pays."""
        return self.group(np.concatenate([a, b])) - self.group(a) - self.group(b)

    def __call__(self, groups: Sequence[Array]) -> float:
        """Return the bits of a partition (L_I): groups, their sizes and the demixing matrix."""
        m = self._sources.shape[1]
        sizes = np.array([len(group) for group in groups])
        partition = (sizes / 2 * np.log2(m / sizes)).sum() + np.log2(m)
        return sum(self.group(group) for group in groups) + float(partition)


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
    volumes = np.array([np.ptp(points[:, group], axis=0).prod() for group in groups])
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
        logs += log_densities(means, np.outer(volumes, volumes), n, dimension).sum(axis=1)
    widths = np.array([np.log2(h[group]).sum() for group in groups])
    return -logs.max(axis=0) + n * (widths[:, None] + widths)


def find_partition(
    sources: Array, *, seed: int = 0, report: Callable[..., None] = lambda **details: None
) -> Partition:
    """Find the partition of components (n, m) that costs the fewest bits (ISAAC 2016, Alg. 1).

    Begin with single components. In each round merge every pair of groups that pays, the best
    first and each group once, regroup the components at the sizes that result, and remember the
    cheapest partition. Stop when no merge pays.
    """
    cost = CodingCost(sources, seed=seed)
    dependence = pairwise_dependence(sources)
    groups = [np.array([i]) for i in range(sources.shape[1])]
    best, bits = groups, cost(groups)
    path = [(tuple(len(g) for g in groups), bits)]
    while len(groups) > 1:
        merged = _merge_round(groups, _worth(cost, sources, groups, seed))
        if len(merged) == len(groups):
            break
        groups = _regroup(cost, dependence, merged)
        path.append((tuple(sorted((len(g) for g in groups), reverse=True)), cost(groups)))
        report(subspaces=len(groups), bits=path[-1][1])
        if path[-1][1] < bits:
            best, bits = groups, path[-1][1]
    return Partition(best, bits, path)


def _worth(cost: CodingCost, sources: Array, groups: Groups, seed: int) -> Array:
    """Return the bits (q, q) that merging adds: screened by kernels, the best pairs in earnest."""
    added = merge_indicators(sources, groups, seed=seed)
    partners = np.argsort(added, axis=1, kind="stable")[:, : min(N_PARTNERS, len(groups) - 1)]
    pairs = {(min(i, j), max(i, j)) for i, row in enumerate(partners) for j in row.tolist()}
    for i, j in sorted(pairs):
        added[i, j] = added[j, i] = cost.merged(groups[i], groups[j])
    return added


def _regroup(cost: CodingCost, dependence: Array, groups: Groups) -> Groups:
    """Return the groups after the greedy exchange, if that is cheaper."""
    exchanged = group_components(dependence, [len(g) for g in groups], start=groups)
    return min(groups, exchanged, key=cost)


def _merge_round(groups: Groups, added: Array) -> Groups:
    """Return the groups after all disjoint merges that pay, the best first.

    A group whose best partner is taken waits for the next round, as published: its second choice
    would often be a mistake.
    """
    first, second = np.triu_indices(len(groups), k=1)
    bits = added[first, second]
    free = np.ones(len(groups), dtype=bool)
    alone = np.ones(len(groups), dtype=bool)
    merged: Groups = []
    for pair in np.argsort(bits, kind="stable"):
        i, j = first[pair], second[pair]
        if bits[pair] < 0 and free[i] and free[j]:
            merged.append(np.sort(np.concatenate([groups[i], groups[j]])))
            alone[[i, j]] = False
        free[[i, j]] = False
    return merged + [group for group, kept in zip(groups, alone, strict=True) if kept]
