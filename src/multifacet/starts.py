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
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from .engines import Exact
from .engines.base import PairSums
from .engines.wide import all_features
from .kernels import Gaussian
from .linalg import Array, leading_eigenpairs, orthonormalise
from .problems import Gamma, Problem
from .solvers.level_shift import Point, ascend

#: Rows used to measure dependence and to find independent components.
MAX_ROWS = 2000
#: Components kept before the search for independent ones.
MAX_COMPONENTS = 20
#: Features screened for pairs: the ones with the largest variance left.
MAX_FEATURES = 100
#: Rows, dimensions and steps up to which a plane of components is sharpened, and the inverse
#: bandwidth of the index of non-Gaussianity: the higher, the finer the structure it sees.
SHARPEN_ROWS, SHARPEN_DIMENSIONS, SHARPEN_STEPS, FREQUENCY = 500, 3, 25, 3.0
#: Frequencies in the expansion of a Gaussian kernel of one variable.
_FREQUENCIES = 12


@dataclass(frozen=True)
class Start:
    """A beginning of the alternation.

    Attributes
    ----------
    name : str
        Where it comes from, for reports.
    W : array of shape (d, q)
        First subspace.
    gamma : Gamma or None
        Gamma of the first W-step, if it does not follow from W.
    """

    name: str
    W: Array
    gamma: Gamma | None = None


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
    X, labelings: Sequence[Array], q: int, n_starts: int, rng: np.random.Generator
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

    Returns
    -------
    list of Start
        At most ``n_starts``, strongest pairs first.
    """
    rows = np.sort(rng.permutation(X.shape[0])[:MAX_ROWS])
    residual = Residual(X[rows], [labels[rows] for labels in labelings])
    axes, values = residual.features()
    queues = [_grown_pairs("feature pair", axes, values, q)]
    components = _independent_components(residual, rng)
    if components is not None:
        pairs = islice(_grown_pairs("component pair", *components, q), (n_starts + 1) // 2)
        queues.append(_sharpened(*components, pairs) if q <= SHARPEN_DIMENSIONS else pairs)
    starts: list[Start] = []
    for round_of_starts in zip(*map(iter, queues), strict=False):
        starts.extend(round_of_starts)
        if len(starts) >= n_starts:
            break
    return starts[:n_starts]


def residual_scores(X, labelings: Sequence[Array]) -> Array:
    """Return the leading principal scores (n, r) of X without the means of the given groups."""
    return Residual(X, labelings).principal()[1]


class Residual:
    """Data minus the group means of all given labelings, without densifying sparse data."""

    def __init__(self, X, labelings: Sequence[Array]) -> None:
        self._X = X
        groups = [np.ones((X.shape[0], 1))]
        groups += [(labels[:, None] == np.unique(labels)).astype(float) for labels in labelings]
        # Projecting on the span of all indicators removes the additive effect of each labeling.
        left, singular, _ = np.linalg.svd(np.hstack(groups), full_matrices=False)
        self._basis = left[:, singular > 1e-10 * singular[0]]
        self._loadings = np.asarray(X.T @ self._basis)  # (d, r)

    def columns(self, chosen: Array) -> Array:
        """Dense residual of a few columns (n, m)."""
        block = self._X[:, chosen]
        block = block.toarray() if issparse(block) else np.asarray(block, dtype=float)
        return block - self._basis @ self._loadings[chosen].T

    def features(self) -> tuple[Array, Array]:
        """Axes (d, m) and values (n, m) of the features with most variance left."""
        squares = self._X.multiply(self._X).sum(axis=0) if issparse(self._X) else None
        total = np.asarray(squares).ravel() if squares is not None else (self._X**2).sum(axis=0)
        left_over = total - (self._loadings**2).sum(axis=1)
        order = np.argsort(-left_over, kind="stable")[:MAX_FEATURES]
        chosen = np.sort(order[left_over[order] > 1e-10 * max(left_over.max(), 1e-300)])
        axes = np.zeros((self._X.shape[1], len(chosen)))
        axes[chosen, np.arange(len(chosen))] = 1.0
        return axes, self.columns(chosen)

    def principal(self) -> tuple[Array, Array]:
        """Principal axes (d, m) and scores (n, m) of the residual, largest variance first."""
        n, d = self._X.shape
        if d <= 500:
            R = self.columns(np.arange(d))
            values, axes = np.linalg.eigh(R.T @ R / n)
            keep = np.argsort(values)[::-1][:MAX_COMPONENTS]
            keep = keep[values[keep] > 1e-10 * max(values.max(), 1e-300)]
            return axes[:, keep], R @ axes[:, keep]
        # Wide data: a randomised range finder needs products with X only.
        probe = np.random.default_rng(0).standard_normal((n, MAX_COMPONENTS + 10))
        for _ in range(4):
            probe = np.linalg.qr(self._times(self._transpose_times(probe)))[0]
        _, singular, axes = np.linalg.svd(self._transpose_times(probe).T, full_matrices=False)
        keep = singular[:MAX_COMPONENTS] > 1e-10 * max(singular[0], 1e-300)
        axes = axes[:MAX_COMPONENTS][keep].T
        return axes, self._times(axes)

    def _times(self, V: Array) -> Array:
        return np.asarray(self._X @ V) - self._basis @ (self._loadings.T @ V)

    def _transpose_times(self, V: Array) -> Array:
        return np.asarray(self._X.T @ V) - self._loadings @ (self._basis.T @ V)


def _independent_components(
    residual: Residual, rng: np.random.Generator
) -> tuple[Array, Array] | None:
    """Directions (d, m) and values (n, m) of independent components, or None if there are none."""
    axes, scores = residual.principal()
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


def _sharpened(axes: Array, values: Array, starts: Iterable[Start]) -> list[Start]:
    """Return the starts moved to the least Gaussian subspaces near them, best first.

    Parameters
    ----------
    axes, values : arrays of shape (d, m) and (n, m)
        Independent components: directions, and uncorrelated values of unit variance.
    starts : iterable of Start
        Subspaces in the span of the directions.
    """
    index = _NonGaussianity(values[:SHARPEN_ROWS])
    found = []
    for start in starts:
        inside = orthonormalise(np.linalg.lstsq(axes, start.W, rcond=None)[0])
        top, _ = ascend(index(inside), index, [], max_iter=SHARPEN_STEPS, tol=1e-3, caution=0.3)
        found.append((top.objective, Start(start.name, orthonormalise(axes @ top.W))))
    return [start for _, start in sorted(found, key=lambda pair: -pair[0])]


class _NonGaussianity:
    """Distance of projected data from a standard Gaussian (Henze and Zirkler's statistic).

    The weighted distance between the characteristic functions. It does not change when the plane
    is rotated in itself, sees every departure from the Gaussian, and is a sum of Gaussian
    kernels, so that the level-shifted ascent applies to it:

        1/n^2 sum_ij k_b(y_i - y_j) - 2 (1 + b^2)^(-q/2) 1/n sum_i exp(-c |y_i|^2 / 2) + constant

    with k_b a Gaussian of bandwidth 1/b and c = b^2 / (1 + b^2).
    """

    def __init__(self, values: Array) -> None:
        n = len(values)
        self._values = values - values.mean(axis=0)
        self._sums = Exact().attach(self._values, Gaussian(1 / FREQUENCY), mean=None, n_jobs=1)
        self._gamma = Gamma(np.full((n, 1), 1.0 / n), np.ones(1))

    def __call__(self, W: Array) -> Point:
        phi, pairs = self._sums.phi_and_objective(W, self._gamma)
        rate = FREQUENCY**2 / (1 + FREQUENCY**2)
        height = (1 + FREQUENCY**2) ** (-W.shape[1] / 2)
        bell = np.exp(-0.5 * rate * ((self._values @ W) ** 2).sum(axis=1))

        def surrogate() -> Array:
            pull = self._values.T @ (bell[:, None] * self._values) / len(bell)
            return phi + height * rate * pull

        return Point(W, pairs - 2 * height * bell.mean(), surrogate)


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
