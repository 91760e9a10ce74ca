"""Monotone ascent to a stationary point by a level-shifted eigenvector iteration.

W becomes the dominant eigenvectors of Phi(W) + mu W W'. For mu = 0 this is the plain iteration of
ISM; a large mu makes the step small, so there is always a mu for which the objective rises.

Near a stationary point such steps shrink by a constant factor, so that the next ones can be
foreseen: the last steps are combined into a longer one (Anderson acceleration), which is taken
only if the objective rises. It halves the number of evaluations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..linalg import (
    Array,
    leading_eigenpairs,
    orthonormalise,
    plus_outer,
    spectrum_bounds,
    subspace_distance,
)
from .base import Step
from .point import Point

#: Steps that are combined into a longer one.
MEMORY = 4


def ascend(
    point: Point,
    evaluate: Callable[[Array], Point],
    history: list[Step] | None,
    *,
    max_iter: int,
    tol: float,
    caution: float = 0.0,
    veto: Callable[[Point], str | None] = lambda candidate: None,
) -> tuple[Point, str]:
    """Climb from a point; the objective never falls.

    Parameters
    ----------
    point : Point
        Where to begin.
    evaluate : callable
        Maps W (d, q) to its Point.
    history : list of Step or None
        Extended by every accepted step; None keeps no record.
    max_iter : int
        Most evaluations.
    tol : float
        Residual at which a point is stationary.
    caution : float
        First shift, relative to the spread of the eigenvalues of Phi. Zero begins with a plain
        step, which may leave the basin of attraction; one keeps to it.
    veto : callable
        Maps a point to a reason not to go there, or None. Smaller steps are tried first.

    Returns
    -------
    point : Point
        The last accepted point.
    reason : str
        Why the climb ended.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines import Exact
    >>> from multifacet.kernels import Linear
    >>> from multifacet.problems import supervised
    >>> from multifacet.solvers import ascend, evaluate
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -0.5]])
    >>> sums, gamma = Exact().attach(X, Linear()), supervised(X[:, :1]).gamma()
    >>> first = evaluate(sums, gamma, np.array([[0.6], [0.8]]))
    >>> _, reason = ascend(first, lambda W: evaluate(sums, gamma, W), [], max_iter=50, tol=1e-6)
    >>> reason
    'reached a stationary point after ... steps'
    """
    q = point.W.shape[1]
    low, high = spectrum_bounds(point.phi)
    spread = high - low
    mu = caution * spread
    past: list[tuple[Array, Array]] = []
    bold = True
    for evaluations in range(max_iter):
        if point.residual <= tol:
            return point, f"reached a stationary point after {evaluations} steps"
        W = leading_eigenpairs(plus_outer(point.phi, mu, point.W), q)[1]
        step = _tangent(point.W, W)
        longer = bold and bool(past)
        if longer:
            W = orthonormalise(point.W + _extrapolated(point.W, step, past))
        candidate = evaluate(W)
        objection = veto(candidate)
        if objection is not None or not candidate.improves(point):
            if longer:
                bold = False
                continue
            past = []
            # A veto is about the length of the step alone, so it may be cut down faster.
            mu = max((2 if objection is None else 8) * mu, 0.1 * spread)
            if objection is not None and mu > 1e3 * spread:
                return point, objection
            if mu > 1e12 * spread:
                return point, f"found no further ascent after {evaluations + 1} steps"
            continue
        if history is not None:
            history.append(candidate.step("polish", subspace_distance(point.W, W)))
        if not longer:
            mu = max(_secant_shift(point, candidate), mu / 4)
        past = [*past, (point.W, step)][-MEMORY:]
        point, bold = candidate, True
    return point, f"stopped at the limit of {max_iter} steps"


def _rotation(W: Array, V: Array) -> Array:
    """Return the rotation (q, q) that brings the basis V closest to W: only subspaces matter.

    Of several V (m, d, q), that of each: one call of LAPACK on many small matrices takes about as
    long as on one.
    """
    product = W.T @ V
    if product.shape[-1] == 1:
        return np.where(product < 0, -1.0, 1.0)
    left, _, right = np.linalg.svd(product)
    return np.swapaxes(left @ right, -1, -2)


def _outside(W: Array, V: Array) -> Array:
    """Return what is orthogonal to W in V (d, q), or in each of several V (m, d, q)."""
    return V - W @ (W.T @ V)


def _tangent(W: Array, V: Array) -> Array:
    """Return the step (d, q) from the subspace W to V, orthogonal to W."""
    return _outside(W, V @ _rotation(W, V))


def _extrapolated(W: Array, step: Array, past: list[tuple[Array, Array]]) -> Array:
    """Return the step to where earlier steps and this one are foreseen to lead.

    The combination of the steps that is smallest tells where they vanish, to first order.
    """
    bases, steps = (np.stack(part) for part in zip(*past, strict=True))
    turn = _rotation(W, bases)
    behind = -_outside(W, bases @ turn).reshape(len(past), -1)
    change = (step - _outside(W, steps @ turn)).reshape(len(past), -1)
    shares = np.linalg.lstsq(change.T, step.ravel(), rcond=1e-8)[0]
    return step - (shares @ (behind + change)).reshape(step.shape)


def _secant_shift(here: Point, there: Point) -> float:
    """Return the shift that would have made the last step a Newton step, on average.

    A shifted step Z solves (mu + Lambda - Phi) Z = G for the gradient G, whereas Newton's method
    has minus the Hessian on the left: Lambda - Phi plus a part from the change of Phi. The
    observed change of the gradient along Z tells how large that part is.
    """
    W, phi = here.W, here.phi
    W_next = there.W @ _rotation(W, there.W)
    Z = _outside(W, W_next)
    size = float(np.sum(Z * Z))
    if size == 0:
        return 0.0
    product, product_next = phi @ W, there.phi @ W_next
    Lambda = W.T @ product
    gradient = product - W @ Lambda
    gradient_next = product_next - W_next @ (W_next.T @ product_next)
    explained = float(np.sum(Z * (Z @ Lambda - phi @ Z)))
    return max(float(np.sum(Z * (gradient - gradient_next))) - explained, 0.0) / size
