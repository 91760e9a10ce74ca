"""Where the edges between groups lie that overlap.

A graph of neighbours cuts where rows are rare. Where no gap is beyond chance there is no such
place: the groups overlap, if they are there at all, and their edges are best put where a row is as
likely in one ellipse as in the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from ..metrics import nmi
from .appraisal import gap_surprise
from .candidate import Candidate
from .em import fit_mixtures
from .judge import judge
from .sample import Sample
from .sources.mixture import MixtureSource
from .sources.step import StepSource
from .whitening import Whitened


def with_likely_edges(sample: Sample, candidate: Candidate) -> Candidate:
    """Return a candidate of overlapping groups with edges between ellipses, as mixtures have them.

    Mixtures have such edges. Groups whose gaps or steps are beyond chance stay as they are, too,
    and so do those that a few steps of EM would make others of: many small ones, curves, or pieces
    of one ellipse.

    Parameters
    ----------
    sample : Sample
        The rows.
    candidate : Candidate
        Appraised: what is surprising about the groups is not asked again.

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
    if ellipses or candidate.own_surprise is not None or _has_edges(sample, candidate):
        return candidate
    white = Whitened.of(sample)
    labels = fit_mixtures(
        white.Z, candidate.labels[None], k, shared=True, ridge=plan.ridge, max_iter=plan.edge_steps
    ).labels[0]
    sizes = np.bincount(labels, minlength=k)
    if sizes.min() < plan.fewest_rows or nmi(labels, candidate.labels) < plan.edges_kept:
        return candidate
    found = judge(
        sample, white.discriminant(labels, plan.ridge), labels,
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


def _has_edges(sample: Sample, candidate: Candidate) -> bool:
    """Whether the edges of a candidate are beyond chance, all questions asked.

    They lie in gaps, or where one feature has few values.
    """
    gaps = gap_surprise(sample, np.array([candidate.separation]))[0]
    is_step = candidate.source == StepSource.name
    return candidate.believed and (is_step or bool(gaps >= sample.plan.believable))
