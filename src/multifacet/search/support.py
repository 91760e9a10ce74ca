"""How far different ways of looking agree on a grouping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..linalg import Array
from .candidate import Candidate


def support(candidates: Sequence[Candidate], sources: Iterable[str]) -> Array:
    """Return how far each candidate is proposed by other sources too, 0 to 1, shape (N,).

    Sources look for different things, so what several of them propose owes least to what one of
    them assumes.

    Parameters
    ----------
    candidates : sequence of Candidate
        Of one sample.
    sources : iterable of str
        Names of all sources that were asked.

    Returns
    -------
    array of shape (N,)
        Mean over the other sources of the NMI with the most similar of their candidates; 0 if
        there is no other source.
    """
    agreement = pairwise_nmi([one.labels for one in candidates])
    own = np.array([one.source for one in candidates])
    total, others = np.zeros(len(own)), np.zeros(len(own))
    for name in sources:
        elsewhere = own != name
        others += elsewhere
        if not elsewhere.all():
            total += np.where(elsewhere, agreement[:, ~elsewhere].max(axis=1), 0.0)
    return total / np.maximum(others, 1)


def pairwise_nmi(labelings: Sequence[Array]) -> Array:
    """Return the NMI (N, N) of labelings (m,) of the same rows, numbered from 0.

    All contingency tables are blocks of one product of indicators.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.support import pairwise_nmi
    >>> pairwise_nmi([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1, 1, 0, 0])])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    if not len(labelings):
        return np.zeros((0, 0))
    sizes = np.array([int(labels.max()) + 1 for labels in labelings])
    first = np.cumsum(sizes) - sizes
    m = len(labelings[0])
    member = np.zeros((m, sizes.sum()), dtype=np.float32)
    for start, labels in zip(first, labelings, strict=True):
        member[np.arange(m), start + labels] = 1.0
    shares = member.T @ member / np.float32(m)
    terms = -shares * np.log(np.maximum(shares, np.finfo(np.float32).tiny))
    joint = np.add.reduceat(np.add.reduceat(terms, first, axis=0), first, axis=1).astype(float)
    entropy = np.diag(joint)  # of a labeling with itself
    scale = np.sqrt(np.outer(entropy, entropy))
    information = np.clip(entropy[:, None] + entropy - joint, 0.0, None)
    # In single precision 1e-6 nats are none.
    return np.round(np.clip(information / np.maximum(scale, 1e-12), 0.0, 1.0), 5)
