"""Tiles of a kernel matrix: projected rows in, blocks of K and its derivatives out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..linalg import Array

#: Rows of a tile: 256 x 256 doubles are half a MiB, so a tile and its scratch stay in cache.
TILE = 256


def tiles_of(n_rows: int, tile: int = TILE) -> list[slice]:
    """Return the slices that cut ``n_rows`` into tiles."""
    return [slice(a, min(a + tile, n_rows)) for a in range(0, n_rows, tile)]


class Points:
    """Projected rows, ready to give tiles of beta and of the kernel's derivatives."""

    def __init__(
        self, P: Array, terms: tuple[tuple[float, Kernel], ...], scales: list[Array | None]
    ) -> None:
        self.rows = P
        self.scales = scales
        self.terms = terms
        # One matrix product gives the squared distance: (-2p, |p|^2, 1) . (q, 1, |q|^2).
        n, q = P.shape
        norms = np.einsum("ij,ij->i", P, P)
        self._left, self._right = np.ones((n, q + 2), P.dtype), np.ones((q + 2, n), P.dtype)
        np.multiply(P, -2, out=self._left[:, :q])
        self._left[:, q] = self._right[q + 1] = norms
        self._right[:q] = P.T

    @property
    def rate(self) -> float | None:
        """The number with K' = rate * K, if the kernel is a single term that has one."""
        (_, kernel), *others = self.terms
        return None if others or self.scales[0] is not None else kernel.rate

    def derivatives(
        self,
        rows: slice,
        cols: slice,
        order: int,
        other: Points | None = None,
        scratch: Array | None = None,
    ) -> list[Any]:
        """Return a tile of K and of its derivatives with respect to beta.

        Parameters
        ----------
        rows, cols : slice
            The tile: these rows against rows ``cols`` of ``other`` (of the same points if None).
        order : int
            0 for K alone; 1 or 2 to add that derivative of the difference terms and of the
            inner-product terms, None where there are no such terms.
        scratch : array of the shape of a full tile, optional
            Where beta may be computed. Reusing it spares the page faults of fresh memory, which
            cost about as much as the arithmetic.
        """
        other = self if other is None else other
        betas: dict[str, Array] = {}
        value: Array | None = None
        slopes: dict[str, Array | None] = {"difference": None, "inner": None}
        for (weight, kernel), s, t in zip(self.terms, self.scales, other.scales, strict=True):
            if kernel.form not in betas:
                spare = scratch if not betas else None
                betas[kernel.form] = self._beta(kernel.form, rows, cols, other, spare)
            beta = betas[kernel.form]
            factor = None if s is None or t is None else np.outer(s[rows], t[cols])
            if factor is not None:
                beta = beta * factor
            elif len(self.terms) > 1:
                beta = beta.copy()
            parts = kernel.derivatives(beta, order)
            value = _accumulate(value, weight, parts[0])
            if order:
                slope = parts[order] if factor is None else parts[order] * factor**order
                slopes[kernel.form] = _accumulate(slopes[kernel.form], weight, slope)
        return [value, *slopes.values()] if order else [value]

    def _beta(
        self, form: str, rows: slice, cols: slice, other: Points, scratch: Array | None
    ) -> Array:
        if form == "inner":
            return product(self.rows[rows], other.rows[cols].T, scratch)
        beta = product(self._left[rows], other._right[:, cols], scratch)
        np.abs(beta, out=beta)  # rounding may leave less than zero; a maximum takes as long as exp
        if other is self and rows == cols:
            np.fill_diagonal(beta, 0.0)  # exactly, or a tiny bandwidth would magnify rounding
        return beta


def product(A: Array, B: Array, scratch: Array | None) -> Array:
    """Return A @ B, in ``scratch`` if it has the right shape and type."""
    fits = (
        scratch is not None
        and scratch.shape == (len(A), B.shape[1])
        and scratch.dtype == A.dtype == B.dtype
    )
    return np.matmul(A, B, out=scratch) if fits else A @ B


def _accumulate(total: Array | None, weight: float, part: Array) -> Array:
    part = part if weight == 1.0 else weight * part
    return part if total is None else total + part


@dataclass(frozen=True)
class TileExtension:
    """Compares new rows with training rows tile by tile; see :class:`base.Extension`.

    Attributes
    ----------
    points : Points
        Projected training rows.
    W : array of shape (d, q)
        Subspace.
    offset : array of shape (q,) or None
        Projected mean, subtracted from projected new rows.
    reference : array of shape (n, d) or None
        Training rows in all features, kept only for kernels with one scale per point.
    V : array of shape (n, r)
        What the kernel is multiplied with.
    """

    points: Points
    W: Array
    offset: Array | None
    reference: Array | None
    V: Array

    def multiply(self, X: Any) -> Array:
        """Return K(X, training rows) V, shape (m, r), for new rows X (m, d)."""
        P = np.asarray(X @ self.W)
        P = P if self.offset is None else P - self.offset
        scales = [part.point_scales(X, self.reference) for _, part in self.points.terms]
        new = Points(P, self.points.terms, scales)
        out = np.zeros((len(P), self.V.shape[1]))
        for rows in tiles_of(len(P)):
            for cols in tiles_of(len(self.V)):
                out[rows] += new.derivatives(rows, cols, 0, self.points)[0] @ self.V[cols]
        return out
