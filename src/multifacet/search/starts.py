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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from ..alternate import Start
from ..engines.base import PairSums
from ..engines.wide import all_features
from ..linalg import Array, leading_eigenpairs, orthonormalise
from ..problems import Problem
from .components import independent_components
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
    return DependentPairs(X, labelings, rng, plan).starts(q, n_starts)


class DependentPairs:
    """Pairs of features and of independent components of a table that depend on each other.

    Parameters
    ----------
    X, labelings, rng, plan : object
        As in :func:`pair_starts`.
    """

    def __init__(
        self, X: Any, labelings: Sequence[Array], rng: np.random.Generator, plan: SearchPlan = PLAN
    ) -> None:
        self._plan = plan
        rows = np.sort(rng.permutation(X.shape[0])[: plan.start_rows])
        residual = GroupResidual(X[rows], [labels[rows] for labels in labelings])
        self._features = _Columns.of("feature pair", *residual.features(plan.start_features))
        self._components = _components(residual, rng, plan)

    def starts(self, q: int, n_starts: int) -> list[Start]:
        """Return at most so many starts of a dimension, strongest pairs first."""
        plan, components = self._plan, self._components
        queues = [self._features.grown_pairs(q)]
        if components is not None:
            pairs = components.grown_pairs(q)
            if q <= plan.sharpen_dimensions:
                strongest = list(islice(pairs, plan.sharpen_starts))
                pairs = iter(_sharpened(components, strongest, (n_starts + 1) // 2, plan))
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
    plan : SearchPlan
        Constants.
    """

    def __init__(self, n_starts: int, seed: int, plan: SearchPlan = PLAN) -> None:
        self.n_starts, self.seed, self.plan = n_starts, seed, plan
        self._last: tuple[Any, Sequence[Array]] | None = None
        self._pairs: DependentPairs | None = None
        self._made: dict[int, list[Start]] = {}

    def __call__(self, X: Any, labelings: Sequence[Array], q: int) -> list[Start]:
        """Return the starts of dimension q."""
        same = self._last is not None and self._last[0] is X and self._last[1] is labelings
        if self._pairs is None or not same:
            rng = np.random.default_rng(self.seed)
            self._pairs = DependentPairs(X, labelings, rng, self.plan)
            self._last, self._made = (X, labelings), {}
        if q not in self._made:
            self._made[q] = self._pairs.starts(q, self.n_starts)
        return self._made[q]


@dataclass(frozen=True, eq=False)
class _Columns:
    """Directions (d, m), the values (n, m) of rows along them, and how these depend (m, m)."""

    kind: str
    axes: Array
    values: Array
    dependence: Array

    @classmethod
    def of(cls, kind: str, axes: Array, values: Array) -> _Columns:
        return cls(kind, axes, values, pairwise_dependence(values))

    def grown_pairs(self, q: int) -> Iterator[Start]:
        """Yield starts from the most dependent pairs of columns, strongest first."""
        first, second = np.triu_indices(len(self.dependence), k=1)
        order = np.argsort(-self.dependence[first, second], kind="stable")
        for i, j in zip(first[order], second[order], strict=True):
            for members in ([i, j],) if q > 1 else ([i], [j]):
                members = _grow(list(members), self.dependence, q)
                W = self.axes[:, members]
                if len(members) == q and np.linalg.matrix_rank(W) == q:
                    yield Start(f"{self.kind} {i}-{j}", orthonormalise(W))


def _components(
    residual: GroupResidual, rng: np.random.Generator, plan: SearchPlan
) -> _Columns | None:
    """Return independent components of unit variance, or None if there are none."""
    axes, scores = residual.principal(plan.start_components)
    if axes.shape[1] < 2:
        return None
    # Principal scores are uncorrelated, so that scaling whitens them.
    Z = scores - scores.mean(axis=0)
    spread = np.maximum(Z.std(axis=0), np.finfo(float).tiny)
    Z = Z / spread
    W = independent_components(Z, "tanh", int(rng.integers(2**31)))
    return _Columns.of("component pair", (axes / spread) @ W.T, Z @ W.T)


def _sharpened(
    components: _Columns, starts: Sequence[Start], most: int, plan: SearchPlan
) -> list[Start]:
    """Return starts moved to the least Gaussian subspaces near them, best first.

    Parameters
    ----------
    components : _Columns
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
    axes = components.axes
    inside = np.linalg.pinv(axes) @ np.stack([start.W for start in starts])
    found = least_gaussian(components.values, inside, most, plan)
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
