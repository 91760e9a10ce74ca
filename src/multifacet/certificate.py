"""How good a W is, as numbers and as a sentence: first- and second-order conditions, eigengap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .engines.base import PairSums
from .linalg import Array, as_matrix, complement, largest_outside
from .problems import Gamma
from .solvers.base import relative_residual

#: The curvature is computed directly up to this many rows and tangent directions.
MAX_ROWS = 2000
MAX_DIRECTIONS = 100
#: What it asks for beyond the operations that every engine offers.
NEEDS = frozenset({"hessian", "curvature_bound"})


@dataclass(frozen=True)
class Certificate:
    """Optimality conditions of W for the problem max Tr(Gamma K), W'W = I, with Gamma fixed.

    Attributes
    ----------
    residual : float
        Relative gradient of the Lagrangian (ISM 2018, Eq. 9a); zero at stationary points.
    eigengap : float
        Smallest chosen minus largest other eigenvalue of Phi (ISM 2018, Eq. 11). Positive when W
        holds the dominant eigenvectors, as at fixed points of ISM; infinite if q = d.
    bound : float
        Right-hand side of the second-order inequality (ISM 2018, Eq. 10, generalised to the
        kernel family): ``1/2 sum_ij |Gamma_ij f''_ij| ||A_ij||^2``.
    curvature : float or None
        Smallest value of -d^2/dt^2 Tr(Gamma K) over unit tangent directions; positive at a strict
        local maximum. None where it was too expensive.
    tol : float
        Largest residual called stationary.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> certificate = SupervisedKDR(1).fit(X, labelings[:, 0]).certificate_
    >>> certificate.stationary, certificate.local_maximum
    (True, True)
    """

    residual: float
    eigengap: float
    bound: float
    curvature: float | None
    tol: float = 1e-5

    @property
    def stationary(self) -> bool:
        """Whether the first-order condition holds."""
        return self.residual <= self.tol

    @property
    def guaranteed(self) -> bool:
        """Whether the papers' sufficient inequality holds: eigengap >= bound."""
        return self.stationary and self.eigengap >= self.bound

    @property
    def local_maximum(self) -> bool | None:
        """Whether W is shown to be a local maximum; None if neither test could tell."""
        if self.guaranteed:
            return True
        return None if self.curvature is None else self.stationary and self.curvature > 0

    def __str__(self) -> str:
        if not self.stationary:
            return (
                f"W is not a stationary point (relative residual {self.residual:.1e}), so the "
                "second-order conditions say nothing about it."
            )
        first = f"W is a stationary point (relative residual {self.residual:.1e})"
        relation = "reaches" if self.eigengap >= self.bound else "is below"
        second = (
            f"the eigengap {self.eigengap:.3g} {relation} the {self.bound:.3g} that guarantee a "
            "local maximum"
        )
        if self.curvature is None:
            return f"{first}; {second}."
        verdict = "positive" if self.curvature > 0 else "not positive"
        return f"{first}; {second}; the smallest curvature {self.curvature:.3g} is {verdict}."


def certify(sums: PairSums, W: Array, gamma: Gamma, tol: float = 1e-5) -> Certificate:
    """Return the certificate of W (d, q) for a fixed Gamma."""
    phi, _ = sums.phi_and_objective(W, gamma)
    d, q = W.shape
    gap = np.inf
    if q < d:
        gap = float(np.linalg.eigvalsh(W.T @ (phi @ W)).min()) - largest_outside(phi, W)
    small = sums.n_rows <= MAX_ROWS and 0 < (d - q) * q <= MAX_DIRECTIONS
    return Certificate(
        residual=relative_residual(phi, W),
        eigengap=gap,
        bound=sums.curvature_bound(W, gamma),
        curvature=smallest_curvature(sums, W, gamma, as_matrix(phi)) if small else None,
        tol=tol,
    )


def smallest_curvature(sums: PairSums, W: Array, gamma: Gamma, phi: Array) -> float:
    """Return the smallest -d^2/dt^2 Tr(Gamma K) along geodesics from W with unit speed.

    Directions inside span(W) change nothing, so the tangent directions are Z = V B with V the
    orthogonal complement of W. Along Z the second derivative of Tr(Gamma K) is
    2 <Z, Phi Z> + 2 <Z, (d/dt Phi) W> - 2 <Z, Z W' Phi W> (ISM+, Eq. 126).
    """
    V = complement(W)
    (d, q), m = W.shape, V.shape[1]
    directions = np.einsum("da,bc->abdc", V, np.eye(q)).reshape(m * q, d, q)
    change = phi @ directions + sums.hessian(W, gamma, directions) - directions @ (W.T @ phi @ W)
    hessian = 2 * np.einsum("adc,bdc->ab", directions, change)
    return float(np.linalg.eigvalsh(-0.5 * (hessian + hessian.T)).min())
