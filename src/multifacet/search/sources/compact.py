"""Compact groups: k-means of the rows without what is given, in their units and whitened."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...kmeans import best_kmeans
from ...linalg import Array
from ..judge import judge
from ..sample import Sample
from ..whitening import Whitened
from .base import LinearSource, Proposal


class CompactSource(LinearSource):
    """Clusters of k-means, the best of a few runs for each number of groups."""

    name = "compact"
    kind = "compact groups"

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield the clusters of each number of groups."""
        white, plan = Whitened.of(sample), sample.plan
        if not white.Z.shape[1]:
            return
        numbers = sample.numbers_of_groups(plan.most_clusters)
        for k in numbers:
            found = [
                judge(
                    sample,
                    white.discriminant(labels, plan.ridge),
                    labels,
                    start=name,
                    source=self.name,
                    smallest=plan.small_group,
                )
                for name, points in (("as it is", white.scores), ("whitened", white.Z))
                if len(np.unique(labels := self._clusters(points, k, sample))) == k
            ]
            if found:
                yield Proposal(found, len(numbers), optional=False)

    @staticmethod
    def _clusters(points: Array, k: int, sample: Sample) -> Array:
        plan = sample.plan
        return best_kmeans(points, k, plan.kmeans_runs, steps=plan.kmeans_steps, seed=sample.seed)
