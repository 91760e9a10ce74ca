"""Where the edges between groups lie that overlap.

A graph of neighbours cuts where rows are rare. Where no gap is beyond chance there is no such
place: the groups overlap, if they are there at all, and their edges are best put where a row is as
likely in one ellipse as in the other. Where there are gaps, but wide ones, this is how to cross
them: a graph does not mind on which side a few stray rows are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from ..metrics import nmi
from .appraisal import gap_surprise
from .candidate import Candidate
from .em import fit_mixtures
from .judge import judge
from .sample import Sample
from .separation import NeighbourGraph
from .sources.chain import ChainSource
from .sources.mixture import MixtureSource
from .sources.step import StepSource
from .whitening import Whitened


def with_likely_edges(
    sample: Sample, candidate: Candidate, *, proposed_beside: bool = True
) -> Candidate:
    """Return a candidate of overlapping groups with edges between ellipses, as mixtures have them.

    Mixtures have such edges, but for what was found before them: its means blur the edges of all
    that was looked for together with it. Heaps and steps beyond chance stay as they are, and so do
    groups that a few steps of EM would make others of (many small ones, curves, or pieces of one
    ellipse), and edges in gaps beyond chance, unless the likely ones move stray rows only.

    Parameters
    ----------
    sample : Sample
        The rows.
    candidate : Candidate
        Appraised: what is surprising about the groups is not asked again.
    proposed_beside : bool, default=True
        Whether all that is known of the sample was known when the candidate was proposed.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.metrics import nmi
    >>> from multifacet.search import Sample, Settings, judge
    >>> from multifacet.search.edges import with_likely_edges
    >>> rng = np.random.default_rng(0)
    >>> halves = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 3)) + 1.5 * halves[:, None]
    >>> sample = Sample.draw(X, [], Settings(), seed=0)
    >>> groups = (sample.X[:, 0] > 0.75).astype(int)  # by one feature of three
    >>> rough = judge(sample, np.eye(3)[:, :1], groups, start="by hand")
    >>> fine = with_likely_edges(sample, rough)
    >>> truth = halves[sample.rows]
    >>> bool(nmi(fine.labels, truth) > nmi(rough.labels, truth) + 0.2)
    True
    """
    plan, k = sample.plan, candidate.n_clusters
    if candidate.rejected or k > plan.mixture_clusters or issparse(sample.X) or sample.wide:
        return candidate
    ellipses = candidate.source == MixtureSource.name
    ellipses &= proposed_beside or not candidate.believed
    step = candidate.source == StepSource.name and candidate.believed  # of a feature of few values
    at_one_place = candidate.own_surprise is not None and candidate.source != ChainSource.name
    if ellipses or step or at_one_place:
        return candidate
    white = Whitened.of(sample)
    labels = fit_mixtures(
        white.Z, candidate.labels[None], k, shared=True, ridge=plan.ridge, max_iter=plan.edge_steps
    ).labels[0]
    sizes = np.bincount(labels, minlength=k)
    if sizes.min() < plan.fewest_rows or nmi(labels, candidate.labels) < plan.edges_kept:
        return candidate
    if _in_gaps(sample, candidate) and not _about_stray_rows(sample, candidate, labels):
        return candidate
    found = judge(
        sample, white.discriminant(labels, plan), labels,
        start=f"edges of {candidate.source}", source=MixtureSource.name, smallest=plan.small_group,
    )  # fmt: skip
    if found.rejected:
        return candidate
    # Evidence stays that of what proposed the groups.
    return replace(
        found,
        separation=candidate.separation,
        surprise=candidate.surprise,
        score=candidate.score,
    )


def _in_gaps(sample: Sample, candidate: Candidate) -> bool:
    """Whether the edges of a candidate lie in gaps, or empty space, beyond chance."""
    gaps = gap_surprise(sample, np.array([candidate.separation]))[0]
    chained = candidate.source == ChainSource.name
    return candidate.believed and (chained or bool(gaps >= sample.plan.believable))


def _about_stray_rows(sample: Sample, candidate: Candidate, labels: Array) -> bool:
    """Whether likely edges (m,) move a few rows of a candidate only, and cut nothing apart."""
    plan = sample.plan
    moved = float(np.mean(labels != candidate.labels))  # EM keeps the numbers of its start
    graph = NeighbourGraph.of(sample.project(candidate.W), plan)
    return moved <= plan.stray and graph.separation(labels).score >= plan.weak
