"""Compact groups: k-means of the rows without what is given, in their units and whitened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...kmeans import best_kmeans
from ...linalg import Array
from ..candidate import Candidate
from ..factors import row_factors
from ..judge import judge
from ..nested import group_means, nested_groups
from ..plan import SearchPlan
from ..sample import Sample
from ..turns import ONE_OF_TWO, in_turns
from ..whitening import Whitened
from .base import LinearSource, Proposal


class CompactSource(LinearSource):
    """Clusters of k-means, of two up to dozens of groups.

    In units as they are, groups are seen in the directions in which their means lie; whitened, in
    those in which they differ most.
    """

    name = "compact"
    kind = "compact groups"

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield the clusters of each number of groups."""
        white, plan = Whitened.of(sample), sample.plan
        if not white.Z.shape[1]:
            return
        few = sample.numbers_of_groups(plan.most_clusters)
        many = sample.numbers_of_groups(plan.most_groups, plan.rows_per_compact_group)
        numbers = _thinned(sorted({*few, *many}), plan)
        if not numbers:
            return
        plain = [
            self._judged(sample, white, labels, "as it is")
            for labels in _clusters(white.scores, numbers, sample)
        ]
        plain += [
            self._judged(sample, white, labels, "factor")
            for labels in _factors(white.scores, plain, sample)
        ]
        whitened = [
            self._judged(sample, white, labels, "whitened")
            for labels in _clusters(white.Z, numbers, sample)
        ]
        turned = [
            self._judged(sample, white, labels, start)
            for labels, start in _in_turns(white.scores, [plain, whitened], numbers, sample)
        ]
        for found in filter(None, (turned, plain, whitened)):
            yield Proposal(found, 3, optional=False)

    def _judged(self, sample: Sample, white: Whitened, labels: Array, start: str) -> Candidate:
        plan = sample.plan
        ours = start == "whitened"
        W = (white.discriminant if ours else white.spanned)(labels, plan)
        return judge(sample, W, labels, start=start, source=self.name, smallest=plan.small_group)


def _thinned(numbers: list[int], plan: SearchPlan) -> list[int]:
    """Return numbers of groups: all small ones, and of large ones those that differ by a tenth."""
    kept: list[int] = []
    for k in numbers:
        if not kept or k >= kept[-1] * plan.path_step:
            kept.append(k)
    return kept


def _clusters(points: Array, numbers: list[int], sample: Sample) -> Iterator[Array]:
    """Yield the tightest groups (m,) for each number: of a path, or of runs for small numbers."""
    plan, seed = sample.plan, sample.seed
    runs, steps = plan.kmeans_runs, plan.kmeans_steps
    most = min(plan.path_excess * max(numbers), len(points) // plan.fewest_rows)
    for labels in nested_groups(points, most, runs, steps=steps, seed=seed):
        k = int(labels.max()) + 1
        if k not in numbers:
            continue
        if k <= plan.most_clusters:
            other = best_kmeans(points, k, runs, steps=steps, seed=seed)
            if len(np.unique(other)) == k and _spread(points, other) < _spread(points, labels):
                labels = other
        yield labels


def _factors(points: Array, found: list[Candidate], sample: Sample) -> Iterator[Array]:
    """Yield the groups (m,) of both factors of the clearest products among what was found.

    Beside something given, a product is left as it is (:meth:`.Bank.beside`).
    """
    plan = sample.plan
    clear = [c for c in found if c.n_clusters >= 4 and c.separation >= plan.clear]
    if sample.labelings or sample.settings.n_clusters is not None:
        return
    for one in sorted(clear, key=lambda c: -c.separation)[: plan.products_tried]:
        yield from row_factors(points, one.labels, plan.interaction) or ()


def _in_turns(
    points: Array, paths: Sequence[list[Candidate]], numbers: list[int], sample: Sample
) -> Iterator[tuple[Array, str]]:
    """Yield the groups (m,) of two factors and of paths without one and without the other.

    Of tables of many features in which something is clear; of others :func:`_factors` tells enough.
    """
    plan = sample.plan
    clear = any(c.separation >= plan.clear for found in paths for c in found)
    if not (sample.wide and clear) or sample.labelings or sample.settings.n_clusters is not None:
        return
    found = [{c.n_clusters: c.labels for c in path} for path in paths]
    numbers = [k for k in numbers if k <= plan.turn_groups] or numbers[:1]
    guesses = [found[path][k] for path, k in plan.guesses if k in found[path]]
    for labels in in_turns(points, guesses, plan, seed=sample.seed) or ():
        yield labels, ONE_OF_TWO
        rest = points - group_means(points, labels)[0][labels]
        yield from ((groups, "in turns") for groups in _clusters(rest, numbers, sample))


def _spread(points: Array, labels: Array) -> float:
    """Return the spread of points within groups (m,), less that of all."""
    member = np.eye(int(labels.max()) + 1)[labels]
    return -float((((member.T @ points) ** 2).sum(axis=1) / member.sum(axis=0)).sum())
