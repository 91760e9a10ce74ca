"""One scale for all candidates, whatever proposed them.

A candidate is judged by its separation (:mod:`.separation`), which is comparable between all
settings, provided that its clusters are not fragments and do not repeat what is given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..linalg import Array
from ..metrics import nmi
from .candidate import Candidate, Settings
from .sample import Sample
from .separation import NeighbourGraph


def judge(
    sample: Sample,
    W: Array,
    labels: Array,
    *,
    start: str,
    source: str = "kernel",
    settings: Settings | None = None,
    graph: NeighbourGraph | None = None,
    smallest: float | None = None,
) -> Candidate:
    """Judge a grouping of the sample in a subspace.

    Parameters
    ----------
    sample : Sample
        The rows.
    W : array of shape (d, q)
        The subspace in which the groups are to be seen, in the rows as they are.
    labels : array of int of shape (m,)
        Groups of the rows, numbered from 0.
    start : str
        Where it began, for reports.
    source : str
        Name of the source that proposes it.
    settings : Settings, optional
        Settings that lead to it; by default its number of groups and dimensions.
    graph : NeighbourGraph, optional
        Neighbour graph of the rows in the subspace, if it is known already.
    smallest : float, optional
        Share of n / k below which a group is a fragment; by default that of the plan.

    Returns
    -------
    Candidate
        With separation minus infinity, and a reason, if it may not win: groups that are fragments,
        that repeat what is given, or that are not as many as asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Sample, Settings, judge
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) + np.repeat([0, 9], 40)[:, None]
    >>> sample = Sample.draw(X, [], Settings(), seed=0)
    >>> halves = (sample.X[:, 0] > 4.5).astype(int)
    >>> judge(sample, np.eye(2), halves, start="by hand").separation > sample.plan.clear
    True
    """
    plan = sample.plan
    labels = _check(sample, W, labels)
    k = settings.n_clusters if settings is not None else None
    k = k or int(labels.max()) + 1
    settings = settings or Settings(k, W.shape[1], None, plan.start_weight)
    assert settings.novelty_weight is not None
    balance = float(np.bincount(labels, minlength=k).min() * k / len(labels))
    known = [(nmi(labels, given), chance_nmi(labels, given)) for given in sample.labelings]
    rejected = ""
    if not sample.settings.allows(k):
        rejected = "not the number of groups asked for"
    elif balance < (plan.fragment if smallest is None else smallest):
        rejected = "fragment"
    elif any(value > plan.known + plan.known_by_chance * chance for value, chance in known):
        rejected = "repeats what is given"
    found = -np.inf
    if not rejected:
        graph = NeighbourGraph.of(sample.project(W), plan) if graph is None else graph
        found = graph.separation(labels).score
    return Candidate(
        n_clusters=k,
        n_components=W.shape[1],
        bandwidth=settings.bandwidth,
        novelty_weight=settings.novelty_weight,
        start=start,
        separation=found,
        novelty=max((value for value, _ in known), default=0.0),
        balance=balance,
        rejected=rejected,
        W=W,
        labels=labels,
        source=source,
        score=found,
    )


def _check(sample: Sample, W: Array, labels: Array) -> Array:
    """Return labels as integers; raise for a subspace or labels that do not fit the sample."""
    d, m = sample.X.shape[1], len(sample.rows)
    if np.ndim(W) != 2 or np.shape(W)[0] != d or not np.isfinite(W).all():
        raise ValueError(
            f"W has shape {np.shape(W)}: pass a basis (d, q) of finite numbers, one row for each "
            f"of the {d} features"
        )
    labels = np.asarray(labels)
    if labels.shape != (m,) or labels.dtype.kind not in "iub" or labels.min() < 0:
        raise ValueError(
            f"labels have shape {labels.shape} and type {labels.dtype}: pass one group for each of "
            f"the {m} rows of the sample, numbered from 0"
        )
    return labels.astype(np.intp, copy=False)


def with_stability(sample: Sample, candidate: Candidate, stability: float) -> Candidate:
    """Return a candidate whose score counts how stable it is."""
    score = candidate.separation + sample.plan.stability_weight * stability
    return replace(candidate, stability=stability, score=score)


def chance_nmi(a: Array, b: Array) -> float:
    """Return the NMI that independent labelings of these sizes have by chance."""
    (first, spread_a), (second, spread_b) = _groups_and_entropy(a), _groups_and_entropy(b)
    freedom = (first - 1) * (second - 1)
    return float(freedom / (2 * len(a) * max(np.sqrt(spread_a * spread_b), 1e-12)))


def corrected_nmi(a: Array, b: Array) -> float:
    """Return the NMI of two labelings (n,), numbered from 0, with 0 for what chance gives.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.metrics import nmi
    >>> from multifacet.search.judge import corrected_nmi
    >>> rng = np.random.default_rng(0)
    >>> many, others = rng.integers(0, 12, (2, 100))
    >>> round(nmi(many, others), 1), corrected_nmi(many, others) < 0.1, corrected_nmi(many, many)
    (0.3, True, 1.0)
    """
    chance = chance_nmi(a, b)
    return max(0.0, (nmi(a, b) - chance) / (1.0 - chance)) if chance < 1 else 0.0


def entropy(labels: Array) -> float:
    """Return the entropy (in nats) of a labeling (n,), numbered from 0."""
    return _groups_and_entropy(labels)[1]


def _groups_and_entropy(labels: Array) -> tuple[int, float]:
    sizes = np.bincount(labels)
    share = sizes[sizes > 0] / len(labels)
    return len(share), float(-(share * np.log(share)).sum())


def gumbel_surprise(deviations: Array) -> Array:
    """Return -log of how often a Gumbel law exceeds its mean by so many scales."""
    excess = np.asarray(deviations, dtype=float) + np.euler_gamma
    # Beyond 30, 1 - exp(-exp(-e)) is exp(-e).
    return np.where(excess > 30, excess, -np.log(-np.expm1(-np.exp(-np.clip(excess, -30, 30)))))
