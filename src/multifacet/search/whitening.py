"""A table in uncorrelated coordinates of unit variance, without the means of what is given."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import sqrtm
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from ..linalg import Array
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
    """

    Z: Array = field(repr=False)
    directions: Array = field(repr=False)
    scores: Array = field(repr=False)

    @classmethod
    def of(cls, sample: Sample) -> Whitened:
        """Whiten the rows of a sample without the group means of all that is given."""
        plan = sample.plan
        residual = GroupResidual(sample.X, sample.labelings)
        axes, scores = residual.principal(plan.start_components)
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
        return cls(Z @ again, axes / spread @ again, scores)

    def independent(self, seed: int) -> Array:
        """Return independent components (c, r), of both common contrasts, as rows of unit length.

        One of them finds groups of similar size, the other small ones.
        """
        found = []
        for contrast in ("logcosh", "cube") if self.Z.shape[1] > 1 else ():
            ica = FastICA(whiten=False, fun=contrast, tol=1e-3, random_state=seed)
            with warnings.catch_warnings():
                # An imperfect separation is good enough for a start.
                warnings.simplefilter("ignore", (ConvergenceWarning, RuntimeWarning))
                found.append(ica.fit(self.Z).components_)
        usable = [one for one in found if np.isfinite(one).all()]
        return np.vstack([np.eye(self.Z.shape[1])[:0], *usable])

    def discriminant(self, labels: Array, ridge: float) -> Array:
        """Return orthonormal directions (d, q) in which groups (m,) differ most, q < k."""
        k, r = int(labels.max()) + 1, self.Z.shape[1]
        means = np.stack([self.Z[labels == group].mean(axis=0) for group in range(k)])
        shares = np.bincount(labels) / len(labels)
        between = (means * shares[:, None]).T @ means
        values, vectors = np.linalg.eigh((1 + ridge) * np.eye(r) - between)
        inner = vectors / np.sqrt(np.maximum(values, ridge)) @ vectors.T
        leading = np.linalg.eigh(inner @ between @ inner)[1][:, ::-1][:, : min(k - 1, r)]
        return np.linalg.qr(self.directions @ (inner @ leading))[0]
