"""Where W begins. The objective has many local optima, and the start decides which one is found.

- *spectral*: the closed-form optimum of the second-order Taylor expansion of the objective
  (ISM 2018, Eq. 12), with U from spectral clustering on all features.
- *residual*: the same with U from the data without the group means of the given labels, where
  what is given no longer dominates.
- *random*: a random subspace.
- *dependent pairs* of features or of independent components, after removing the group means of
  the given labels. Noise features are independent of everything and never pair up, while the two
  coordinates of a moon, a ring or a set of three or more blobs do. This is what finds structure
  among noise, where the first U of the spectral start is dominated by the noise.

Independent components are estimated with an error that blurs what lies in their plane, and inside
a ring they are not even defined. So the strongest pairs of components are *sharpened*: the plane
climbs to the nearest one that is least Gaussian.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from ..alternate import Start
from ..engines.base import PairSums
from ..engines.wide import all_features
from ..linalg import Array, leading_eigenpairs, orthonormalise
from ..problems import Problem
from .plan import PLAN, SearchPlan
from .pursuit import least_gaussian
from .residual import GroupResidual

#: Frequencies in the expansion of a Gaussian kernel of one variable.
_FREQUENCIES = 12


def spectral_start(
    sums: PairSums, problem: Problem, q: int, *, first: PairSums | None = None
) -> Start:
    """Return the papers' start: dominant eigenvectors of Phi_0, degrees taken at W = 0.

    At W = 0 all projected points coincide, so every degree is n f(0); only the ratio of degrees
    matters, hence n. Without clusters to be found Gamma is fixed and known. The first U is taken
    from all features of ``first``: of the data itself, or of its residual.
    """
    if not problem.n_clusters:
        gamma = problem.gamma()
    else:
        source = sums if first is None else first
        everything = all_features(source.n_features)
        degrees = source.degrees(everything) if source.kernel.nonnegative else None
        _, U = source.embedding(everything, problem.n_clusters, degrees=degrees)
        flat = np.full(sums.n_rows, float(sums.n_rows)) if sums.kernel.nonnegative else None
        gamma = problem.gamma(U, flat)
    name = "spectral" if first is None else "residual"
    return Start(name, leading_eigenpairs(sums.initial_phi(gamma), q)[1], gamma)


def random_start(n_features: int, q: int, rng: np.random.Generator) -> Start:
    """Return a uniformly random subspace."""
    return Start("random", orthonormalise(rng.standard_normal((n_features, q))))


def pair_starts(
    X: Any,
    labelings: Sequence[Array],
    q: int,
    n_starts: int,
    rng: np.random.Generator,
    plan: SearchPlan = PLAN,
) -> list[Start]:
    """Return starts from dependent pairs, alternating between features and components.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    labelings : sequence of arrays of shape (n,)
        Given labelings, whose group means are removed first.
    q : int
        Dimension of the starts. Pairs are grown by the most dependent further coordinates for
        q > 2, and split into their coordinates for q = 1.
    n_starts : int
        Number of starts wanted.
    rng : Generator
        Source of the subsample and of FastICA's first guess.
    plan : SearchPlan
        Constants.

    Returns
    -------
    list of Start
        At most ``n_starts``, strongest pairs first.
    """
    rows = np.sort(rng.permutation(X.shape[0])[: plan.start_rows])
    residual = GroupResidual(X[rows], [labels[rows] for labels in labelings])
    axes, values = residual.features(plan.start_features)
    queues = [_grown_pairs("feature pair", axes, values, q)]
    components = _independent_components(residual, rng, plan)
    if components is not None:
        pairs = _grown_pairs("component pair", *components, q)
        if q <= plan.sharpen_dimensions:
            strongest = list(islice(pairs, plan.sharpen_starts))
            pairs = _sharpened(*components, strongest, (n_starts + 1) // 2, plan)
        queues.append(pairs)
    in_turn = (start for together in zip_longest(*queues) for start in together if start)
    return list(islice(in_turn, n_starts))


class PairStarts:
    """Makes starts from dependent pairs, the same ones at every call.

    Those of the last table are kept: several sources ask for them.

    Parameters
    ----------
    n_starts : int
        Number of starts of each dimension.
    seed : int
        Seed.
    """

    def __init__(self, n_starts: int, seed: int) -> None:
        self.n_starts, self.seed = n_starts, seed
        self._last: tuple[Any, Sequence[Array]] | None = None
        self._made: dict[int, list[Start]] = {}

    def __call__(self, X: Any, labelings: Sequence[Array], q: int) -> list[Start]:
        """Return the starts of dimension q."""
        if self._last is None or self._last[0] is not X or self._last[1] is not labelings:
            self._last, self._made = (X, labelings), {}
        if q not in self._made:
            rng = np.random.default_rng(self.seed)
            self._made[q] = pair_starts(X, labelings, q, self.n_starts, rng)
        return self._made[q]


def _independent_components(
    residual: GroupResidual, rng: np.random.Generator, plan: SearchPlan
) -> tuple[Array, Array] | None:
    """Directions (d, m) and values (n, m) of independent components, or None if there are none."""
    axes, scores = residual.principal(plan.start_components)
    if axes.shape[1] < 2:
        return None
    ica = FastICA(
        whiten="unit-variance", max_iter=300, tol=1e-3, random_state=int(rng.integers(2**31))
    )
    with warnings.catch_warnings():
        # An imperfect separation is good enough for a start.
        warnings.simplefilter("ignore", ConvergenceWarning)
        values = ica.fit_transform(scores)
    return axes @ ica.components_.T, values


def _grown_pairs(kind: str, axes: Array, values: Array, q: int) -> Iterable[Start]:
    """Yield starts from the most dependent pairs of columns, strongest first."""
    dependence = pairwise_dependence(values)
    first, second = np.triu_indices(len(dependence), k=1)
    order = np.argsort(-dependence[first, second], kind="stable")
    for i, j in zip(first[order], second[order], strict=True):
        for members in ([i, j],) if q > 1 else ([i], [j]):
            members = _grow(list(members), dependence, q)
            W = axes[:, members]
            if len(members) == q and np.linalg.matrix_rank(W) == q:
                yield Start(f"{kind} {i}-{j}", orthonormalise(W))


def _sharpened(
    axes: Array, values: Array, starts: Sequence[Start], most: int, plan: SearchPlan
) -> list[Start]:
    """Return starts moved to the least Gaussian subspaces near them, best first.

    Parameters
    ----------
    axes, values : arrays of shape (d, m) and (n, m)
        Independent components: directions, and uncorrelated values of unit variance.
    starts : sequence of Start
        Subspaces in the span of the directions.
    most : int
        How many are wanted.
    plan : SearchPlan
        Constants.
    """
    if not starts:
        return []
    inside = np.stack([np.linalg.lstsq(axes, start.W, rcond=None)[0] for start in starts])
    found = least_gaussian(values, inside, most, plan)
    return [Start(starts[i].name, orthonormalise(axes @ W)) for i, W in found]


def _grow(members: list[int], dependence: Array, q: int) -> list[int]:
    """Add the columns that depend most on those already in."""
    while len(members) < min(q, len(dependence)):
        score = dependence[members].sum(axis=0)
        score[members] = -np.inf
        members.append(int(np.argmax(score)))
    return members


def pairwise_dependence(values: Array) -> Array:
    """Return the normalised HSIC (m, m) between the columns of ``values`` (n, m), in O(n m^2).

    The Gaussian kernel of a standardised column is expanded into a few cosines and sines by
    Gauss-Hermite quadrature of its spectrum, good to a few per cent at the distances that occur.
    """
    spread = values.std(axis=0)
    Z = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(2 * _FREQUENCIES)
    nodes = nodes[_FREQUENCIES:]
    weights = np.sqrt(2 * weights[_FREQUENCIES:] / weights.sum())
    angles = Z[:, :, None] * (nodes / 0.5)  # bandwidth: half a standard deviation
    features = np.concatenate([np.cos(angles) * weights, np.sin(angles) * weights], axis=2)
    features -= features.mean(axis=0)
    n, m, r = features.shape
    cross = features.reshape(n, m * r)
    squares = (cross.T @ cross).reshape(m, r, m, r) ** 2
    hsic = squares.sum(axis=(1, 3))
    norms = np.sqrt(np.diag(hsic))
    return hsic / np.maximum(np.outer(norms, norms), np.finfo(float).tiny)
