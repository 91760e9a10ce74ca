"""Ascent along ridges: L-BFGS in coordinates of subspaces that suit the objective.

The level-shifted iteration takes steps that suit the direction of strongest curvature. Where the
objective is curved very differently along different directions, as at narrow bandwidths, these are
far too short for the others; L-BFGS learns the curvature as it goes. It begins with what Phi tells
of it: where column j of W turns towards an eigenvector outside W, the objective is about as curved
as the eigenvalue of that vector is below that of the column. In such coordinates the curvature is
nearly the same along all axes, and the rest is soon learned.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator

from ..linalg import Array, complement
from .base import Step
from .point import Point

#: Pairs of steps and gradients that are remembered.
MEMORY = 30
#: Least curvature that Phi is believed to tell, in units of the spread of its eigenvalues.
LEAST_CURVATURE = 5e-4
#: Relative gain of a step below which the ridge has ended: what rounding leaves. Near a stationary
#: point the gain is the square of the residual, which falls faster than ever there.
LEAST_GAIN = 1e-15


def follow_ridge(
    point: Point,
    evaluate: Callable[[Array], Point],
    history: list[Step],
    *,
    max_iter: int,
    tol: float = 0.0,
) -> Point:
    """Climb from a point by L-BFGS to a stationary point, or the highest one on the way.

    Parameters
    ----------
    point : Point
        Where to begin.
    evaluate : callable
        Maps W (d, q) to its Point; the objective may depend on the subspace alone.
    history : list of Step
        Extended by every evaluation.
    max_iter : int
        Most evaluations.
    tol : float, default=0
        Residual at which a point is stationary.

    Returns
    -------
    Point
        The first stationary point that is higher, or the highest one seen.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines import Exact
    >>> from multifacet.kernels import Linear
    >>> from multifacet.problems import supervised
    >>> from multifacet.solvers import evaluate
    >>> from multifacet.solvers.quasi_newton import follow_ridge
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -0.5]])
    >>> sums, gamma = Exact().attach(X, Linear()), supervised(X[:, :1]).gamma()
    >>> first = evaluate(sums, gamma, np.array([[0.6], [0.8]]))
    >>> top = follow_ridge(first, lambda W: evaluate(sums, gamma, W), [], max_iter=20)
    >>> top.residual < 1e-3
    True
    """
    chart, best, unit = _Chart(point), point, abs(point.objective) or 1.0

    def descend(entries: Array) -> tuple[float, Array]:
        nonlocal best
        W, R = chart.basis(entries)
        here = evaluate(W)
        history.append(here.step("polish", 0.0))
        at_rest = here.residual <= tol and here.improves(point)
        best = here if at_rest or here.improves(best) else best
        if at_rest:  # others are higher by chance alone
            raise _AtRest
        return -here.objective / unit, -chart.slope(here, R) / unit

    options = {"maxfun": max_iter, "maxiter": max_iter, "maxcor": MEMORY, "ftol": LEAST_GAIN}
    with suppress(_AtRest):
        minimize(
            descend,
            np.zeros(chart.size),
            jac=True,
            method="L-BFGS-B",
            options=options | {"gtol": 1e-9},
        )
    return best


class _AtRest(Exception):
    """A stationary point is reached."""


class _Chart:
    """Coordinates A of the subspaces around W: A is that of the columns of W + Q (S o A).

    The columns of Q are eigenvectors of Phi outside W, and those of W eigenvectors within, so that
    each entry of A turns one axis towards one direction; S makes all entries about as steep. Where
    Phi is an operator, it tells too little: then A itself is added to W.
    """

    def __init__(self, point: Point) -> None:
        levels, turn = np.linalg.eigh(point.W.T @ point.product)
        self.W = point.W @ turn
        self._outside: Array | None = None
        self._scales = np.ones_like(self.W)
        if not isinstance(point.phi, LinearOperator):
            rest = complement(self.W)
            values, vectors = np.linalg.eigh(rest.T @ point.phi @ rest)
            self._outside = rest @ vectors
            self._scales = _even(np.abs(levels - values[:, None]))
        self.size = self._scales.size

    def basis(self, entries: Array) -> tuple[Array, Array]:
        """Return the basis W of a subspace, and R with W R = W_0 + Q (S o A)."""
        step = self._scales * entries.reshape(self._scales.shape)
        return np.linalg.qr(self.W + (step if self._outside is None else self._outside @ step))

    def slope(self, here: Point, R: Array) -> Array:
        """Return the slope of the objective along the entries."""
        # The objective does not change within the subspace.
        across = here.gradient - here.W @ (here.W.T @ here.gradient)
        across = np.linalg.solve(R, across.T).T
        across = across if self._outside is None else self._outside.T @ across
        return np.asarray(self._scales * across).ravel()


def _even(curvature: Array) -> Array:
    """Return scales of coordinates along which the objective is so curved, the largest being 1."""
    if not curvature.any():  # Phi is a multiple of the identity, and tells nothing
        return np.ones_like(curvature)
    curvature = np.maximum(curvature, LEAST_CURVATURE * curvature.max())
    return np.asarray(np.sqrt(curvature.min() / curvature))
