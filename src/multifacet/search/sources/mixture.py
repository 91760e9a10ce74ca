"""Groups that overlap: Gaussian mixtures of the whitened rows without what is given.

With one shared covariance the groups are ellipses of one form; with one each they may differ in
width, and a small dense one is found inside a wide one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ...kmeans import kmeans_runs
from ...linalg import Array
from ..additive import Pair, bayesian_evidence, likeliest_pair
from ..candidate import Candidate, in_order
from ..em import Mixtures, fit_mixtures
from ..factors import in_cells
from ..judge import judge
from ..nested import nested_groups
from ..sample import Sample
from ..support import pairwise_nmi
from ..turns import ONE_OF_TWO
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
        likely = _Likely(white.Z, sample)
        found: list[Candidate] = []
        for k in numbers:
            first = _mixture_starts(white, components, k, sample)
            found = [self._judged(sample, white, *one) for one in likely.mixtures(first, k)]
            if found:
                yield Proposal(found, len(numbers) + 2, optional=False)
        more = [self._judged(sample, white, *one) for one in _more_groups(white, found, sample)]
        pair = [self._judged(sample, white, ONE_OF_TWO, one) for one in likely.pair()]
        for further in filter(None, (more, pair)):
            yield Proposal(further, len(numbers) + 2, optional=False)

    def _judged(self, sample: Sample, white: Whitened, start: str, labels: Array) -> Candidate:
        plan, W = sample.plan, white.discriminant(labels, sample.plan)
        return judge(sample, W, labels, start=start, source=self.name, smallest=plan.small_group)


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


def _more_groups(
    white: Whitened, found: Sequence[Candidate], sample: Sample
) -> Iterator[tuple[str, Array]]:
    """Yield more groups (m,) than mixtures have, where the most of these are clear.

    Where some groups are seen, others of the same form are too: in the directions in which those
    differ, and in units of their spread.
    """
    plan = sample.plan
    clear = [one for one in found if not one.rejected and one.separation >= plan.clear]
    if not clear or sample.wide or sample.settings.n_clusters is not None:
        return
    best = max(clear, key=lambda one: one.separation)
    numbers = sample.numbers_of_groups(plan.most_groups, plan.rows_per_compact_group)
    most = min(plan.path_excess * numbers[-1], len(white.Z) // plan.fewest_rows)
    runs, steps = plan.kmeans_runs, plan.kmeans_steps
    points = white.told(best.labels, plan)
    for labels in nested_groups(points, most, runs, steps=steps, seed=sample.seed):
        if best.n_clusters < labels.max() + 1 <= numbers[-1]:
            yield "where fewer differ", labels


def _clusters(points: Array, k: int, runs: int, sample: Sample) -> Array:
    """Return the groups (runs, m) of k-means."""
    return kmeans_runs(points, k, runs, steps=sample.plan.kmeans_steps, seed=sample.seed)[0]


class _Likely:
    """The likeliest mixtures of whitened rows (m, r), and two groupings that are likelier."""

    def __init__(self, Z: Array, sample: Sample) -> None:
        self._Z, self._sample = Z, sample
        self._evidence = 0.0  # of the best single grouping
        self._groupings: list[Array] = []  # to begin with two

    def mixtures(self, first: Array, k: int) -> Iterator[tuple[str, Array]]:
        """Yield kind and groups of the likeliest mixtures that differ from each other."""
        plan, Z = self._sample.plan, self._Z
        shared = fit_mixtures(Z, first, k, shared=True, ridge=plan.ridge)
        self._evidence = max(self._evidence, bayesian_evidence(shared.gains.max(), k - 1, Z))
        for found in _different(shared, self._sample):
            if k <= plan.pair_clusters:
                self._groupings.append(found[1])
            yield found
        if len(first) > plan.separate_runs:
            once = fit_mixtures(Z, first, k, shared=False, ridge=plan.ridge, max_iter=1)
            first = first[np.argsort(-once.gains, kind="stable")[: plan.separate_runs]]
        separate = fit_mixtures(
            Z, first, k, shared=False, ridge=plan.ridge, raced=2 * plan.mixtures_kept
        )
        yield from _different(separate, self._sample)

    def pair(self) -> tuple[Array, ...]:
        """Return two groupings (m,) if nothing is given and both tell more than any one.

        Beside something given, a product is left as it is (:meth:`.Bank.beside`).
        """
        if self._sample.labelings or len(self._groupings) < 2:
            return ()
        found = likeliest_pair(self._Z, self._groupings, self._sample.plan)
        if found is None:
            return ()
        evidence = bayesian_evidence(found.gain, found.effects, self._Z)
        return found.groupings if evidence > max(self._evidence, self._anywhere(found)) else ()

    def _anywhere(self, pair: Pair) -> float:
        """Return the evidence of as many groups as a pair combines, wherever these lie.

        Of twenty groups coarse divisions tell more than any five of them do, but they are no
        product: the means of its combinations are sums of two effects.
        """
        one, other = pair.groupings
        cells = in_cells(one, other)
        k, plan = int(cells.max()) + 1, self._sample.plan
        first = np.vstack([cells, _clusters(self._Z, k, plan.kmeans_runs, self._sample)])
        free = fit_mixtures(self._Z, first, k, shared=True, ridge=plan.ridge)
        return bayesian_evidence(free.gains.max(), k - 1, self._Z)


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
