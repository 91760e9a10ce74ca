"""Compact groups: k-means of the rows without what is given, in their units and whitened."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.cluster.vq import kmeans2

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
                if len(np.unique(labels := best_kmeans(points, k, sample))) == k
            ]
            if found:
                yield Proposal(found, len(numbers), optional=False)


def best_kmeans(points: Array, k: int, sample: Sample) -> Array:
    """Return the tightest of a few clusterings (m,)."""
    runs = kmeans_runs(points, k, sample.plan.kmeans_runs, sample)
    spread = []
    for labels in runs:
        codes = np.eye(k)[labels]
        means = codes.T @ points / np.maximum(codes.sum(axis=0), 1.0)[:, None]
        spread.append(((points - means[labels]) ** 2).sum())
    return runs[int(np.argmin(spread))]


def kmeans_runs(points: Array, k: int, runs: int, sample: Sample) -> Array:
    """Return the groups (runs, m) of k-means."""
    rng, steps = np.random.default_rng(sample.seed), sample.plan.kmeans_steps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty group is refused as a fragment
        found = [kmeans2(points, k, iter=steps, minit="++", rng=rng)[1] for _ in range(runs)]
    return np.stack(found)
