"""Sums over pairs in another metric of the features, without a copy of the rows.

A metric M stands for the rows X M in the place of X. Projecting them by W is projecting X by M W,
so every engine serves: only what comes out, in terms of features, is multiplied by M.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..kernels import Kernel
from ..linalg import Array, Symmetric, orthonormalise, symmetric_operator
from ..problems import Gamma
from .base import PairSums, phi_times_w


@dataclass(frozen=True, eq=False)
class Metric:
    """A symmetric positive matrix M = outside I + B diag(inside - outside) B'.

    Attributes
    ----------
    outside : float
        How much directions count that are not in B.
    inside : array of shape (r,)
        How much those in B count.
    basis : array of shape (d, r)
        B, with orthonormal columns.
    """

    outside: float
    inside: Array
    basis: Array

    @classmethod
    def whitening(cls, residual: Array, share: float) -> Metric:
        """Return the metric in which rows (m, d) without what is known of them spread more evenly.

        M = C^-1/2 with C the covariance of ``residual``, in units of its mean eigenvalue, by
        ``share`` and the identity by the rest: 0 changes nothing, 1 spreads the rows evenly in
        all directions.
        """
        m, d = residual.shape
        if share == 0.0:
            return cls(1.0, np.zeros(0), np.zeros((d, 0)))
        # The smaller one of the two squares; their eigenvalues are the same.
        if d <= m:
            values, basis = np.linalg.eigh(residual.T @ residual)
        else:
            values, vectors = np.linalg.eigh(residual @ residual.T)
            basis = residual.T @ vectors
        kept = values > 1e-10 * max(float(values[-1]), np.finfo(float).tiny)
        values, basis = values[kept], basis[:, kept]
        basis = basis if d <= m else basis / np.sqrt(values)
        spread = (1.0 - share) + share * values / (values.mean() if len(values) else 1.0)
        floor = max(1.0 - share, 1e-6)
        return cls(floor**-0.5, np.maximum(spread, floor) ** -0.5, basis)

    def __matmul__(self, V: Array) -> Array:
        """Return M V for columns V (d, m)."""
        inner = (self.inside - self.outside)[:, None] * (self.basis.T @ V)
        return self.outside * V + self.basis @ inner

    def both_sides(self, phi: Symmetric) -> Symmetric:
        """Return M Phi M (d, d)."""
        if not self.basis.shape[1]:
            return phi * self.outside**2
        if isinstance(phi, LinearOperator):
            return symmetric_operator(lambda V: self @ (phi @ (self @ V)), phi.shape[0])
        product = self @ (self @ phi).T
        return 0.5 * (product + product.T)

    def divided(self, W: Array) -> Array:
        """Return an orthonormal basis (d, q) of M^-1 W."""
        inner = (1 / self.inside - 1 / self.outside)[:, None] * (self.basis.T @ W)
        return orthonormalise(W / self.outside + self.basis @ inner)

    @property
    def largest(self) -> float:
        """The largest eigenvalue."""
        return float(max(self.outside, self.inside.max(initial=0.0)))


class MetricSums:
    """What a solver and the certificate ask of pair sums, in another metric.

    Parameters
    ----------
    sums : PairSums
        Those of the rows as they are.
    metric : Metric
        What the rows are multiplied with.
    """

    def __init__(self, sums: PairSums, metric: Metric) -> None:
        self._sums, self._metric = sums, metric
        self.n_rows, self.n_features = sums.n_rows, sums.n_features
        self.max_forks = sums.max_forks
        self.kernel: Kernel = sums.kernel

    def objective(self, W: Array, gamma: Gamma) -> float:
        """Return Tr(Gamma K)."""
        return self._sums.objective(self._metric @ W, gamma)

    def row_objectives(self, W: Array, gamma: Gamma) -> Array:
        """Return the row sums (n,) of Gamma o K."""
        return self._sums.row_objectives(self._metric @ W, gamma)

    def phi_and_objective(self, W: Array, gamma: Gamma) -> tuple[Symmetric, float]:
        """Return Phi (d, d) and Tr(Gamma K)."""
        phi, objective = self._sums.phi_and_objective(self._metric @ W, gamma)
        return self._metric.both_sides(phi), objective

    def phi_times_w(self, W: Array, gamma: Gamma) -> tuple[Array, float]:
        """Return Phi W (d, q) and Tr(Gamma K)."""
        product, objective = phi_times_w(self._sums, self._metric @ W, gamma)
        return self._metric @ product, objective

    def initial_phi(self, gamma: Gamma) -> Symmetric:
        """Return Phi_0 (d, d)."""
        return self._metric.both_sides(self._sums.initial_phi(gamma))

    def hessian(self, W: Array, gamma: Gamma, directions: Array) -> Array:
        """Return d/dt Phi(W + tZ) W at t = 0 for each direction Z, shape (m, d, q)."""
        moved = np.stack([self._metric @ Z for Z in directions])
        return np.stack(
            [self._metric @ Z for Z in self._sums.hessian(self._metric @ W, gamma, moved)]
        )

    def curvature_bound(self, W: Array, gamma: Gamma) -> float:
        """Return a bound not below that of the rows times M: |M A M| is at most |M|^2 |A|."""
        bound = self._sums.curvature_bound(self._metric @ W, gamma)
        return self._metric.largest**4 * bound
