"""The members of the family, and a kernel of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..linalg import Array
from .base import Form, Kernel
from .distances import distance_blocks


@dataclass(frozen=True)
class Linear(Kernel):
    """Inner product: k(x, y) = x'y.

    Examples
    --------
    >>> from multifacet.kernels import Linear
    >>> float(Linear().f(2.0))
    2.0
    """

    form = "inner"

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``."""
        return (beta, np.ones_like(beta), np.zeros_like(beta))[: order + 1]


@dataclass(frozen=True)
class Squared(Kernel):
    """Negative squared distance: k(x, y) = -||x - y||^2.

    Examples
    --------
    >>> from multifacet.kernels import Squared
    >>> float(Squared().f(4.0))
    -4.0
    """

    form = "difference"

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``."""
        return (-beta, -np.ones_like(beta), np.zeros_like(beta))[: order + 1]


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial: k(x, y) = (x'y + coef0) ** degree.

    Parameters
    ----------
    degree : int, default=3
        Degree, at least 1.
    coef0 : float, default=1.0
        Constant, not negative (otherwise the kernel is not positive semi-definite).

    Examples
    --------
    >>> from multifacet.kernels import Polynomial
    >>> float(Polynomial(degree=2).f(2.0))
    9.0
    """

    degree: int = 3
    coef0: float = 1.0
    form = "inner"

    def __post_init__(self) -> None:
        if int(self.degree) != self.degree or self.degree < 1:
            raise ValueError(f"degree must be a positive whole number, got {self.degree}")
        if not self.coef0 >= 0:
            raise ValueError(f"coef0 must not be negative, got {self.coef0}")

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """Even powers are never negative."""
        return self.degree % 2 == 0

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``."""
        p, base = int(self.degree), beta + self.coef0

        def power(e: int) -> Array:
            return base**e if e > 0 else np.ones_like(base)

        lazy = (
            lambda: power(p),
            lambda: p * power(p - 1),
            lambda: p * (p - 1) * power(p - 2),
        )
        return tuple(part() for part in lazy[: order + 1])


@dataclass(frozen=True)
class Gaussian(Kernel):
    """Gaussian: k(x, y) = exp(-||x - y||^2 / (2 sigma^2)).

    Parameters
    ----------
    sigma : float or None, default=None
        Bandwidth, in the units of the projected data. ``None`` lets the estimator fill in its
        ``bandwidth``.

    Examples
    --------
    >>> from multifacet.kernels import Gaussian
    >>> float(Gaussian(1.0).f(0.0))
    1.0
    """

    sigma: float | None = None
    form = "difference"
    nonnegative = True

    def __post_init__(self) -> None:
        good = self.sigma is None or (isinstance(self.sigma, Real) and 0 < self.sigma < np.inf)
        if not good:
            raise ValueError(f"sigma must be a positive number, got {self.sigma!r}")

    @property
    def rate(self) -> float:
        """The number with f' = rate * f."""
        if self.sigma is None:
            raise ValueError("this Gaussian has no bandwidth yet: write Gaussian(sigma)")
        return -0.5 / self.sigma**2

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``, with a single exponential."""
        rate = self.rate
        value = np.exp(np.multiply(beta, rate, out=beta), out=beta)
        return (value, *(rate**o * value for o in range(1, order + 1)))


@dataclass(frozen=True)
class Multiquadratic(Kernel):
    """Negative multiquadratic: k(x, y) = -sqrt(||x - y||^2 + c^2).

    Parameters
    ----------
    c : float, default=1.0
        Positive constant; small values approach the negative distance, which is not smooth.

    Examples
    --------
    >>> from multifacet.kernels import Multiquadratic
    >>> float(Multiquadratic(c=2.0).f(0.0))
    -2.0
    """

    c: float = 1.0
    form = "difference"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.c) and self.c > 0):
            raise ValueError(f"c must be a positive number, got {self.c}")

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``."""
        root = np.sqrt(beta + self.c**2)
        lazy = (lambda: -root, lambda: -0.5 / root, lambda: 0.25 / root**3)
        return tuple(part() for part in lazy[: order + 1])


@dataclass(frozen=True)
class RelativeGaussian(Kernel):
    """Gaussian with one scale per point: k(x_i, x_j) = exp(-||.||^2 / (2 sigma_i sigma_j)).

    sigma_i is the distance from point i to its ``n_neighbors``-th neighbour in the space of all
    features. It is computed once and then constant (ISM+, Appendix E and F), so it adapts to
    regions of different density but is blind to scale differences that W creates later.

    Parameters
    ----------
    n_neighbors : int, default=7
        Which neighbour sets the scale.

    Examples
    --------
    >>> from multifacet.kernels import RelativeGaussian
    >>> RelativeGaussian(n_neighbors=5)
    RelativeGaussian(n_neighbors=5)
    """

    n_neighbors: int = 7
    form = "difference"
    nonnegative = True

    def __post_init__(self) -> None:
        if int(self.n_neighbors) != self.n_neighbors or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be a positive whole number, got {self.n_neighbors}")

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``; beta is already divided by sigma_i sigma_j."""
        return Gaussian(1.0).derivatives(beta, order)

    def point_scales(self, X: Any, reference: Any = None) -> Array:
        """Return 1 / sigma_i for each row of ``X``, neighbours taken from ``reference``.

        Without ``reference`` the rows are their own reference and a row is not its own neighbour.
        """
        own = reference is None
        reference = X if own else reference
        # A training row meets itself at distance zero; a new row does so only by coincidence.
        rank = min(int(self.n_neighbors), reference.shape[0] - 1) - (0 if own else 1)
        kth = np.concatenate(
            [
                np.partition(block, max(rank, 0), axis=1)[:, max(rank, 0)]
                for block in distance_blocks(X, reference)
            ]
        )
        sigma = np.sqrt(kth)
        positive = sigma[sigma > 0]
        # Rows with that many duplicates would get sigma = 0; the smallest positive one serves.
        return 1.0 / np.maximum(sigma, positive.min() if positive.size else 1.0)


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel of your own, given as functions of beta.

    Parameters
    ----------
    value, slope, curvature : callable
        The functions f, f' and f'', each mapping an array to an array of the same shape.
    form : {"difference", "inner"}
        What beta is.
    nonnegative : bool, default=False
        Whether all values are non-negative; then the kernel is normalised by its degrees.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kernels import Custom
    >>> laplace_like = Custom(
    ...     value=lambda b: 1 / (1 + b),
    ...     slope=lambda b: -1 / (1 + b) ** 2,
    ...     curvature=lambda b: 2 / (1 + b) ** 3,
    ...     form="difference",
    ...     nonnegative=True,
    ... )
    >>> float(laplace_like.f(1.0))
    0.5
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    form: Form
    nonnegative: bool = False

    def __post_init__(self) -> None:
        if self.form not in ("difference", "inner"):
            raise ValueError(f"form must be 'difference' or 'inner', got {self.form!r}")

    def derivatives(self, beta: Array, order: int) -> tuple[Array, ...]:
        """Return ``(f, f', f'')`` up to ``order``."""
        return tuple(
            np.array(part(beta)) for part in (self.value, self.slope, self.curvature)[: order + 1]
        )


NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "squared": Squared,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
    "multiquadratic": Multiquadratic,
    "relative_gaussian": RelativeGaussian,
}


def as_kernel(kernel: str | Kernel) -> Kernel:
    """Return the kernel object behind a name (or the object itself).

    Parameters
    ----------
    kernel : str or Kernel
        Name, such as "polynomial", or kernel.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> from multifacet.kernels import as_kernel
    >>> as_kernel("polynomial")
    Polynomial(degree=3, coef0=1.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in NAMES:
        return NAMES[kernel]()
    raise ValueError(
        f"kernel={kernel!r} is not known: use one of {', '.join(map(repr, sorted(NAMES)))} "
        "or a kernel object from multifacet.kernels (Custom for a kernel of your own)"
    )
