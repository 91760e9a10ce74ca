"""The ISM family of kernels: functions of one number per pair of projected rows.

A kernel of the family is k(x, y) = f(beta), where beta is either the squared distance
(``form="difference"``) or the inner product (``form="inner"``) of the projected rows W'x and W'y
(IKDR 2019, Definition 1). A kernel object knows f and its first two derivatives and nothing else;
the engines turn them into sums over pairs of rows.

Signs: kernels are *similarities*. The squared and multiquadratic kernels are therefore used in
their negative, conditionally positive definite form, so that every difference kernel decreases
with distance (f' < 0). Printed with a plus sign, maximising Tr(Gamma K) would push points of one
class apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .linalg import Array, column_moments

Form = Literal["difference", "inner"]

_ROWS_PER_BLOCK = 256


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
                for block in _distance_blocks(X, reference)
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


def needs_bandwidth(kernel: Kernel) -> bool:
    """Whether some Gaussian in ``kernel`` still waits for its bandwidth."""
    return any(isinstance(k, Gaussian) and k.sigma is None for _, k in kernel.terms)


def with_bandwidth(kernel: Kernel, sigma: float | None) -> Kernel:
    """Return ``kernel`` with ``sigma`` (if any) in every Gaussian that has no bandwidth."""
    if sigma is None or not needs_bandwidth(kernel):
        return kernel
    terms = tuple(
        (w, Gaussian(sigma) if isinstance(k, Gaussian) and k.sigma is None else k)
        for w, k in kernel.terms
    )
    return terms[0][1] if terms[0][0] == 1.0 and len(terms) == 1 else ConicSum(terms)


def typical_distance(X: Any) -> float:
    """Return the median distance of rows, or the total spread if most rows are duplicates."""
    return median_distance(X) or float(np.linalg.norm(column_moments(X)[1])) or 1.0


def median_distance(X: Any, *, max_rows: int = 2000, random_state: int = 0) -> float:
    """Return the median Euclidean distance between different rows.

    Exact for up to ``max_rows`` rows; beyond that on a seeded random subsample of that size.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    max_rows : int, default=2000
        Largest number of rows used.
    random_state : int, default=0
        Seed of the subsample.

    Returns
    -------
    float
        The median over pairs i < j. Zero only if at least half of the pairs coincide.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kernels import median_distance
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    n = X.shape[0]
    if n > max_rows:
        rows = np.random.default_rng(random_state).choice(n, size=max_rows, replace=False)
        X = X[np.sort(rows)]
    else:
        X = X[:]  # read once, wherever the rows are
    first = 0
    distances = []
    for block in _distance_blocks(X, X):
        upper = np.triu_indices(block.shape[0], k=1 + first, m=block.shape[1])
        distances.append(np.sqrt(block[upper]))
        first += block.shape[0]
    return float(np.median(np.concatenate(distances)))


def align(kernels: Sequence[Kernel], X: ArrayLike, y: ArrayLike) -> Array:
    """Return conic weights by centred kernel alignment with the targets.

    Each kernel, scaled to unit norm after centring, is weighted by its own centred alignment with
    the target kernel (Cortes, Mohri and Rostamizadeh 2012, the method "align"), as IKDR 2019 does
    for Gaussian + polynomial kernels. (Their joint optimum "alignf" gives the polynomial kernel
    weight zero on data like Wine, which is no combination any more.)

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels to combine, evaluated on all features.
    X : array of shape (n, d)
        Data, scaled as for the estimator.
    y : array of shape (n,) or (n, r)
        Class labels (one dimension of integers, booleans or strings) or real targets.

    Returns
    -------
    array of shape (len(kernels),)
        Non-negative weights, the largest one being 1; zero for kernels that are not aligned.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kernels import Gaussian, Polynomial, align
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> weights = align([Gaussian(1.0), Polynomial()], X, X[:, 0] > 0)
    >>> kernel = weights[0] * Gaussian(1.0) + weights[1] * Polynomial()
    """
    X = np.asarray(X, dtype=float)
    targets = _target_columns(y)
    if len(targets) != len(X):
        raise ValueError(f"y has {len(targets)} values for {len(X)} rows of X")
    targets = targets - targets.mean(axis=0)
    m, n = len(kernels), len(X)
    squares, agreement, sums = np.zeros(m), np.zeros(m), np.zeros((m, n))
    for rows, grams in gram_rows(kernels, [X] * m):
        target = targets[rows] @ targets.T
        for i, gram in enumerate(grams):
            sums[i, rows] = gram.sum(axis=1)
            squares[i] += np.vdot(gram, gram)
            agreement[i] += np.vdot(gram, target)
    # ||HKH||^2 = ||K||^2 - 2/n |K1|^2 + (1'K1)^2 / n^2: centring without an n x n array.
    squares += (sums.sum(axis=1) / n) ** 2 - 2 / n * (sums**2).sum(axis=1)
    norms = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
    alignment = np.maximum(agreement / (norms * np.linalg.norm(targets.T @ targets)), 0.0)
    if not alignment.any():
        raise ValueError("none of the kernels is aligned with y: no conic combination can be")
    weights = alignment / norms
    return weights / weights.max()


def _target_columns(y: ArrayLike) -> Array:
    y = np.asarray(y)
    if y.ndim == 1 and y.dtype.kind != "f":
        return (y[:, None] == np.unique(y)).astype(float)
    return y.reshape(len(y), -1).astype(float)


def gram_rows(
    kernels: Sequence[Kernel], data: Sequence[Array]
) -> Iterator[tuple[slice, list[Array]]]:
    """Yield blocks of rows of several kernel matrices, each on all features of its data (n, d)."""
    n = len(data[0])
    scales = [
        [part.point_scales(X) for _, part in kernel.terms]
        for kernel, X in zip(kernels, data, strict=True)
    ]
    for start in range(0, n, _ROWS_PER_BLOCK):
        rows = slice(start, min(start + _ROWS_PER_BLOCK, n))
        yield (
            rows,
            [_gram(k, X, rows, s) for k, X, s in zip(kernels, data, scales, strict=True)],
        )


def _gram(kernel: Kernel, X: Array, rows: slice, scales: list[Array | None]) -> Array:
    total = np.zeros((rows.stop - rows.start, len(X)))
    for (weight, part), scale in zip(kernel.terms, scales, strict=True):
        beta = X[rows] @ X.T if part.form == "inner" else _squared_distances(X[rows], X)
        if scale is not None:
            beta = beta * np.outer(scale[rows], scale)
        total += weight * part.f(beta)
    return total


def _squared_distances(A: Any, B: Any) -> Array:
    """Squared Euclidean distances (a, b) between rows; dense or sparse, result dense."""
    cross = A @ B.T
    cross = cross.toarray() if issparse(cross) else np.asarray(cross)
    return np.maximum(_squared_norms(A)[:, None] + _squared_norms(B) - 2 * cross, 0.0)


def _squared_norms(A: Any) -> Array:
    if issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def _distance_blocks(X: Any, reference: Any) -> Iterator[Array]:
    for start in range(0, X.shape[0], _ROWS_PER_BLOCK):
        yield _squared_distances(X[start : start + _ROWS_PER_BLOCK], reference)
