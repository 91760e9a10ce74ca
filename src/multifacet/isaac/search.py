"""The search for the cheapest partition into subspaces (ISAAC 2016, Algorithm 1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..linalg import Array
from ..search.starts import pairwise_dependence
from .coding import CodingCost, merge_indicators
from .density import choose_rows
from .isa import CONTRASTS, ICA_STEPS, Components, group_components, independent_components

#: Rows on which subspaces are sought.
SEARCH_ROWS = 10_000
#: Partners of each group that are tried in earnest.
N_PARTNERS = 3
#: Components up to which all contrast functions are tried; beyond, one takes long enough.
MANY_COMPONENTS = 16
#: Components whose correlations are all above this are the same.
ALIKE = 0.999

Groups = list[Array]
Report = Callable[..., None]


def _silent(**details: object) -> None:
    """Report nothing."""


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

    def scaled(self, factor: float, bits: float) -> Partition:
        """Return the partition with each cost multiplied, and some bits added to it."""
        path = [(sizes, factor * cost + bits) for sizes, cost in self.path]
        return Partition(self.groups, factor * self.cost + bits, path)


def find_subspaces(
    X: Array,
    *,
    n_components: int | None = None,
    steps: int = ICA_STEPS,
    seed: int = 0,
    report: Report = _silent,
) -> tuple[Components, Partition]:
    """Return the components of X (n, d), and the partition of them, that cost the fewest bits.

    Independent components have local optima, and where subspaces have several dimensions the best
    components need not belong to the best subspaces. So each contrast function has its say, and
    the bits of the partitions decide.
    """
    rows = choose_rows(len(X), SEARCH_ROWS, seed)
    tried: list[tuple[Components, Partition]] = []
    converged = False
    for number, contrast in enumerate(CONTRASTS, start=1):
        if tried and len(tried[0][0].demixing) > MANY_COMPONENTS:
            break
        found = independent_components(
            X, n_components=n_components, contrast=contrast, steps=steps, seed=seed
        )
        converged |= found.converged
        if any(_alike(found.sources, other.sources) for other, _ in tried):
            continue
        partition = find_partition(
            found.sources[rows], seed=seed, report=partial(report, attempt=number)
        )
        tried.append((found, partition.scaled(len(X) / len(rows), found.bits)))
    if not converged:
        warnings.warn(
            "independent components did not converge from any start: several directions look "
            "Gaussian, which have no independent components of their own; fewer components "
            "(n_components) may help",
            ConvergenceWarning,
            stacklevel=3,
        )
    return min(tried, key=lambda pair: pair[1].cost)


def _alike(one: Array, other: Array) -> bool:
    """Return whether two sets of components (n, m) differ in order or sign only."""
    closeness = np.abs(one.T @ other) / len(one)
    return bool((closeness.max(axis=1) > ALIKE).all())


def find_partition(sources: Array, *, seed: int = 0, report: Report = _silent) -> Partition:
    """Find the partition of components (n, m) that costs the fewest bits.

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
        merged = merge_round(groups, _worth(cost, sources, groups, seed))
        if len(merged) == len(groups):
            break
        groups = _regroup(cost, dependence, merged)
        path.append((tuple(sorted((len(g) for g in groups), reverse=True)), cost(groups)))
        report(subspaces=len(groups), bits=path[-1][1])
        if path[-1][1] < bits:
            best, bits = groups, path[-1][1]
    return Partition(best, bits, path)


def _worth(cost: CodingCost, sources: Array, groups: Groups, seed: int) -> Array:
    """Return the bits (q, q) that merging adds, for the pairs that kernels suggest."""
    screened = merge_indicators(sources, groups, seed=seed)
    partners = np.argsort(screened, axis=1, kind="stable")[:, : min(N_PARTNERS, len(groups) - 1)]
    pairs = {(min(i, j), max(i, j)) for i, row in enumerate(partners) for j in row.tolist()}
    added = np.full_like(screened, np.inf)
    for i, j in sorted(pairs):
        added[i, j] = added[j, i] = cost.merged(groups[i], groups[j])
    return added


def _regroup(cost: CodingCost, dependence: Array, groups: Groups) -> Groups:
    """Return the groups after the greedy exchange, if that is cheaper."""
    exchanged = group_components(dependence, [len(g) for g in groups], start=groups)
    return min(groups, exchanged, key=cost)


def merge_round(groups: Groups, added: Array) -> Groups:
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
