"""ISAAC to the letter of the paper and the authors' program, to compare with.

Merges are decided on the features and only their sizes are kept; each row helps to estimate its own
density, at the rule-of-thumb bandwidth; components are found anew for every partition; clusters
cost what their standard deviations say, and their number stops at the first that costs more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.decomposition import PCA

from ..linalg import Array
from ..search.starts import pairwise_dependence
from .density import bandwidths, choose_rows, kernels
from .isa import Components, group_components, independent_components
from .mixture import FLOOR, Mixture
from .search import Groups, Partition, Report, merge_round

#: Rows on which densities are estimated, from all pairs of them; and rows at a time.
DENSITY_ROWS, _BLOCK_ROWS = 2000, 256


def published_subspaces(
    X: Array, *, n_components: int | None, seed: int, report: Report
) -> tuple[Components, Partition]:
    """Return the components of X (n, d) and their partition, by Algorithm 1 as it is printed."""
    rows = choose_rows(len(X), DENSITY_ROWS, seed)
    found = independent_components(X, n_components=n_components, sharper=False, seed=seed)
    m = found.sources.shape[1]
    # Features that repeat each other are no subspaces; their principal components stand in.
    data = X[rows] if m == X.shape[1] else PCA(m).fit_transform(X / X.std(axis=0))[rows]
    groups = [np.array([i]) for i in range(m)]
    bits = _partition_bits(found.sources[rows], groups)
    path = [((1,) * m, bits)]
    best = found, groups, bits
    while len(groups) > 1:
        merged = merge_round(groups, _merge_indicators(data, groups))
        if len(merged) == len(groups):
            break
        groups = merged
        sizes = [len(group) for group in groups]
        found = independent_components(X, n_components=m, sharper=False, seed=seed + len(path))
        blocks = group_components(pairwise_dependence(found.sources), sizes)
        bits = _partition_bits(found.sources[rows], blocks)
        path.append((tuple(sorted(sizes, reverse=True)), bits))
        report(subspaces=len(sizes), bits=bits)
        if bits < best[2]:
            best = found, blocks, bits
    found, groups, bits = best
    return found, Partition(groups, bits, path).scaled(len(X) / len(rows), 0.0)


def _partition_bits(sources: Array, groups: Sequence[Array]) -> float:
    """Return L_I: rows, a bandwidth per dimension, sizes of the groups, demixing matrix."""
    n, m = sources.shape
    sizes = np.array([len(group) for group in groups])
    rows = sum(kernel_bits(sources[:, group]) for group in groups)
    return rows + float(0.5 * m * np.log2(n) + (sizes / 2 * np.log2(m / sizes)).sum() + np.log2(m))


def _merge_indicators(data: Array, groups: Groups) -> Array:
    """Return C_M (q, q): the bits that merging two groups of features adds."""
    alone = [kernel_bits(data[:, group]) for group in groups]
    added = np.full((len(groups), len(groups)), np.inf)
    for i, j in zip(*np.triu_indices(len(groups), k=1), strict=True):
        both = kernel_bits(data[:, np.concatenate([groups[i], groups[j]])])
        added[i, j] = added[j, i] = both - alone[i] - alone[j]
    return added


def kernel_bits(S: Array) -> float:
    """Return -sum log2 f(s_i) of rows (n, b), f their kernel density estimate, row i included."""
    n, b = S.shape
    h = bandwidths(S, n, b)
    points = ((S - S.mean(axis=0)) / h).astype(np.float32)
    blocks = (points[begin : begin + _BLOCK_ROWS] for begin in range(0, n, _BLOCK_ROWS))
    means = np.concatenate([kernels(block, points).mean(axis=1) for block in blocks])
    return float(-np.log2(means).sum() + n * (0.5 * b * np.log2(2 * np.pi) + np.log2(h).sum()))


def published_clusters(S: Array, mixtures: list[Mixture]) -> list[Mixture]:
    """Return the mixtures of S (n, b) with published code lengths, until the first longer one."""
    kept: list[Mixture] = []
    for mixture in mixtures:
        bits = sum(_cluster_bits(S[mixture.labels == c], S) for c in range(mixture.n_clusters))
        if kept and bits > kept[-1].cluster_bits:
            break
        kept.append(replace(mixture, cluster_bits=bits))
    return kept


def _cluster_bits(members: Array, S: Array) -> float:
    """Return the bits of a cluster: rows by their standard deviations, labels, parameters."""
    (size, b), n = members.shape, len(S)
    variances = members.var(axis=0) + FLOOR * S.var(axis=0).mean()
    rows = 0.5 * size * np.log2(2 * np.pi * math.e * variances).sum()
    return float(rows + size * np.log2(n / size) + b * (b + 3) / 4 * np.log2(size))
