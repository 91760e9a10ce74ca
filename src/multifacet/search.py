"""Candidates for a grouping: where they come from and how each of them is judged.

A candidate is a subspace with clusters at some settings, on a subsample of the rows. It is judged
by its separation (:mod:`multifacet.separation`), which is comparable between all settings,
provided that its clusters are not fragments and do not repeat what is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2
from sklearn.neighbors import NearestNeighbors

from .alternate import FRAGMENT_SHARE, explore, unit_rows
from .certificate import certify
from .engines import Exact
from .engines.base import PairSums
from .kernels import Kernel, median_distance, needs_bandwidth, with_bandwidth
from .linalg import Array
from .metrics import nmi
from .problems import Problem, alternative, unsupervised
from .separation import neighbour_graph, separation
from .solvers.base import Solver
from .starts import Start, residual_scores, spectral_start

#: Rows of the subsample: this many, or this many per cluster that is given or asked for.
ROWS, ROWS_PER_GROUP = 400, 30
#: Numbers of clusters tried if none is asked for.
CLUSTERS = range(2, 9)
#: (share of the median distance, novelty weight) of the short alternations.
EXPLORATIONS = ((0.15, 1.0), (0.3, 10.0), (1.0, 3.0))
#: Outer iterations of a short alternation.
EXPLORE_STEPS = 4
#: Steps of k-means.
KMEANS_STEPS = 15
#: Bandwidths judged: from half the distance of near neighbours, doubled, to 1.6 median distances.
NEAREST, FARTHEST = 0.5, 1.6
#: NMI with the given labels beyond what chance gives, up to which a grouping counts as new.
KNOWN = 0.02
#: Subsamples behind the stability of a candidate, and what stability counts for.
SUBSAMPLES, STABILITY_WEIGHT = 3, 2.0


@dataclass(frozen=True)
class Settings:
    """What the user fixed; None is to be chosen. The weight is in unit scale."""

    n_clusters: int | None = None
    n_components: int | None = None
    bandwidth: float | None = None
    novelty_weight: float | None = None

    def complete(self, kernel: Kernel) -> bool:
        """Whether nothing is left to choose; a kernel may have no bandwidth."""
        open_width = self.bandwidth is None and needs_bandwidth(kernel)
        return not open_width and None not in (
            self.n_clusters,
            self.n_components,
            self.novelty_weight,
        )


@dataclass(frozen=True)
class Candidate:
    """One solution on the subsample and how it was judged.

    Attributes
    ----------
    n_clusters, n_components, bandwidth, novelty_weight
        Its settings; ``bandwidth`` is None for kernels without one.
    start : str
        Where it began, and the exploration that followed.
    separation : float
        Mean log ratio of internal to external conductance; minus infinity if it was rejected.
    novelty : float
        Largest NMI with a given labeling (0 is entirely new).
    balance : float
        Size of the smallest cluster relative to n / k.
    stability : float or None
        Agreement with clusterings of subsamples; asked of finalists only.
    rejected : str
        Why it may not win; empty if it may.
    W : array of shape (d, q)
        Subspace.
    labels : array of shape (rows,)
        Clusters of the subsample.
    """

    n_clusters: int
    n_components: int
    bandwidth: float | None
    novelty_weight: float
    start: str
    separation: float
    novelty: float
    balance: float
    rejected: str
    W: Array = field(repr=False)
    labels: Array = field(repr=False)
    stability: float | None = None

    @property
    def settings(self) -> Settings:
        """Its settings, all known."""
        return Settings(self.n_clusters, self.n_components, self.bandwidth, self.novelty_weight)

    @property
    def rank(self) -> tuple[bool, float]:
        """Sorts candidates: admissible ones first, then by separation and stability."""
        return not self.rejected, self.separation + STABILITY_WEIGHT * (self.stability or 0.0)


class Search:
    """The subsample and everything that is the same for all candidates."""

    def __init__(
        self,
        X: Any,
        labelings: Sequence[Array],
        kernel: Kernel,
        solver: Solver,
        settings: Settings,
        seed: int,
    ) -> None:
        n, self.d = X.shape
        groups = max((len(np.unique(labels)) for labels in labelings), default=0)
        size = max(ROWS, ROWS_PER_GROUP * max(groups, settings.n_clusters or 0))
        self.rows = np.sort(np.random.default_rng(seed).permutation(n)[:size])
        self.X = X[self.rows]
        self.mean = np.asarray(self.X.mean(axis=0)).ravel()
        self.labelings = [
            codes
            for labels in labelings
            if (codes := np.unique(labels[self.rows], return_inverse=True)[1]).any()
        ]
        self.kernel, self.solver, self.settings, self.seed = kernel, solver, settings, seed

    def dimensions(self) -> list[int]:
        """Return the dimensions tried: a plane, and room for k clusters in general position.

        Many clusters do not fit into a plane: two levels per direction make 2^q clusters.
        """
        if self.settings.n_components is not None:
            return [self.settings.n_components]
        # A subspace of all dimensions has nothing left to avoid.
        most = max(1, self.d - 1 if self.labelings else self.d)
        k = self.settings.n_clusters or 3
        narrow = 2 if k <= 8 else int(np.ceil(np.log2(k)))
        return sorted({min(narrow, most), min(max(3, k), most)})

    def residual_starts(self, q: int) -> list[Start]:
        """Return starts from clusters of the residual, at several bandwidths."""
        scores = residual_scores(self.X, self.labelings)
        if not scores.shape[1]:
            return []
        problem = self.problem(self.settings.n_clusters or 3, self.weight(3.0))
        median = median_distance(scores) or 1.0
        found = []
        for share in (0.25, 0.5, 1.0):
            kernel = self.filled(self.width(share * median))
            first = Exact().attach(scores, kernel, mean=None, n_jobs=1)
            start = spectral_start(self.attach(kernel), problem, q, first=first)
            found.append(Start(f"residual {share:g}", start.W))
        return found

    def judge_start(self, start: Start) -> list[Candidate]:
        """Judge the clusters in the subspace of a start itself."""
        return self._judge(start.W, start.name, self.weight(3.0))

    def explore_start(self, start: Start, best: Candidate) -> list[Candidate]:
        """Judge the subspaces that short alternations from a start lead to.

        Bandwidths around the one of the start's best candidate are enough.
        """
        widths = None if best.bandwidth is None else [f * best.bandwidth for f in (0.5, 1.0, 2.0)]
        found: list[Candidate] = []
        median = self._median(start.W)
        tried = {(self.width(share * median), self.weight(w)) for share, w in EXPLORATIONS}
        for width, weight in sorted(tried, key=str):
            run = explore(
                self.attach(self.filled(width)),
                self.problem(best.n_clusters, weight),
                self.solver,
                Start(start.name, start.W),
                keep="best",
                max_iter=EXPLORE_STEPS,
                tol=1e-3,
                seed=self.seed,
            )
            found += self._judge(run.solution.W, f"{start.name}, explored", weight, widths)
        return found

    def judge_quality(
        self, k: int, q: int, width: float | None, weight: float
    ) -> tuple[float, Candidate]:
        """Run the papers' method at one setting; return its CQ and the candidate."""
        sums = self.attach(self.filled(width))
        problem = self.problem(k, weight)
        run = explore(
            sums,
            problem,
            self.solver,
            spectral_start(sums, problem, q),
            keep="settled",
            max_iter=20,
            tol=1e-4,
            seed=self.seed,
        )
        solution = run.solution
        gamma = problem.gamma(solution.embedding, solution.degrees)
        certificate = certify(sums, solution.W, gamma)
        graph = neighbour_graph(self._project(solution.W))
        labels = _cluster(solution.embedding, k, self.seed)
        candidate = self._candidate(solution.W, labels, k, width, weight, "spectral", graph)
        holds = certificate.eigengap >= certificate.bound
        reason = "" if holds else "second-order inequality does not hold"
        return solution.quality, replace(candidate, rejected=reason)

    def with_stability(self, candidate: Candidate) -> Candidate:
        """Return the candidate with the agreement of clusterings of two-thirds subsamples."""
        points = self._project(candidate.W)
        rng = np.random.default_rng(self.seed)
        agreement = []
        for _ in range(SUBSAMPLES):
            rows = rng.permutation(len(points))[: 2 * len(points) // 3]
            sums = self._on_points(points[rows], candidate.bandwidth)
            _, U = self._embedding(sums, candidate.n_clusters)
            labels = _cluster(U, candidate.n_clusters, self.seed)
            agreement.append(nmi(labels, candidate.labels[rows]))
        return replace(candidate, stability=float(np.mean(agreement)))

    def _judge(
        self, W: Array, name: str, weight: float, near: Sequence[float] | None = None
    ) -> list[Candidate]:
        """Return the candidates of a subspace, at bandwidths ``near`` or at all."""
        k = self.settings.n_clusters
        points = self._project(W)
        graph = neighbour_graph(points)
        # Several bandwidths often give the same clusters; the one in their middle is safest.
        widths: dict[bytes, list[float | None]] = {}
        labelings: dict[bytes, tuple[Array, int]] = {}
        for width in self._widths(points, near):
            values, U = self._embedding(self._on_points(points, width), k or max(CLUSTERS) + 1)
            for n_clusters in [k] if k else _likely_clusters(values):
                labels = _cluster(U, n_clusters, self.seed)
                labelings[labels.tobytes()] = labels, n_clusters
                widths.setdefault(labels.tobytes(), []).append(width)
        return [
            self._candidate(W, labels, n_clusters, same[len(same) // 2], weight, name, graph)
            for (labels, n_clusters), same in zip(labelings.values(), widths.values(), strict=True)
        ]

    def _candidate(
        self,
        W: Array,
        labels: Array,
        k: int,
        width: float | None,
        weight: float,
        name: str,
        graph: Any,
    ) -> Candidate:
        balance = float(np.bincount(labels, minlength=k).min() * k / len(labels))
        known = [(nmi(labels, given), _chance(labels, given)) for given in self.labelings]
        rejected = ""
        if balance < FRAGMENT_SHARE:
            rejected = "fragment"
        elif any(value > KNOWN + 1.3 * chance for value, chance in known):
            rejected = "repeats what is given"
        return Candidate(
            n_clusters=k,
            n_components=W.shape[1],
            bandwidth=width,
            novelty_weight=weight,
            start=name,
            separation=-np.inf if rejected else separation(graph, labels).score,
            novelty=max((value for value, _ in known), default=0.0),
            balance=balance,
            rejected=rejected,
            W=W,
            labels=labels,
        )

    def problem(self, k: int, weight: float) -> Problem:
        """Return the problem of k clusters at a novelty weight."""
        if not self.labelings:
            return unsupervised(len(self.rows), k)
        return alternative(self.labelings, weight, k, scale="unit")

    def weight(self, weight: float) -> float:
        """Return the weight that is fixed, or else this one."""
        fixed = self.settings.novelty_weight
        return weight if fixed is None else fixed

    def width(self, width: float) -> float | None:
        """Return the bandwidth that is fixed, or else this one; None if the kernel has none."""
        if not needs_bandwidth(self.kernel):
            return None
        return width if self.settings.bandwidth is None else self.settings.bandwidth

    def _widths(self, points: Array, near: Sequence[float] | None) -> list[float | None]:
        if not needs_bandwidth(self.kernel) or self.settings.bandwidth is not None:
            return [self.width(1.0)]
        if near is not None:
            return list(near)
        width = NEAREST * _neighbour_distance(points)
        most = FARTHEST * (median_distance(points) or 1.0)
        widths: list[float | None] = []
        while width < most and len(widths) < 8:
            widths.append(width)
            width *= 2
        return widths or [most]

    def filled(self, width: float | None) -> Kernel:
        """Return the kernel with its bandwidth."""
        return with_bandwidth(self.kernel, width)

    def attach(self, kernel: Kernel) -> PairSums:
        """Return the pair sums of the subsample."""
        return Exact().attach(self.X, kernel, mean=self.mean, n_jobs=1)

    def _on_points(self, points: Array, width: float | None) -> PairSums:
        return Exact().attach(points, self.filled(width), mean=None, n_jobs=1)

    def _embedding(self, sums: PairSums, k: int) -> tuple[Array, Array]:
        everything = np.eye(sums.n_features)
        degrees = sums.degrees(everything) if sums.kernel.nonnegative else None
        return sums.embedding(everything, min(k, sums.n_rows - 1), degrees=degrees)

    def _project(self, W: Array) -> Array:
        return np.asarray(self.X @ W) - self.mean @ W

    def _median(self, W: Array) -> float:
        return median_distance(self._project(W)) or 1.0


def _cluster(U: Array, k: int, seed: int) -> Array:
    """Return the labels (n,) of k-means on k columns, numbered in order of appearance.

    The better of two runs. (It runs hundreds of times on some hundred rows, where scikit-learn's
    k-means spends most of its time on checks.)
    """
    rows = unit_rows(U[:, :k])
    rng = np.random.default_rng(seed)
    best, labels = np.inf, np.zeros(len(rows), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster is refused as a fragment
        for _ in range(2):
            centres, found = kmeans2(rows, k, iter=KMEANS_STEPS, minit="++", rng=rng)
            spread = float(((rows - centres[found]) ** 2).sum())
            if spread < best:
                best, labels = spread, found
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def _likely_clusters(values: Array, most: int = 2) -> list[int]:
    """Return the numbers of clusters after which the eigenvalues fall most.

    Of k clusters k - 1 eigenvalues are near one, the constant vector having been removed.
    """
    missing = 1.0 - np.minimum(values, 1.0) + 1e-3
    ks = [k for k in CLUSTERS if k <= len(values)]
    fall = [np.log(missing[k - 1] / missing[k - 2]) for k in ks]
    return [ks[i] for i in np.argsort(fall)[::-1][:most]]


def _neighbour_distance(points: Array) -> float:
    """Return the median distance to a near neighbour."""
    count = min(7, len(points) - 1)
    distances = NearestNeighbors(n_neighbors=count).fit(points).kneighbors()[0][:, -1]
    positive = distances[distances > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _chance(a: Array, b: Array) -> float:
    """Return the NMI that independent labelings of these sizes have by chance."""
    freedom = (len(np.unique(a)) - 1) * (len(np.unique(b)) - 1)
    return float(freedom / (2 * len(a) * max(np.sqrt(entropy(a) * entropy(b)), 1e-12)))


def entropy(labels: Array) -> float:
    """Return the entropy (in nats) of a labeling."""
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(share * np.log(share)).sum())
