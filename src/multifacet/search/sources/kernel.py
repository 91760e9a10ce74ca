"""Groupings by the kernel objective: KDAC on the sample, from many starts, at many settings.

Coarse to fine:

1. every start is a subspace; its clusters at a few bandwidths are *judged*;
2. the most promising starts are *explored* by short alternations at a few coarse settings, and the
   subspaces these lead to are judged in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...alternate import Start, explore, unit_rows
from ...engines.base import PairSums
from ...engines.choose import few_rows
from ...kernels import Kernel, median_distance, needs_bandwidth, with_bandwidth
from ...kmeans import best_kmeans
from ...linalg import Array
from ...metrics import nmi
from ...problems import Problem, alternative, unsupervised
from ...solvers.base import Solver, shortened
from ..candidate import Candidate, Settings, in_order
from ..judge import judge, with_stability
from ..residual import residual_scores
from ..sample import Sample
from ..separation import NeighbourGraph, nearest
from ..starts import spectral_start
from .base import Proposal, Source, StartMaker

#: Which of the neighbours of a row tells how far near ones are.
NEAR = 7


@dataclass(frozen=True)
class KernelSource(Source):
    """Candidates of the kernel objective.

    Parameters
    ----------
    kernel : Kernel
        Similarity; its bandwidth is varied if it has one that is open.
    solver : Solver
        Solver of the short alternations, held to a few steps where it can be.
    starts : callable
        Makes the starts of a dimension.
    with_residual : bool
        Whether to add starts from clusters of the residual.
    """

    kernel: Kernel
    solver: Solver
    starts: StartMaker
    with_residual: bool = True
    name = "kernel"
    kind = "groups of any shape"

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Judge every start, then explore the most promising ones."""
        work = KernelSearch(sample, self.kernel, self.solver)
        dimensions = work.dimensions()
        starts = [
            start
            for number, q in enumerate(dimensions)
            for start in self._first(sample, q, half=number > 0)
        ]
        if self.with_residual:
            starts += [start for q in dimensions for start in work.residual_starts(q)]
        n_explored = max(1, round(sample.plan.promising * len(starts)))
        total = len(starts) + n_explored
        leads = []
        # Threads do not pay: on some hundred rows the interpreter is the bottleneck.
        for start in starts:
            found = work.judge_start(start)
            leads.append((max(found, key=lambda one: one.rank), start))
            yield Proposal(found, total, optional=False)
        leads.sort(key=lambda lead: lead[0].rank, reverse=True)
        for best, start in leads[:n_explored]:
            yield Proposal(work.explore_start(start, best), total)

    def _first(self, sample: Sample, q: int, *, half: bool) -> list[Start]:
        """Return the starts of a dimension, the stronger half of them beyond the first one."""
        starts = list(self.starts(sample.table, sample.given, q))
        return starts[: (len(starts) + 1) // 2] if half else starts

    def turn(self, sample: Sample) -> int:
        """Return 2: it takes as long as all others together."""
        return 2

    def confirm(self, sample: Sample, candidate: Candidate) -> Candidate:
        """Return a candidate with the agreement of clusterings of subsamples."""
        work = KernelSearch(sample, self.kernel, self.solver)
        return with_stability(sample, candidate, work.stability(candidate))


class KernelSearch:
    """The kernel objective on a sample, at settings that are fixed or tried."""

    def __init__(self, sample: Sample, kernel: Kernel, solver: Solver) -> None:
        self.sample, self.plan, self.kernel = sample, sample.plan, kernel
        self.solver = solver
        self._X = sample.X.astype(np.float32)

    def dimensions(self) -> list[int]:
        """Return the dimensions tried: a plane, and room for k clusters in general position.

        Many clusters do not fit into a plane: two levels per direction make 2^q clusters.
        """
        if self.sample.settings.n_components is not None:
            return [self.sample.settings.n_components]
        # A subspace of all dimensions has nothing left to avoid.
        d = self.sample.X.shape[1]
        most = max(1, d - 1 if self.sample.labelings else d)
        k = self.sample.settings.n_clusters or self.plan.start_clusters
        narrow = 2 if k <= self.plan.most_clusters else int(np.ceil(np.log2(k)))
        return sorted({min(narrow, most), min(max(3, k), most)})

    def residual_starts(self, q: int) -> list[Start]:
        """Return starts from clusters of the residual, at several bandwidths."""
        plan, sample = self.plan, self.sample
        scores = residual_scores(sample.X, sample.labelings, plan.start_components)
        if not scores.shape[1]:
            return []
        k = sample.settings.n_clusters or plan.start_clusters
        problem = self.problem(k, self.weight(plan.start_weight))
        median = median_distance(scores) or 1.0
        found = []
        for share in plan.residual_shares:
            kernel = self.filled(self.width(share * median))
            first = few_rows(scores, kernel)
            start = spectral_start(self.attach(kernel), problem, q, first=first)
            found.append(Start(f"residual {share:g}", start.W))
        return found

    def judge_start(self, start: Start) -> list[Candidate]:
        """Judge the clusters in the subspace of a start itself."""
        return self._judge(start.W, start.name, self.weight(self.plan.start_weight))

    def explore_start(self, start: Start, best: Candidate) -> list[Candidate]:
        """Judge the subspaces that short alternations from a start lead to.

        Bandwidths around the one of the start's best candidate are enough.
        """
        plan, widths = self.plan, None
        if best.bandwidth is not None:
            widths = [factor * best.bandwidth for factor in plan.explored_widths]
        found: list[Candidate] = []
        median = self._median(start.W)
        tried = {(self.width(share * median), self.weight(w)) for share, w in plan.explorations}
        for width, weight in sorted(tried, key=str):
            run = explore(
                self.attach(self.filled(width)),
                self.problem(best.n_clusters, weight),
                shortened(self.solver, plan.explore_solver_steps),
                Start(start.name, start.W),
                keep="best",
                max_iter=plan.explore_steps,
                tol=plan.explore_tolerance,
                seed=self.sample.seed,
            )
            found += self._judge(run.solution.W, f"{start.name}, explored", weight, widths)
        return found

    def stability(self, candidate: Candidate) -> float:
        """Return the agreement of a candidate with clusterings of subsamples in its subspace."""
        points, plan = self.sample.project(candidate.W), self.plan
        rng = np.random.default_rng(self.sample.seed)
        agreement = []
        for _ in range(plan.subsamples):
            rows = rng.permutation(len(points))[: int(plan.subsample_share * len(points))]
            _, U = self._embedding(points[rows], candidate.bandwidth, candidate.n_clusters)
            labels = self.cluster(U, candidate.n_clusters)
            agreement.append(nmi(labels, candidate.labels[rows]))
        return float(np.mean(agreement))

    def _judge(
        self, W: Array, name: str, weight: float, near: Sequence[float] | None = None
    ) -> list[Candidate]:
        """Return the candidates of a subspace, at bandwidths ``near`` or at all."""
        k = self.sample.settings.n_clusters
        points = self.sample.project(W)
        graph = NeighbourGraph.of(points, self.plan)
        # Several bandwidths often give the same clusters; the one in their middle is safest.
        widths: dict[bytes, list[float | None]] = {}
        labelings: dict[bytes, tuple[Array, int]] = {}
        for width in self._widths(points, near):
            values, U = self._embedding(points, width, k or self.plan.most_clusters + 1)
            for n_clusters in [k] if k else self._likely_clusters(values):
                labels = self.cluster(U, n_clusters)
                labelings[labels.tobytes()] = labels, n_clusters
                widths.setdefault(labels.tobytes(), []).append(width)
        found = []
        for (labels, n_clusters), same in zip(labelings.values(), widths.values(), strict=True):
            settings = Settings(n_clusters, W.shape[1], same[len(same) // 2], weight)
            found.append(judge(self.sample, W, labels, start=name, settings=settings, graph=graph))
        return found

    def problem(self, k: int, weight: float) -> Problem:
        """Return the problem of k clusters at a novelty weight."""
        if not self.sample.labelings:
            return unsupervised(len(self.sample.rows), k)
        return alternative(self.sample.labelings, weight, k, scale="unit")

    def weight(self, weight: float) -> float:
        """Return the weight that is fixed, or else this one."""
        fixed = self.sample.settings.novelty_weight
        return weight if fixed is None else fixed

    def width(self, width: float) -> float | None:
        """Return the bandwidth that is fixed, or else this one; None if the kernel has none."""
        if not needs_bandwidth(self.kernel):
            return None
        return width if self.sample.settings.bandwidth is None else self.sample.settings.bandwidth

    def _widths(self, points: Array, near: Sequence[float] | None) -> list[float | None]:
        if not needs_bandwidth(self.kernel) or self.sample.settings.bandwidth is not None:
            return [self.width(1.0)]
        if near is not None:
            return list(near)
        width = self.plan.nearest * _neighbour_distance(points)
        most = self.plan.farthest * (median_distance(points) or 1.0)
        widths: list[float | None] = []
        while width < most and len(widths) < self.plan.most_widths:
            widths.append(width)
            width *= 2
        return widths or [most]

    def filled(self, width: float | None) -> Kernel:
        """Return the kernel with its bandwidth."""
        return with_bandwidth(self.kernel, width)

    def attach(self, kernel: Kernel) -> PairSums:
        """Return the pair sums of the sample, in single precision: one only looks around."""
        return few_rows(self._X, kernel, mean=self.sample.mean)

    def _embedding(self, points: Array, width: float | None, k: int) -> tuple[Array, Array]:
        """Return k eigenpairs of the kernel of points, in single precision as well."""
        sums = few_rows(points.astype(np.float32), self.filled(width))
        everything = np.eye(sums.n_features)
        degrees = sums.degrees(everything) if sums.kernel.nonnegative else None
        return sums.embedding(everything, min(k, sums.n_rows - 1), degrees=degrees)

    def _median(self, W: Array) -> float:
        return median_distance(self.sample.project(W)) or 1.0

    def cluster(self, U: Array, k: int) -> Array:
        """Return the labels (m,) of k-means on k columns, numbered in order of appearance.

        The better of two runs.
        """
        rows, steps = unit_rows(U[:, :k]), self.plan.kmeans_steps
        labels = best_kmeans(rows, k, 2, steps=steps, seed=self.sample.seed)
        return in_order(labels)

    def _likely_clusters(self, values: Array) -> list[int]:
        """Return the numbers of clusters after which the eigenvalues fall most.

        Of k clusters k - 1 eigenvalues are near one, the constant vector having been removed.
        """
        missing = 1.0 - np.minimum(values, 1.0) + 1e-3
        ks = [k for k in self.plan.clusters if k <= len(values)]
        fall = [np.log(missing[k - 1] / missing[k - 2]) for k in ks]
        return [ks[i] for i in np.argsort(fall)[::-1][: self.plan.likely_clusters]]


def _neighbour_distance(points: Array) -> float:
    """Return the median distance to a near neighbour."""
    count = min(NEAR, len(points) - 1)
    distances = nearest(points, count)[0][:, -1]
    positive = distances[distances > 0]
    return float(np.median(positive)) if len(positive) else 1.0
