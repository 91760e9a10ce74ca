"""The bandwidth of a reduction by clusters, and the say of scores, chosen on a sample of rows.

Cluster quality rises while the bandwidth falls, so it cannot choose one. The alternation goes from
wide to narrow instead, each W beginning where the last one ended: at a wide bandwidth there are few
optima, and what they lead to is followed. The clusters on the way are compared by the judge of the
search, which looks at the rows and not at the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alternate import Solution, Start, cluster_embedding, explore
from ..engines.choose import few_rows
from ..kernels import Kernel, with_bandwidth
from ..linalg import Array
from ..problems import Problem, semi_supervised, target_factor
from ..search import Proposal, Sample, Selection, Settings, Source, judge, select
from ..search.starts import spectral_start
from .alternation import Effort
from .climbing import held_out_scores
from .held_out import PLAN, Scored
from .sampled import Rows, Target

#: Bandwidths in units of the first one, which is the typical distance: from one to the next a
#: factor, and so many of them.
STEP, WIDTHS = 2**-0.5, 6
#: Iterations of the alternation at the first bandwidth, and at each that follows.
FIRST_ITERATIONS, ITERATIONS = 10, 6
#: Rows per cluster below which nothing can be told of the shape of clusters.
LEAST_ROWS = 8
#: Say of the scores against that of the clusters, from little to much.
SCORE_WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class WideToNarrow(Source):
    """Proposes the clusters on a path from a wide bandwidth to narrow ones.

    Attributes
    ----------
    kernel : Kernel
        Its bandwidth is missing.
    problem : Problem
        That of all rows.
    effort : Effort
        Solver and limits.
    widest : float
        The first bandwidth.
    """

    kernel: Kernel
    problem: Problem
    effort: Effort
    widest: float
    name = "path"
    kind = "groups of any shape"

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield one candidate for each bandwidth."""
        q = sample.settings.n_components
        assert q is not None
        problem = self.problem.take(sample.rows)
        W: Array | None = None
        for i in range(WIDTHS):
            width = self.widest * STEP**i
            kernel = with_bandwidth(self.kernel, width)
            found = alternated(sample.X, sample.mean, kernel, problem, q, W, self.effort)
            W = found.W
            labels, _ = cluster_embedding(found.embedding, n_init=3, seed=sample.seed)
            settings = Settings(problem.n_clusters, q, width, 1.0)
            candidate = judge(
                sample, W, labels, start="wide bandwidths", source=self.name, settings=settings
            )
            yield Proposal([candidate], WIDTHS, optional=False)


def alternated(
    X: Any,
    mean: Array | None,
    kernel: Kernel,
    problem: Problem,
    q: int,
    W: Array | None,
    effort: Effort,
) -> Solution:
    """Return where a short alternation on few rows leads, from W (d, q) or the spectral start."""
    sums = few_rows(X, kernel, mean=mean)
    return explore(
        sums,
        problem,
        effort.solver,
        spectral_start(sums, problem, q) if W is None else Start("path", W),
        keep="settled",
        max_iter=min(effort.max_iter, FIRST_ITERATIONS if W is None else ITERATIONS),
        tol=effort.tol,
        seed=effort.seed,
    ).solution


def choose_bandwidth(
    X: Any, kernel: Kernel, problem: Problem, q: int, widest: float, effort: Effort
) -> Selection | None:
    """Return the choice among clusters on a path; None for one cluster, or too few rows (n, d)."""
    k = problem.n_clusters
    if k < 2 or X.shape[0] < LEAST_ROWS * k:
        return None
    sample = Sample.draw(X, [], Settings(k, q), effort.seed)
    source = WideToNarrow(kernel, problem, effort, widest)
    return select(sample, [source], callback=effort.callback)


@dataclass(frozen=True)
class ScoreWeight(Scored):
    """A say of the scores, and how well it tells those of held-out rows."""

    weight: float
    scores: Array


def choose_score_weight(
    X: Any, scores: Array, k: int, q: int, kernel: Kernel, effort: Effort
) -> float:
    """Return the least say of scores (n, r) with which those of held-out rows are told best.

    Told by neighbours in the subspace, on a sample of the rows, and but for two standard errors: a
    larger say would only take it from the clusters. With too few rows the say is equal.
    """
    values = target_factor(scores)
    target = Target(values, values)
    if not target.can_be_held_out or X.shape[0] < LEAST_ROWS * k:
        return 1.0
    rows = Rows.draw(X, target, PLAN.rows if X.shape[1] <= PLAN.rows else PLAN.wide_rows)
    q = min(q, rows.Z.shape[1])
    found: list[list[Array]] = [[] for _ in SCORE_WEIGHTS]
    for learning, out in rows.split(PLAN.folds, 0):
        W: Array | None = None
        for told, weight in zip(found, SCORE_WEIGHTS, strict=True):
            problem = semi_supervised(learning.target.columns, weight, k)
            W = alternated(learning.Z, None, kernel, problem, q, W, effort).W
            places, new = learning.Z @ W, out.Z @ W
            told.append(held_out_scores(places, learning.target, new, out.target, PLAN))
    return least_weight(
        [
            ScoreWeight(weight, np.concatenate(told))
            for weight, told in zip(SCORE_WEIGHTS, found, strict=True)
        ]
    )


def least_weight(compared: Sequence[ScoreWeight]) -> float:
    """Return the first weight that is not behind the best by more than two standard errors.

    The best of several is higher than it deserves, by one of them already.
    """
    best = max(compared, key=lambda one: float(one.scores.mean()))
    return next(one.weight for one in compared if one is best or not best.gains(one, 2.0))
