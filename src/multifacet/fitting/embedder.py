"""New rows and the clusters found: their place in the spectral embedding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..alternate import Solution, nearest_centres, unit_rows
from ..engines.base import Extension, PairSums
from ..linalg import Array
from ..rowwise import by_rows


@dataclass(frozen=True)
class Embedder:
    """Assigns new rows to clusters through the embedding (Nystrom extension).

    With M = H D^-1/2 K D^-1/2 H, the embedding satisfies U = M U / eigenvalues; a new row takes
    its place in the left-hand side. On training rows the embedding is reproduced.
    """

    extension: Extension  # multiplies with D^-1/2 U / eigenvalues and with ones, (n, k + 1)
    offset: Array  # what the centring H subtracts, (k,)
    normalised: bool
    centres: Array  # (k, k)

    def predict(self, X: Any) -> Array:
        """Return the index (m,) of the nearest centre for each new row."""
        return self.nearest(self.embed(X))

    def embed(self, X: Any) -> Array:
        """Return the places (m, k) of rows in the embedding."""
        return self.uncentred(X) - self.offset

    def nearest(self, embedding: Array) -> Array:
        """Return the index (m,) of the nearest centre for each row of an embedding (m, k)."""
        return nearest_centres(unit_rows(embedding), self.centres)

    def uncentred(self, X: Any) -> Array:
        """Return D^-1/2 K D^-1/2 U / eigenvalues (m, k) for new rows."""
        product = self.extension.multiply(X)
        U, degrees = product[:, :-1], product[:, -1:]
        # A row without any neighbour has degree zero; it keeps the neutral position U = 0.
        return U / np.sqrt(np.where(degrees > 0, degrees, np.inf)) if self.normalised else U


def make_embedder(sums: PairSums, X: Any, solution: Solution, centres: Array) -> Embedder:
    """Return the embedder of a solution found on the rows of X, with k-means centres (k, k)."""
    U, degrees = solution.embedding, solution.degrees
    columns = partial(_extended, eigenvalues=np.maximum(solution.eigenvalues, 1e-12))
    values = (U,) if degrees is None else (U, degrees)
    extension = sums.extension(solution.W, by_rows(columns, *values, width=U.shape[1] + 1))
    embedder = Embedder(extension, np.zeros(U.shape[1]), degrees is not None, centres)
    # Centring subtracts the same vector from every row, so one training row tells what it is.
    return replace(embedder, offset=(embedder.uncentred(X[:1]) - np.asarray(U[:1]))[0])


def _extended(U: Array, *degrees: Array, eigenvalues: Array) -> Array:
    columns = U / np.sqrt(degrees[0])[:, None] if degrees else U
    return with_ones(columns / eigenvalues)


def with_ones(columns: Array) -> Array:
    """Return columns (n, k) and a column of ones."""
    return np.hstack([columns, np.ones_like(columns[:, :1])])


def smoothing_embedder(extension: Any, X: Any, normalised: bool, labels: Array) -> Embedder:
    """Return an embedder for new rows whose given labels are unknown.

    The eigenvector equation cannot be continued to them: its penalty needs their given labels. So
    all rows, old and new, are compared by the kernel average of U over the training rows, and the
    centres are those of the found clusters in these averages. Approximate, even on training rows.
    """
    k = int(labels.max()) + 1
    raw = Embedder(extension, np.zeros(k), normalised, np.zeros((k, k))).uncentred(X)
    offset = raw.mean(axis=0)
    rows = unit_rows(raw - offset)
    centres = np.stack([rows[labels == c].mean(axis=0) for c in range(k)])
    return Embedder(extension, offset, normalised, centres)
