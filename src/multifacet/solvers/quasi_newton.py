"""Ascent along ridges: L-BFGS over bases of the subspace.

The level-shifted iteration takes steps that suit the direction of strongest curvature. Where the
objective is curved very differently along different directions, as at narrow bandwidths in few
dimensions, these are far too short for the others; L-BFGS learns the curvature as it goes. It
begins with what Phi tells of it: along an eigenvector the objective is about as curved as its
eigenvalue is below those of W, which is also what a level-shifted step takes it for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from ..linalg import Array, as_matrix
from .base import Step
from .point import Point

#: Pairs of steps and gradients that are remembered.
MEMORY = 10
#: Least curvature that Phi is believed to tell, in units of the spread of its eigenvalues.
LEAST_CURVATURE = 0.01
#: Relative gain of a step below which the ridge has ended.
LEAST_GAIN = 1e-9


def follow_ridge(
    point: Point, evaluate: Callable[[Array], Point], history: list[Step], *, max_iter: int
) -> Point:
    """Climb from a point by L-BFGS, and return the highest point on the way.

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

    Returns
    -------
    Point
        The highest point seen.

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
    best, unit = point, abs(point.objective) or 1.0
    stretch = _stretch(point)

    def descend(entries: Array) -> tuple[float, Array]:
        nonlocal best
        W, R = np.linalg.qr(stretch @ entries.reshape(point.W.shape))
        here = evaluate(W)
        history.append(here.step("polish", 0.0))
        best = here if here.improves(best) else best
        # The objective does not change within the subspace, and M A = W R.
        across = here.gradient - W @ (W.T @ here.gradient)
        slope = stretch @ np.linalg.solve(R, across.T).T
        return -here.objective / unit, -slope.ravel() / unit

    options = {"maxfun": max_iter, "maxiter": max_iter, "maxcor": MEMORY, "ftol": LEAST_GAIN}
    minimize(
        descend,
        np.linalg.solve(stretch, point.W).ravel(),
        jac=True,
        method="L-BFGS-B",
        options=options | {"gtol": 1e-9},
    )
    return best


def _stretch(point: Point) -> Array:
    """Return the matrix M (d, d) such that the objective is about as curved in all directions of A.

    W is a basis of the span of M A.
    """
    values, vectors = np.linalg.eigh(as_matrix(point.phi))
    top = np.linalg.eigvalsh(point.W.T @ point.product)[-1]
    curvature = np.maximum(top - values, 0.0) + LEAST_CURVATURE * (values[-1] - values[0])
    if not curvature.all():  # Phi is a multiple of the identity, and tells nothing
        return np.eye(len(values))
    stretches = np.sqrt(curvature.min() / curvature)
    return np.asarray((vectors * stretches) @ vectors.T)
