"""The papers' own rules for open settings, to fall back on and to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..alternate import explore
from ..certificate import certify
from ..kernels import Kernel, needs_bandwidth, typical_distance
from ..linalg import Array, leading_eigenpairs
from ..solvers.base import Solver
from .bank import Selection
from .candidate import Candidate, Settings
from .judge import judge
from .plan import PLAN, SearchPlan
from .sample import Sample
from .sources import KernelSearch
from .starts import spectral_start

#: The grid of the rule "quality": shares of the typical distance, and novelty weights.
QUALITY_SHARES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
QUALITY_WEIGHTS = (0.1, 1.0, 10.0, 100.0)
#: Outer iterations at each pair, and how far W may still move at the end.
QUALITY_STEPS, QUALITY_TOLERANCE = 20, 1e-4
#: Most dimensions that the rule "eigengap" may choose.
MOST_DIMENSIONS = 100


def papers_settings(
    fixed: Settings, X: Any, kernel: Kernel, k: int, plan: SearchPlan = PLAN
) -> Settings:
    """Fill in what is open as the papers do: groupings by direction, where there are no gaps."""
    k = fixed.n_clusters or k
    width = fixed.bandwidth
    if width is None and needs_bandwidth(kernel):
        width = typical_distance(X)
    q = fixed.n_components or min(k, max(1, X.shape[1] // 2))
    weight = plan.weak_weight if fixed.novelty_weight is None else fixed.novelty_weight
    return Settings(k, q, width, weight)


def select_by_quality(sample: Sample, kernel: Kernel, solver: Solver) -> Selection:
    """Choose bandwidth and novelty weight as the papers do: CQ under the second-order inequality.

    Every pair of a grid is run from the spectral start (ISM 2018, section 5). CQ rises to k
    as the bandwidth falls, whatever the clusters, so this rule is here to be compared with. If no
    pair satisfies the inequality, the highest CQ wins nevertheless and says so.
    """
    fixed, search = sample.settings, KernelSearch(sample, kernel, solver)
    k = fixed.n_clusters or 2
    q = fixed.n_components or min(k, max(1, sample.X.shape[1] // 2))
    typical = typical_distance(sample.X)
    shares = QUALITY_SHARES if fixed.bandwidth is None else (1.0,)
    weights = QUALITY_WEIGHTS if fixed.novelty_weight is None else (1.0,)
    scored = []
    for share in shares:
        for weight in weights:
            settings = Settings(k, q, search.width(share * typical), search.weight(weight))
            scored.append(_run_at(search, settings))
    scored.sort(key=lambda pair: (not pair[1].rejected, pair[0]), reverse=True)
    candidates = [candidate for _, candidate in scored]
    return Selection(
        candidates, sample.rows, candidates[0].settings, rule="quality", plan=sample.plan
    )


def _run_at(search: KernelSearch, settings: Settings) -> tuple[float, Candidate]:
    """Run the papers' method at one setting; return its CQ and the candidate."""
    k, q, weight = settings.n_clusters, settings.n_components, settings.novelty_weight
    assert k is not None
    assert q is not None
    assert weight is not None
    sums, problem = search.attach(search.filled(settings.bandwidth)), search.problem(k, weight)
    found = explore(
        sums,
        problem,
        search.solver,
        spectral_start(sums, problem, q),
        keep="settled",
        max_iter=QUALITY_STEPS,
        tol=QUALITY_TOLERANCE,
        seed=search.sample.seed,
    ).solution
    gamma = problem.gamma(found.embedding, found.degrees)
    certificate = certify(sums, found.W, gamma)
    labels = search.cluster(found.embedding, k)
    candidate = judge(search.sample, found.W, labels, start="spectral", settings=settings)
    holds = certificate.eigengap >= certificate.bound
    reason = "" if holds else "second-order inequality does not hold"
    return found.quality, replace(candidate, rejected=reason)


def eigengap_dimension(
    X: Any, labelings: Sequence[Array], kernel: Kernel, solver: Solver, k: int
) -> int:
    """Return the papers' q: the largest gap between eigenvalues of Phi at the spectral start."""
    sample = Sample.draw(X, labelings, Settings(k), seed=0)
    search, d = KernelSearch(sample, kernel, solver), X.shape[1]
    sums = search.attach(search.filled(search.width(typical_distance(sample.X))))
    problem = search.problem(k, sample.plan.start_weight)
    gamma = spectral_start(sums, problem, 1).gamma
    assert gamma is not None
    values = leading_eigenpairs(sums.initial_phi(gamma), min(d, MOST_DIMENSIONS))[0]
    most = max(1, len(values) - 1)
    return int(np.argmax(values[:most] - values[1 : most + 1])) + 1 if d > 1 else 1
