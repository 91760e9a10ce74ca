"""One view: a grouping of the rows and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..explain import Explanation
from ..linalg import Array
from ..printable import one_line
from ..search import Settings


@dataclass(frozen=True, eq=False)
class View:
    """One grouping of the rows and what is known about it.

    Attributes
    ----------
    name : str
        "view 1", "view 2", ...
    labels : array of int of shape (n,)
        Cluster of each row.
    components : array of shape (q, d)
        Orthonormal basis of its subspace; no rows for the method "embedding".
    projection : array of shape (n, q)
        The rows in the subspace.
    feature_weights : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    n_clusters : int
        Number of clusters.
    quality : float
        Cluster quality CQ, at most ``n_clusters``.
    separation : float
        Mean log ratio of internal to external conductance: 0 is none, above 1.5 is clear, minus
        infinity says that nothing new was found.
    novelty : float
        Largest NMI with what was given or found before: 0 is entirely new.
    stability : float or None
        Agreement with the groupings found again on subsamples; above 0.9 is firm.
    p_value : float or None
        How often data without clusters are separated as well.
    independence : float or None
        p-value of independence from what was given; small means that they are related.
    settings : Settings
        Settings at which it was found.
    explanation : Explanation
        The features behind it, and a sentence.
    selection : dict or None
        How the settings were chosen, see :func:`multifacet.results.summary.describe_selection`;
        None for the closed forms.
    groups : list of dict
        The clusters in the terms of the table: size, name, means or shares of every column, typical
        rows. Only :func:`find_views` knows the table; empty otherwise.
    code_length : float or None
        Bits that describe the rows in the subspace by their clusters; None unless the method is
        "isaac".
    notes : list of str
        What could not be measured about it, and why, one sentence each.

    Examples
    --------
    >>> from multifacet import ViewFinder
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X).views_[0]
    >>> view.name, view.n_clusters, view.projection.shape[0]
    ('view 1', 2, 60)
    """

    name: str
    labels: Array = field(repr=False)
    components: Array = field(repr=False)
    projection: Array = field(repr=False)
    feature_weights: Array = field(repr=False)
    n_clusters: int
    quality: float
    separation: float
    novelty: float
    stability: float | None
    p_value: float | None
    independence: float | None
    settings: Settings
    explanation: Explanation = field(repr=False)
    selection: dict[str, Any] | None = field(repr=False, default=None)
    groups: list[dict[str, Any]] = field(repr=False, default_factory=list)
    code_length: float | None = None
    notes: list[str] = field(repr=False, default_factory=list)

    @property
    def sentence(self) -> str:
        """What the view is about."""
        return self.explanation.sentence

    def __str__(self) -> str:
        return one_line(f"{self.name}: {self.sentence}")
