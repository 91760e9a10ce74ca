"""Groups with empty space around them: rows that hang together link by link.

In a subspace of a start the rows are linked to one tree, nearest ones first (single linkage, with
distances at least those to near neighbours, so that a few stray rows make no bridge; Campello,
Moulavi and Sander 2013). Cut where the longest links join groups, the tree falls into moons, rings,
spirals or blobs, whatever their number. How much longer a link between groups is than nearly all of
those within tells how empty the space is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist

from ...alternate import Start
from ...linalg import Array
from ..candidate import Candidate
from ..judge import gumbel_surprise, judge
from ..rounding import evened
from ..sample import Sample
from ..separation import NeighbourGraph, nearest
from .base import Proposal, Source, StartMaker

#: Quantile of the links within a group that those out of it are compared with: a few stray rows
#: have long ones.
WITHIN = 0.95


@dataclass(frozen=True)
class ChainSource(Source):
    """Groups of linked rows.

    Parameters
    ----------
    starts : callable
        Makes the subspaces of a dimension in which to look.
    """

    starts: StartMaker
    name = "chain"
    kind = "groups with empty space between them"
    own_measure = True

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield the groups in every subspace."""
        # What is empty must be so with rounding undone: whole numbers have gaps everywhere.
        X, plan = evened(sample.X), sample.plan
        dimensions = {min(q, X.shape[1]) for q in plan.chain_dimensions}
        starts = [
            start
            for q in sorted(dimensions)
            for start in self.starts(sample.table, sample.given, q)
        ]
        for start in starts:
            points = np.asarray(X @ start.W) - sample.mean @ start.W
            found = _chained(sample, start, points)
            if found:
                yield Proposal(found, len(starts), optional=False)


def _chained(sample: Sample, start: Start, points: Array) -> list[Candidate]:
    """Return the groups of linked points (m, q), one candidate for each number of them."""
    plan, found = sample.plan, []
    numbers = sample.numbers_of_groups(plan.most_clusters)
    least = max(plan.fewest_rows, int(plan.small_group * len(points) / 2))
    chain = Chain(points, plan.chain_near)
    graph = None
    for labels, gap in chain.groups(least, max(numbers)):
        surprise = float(gumbel_surprise(np.array((gap - plan.chain_usual) / plan.chain_scale)))
        # Every cloud can be linked to some groups; they are proposed where chance is not enough.
        if int(labels.max()) + 1 not in numbers or surprise < plan.believable:
            continue
        graph = graph or NeighbourGraph.of(sample.project(start.W), plan)
        candidate = judge(
            sample, start.W, labels, start=start.name, source=ChainSource.name, graph=graph,
            smallest=plan.small_group,
        )  # fmt: skip
        found.append(replace(candidate, own_surprise=surprise))
    return found


class Chain:
    """The tree of links between points.

    Parameters
    ----------
    points : array of shape (m, q)
        Points.
    near : int
        Which neighbour of a point tells how long its links are at least.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.sources.chain import Chain
    >>> rng = np.random.default_rng(0)
    >>> angle, radius = rng.uniform(0, 6.28, 300), np.repeat([1.0, 3.0], 150)
    >>> rings = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    >>> [(labels, gap)] = Chain(rings, 3).groups(20, 2)
    >>> np.bincount(labels).tolist(), gap > 0.5
    ([150, 150], True)
    """

    def __init__(self, points: Array, near: int) -> None:
        m = len(points)
        reach = nearest(points, min(near, m - 1))[0][:, -1]
        i, j = np.triu_indices(m, 1)
        tree = linkage(np.maximum(pdist(points), np.maximum(reach[i], reach[j])), "single")
        self._lengths = tree[:, 2]
        sizes = np.concatenate([np.ones(m, dtype=int), tree[:, 3].astype(int)])
        ends = tree[:, :2].astype(int)
        # In the order of the leaves the points below every link are neighbours.
        self._leaves = leaves_list(tree)
        first = np.empty(2 * m - 1, dtype=int)
        first[self._leaves] = np.arange(m)
        for link, pair in enumerate(ends):
            first[m + link] = first[pair].min()
        smaller = np.where(sizes[ends[:, 0]] < sizes[ends[:, 1]], ends[:, 0], ends[:, 1])
        #: Of each link: the smaller of the two parts that it joins, as a range of leaves.
        self._first, self._size = first[smaller], sizes[smaller]

    def groups(self, least: int, most: int) -> Iterator[tuple[Array, float]]:
        """Yield 2 to ``most`` groups (m,) of ``least`` points each, and how empty it is around.

        Emptiness is the mean over groups of the log ratio of the link that leads out to the 95 %
        quantile of those within.
        """
        cuts = np.flatnonzero(self._size >= least)[::-1][: most - 1]
        at = np.zeros(len(self._leaves), dtype=np.intp)  # groups in the order of leaves
        outward = np.zeros(most)
        uncut = np.ones(len(self._lengths), dtype=bool)
        for new, cut in enumerate(cuts, start=1):
            part = slice(self._first[cut], self._first[cut] + self._size[cut])
            outward[[at[part.start], new]] = self._lengths[cut]
            at[part] = new
            uncut[cut] = False
            labels = np.empty_like(at)
            labels[self._leaves] = at
            yield labels, self._emptiness(at[self._first], uncut, outward[: new + 1])

    def _emptiness(self, groups: Array, uncut: Array, outward: Array) -> float:
        """Return the mean log ratio of links out of groups (k,) to those within."""
        within = [
            np.quantile(self._lengths[uncut & (groups == one)], WITHIN)
            for one in range(len(outward))
        ]
        return float(np.log(outward / np.maximum(within, 1e-12)).mean())
