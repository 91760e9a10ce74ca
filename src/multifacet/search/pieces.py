"""Pieces of a curve are no groups of their own.

The projection of a moon or a ring is denser at its ends than in its middle, so that along a line
its pieces look like two groups. In the subspace of the whole they hang together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..linalg import Array
from .appraisal import gap_surprise
from .candidate import Candidate
from .sample import Sample
from .separation import NeighbourGraph


@dataclass(frozen=True, eq=False)
class Earlier:
    """A grouping that was found before.

    Attributes
    ----------
    labels : array of int of shape (m,)
        Its groups of the rows of a sample.
    W : array of shape (d, q)
        Orthonormal basis of its subspace.
    """

    labels: Array = field(repr=False)
    W: Array = field(repr=False)


def doubted(sample: Sample, candidate: Candidate, earlier: Sequence[Earlier]) -> Candidate:
    """Return a candidate, no longer believed if it is pieces of what was found before.

    Parameters
    ----------
    sample : Sample
        The rows.
    candidate : Candidate
        Appraised. One with a measure of its own, as for rows at one place, is left as it is.
    earlier : sequence of Earlier
        What was found before.

    Returns
    -------
    Candidate
        If it shares a direction with an earlier grouping, its surprise is at most that of its
        separation within the groups of that one, seen in both subspaces together.
    """
    if not candidate.believed or candidate.own_surprise is not None or candidate.surprise is None:
        return candidate
    surprise = min([candidate.surprise, *(within(sample, candidate, one) for one in earlier)])
    return replace(candidate, surprise=surprise, believed=surprise >= sample.plan.believable)


def within(sample: Sample, candidate: Candidate, whole: Earlier) -> float:
    """Return how surprising the gaps of a candidate are within the groups of another grouping.

    Infinite if they share no direction, or if no group has rows enough.
    """
    plan = sample.plan
    W = np.linalg.qr(candidate.W)[0]
    _, cosines, turned = np.linalg.svd(whole.W.T @ W)
    if cosines[0] < plan.shared:
        return np.inf
    # What the candidate's subspace adds to the other one.
    further = W @ turned.T[:, np.append(cosines, np.zeros(W.shape[1]))[: W.shape[1]] < plan.shared]
    points = sample.project(np.linalg.qr(np.hstack([whole.W, further]))[0])
    scores, sizes = [], []
    for group in range(int(whole.labels.max()) + 1):
        rows = np.flatnonzero(whole.labels == group)
        parts = np.unique(candidate.labels[rows], return_inverse=True)[1]
        counts = np.bincount(parts)
        if len(rows) < plan.rows_per_group or len(counts) < 2 or counts.min() < plan.fewest_rows:
            continue
        scores.append(NeighbourGraph.of(points[rows], plan).separation(parts).score)
        sizes.append(len(rows))
    if not scores:
        return np.inf
    return float(gap_surprise(sample, np.asarray(np.average(scores, weights=sizes))))
