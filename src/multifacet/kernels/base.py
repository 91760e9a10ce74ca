"""What a kernel is: f of one number for each pair of rows, and sums of such."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from ..linalg import Array

Form = Literal["difference", "inner"]


class Kernel:
    """Base of all kernels: ``f(beta)`` with its first two derivatives.

    Subclasses set ``form``, ``nonnegative`` and implement :meth:`derivatives`.

    Attributes
    ----------
    form : {"difference", "inner"}
        What beta is: squared distance or inner product of the projected rows.
    nonnegative : bool
        Whether all values are non-negative. Only then are degrees (row sums) positive and is the
        kernel normalised by them, as in spectral clustering.

    Examples
    --------
    >>> from multifacet.kernels import Gaussian, Kernel
    >>> kernel = Gaussian(1.0)
    >>> isinstance(kernel, Kernel), kernel.form
    (True, 'difference')
    >>> kernel.f(0.0).item(), kernel.df(0.0).item(), kernel.d2f(0.0).item()
    (1.0, -0.5, 0.25)
    """

    form: Form
    nonnegative: bool = False

    @property
    def rate(self) -> float | None:
        """The number with f' = rate * f, where there is one: it spares a pass over all pairs."""
        return None

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` at ``beta`` up to ``order`` (0, 1 or 2).

        May overwrite ``beta``; the arrays returned are the caller's to overwrite.
        """
        raise TypeError(f"{type(self).__name__} defines no derivatives")  # pragma: no cover

    def f(self, beta: Array) -> Array:
        """Return the kernel values at ``beta``."""
        return self.derivatives(np.array(beta, dtype=float), 0)[0]

    def df(self, beta: Array) -> Array:
        """Return the first derivative at ``beta``."""
        return self.derivatives(np.array(beta, dtype=float), 1)[1]

    def d2f(self, beta: Array) -> Array:
        """Return the second derivative at ``beta``."""
        return self.derivatives(np.array(beta, dtype=float), 2)[2]

    @property
    def initial_slope(self) -> float:
        """Slope at beta = 0, which makes Phi_0 (IKDR 2019, Theorem 3).

        Where the slope is zero or infinite (a polynomial without constant, a multiquadratic with
        c = 0) only its sign is used, as the theorem states.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = float(self.df(np.zeros(1))[0])
        if np.isfinite(slope) and slope != 0:
            return slope
        return float(np.sign(self.df(np.ones(1))[0]))

    @property
    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        """The kernel as a conic combination: pairs of weight and plain kernel."""
        return ((1.0, self),)

    def point_scales(self, X: Any, reference: Any = None) -> Array | None:
        """Return one scale per row of ``X``, or None for a kernel that has none.

        With scales s, the kernel of a pair is f(s_i s_j beta_ij).
        """
        return None

    def __add__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        terms = self.terms + other.terms
        return ConicSum(tuple(term for term in terms if term[0] > 0) or terms)

    def __radd__(self, other: int) -> Kernel:
        return self if other == 0 else NotImplemented  # the start of sum([...])

    def __mul__(self, weight: float) -> Kernel:
        if not isinstance(weight, Real):
            return NotImplemented
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(
                f"a kernel cannot be multiplied by {weight}: only weights that are not negative "
                "make conic combinations, which stay in the ISM family"
            )
        return ConicSum(tuple((float(weight) * w, kernel) for w, kernel in self.terms))

    __rmul__ = __mul__


@dataclass(frozen=True)
class ConicSum(Kernel):
    """A conic combination of kernels; write it as ``2 * Gaussian(1.0) + Polynomial()``.

    Attributes
    ----------
    parts : tuple of (float, Kernel)
        Pairs of weight and plain kernel.

    Examples
    --------
    >>> from multifacet.kernels import Gaussian, Linear
    >>> 2 * Gaussian(1.0) + Linear()
    2 * Gaussian(sigma=1.0) + 1 * Linear()
    """

    parts: tuple[tuple[float, Kernel], ...]

    @property
    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        """Pairs of weight and plain kernel."""
        return self.parts

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """Whether every part is non-negative."""
        return all(kernel.nonnegative for _, kernel in self.parts)

    def __repr__(self) -> str:
        return " + ".join(f"{weight:g} * {kernel!r}" for weight, kernel in self.parts)
