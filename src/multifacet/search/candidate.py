"""One possible grouping, and the settings that lead to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..kernels import Kernel, needs_bandwidth
from ..linalg import Array


@dataclass(frozen=True)
class Settings:
    """What the user fixed; None is to be chosen. The weight is in unit scale.

    Of the number of clusters a range (least, most) may be fixed.
    """

    n_clusters: int | None = None
    n_components: int | None = None
    bandwidth: float | None = None
    novelty_weight: float | None = None
    between: tuple[int, int] | None = None

    def allows(self, n_clusters: int) -> bool:
        """Whether a number of clusters is what was asked for."""
        low, high = self.between or (1, n_clusters)
        return n_clusters == (self.n_clusters or n_clusters) and low <= n_clusters <= high

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
    surprise : float or None
        How surprising the groups are on structureless data, in nats; None unless several sources
        were compared (:mod:`.appraisal`).
    own_surprise : float or None
        The same by a measure of the source's own, where a graph of neighbours cannot tell.
    believed : bool
        Whether that is beyond chance, so that it comes before those of which it is not.
    rejected : str
        Why it may not win; empty if it may.
    source : str
        What proposed it.
    score : float
        What it is ranked by: separation, and stability once it is known; where several sources are
        compared, also distinctness and how far other sources propose it too.
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
    source: str = "kernel"
    score: float = -np.inf
    stability: float | None = None
    surprise: float | None = None
    own_surprise: float | None = None
    believed: bool = False

    @property
    def settings(self) -> Settings:
        """Its settings, all known."""
        return Settings(self.n_clusters, self.n_components, self.bandwidth, self.novelty_weight)

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Sorts candidates: admissible ones first, then believed ones, then by score."""
        return not self.rejected, self.believed, self.score


def in_order(labels: Array) -> Array:
    """Return groups (m,), integers from 0, numbered in order of appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.candidate import in_order
    >>> in_order(np.array([2, 0, 0, 1, 2])).tolist()
    [0, 1, 1, 2, 0]
    """
    first = np.full(int(labels.max()) + 1, len(labels))
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # of several, the last that is written
    return np.argsort(np.argsort(first, kind="stable"))[labels]
