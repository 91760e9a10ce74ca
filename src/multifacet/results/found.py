"""A grouping as it was found, before anything is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..documents import SelectionDict
from ..linalg import Array, projected
from ..search import Settings
from . import measures


@dataclass(frozen=True, eq=False)
class Found:
    """A grouping as a method found it, in the terms that all methods share.

    Attributes
    ----------
    labels : array-like of shape (n,)
        Groups.
    components : array of shape (q, d)
        Orthonormal basis of the subspace; no rows if there is none.
    settings : Settings
        Settings at which it was found.
    projection : array of shape (n, q) or None
        The rows in the subspace, or wherever they are to be looked at.
    quality : float or None
        Cluster quality CQ.
    separation : float or None
        How well the groups are separated, on the scale of the search.
    selection : dict or None
        How the settings were chosen.
    code_length : float or None
        Bits that describe the rows by their groups.
    kind : str
        What the groups are like, in words; empty if the method finds one kind only.
    surprise : float or None
        How surprising the groups are on structureless data (nats), if sources were compared.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.results import Found
    >>> from multifacet.search import Settings
    >>> X = np.array([[0.0, 1.0], [0.1, -1.0], [2.0, -1.0], [2.1, 1.0]])
    >>> found = Found([5, 5, 7, 7], np.array([[1.0, 0.0]]), Settings(2, 1)).completed(X)
    >>> found.labels.tolist(), found.projection.ravel().round(2).tolist()
    ([0, 0, 1, 1], [-1.05, -0.95, 0.95, 1.05])
    """

    labels: Any = field(repr=False)
    components: Array = field(repr=False)
    settings: Settings
    projection: Array | None = field(repr=False, default=None)
    quality: float | None = None
    separation: float | None = None
    selection: SelectionDict | None = field(repr=False, default=None)
    code_length: float | None = None
    kind: str = ""
    surprise: float | None = None

    def completed(self, X: Any, known: Sequence[Array] = ()) -> Found:
        """Return it with groups numbered from 0 without gaps, and with what was left open.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Data in which the grouping was found.
        known : sequence of arrays of shape (n,)
            What was known; groups without a subspace are judged where this is removed.

        Returns
        -------
        Found
            With the rows in the subspace. Separation and, in a Gaussian kernel with the bandwidth
            of the settings or the median distance, quality are measured on up to 1000 rows.
        """
        labels = np.unique(np.asarray(self.labels), return_inverse=True)[1]
        projection, W = self.projection, self.components.T
        if projection is None:
            projection = projected(X, W) - np.asarray(X.mean(axis=0)).ravel() @ W
        separation, quality = self.separation, self.quality
        if separation is None or quality is None:
            points = measures.judged_points(X, projection, self.components, known)
            width = self.settings.bandwidth if len(self.components) else None
            separation = (
                measures.separation_of(points, labels) if separation is None else separation
            )
            quality = measures.quality_of(points, labels, width) if quality is None else quality
        return replace(
            self, labels=labels, projection=projection, separation=separation, quality=quality
        )
