"""How far apart the parts of one long cloud look.

A long cloud is cut across with few edges, and each part of it then takes twice as many for its
share: its parts look apart, and the more so the longer it is. So a grouping is tried on clouds that
are as long as the rows in its subspace, but hold no groups: what it gains there over round ones is
made by the length.
"""

from __future__ import annotations

import numpy as np

from ..linalg import Array
from .sample import Sample
from .separation import NeighbourGraph, nearest_groups


class LongClouds:
    """Clouds without groups that are as long as rows (m, q) are.

    Parameters
    ----------
    sample : Sample
        Tells how many rows there are.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Sample, Settings
    >>> from multifacet.search.clouds import LongClouds
    >>> points = np.random.default_rng(0).normal(size=(200, 2)) * [5, 1]
    >>> clouds = LongClouds(Sample.draw(points, [], Settings(), seed=0))
    >>> across, along = ((points[:, axis] > 0).astype(int) for axis in (0, 1))
    >>> clouds.separation(points, across) > 0.3 > clouds.separation(points, along)
    True
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._round: dict[int, list[tuple[Array, NeighbourGraph]]] = {}

    def separation(self, points: Array, labels: Array) -> float:
        """Return the separation that groups (m,) of points (m, q) owe to their length."""
        plan, centred = self._sample.plan, points - points.mean(axis=0)
        _, spread, axes = np.linalg.svd(centred, full_matrices=False)
        if spread[0] < plan.long * spread[-1]:
            return 0.0
        root = spread[:, None] * axes
        gained = []
        for cloud, graph in self._round_clouds(points.shape[1]):
            long = cloud @ root
            groups = nearest_groups(centred, labels, long)
            if np.bincount(groups, minlength=int(labels.max()) + 1).min() < plan.fewest_rows:
                continue
            apart = NeighbourGraph.of(long, plan).separation(groups).score
            gained.append(apart - graph.separation(groups).score)
        return max(float(np.mean(gained)), 0.0) if gained else 0.0

    def _round_clouds(self, dimensions: int) -> list[tuple[Array, NeighbourGraph]]:
        """Return normal clouds (m, q) with orthonormal columns, and their graphs."""
        if dimensions in self._round:
            return self._round[dimensions]
        plan, rng = self._sample.plan, np.random.default_rng(self._sample.seed)
        found = self._round[dimensions] = []
        for _ in range(plan.clouds):
            cloud = rng.standard_normal((len(self._sample.rows), dimensions))
            cloud = np.linalg.svd(cloud - cloud.mean(axis=0), full_matrices=False)[0]
            found.append((cloud, NeighbourGraph.of(cloud, plan)))
        return found
