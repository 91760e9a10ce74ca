"""What the low-rank engine compares rows with: landmarks, or random features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2

from ..kernels import Gaussian, Kernel
from ..linalg import Array
from .tiles import Points


def spread_out(points: Array, count: int, seed: int) -> Array:
    """Return the indices of points next to the centres of k-means."""
    if count >= len(points):
        return np.arange(len(points))
    rng = np.random.default_rng(seed)
    first = points[rng.choice(len(points), count, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a centre without points is as good as any
        centres, _ = kmeans2(points, first, iter=8, minit="matrix")
    norms = (points**2).sum(axis=1)
    nearest = np.argmin(norms[:, None] - 2 * points @ centres.T, axis=0)
    return np.unique(nearest)


class _Core:
    """M^+, the pseudo-inverse of the kernel matrix of the landmarks."""

    def __init__(self, M: Array, cut: float) -> None:
        values, vectors = np.linalg.eigh(0.5 * (M + M.T))
        keep = np.abs(values) > cut * np.abs(values).max()
        self._values, self._vectors = values[keep], vectors[:, keep]

    def apply(self, V: Array) -> Array:
        """Return M^+ V."""
        return self._vectors @ ((self._vectors.T @ V) / self._values[:, None])

    def trace(self, V: Array, weights: Array) -> float:
        """Return sum_c w_c v_c' M^+ v_c."""
        inside = self._vectors.T @ V
        return float(((inside**2 / self._values[:, None]).sum(axis=0) * weights).sum())


class _ScaledCore:
    """A multiple of M^+."""

    def __init__(self, core: Any, factor: float) -> None:
        self._core, self._factor = core, factor

    def apply(self, V: Array) -> Array:
        """Return the product with V."""
        return self._factor * self._core.apply(V)


@dataclass(frozen=True)
class Basis:
    """A low-rank kernel at one W: what rows are compared with, and the cores in between.

    Attributes
    ----------
    comparison : Landmarks or Frequencies
        Gives the features C of rows.
    core : object
        Multiplies with M^+, so that K is C M^+ C'.
    slopes : dict of str to object
        The same for the slope of the difference terms and of the inner-product terms.
    """

    comparison: Any
    core: Any
    slopes: dict[str, Any]


class Landmarks:
    """Projected rows that others are compared with."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self.terms = points.terms
        self.size = len(points.rows)
        self.rate = points.rate

    def features(self, points: Points, *, slope: bool = False) -> tuple[Array, dict[str, Array]]:
        """Return C of some points and, if asked, those of the slopes."""
        rows, whole = slice(0, len(points.rows)), slice(0, self.size)
        if not slope or self.rate is not None:
            C = points.derivatives(rows, whole, 0, self._points)[0]
            return C, {"difference": C} if slope else {}
        C, *slopes = points.derivatives(rows, whole, 1, self._points)
        return C, _named(slopes)


def nystrom(points: Points, cut: float) -> Basis:
    """Return the basis of landmarks."""
    whole = slice(0, len(points.rows))
    rate = points.rate
    if rate is not None:
        core = _Core(points.derivatives(whole, whole, 0)[0], cut)
        return Basis(Landmarks(points), core, {"difference": _ScaledCore(core, rate)})
    M, *slopes = points.derivatives(whole, whole, 1)
    cores = {form: _Core(slope, cut) for form, slope in _named(slopes).items()}
    return Basis(Landmarks(points), _Core(M, cut), cores)


def _named(slopes: list[Any]) -> dict[str, Array]:
    named = zip(("difference", "inner"), slopes, strict=True)
    return {form: part for form, part in named if part is not None}


class _Identity:
    """The core of features that are orthogonal by themselves."""

    def apply(self, V: Array) -> Array:
        """Return V."""
        return V

    def trace(self, V: Array, weights: Array) -> float:
        """Return sum_c w_c v_c' v_c."""
        return float(((V**2).sum(axis=0) * weights).sum())


class Frequencies:
    """Random Fourier features of the Gaussian kernel: K is C C' on average."""

    def __init__(self, kernel: Kernel, q: int, rank: int, seed: int) -> None:
        self.terms = kernel.terms
        ((weight, gaussian),) = self.terms
        assert isinstance(gaussian, Gaussian)
        half = max(rank // 2, 1)
        rng = np.random.default_rng(seed)
        self._frequencies = rng.standard_normal((q, half)) * np.sqrt(-2 * gaussian.rate)
        self._height = np.sqrt(weight / half)
        self.size, self.rate = 2 * half, gaussian.rate

    def features(self, points: Points, *, slope: bool = False) -> tuple[Array, dict[str, Array]]:
        """Return C of some points, which also serves the slope."""
        angles = points.rows @ self._frequencies
        C = self._height * np.hstack([np.cos(angles), np.sin(angles)])
        return C, {"difference": C} if slope else {}


def fourier(kernel: Kernel, q: int, rank: int, seed: int) -> Basis:
    """Return the basis of random features."""
    frequencies, core = Frequencies(kernel, q, rank, seed), _Identity()
    return Basis(frequencies, core, {"difference": _ScaledCore(core, frequencies.rate)})
