"""Rows with the same factors, as all rows of a class have.

Sums over rows of f_c o V, for the factors f_c of Gamma, are sums of V over the rows of each class,
combined: as many times fewer multiplications as there are factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg import Array


@dataclass(frozen=True)
class Alike:
    """Groups of rows that have the same factors.

    Attributes
    ----------
    groups : list of arrays of int
        Positions of the rows of each group.
    factors : array of shape (g, r)
        Those of each group.
    """

    groups: list[Array]
    factors: Array

    @classmethod
    def of(cls, F: Array) -> Alike | None:
        """Return the groups of the rows of F (b, r), or None if there are too many to gain by."""
        r = F.shape[1]
        marks = (F * np.cos(np.arange(1, r + 1))).sum(axis=1)  # of each row in the same order
        order = np.argsort(marks, kind="stable")
        starts = np.flatnonzero(np.diff(marks[order])) + 1
        if r < 2 or len(starts) > r:
            return None
        groups = np.split(order, starts)
        factors = F[[rows[0] for rows in groups]]
        same = all((F[rows] == own).all() for rows, own in zip(groups, factors, strict=True))
        return cls(groups, factors) if same else None

    def sums(self, A: Array, B: Array) -> Array:
        """Return (f_c o A)' B (r, a, b) of rows A (n, a) and B (n, b), for each factor."""
        parts = np.stack([A[rows].T @ B[rows] for rows in self.groups])
        return np.tensordot(self.factors.T.astype(parts.dtype, copy=False), parts, 1)

    def spread(self, C: Array, pull: Array) -> Array:
        """Return sum_c f_c o (C pull_c) (n, b), of rows C (n, m) and pull (m, r, b)."""
        pulls = np.tensordot(self.factors, pull, (1, 1)).astype(C.dtype, copy=False)
        found = np.empty((len(C), pull.shape[2]))
        for rows, own in zip(self.groups, pulls, strict=True):
            found[rows] = C[rows] @ own
        return found
