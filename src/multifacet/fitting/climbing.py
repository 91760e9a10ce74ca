"""Where W begins on a sample of rows, how it climbs, and how well it predicts other rows."""

from __future__ import annotations

import numpy as np

from ..engines.base import PairSums
from ..linalg import Array, leading_eigenpairs, orthonormalise
from ..problems import Gamma
from ..solvers import Point, ascend, evaluate
from .held_out import HeldOutPlan
from .sampled import Target


def climbed(sums: PairSums, gamma: Gamma, W: Array, steps: int, tol: float) -> Point:
    """Return the point to which the objective rises from W in some steps, in its own basin."""

    def at(W: Array) -> Point:
        return evaluate(sums, gamma, W)

    return ascend(at(W), at, None, max_iter=steps, tol=tol, caution=0.3)[0]


def held_out_scores(
    places: Array, known: Target, new: Array, told: Target, plan: HeldOutPlan
) -> Array:
    """Return how well rows at new places (m, q) are told by their neighbours (n, q).

    That is the share of neighbours that are of a row's class, or one minus the squared error of
    their mean, in units of the variance of the target.
    """
    k = max(3, min(plan.neighbours, len(places) // plan.rows_per_neighbour))
    means = _nearest_mean(places, known.values, new, k)
    if told.classes is not None:
        return np.asarray(means[np.arange(len(means)), told.classes])
    return np.asarray(1.0 - ((means - told.values) ** 2).mean(axis=1))


def _nearest_mean(rows: Array, values: Array, new: Array, k: int) -> Array:
    """Return the mean value (m, t) of the k rows (n, q) nearest to each new one (m, q)."""
    k = min(k, len(rows))
    distances = (rows**2).sum(axis=1) - 2 * (new @ rows.T)  # but for a constant of each new row
    return values[np.argpartition(distances, k - 1, axis=1)[:, :k]].mean(axis=1)


def natural_starts(Z: Array, gamma: Gamma, q: int) -> list[Array]:
    """Return the spectral start, filled up by the widest directions where it ends, and these alone.

    Phi_0 has as many directions as there are classes less one.
    """
    told = Z.T @ (gamma.factors * np.sqrt(np.abs(gamma.weights)))
    left, values, _ = np.linalg.svd(told, full_matrices=False)
    leading = left[:, : min(q, int((values > 1e-8 * max(values[0], 1e-300)).sum()))]
    rest = Z - (Z @ leading) @ leading.T
    more = q - leading.shape[1]
    starts = [principal(Z, q)]
    filled = np.hstack([leading, principal(rest, more)]) if more else leading
    return [orthonormalise(filled), *starts]


def principal(Z: Array, q: int) -> Array:
    """Return the q widest directions (r, q) of centred rows (m, r)."""
    return leading_eigenpairs(Z.T @ Z, q)[1]
