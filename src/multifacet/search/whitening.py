"""A table in uncorrelated coordinates of unit variance, without the means of what is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import sqrtm

from ..linalg import Array
from .components import CONTRASTS, independent_components
from .nested import between_means, directions_of_means
from .plan import SearchPlan
from .residual import GroupResidual
from .sample import Sample


@dataclass(frozen=True, eq=False)
class Whitened:
    """The rows of a sample, whitened.

    Attributes
    ----------
    Z : array of shape (m, r)
        Coordinates: mean zero, covariance the identity. Rows far outside are drawn in, so that a
        single one cannot carry a coordinate.
    directions : array of shape (d, r)
        The coordinates as directions of the features.
    scores : array of shape (m, r)
        Principal scores before they were scaled.
    axes : array of shape (d, r)
        Orthonormal directions of these.
    seen : Whitened or None
        The rows as they are, whitened; None if nothing is given.
    """

    Z: Array = field(repr=False)
    directions: Array = field(repr=False)
    scores: Array = field(repr=False)
    axes: Array = field(repr=False)
    seen: Whitened | None = field(repr=False, default=None)

    @classmethod
    def of(cls, sample: Sample) -> Whitened:
        """Whiten the rows of a sample without the group means of all that is given."""
        found = cls._without(sample, sample.labelings)
        # Among many features some direction shows any groups.
        if not sample.labelings or sample.wide:
            return found
        return replace(found, seen=cls._without(sample, []))

    @classmethod
    def _without(cls, sample: Sample, labelings: Sequence[Array]) -> Whitened:
        """Whiten the rows of a sample without the means of groups."""
        plan = sample.plan
        residual = GroupResidual(sample.X, labelings)
        axes, scores = residual.principal(sample.directions)
        spread = scores.std(axis=0)
        # Directions of hardly any variance are those in which columns repeat each other.
        keep = spread > plan.thinnest * spread.max(initial=0.0)
        axes, scores, spread = axes[:, keep], scores[:, keep], spread[keep]
        Z = scores / spread
        radius = np.linalg.norm(Z, axis=1)
        most = np.sqrt(Z.shape[1]) + plan.outlying
        Z = Z * np.minimum(1.0, most / np.maximum(radius, 1e-12))[:, None]
        Z -= Z.mean(axis=0)
        again = np.linalg.inv(np.real(sqrtm(Z.T @ Z / len(Z)))) if Z.shape[1] else np.eye(0)
        return cls(Z @ again, axes / spread @ again, scores, axes)

    def independent(self, seed: int) -> Array:
        """Return independent components (c, r), of all contrasts, as rows of unit length."""
        r = self.Z.shape[1]
        found = [independent_components(self.Z, one, seed) for one in CONTRASTS if r > 1]
        return np.vstack([np.eye(r)[:0], *found])

    def discriminant(self, labels: Array, plan: SearchPlan) -> Array:
        """Return orthonormal directions (d, q) in which groups (m,) differ most, q < k.

        In the rows as they are, so that what is given spreads them as little as can be: groups are
        found where it is removed, but have to be seen where it is not.
        """
        shown = self.seen or self
        return np.linalg.qr(shown.directions @ shown._discriminants(labels, plan))[0]

    def told(self, labels: Array, plan: SearchPlan) -> Array:
        """Return coordinates (m, q) in which groups (m,) differ most, in units of their spread."""
        return self.Z @ self._discriminants(labels, plan)

    def _discriminants(self, labels: Array, plan: SearchPlan) -> Array:
        """Return directions (r, q) of the coordinates in which groups (m,) differ most."""
        Z, r, ridge = self.Z, self.Z.shape[1], plan.ridge
        between = between_means(Z, labels)
        values, vectors = np.linalg.eigh((1 + ridge) * np.eye(r) - between)
        inner = vectors / np.sqrt(np.maximum(values, ridge)) @ vectors.T
        spread, axes = np.linalg.eigh(inner @ between @ inner)
        q = _number_shown(spread[::-1], labels, plan)
        return inner @ axes[:, ::-1][:, :q]

    def spanned(self, labels: Array, plan: SearchPlan) -> Array:
        """Return orthonormal directions (d, q) in which the means of groups (m,) lie, q < k."""
        directions = directions_of_means(self.scores, labels)
        points = self.scores @ directions
        between = np.diag(between_means(points, labels))
        within = np.maximum((points**2).mean(axis=0) - between, 1e-12)
        return self.axes @ directions[:, : _number_shown(between / within, labels, plan)]


def _number_shown(spread: Array, labels: Array, plan: SearchPlan) -> int:
    """Return in how many directions groups (m,) are seen, of those in which they differ most.

    The means of k groups span k - 1 directions, but may lie in a plane. In the others there is
    nothing but noise, and the groups look nearer to each other.
    """
    most = min(int(labels.max()), len(spread))
    return max(int(np.argmin(np.append(spread[:most] >= plan.seen, False))), min(most, 1))
