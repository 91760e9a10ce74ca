"""Groups that overlap: Gaussian mixtures of the whitened rows without what is given.

With one shared covariance the groups are ellipses of one form; with one each they may differ in
width, and a small dense one is found inside a wide one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ...kmeans import kmeans_runs
from ...linalg import Array
from ..candidate import in_order
from ..em import Mixtures, fit_mixtures
from ..judge import judge
from ..sample import Sample
from ..support import pairwise_nmi
from ..whitening import Whitened
from .base import LinearSource, Proposal
from .step import along


class MixtureSource(LinearSource):
    """Gaussian mixtures, from cuts along many directions."""

    name = "mixture"
    kind = "ellipses that may overlap"

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield the likeliest mixtures of each number of groups that differ from each other."""
        white = Whitened.of(sample)
        if not white.Z.shape[1]:
            return
        components = white.independent(sample.seed)
        numbers = sample.numbers_of_groups(sample.plan.mixture_clusters)
        for k in numbers:
            first = _mixture_starts(white, components, k, sample)
            found = [
                judge(
                    sample,
                    white.discriminant(labels, sample.plan.ridge),
                    labels,
                    start=start,
                    source=self.name,
                    smallest=sample.plan.small_group,
                )
                for start, labels in _likeliest(white.Z, first, k, sample)
            ]
            if found:
                yield Proposal(found, len(numbers), optional=False)


def _mixture_starts(white: Whitened, components: Array, k: int, sample: Sample) -> Array:
    """Return first groups (R, m): cuts along coordinates and components, planes, k-means."""
    plan, Z = sample.plan, white.Z
    values = Z @ np.vstack([np.eye(Z.shape[1]), components]).T
    found = []
    if k == 2:
        found += [(values > np.quantile(values, cut, axis=0)).T for cut in plan.cuts]
        radius = np.linalg.norm(Z, axis=1)
        found += [(radius > np.quantile(radius, cut))[None] for cut in plan.radii]
    else:
        found.append(along(values.T, k))
        planes = combinations(range(min(plan.planes, len(components))), 2)
        found += [_clusters(Z @ components[list(two)].T, k, 1, sample) for two in planes]
    found += [_clusters(points, k, plan.kmeans_runs, sample) for points in (Z, white.scores)]
    return np.vstack(found).astype(np.intp)


def _clusters(points: Array, k: int, runs: int, sample: Sample) -> Array:
    """Return the groups (runs, m) of k-means."""
    return kmeans_runs(points, k, runs, steps=sample.plan.kmeans_steps, seed=sample.seed)[0]


def _likeliest(Z: Array, first: Array, k: int, sample: Sample) -> Iterator[tuple[str, Array]]:
    """Yield kind and groups of the likeliest mixtures that differ from each other."""
    plan = sample.plan
    yield from _different(fit_mixtures(Z, first, k, shared=True, ridge=plan.ridge), sample)
    if len(first) > plan.separate_runs:
        once = fit_mixtures(Z, first, k, shared=False, ridge=plan.ridge, max_iter=1)
        first = first[np.argsort(-once.gains, kind="stable")[: plan.separate_runs]]
    separate = fit_mixtures(
        Z, first, k, shared=False, ridge=plan.ridge, raced=2 * plan.mixtures_kept
    )
    yield from _different(separate, sample)


def _different(mixtures: Mixtures, sample: Sample) -> Iterator[tuple[str, Array]]:
    """Yield the likeliest mixtures without fragments, no two of them alike."""
    plan, k = sample.plan, mixtures.means.shape[1]
    fewest = max(plan.fewest_rows, plan.small_group * mixtures.labels.shape[1] / k)
    sizes = (mixtures.labels[:, :, None] == np.arange(k)).sum(axis=1)
    order = np.argsort(-mixtures.gains, kind="stable")
    order = order[sizes[order].min(axis=1) >= fewest]
    labelings = list({in_order(one).tobytes(): one for one in mixtures.labels[order]}.values())
    agreement = pairwise_nmi(labelings)
    kept: list[int] = []
    for run, labels in enumerate(labelings):
        if (agreement[run, kept] > plan.alike).any():
            continue
        kept.append(run)
        yield "one covariance" if mixtures.shared else "one covariance each", labels
        if len(kept) == plan.mixtures_kept:
            return
