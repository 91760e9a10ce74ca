"""The low-rank engine: K is C M^+ C', so that every sum over pairs is a sum over rows.

C (n, m) compares the rows with m *landmarks*, M compares the landmarks with each other (the
Nystrom approximation). With Gamma = F diag(s) F' the matrix Psi = Gamma o f'(beta) is

    sum_c s_c (f_c o C) M^+ (f_c o C)' ,

so Phi, degrees, objective and embedding need a few passes over the rows and matrices of the size
of m. The slope f' has its own C and M on the same landmarks. M^+ is a pseudo-inverse, hence
nothing has to be positive: inner-product and squared kernels, whose rank is small when q is, come
out exactly with no special treatment.

Landmarks are rows of the data and move with W. They are chosen in the projected space and only
chosen again when W has moved far, so that a converging solver sees one smooth objective.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from ..kernels import Gaussian, Kernel
from ..linalg import Array, Symmetric, incomplete_cholesky, subspace_distance
from ..problems import Gamma
from . import blocks
from .base import Engine, refuse_unless_accepted
from .blocks import SINGLE_ROWS, Block, Sums, add_up, chunk_rows, fold, slices
from .exact import Exact, check_whole, parse_bytes
from .landmarks import Basis, fourier, nystrom, spread_out
from .threads import ordered_map, single_threaded_blas, thread_count
from .tiles import Points
from .wide import WIDE, initial_phi_operator, phi_operator

Method = Literal["auto", "nystrom", "cholesky", "fourier"]

#: Rows on which the error is estimated.
PROBE = 400
#: Sine of the angle by which W may move before landmarks are chosen again.
REFRESH = 0.3
#: First rank tried; it is doubled until the error is small enough.
FIRST_RANK = 64
#: Eigenvalues of M below this share of the largest carry rounding errors only.
CUT = {"float64": 1e-11, "float32": 1e-6}
#: Rows on which sums that have no low-rank form (curvature) are estimated.
EXACT_ROWS = 2000


@dataclass(frozen=True)
class LowRank(Engine):
    """Sums over pairs of rows from a low-rank kernel, in O(n) time and memory.

    Parameters
    ----------
    rank : int or "auto", default="auto"
        Number of landmarks; "auto" takes as many as ``tolerance`` asks for.
    method : {"auto", "nystrom", "cholesky", "fourier"}, default="auto"
        Where landmarks come from: k-means centres, pivots of an incomplete Cholesky factorisation
        (KDAC 2014, section 4), or none but random Fourier features (Gaussian kernel only). "auto"
        takes pivots, which reach an error with half as many landmarks, where the kernel is
        positive definite, and k-means otherwise.
    tolerance : float, default=0.03
        Relative error of the centred kernel matrix aimed at (Frobenius norm, on a sample of rows).
    max_rank : int, default=512
        Most landmarks, whatever the error.
    memory : int or str, default="2 GiB"
        Budget for arrays of the engine. C is kept between operations if it fits into half of it.
    seed : int, default=0
        Seed of the sample and of random features.
    matrix_features : int, default=1000
        Most features for which Phi is a matrix (d, d); beyond, it is multiplied with only.
    sample : int, default=4000
        Rows from which landmarks are chosen.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.engines import LowRank
    >>> model = KDAC(engine=LowRank(rank=200))
    """

    rank: int | str = "auto"
    method: Method = "auto"
    tolerance: float = 0.03
    max_rank: int = 512
    memory: int | str = "2 GiB"
    seed: int = 0
    matrix_features: int = WIDE
    sample: int = 4000

    def __post_init__(self) -> None:
        self.budget()
        check_whole(self, "matrix_features", low=0)
        check_whole(self, "sample", low=2)
        if self.method not in get_args(Method):
            known = ", ".join(map(repr, get_args(Method)))
            raise ValueError(f"method={self.method!r} is not known: use {known}")
        if self.rank != "auto":
            check_whole(self, "rank", low=1)
        check_whole(self, "max_rank", low=1)
        if not 0 < self.tolerance < 1:
            raise ValueError(f"tolerance must be between 0 and 1, got {self.tolerance}")

    def attach(
        self, X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = None
    ) -> LowRankSums:
        """Return the pair sums of ``kernel`` on the rows of ``X`` (n, d) minus ``mean`` (d,)."""
        refuse_unless_accepted(self, X)
        return LowRankSums(X, kernel, mean, thread_count(n_jobs), self.resolved(kernel, X.shape))

    def budget(self) -> int:
        """Return the budget in bytes."""
        return parse_bytes(self.memory)

    def resolved(self, kernel: Kernel, shape: tuple[int, int]) -> Self:
        """Return the engine with its method known, if the kernel and the memory allow it."""
        definite = all(isinstance(k, Gaussian) or k.form == "inner" for _, k in kernel.terms)
        gaussian = len(kernel.terms) == 1 and isinstance(kernel.terms[0][1], Gaussian)
        method = self.method
        if method == "auto":
            method = "cholesky" if definite else "nystrom"
        if (method == "fourier" and not gaussian) or (method == "cholesky" and not definite):
            fits = "the Gaussian kernel" if method == "fourier" else "positive definite kernels"
            raise ValueError(f"method={method!r} is for {fits}, not for {kernel!r}: use 'nystrom'")
        (n, d), budget = shape, self.budget()
        # Matrices d x d, or the vectors that an eigen-solver keeps of wide data.
        needed = 8 * (32 * n + (200 * d if d > self.matrix_features else 8 * d * d))
        if needed > budget:
            raise MemoryError(
                f"the low-rank engine needs about {needed / 2**20:,.0f} MiB for {n} rows and {d} "
                f"features but may use {budget / 2**20:,.0f} MiB: raise "
                f"{type(self).__name__}(memory=...)"
            )
        return replace(self, method=method)


class LowRankSums:
    """Pair sums of one kernel on one data set; see :class:`~multifacet.engines.base.PairSums`.

    Attributes
    ----------
    error : float
        Estimated relative error of the centred kernel matrix at the last W.
    rank : int
        Number of landmarks at the last W.
    n_passes : int
        Passes over the data so far.
    """

    max_forks = 1

    def __init__(
        self, X: Any, kernel: Kernel, mean: Array | None, n_threads: int, engine: LowRank
    ) -> None:
        self.n_rows, self.n_features = X.shape
        self.kernel = kernel
        self.error, self.rank, self.n_passes = np.nan, 0, 0
        self._X, self._engine, self._n_threads = X, engine, n_threads
        self._mean = np.zeros(self.n_features) if mean is None else np.asarray(mean, dtype=float)
        rng = np.random.default_rng(engine.seed)
        self._sample = np.sort(rng.permutation(self.n_rows)[: engine.sample])
        self._sampled = X[:] if self.n_rows <= engine.sample else X[self._sample]
        self._rows = self._all_rows()
        self._landmarks: tuple[Array, Array] | None = None  # W they were chosen at, and rows
        self._state: tuple[bytes, Block, Basis] | None = None

    def fork(self) -> LowRankSums:
        """Return a view on the same data that runs in one thread, with its own cache."""
        other = copy.copy(self)
        other._n_threads, other._state, other._landmarks = 1, None, None
        return other

    # -- the operations ---------------------------------------------------------------------

    def degrees(self, W: Array) -> Array:
        """Return K 1, shape (n,); never less than what a row has with itself."""
        basis = self._at(W)
        (total,) = self._sum(blocks.total)
        return self._each(partial(blocks.degrees, pull=basis.core.apply(total)))

    def row_objectives(self, W: Array, gamma: Gamma) -> Array:
        """Return the row sums (n,) of Gamma o K."""
        pull = self._at(W).core.apply(self._compressed(gamma.factors))
        task = partial(blocks.row_objectives, weights=gamma.weights, pull=pull)
        return self._each(task, gamma.factors)

    def objective(self, W: Array, gamma: Gamma) -> float:
        """Return Tr(Gamma K)."""
        basis = self._at(W)
        return basis.core.trace(self._compressed(gamma.factors), gamma.weights)

    def phi_and_objective(self, W: Array, gamma: Gamma) -> tuple[Symmetric, float]:
        """Return the surrogate matrix Phi (d, d) and Tr(Gamma K)."""
        basis = self._at(W)
        if self.n_features > self._engine.matrix_features:
            return self._wide_phi(gamma), self.objective(W, gamma)
        F, s = gamma.factors, gamma.weights
        found = self._sum(blocks.phi_products, F, reads_data=True)
        products = dict(zip(basis.slopes, found, strict=False))
        rated = basis.comparison.rate is not None
        values = found[0][:, -1, :].T if rated else found[-1]
        phi = np.zeros((self.n_features, self.n_features))
        pulls = {}
        for form, core in basis.slopes.items():
            pulls[form] = core.apply(products[form][:, -1, :].T)
            for weight, G in zip(s, products[form][:, :-1], strict=True):
                part = weight * G @ core.apply(G.T)
                phi += part if form == "inner" else -2 * part
        if "difference" in basis.slopes:
            task = partial(blocks.phi_scatter, weights=s, pull=pulls["difference"])
            phi += 2 * self._sum(task, F, reads_data=True)[0]
        return 0.5 * (phi + phi.T), basis.core.trace(values, s)

    def phi_times_w(self, W: Array, gamma: Gamma) -> tuple[Array, float]:
        """Return Phi W (d, q) and Tr(Gamma K): Psi meets the projected rows only."""
        basis, F = self._at(W), gamma.factors
        values, *sums = self._sum(blocks.projected_products, F)
        cores = basis.slopes.items()
        pulls = {form: core.apply(part) for (form, core), part in zip(cores, sums, strict=True)}
        task = partial(blocks.phi_times_w, weights=gamma.weights, pulls=pulls)
        (product,) = self._sum(task, F, reads_data=True)
        return product, basis.core.trace(values, gamma.weights)

    def initial_phi(self, gamma: Gamma) -> Symmetric:
        """Return Phi_0 (d, d): Phi with the kernel's slope at W = 0, in O(n r d)."""
        terms, F = self.kernel.terms, gamma.factors
        if self.n_features > self._engine.matrix_features:
            return initial_phi_operator(self._X, self._mean, terms, self._rows.scales, gamma)
        products, sums = self._sum(blocks.initial_products, F, reads_data=True)
        phi = np.zeros((self.n_features, self.n_features))
        pulls: list[Array | None] = []
        for (weight, part), XF, total in zip(terms, products, sums, strict=True):
            slopes = weight * part.initial_slope * gamma.weights
            away = part.form == "difference"
            phi += (-2.0 if away else 1.0) * (XF * slopes) @ XF.T
            pulls.append(slopes * total if away else None)
        if any(pull is not None for pull in pulls):
            task = partial(blocks.initial_scatter, pulls=pulls)
            phi += 2 * self._sum(task, F, reads_data=True)[0]
        return 0.5 * (phi + phi.T)

    def embedding(
        self,
        W: Array,
        k: int,
        *,
        degrees: Array | None,
        start: Array | None = None,
        extra: Gamma | None = None,
    ) -> tuple[Array, Array]:
        """Return the k leading eigenpairs of H D^-1/2 K D^-1/2 H + extra (values, vectors).

        With A = H D^-1/2 C the matrix is A M^+ A'. If S = A'A = Q E Q', its eigenvectors are
        A Q E^-1/2 Y with Y those of E^1/2 Q' M^+ Q E^1/2, which is of the size of m.
        """
        basis = self._at(W)
        root = None if degrees is None else 1.0 / np.sqrt(degrees)
        more = None if extra is None else extra.factors
        second, first = self._sum(blocks.moments, root, more)
        m = basis.comparison.size
        mean = first / self.n_rows
        S = second - np.outer(first, mean)
        if extra is not None:  # only what belongs to K is centred
            S[m:, m:], mean[m:] = second[m:, m:], 0.0
        E, Q = eigh(0.5 * (S + S.T))
        keep = 1e-13 * E.max() < E
        half = Q[:, keep] * np.sqrt(E[keep])
        T = half[:m].T @ basis.core.apply(half[:m])
        if extra is not None:
            T += (half[m:].T * extra.weights) @ half[m:]
        values, Y = eigh(0.5 * (T + T.T))
        values, Y = values[::-1][:k], Y[:, ::-1][:, :k]
        back = (Q[:, keep] / np.sqrt(E[keep])) @ Y
        # A kernel of a rank below k has no more eigenvectors; zeros take no part in anything.
        missing = k - len(values)
        back = np.pad(back, ((0, 0), (0, missing)))
        # A vector points to the feature that it has most in common with.
        common = S @ back
        most = common[np.argmax(np.abs(common), axis=0), np.arange(k)]
        back = np.where(most < 0, -back, back)
        task = partial(blocks.eigenvectors, back=back, shift=mean @ back)
        return np.pad(values, (0, missing)), self._each(task, root, more, width=k)

    def hessian(self, W: Array, gamma: Gamma, directions: Array) -> Array:
        """Return d/dt Phi(W + tZ) W for each direction Z, exactly on a sample of rows."""
        exact, sample = self._thinned(gamma)
        return exact.hessian(W, sample, directions)

    def curvature_bound(self, W: Array, gamma: Gamma) -> float:
        """Return 1/2 sum_ij |Gamma_ij f''_ij| ||A_ij||_F^2, estimated on a sample of rows."""
        exact, sample = self._thinned(gamma)
        return exact.curvature_bound(W, sample)

    def extension(self, W: Array, V: Array) -> LowRankExtension:
        """Return what is needed to multiply the kernel of new rows with V (n, r)."""
        basis = self._at(W)
        scaled = any(scale is not None for scale in self._rows.scales)
        reference = self._sampled if scaled else None
        pull = basis.core.apply(self._compressed(V))
        return LowRankExtension(basis.comparison, W, self._mean @ W, reference, pull)

    # -- maps over the rows -----------------------------------------------------------------

    def _all_rows(self) -> Block:
        """Return all rows as one block."""
        reference = None if self.n_rows <= self._engine.sample else self._sampled
        terms = self.kernel.terms
        scales = tuple(part.point_scales(self._X, reference) for _, part in terms)
        return Block(self._X, self._mean, scales)

    def _sum(
        self, task: Callable[..., Sums], *columns: Array | None, reads_data: bool = False
    ) -> Sums:
        """Add up what a task returns for all blocks and these columns (n, r) beside them."""
        parts = self._map(task, columns, reads_data)
        return fold(add_up(islice(parts, len(chunk))) for chunk in self._chunks())

    def _each(
        self,
        task: Callable[..., Array],
        *columns: Array | None,
        width: int | None = None,
        dtype: Any = float,
        reads_data: bool = False,
    ) -> Array:
        """Return what a task returns for all blocks, shape (n,) or (n, width)."""
        out = np.empty(self.n_rows if width is None else (self.n_rows, width), dtype=dtype)
        parts = self._map(task, columns, reads_data)
        for rows, part in zip(chain(*self._chunks()), parts, strict=True):
            out[rows] = part
        return out

    def _chunks(self) -> Iterator[list[slice]]:
        """Yield the blocks of rows of each chunk: whatever is made of one stays in cache."""
        n, step = self.n_rows, chunk_rows(self.n_rows, self.n_features)
        for first in range(0, n, step):
            blocks_here = slices(min(step, n - first), self._width)
            yield [slice(first + rows.start, first + rows.stop) for rows in blocks_here]

    @property
    def _width(self) -> int:
        """Numbers per row of the largest array that is made of a block."""
        sparse = issparse(self._X) or getattr(self._X, "sparse", False)
        return max(0 if sparse else self.n_features, self.rank, 32)

    def _map(
        self, task: Callable[..., Any], columns: tuple[Array | None, ...], reads_data: bool
    ) -> Iterator[Any]:
        """Yield the results of all blocks, in order, computed by the threads."""
        self.n_passes += reads_data
        whole = self._rows if reads_data else replace(self._rows, X=None)

        def run(rows: slice) -> Any:
            return task(whole[rows], *(c if c is None else c[rows] for c in columns))

        with single_threaded_blas():
            yield from ordered_map(run, chain(*self._chunks()), self._n_threads)

    # -- parts ------------------------------------------------------------------------------

    def _at(self, W: Array) -> Basis:
        """Return the landmarks, projected by W; they and the projected rows are kept."""
        key = W.tobytes()
        if self._state is not None and self._state[0] == key:
            return self._state[2]
        self._state = None
        self._rows = replace(self._rows, P=None, comparison=None, kept=None)
        dtype = self._dtype
        task = partial(blocks.project, W=W, dtype=dtype)
        P = self._each(task, width=W.shape[1], dtype=dtype, reads_data=True)
        basis = self._choose(W)
        self.rank = basis.comparison.size
        self._rows = replace(self._rows, P=P, comparison=basis.comparison)
        if dtype.itemsize * self.n_rows * self.rank <= self._engine.budget() // 2:
            kept = self._each(blocks.compare, width=self.rank, dtype=dtype)
            self._rows = replace(self._rows, kept=kept)
        self._state = (key, self._rows, basis)
        return basis

    @property
    def _dtype(self) -> np.dtype:
        """Precision of the projected rows and of C."""
        return np.dtype(np.float32 if self.n_rows > SINGLE_ROWS else self._X.dtype)

    def _choose(self, W: Array) -> Basis:
        """Return the basis at W, with landmarks chosen now or not long ago."""
        engine = self._engine
        scales = [None if s is None else np.asarray(s[self._sample]) for s in self._rows.scales]
        P = np.asarray(self._sampled @ W, dtype=float) - self._mean @ W
        sample = Points(P, self.kernel.terms, scales)
        if engine.method == "fourier":
            basis = fourier(self.kernel, W.shape[1], self._most(), engine.seed)
        else:
            if self._landmarks is None or subspace_distance(self._landmarks[0], W) > REFRESH:
                self._landmarks = (W, self._new_landmarks(sample))
            basis = self._basis(sample, self._landmarks[1])
        self.error = _estimated_error(sample, basis)
        return basis

    def _most(self) -> int:
        """Return the largest rank allowed."""
        rank = self._engine.rank
        return self._engine.max_rank if isinstance(rank, str) else int(rank)

    def _new_landmarks(self, sample: Points) -> Array:
        """Return the rows of the sample that become landmarks."""
        engine = self._engine
        most = min(self._most(), engine.sample)
        if engine.method == "cholesky":
            return self._pivots(sample, most)
        rank = min(FIRST_RANK, most) if isinstance(engine.rank, str) else most
        while True:
            rows = spread_out(sample.rows, rank, engine.seed)
            if rank >= min(most, len(sample.rows)):
                return rows
            if _estimated_error(sample, self._basis(sample, rows)) <= engine.tolerance:
                return rows
            rank = min(2 * rank, most)

    def _pivots(self, sample: Points, most: int) -> Array:
        """Return the pivots of an incomplete Cholesky factorisation of the sample."""
        whole = slice(0, len(sample.rows))
        pivots: list[int] = []

        def column(i: int) -> Array:
            pivots.append(i)
            return sample.derivatives(whole, slice(i, i + 1), 0)[0][:, 0]

        # Inner-product kernels have a finite rank, at which they are exact.
        finite = all(part.form == "inner" for _, part in self.kernel.terms)
        fixed = not isinstance(self._engine.rank, str)
        tol = 1e-12
        if not (finite or fixed):
            K = _probe(sample)[1]
            tol = self._engine.tolerance * float(_centred(K).trace() / K.trace())
        incomplete_cholesky(column, blocks.diagonal(sample), tol=tol, max_rank=most)
        return np.array(pivots or [0])

    def _basis(self, sample: Points, rows: Array) -> Basis:
        return nystrom(_some(sample, rows), CUT[str(self._dtype)])

    def _compressed(self, V: Array) -> Array:
        """Return C'V (m, r) at the last W."""
        return self._sum(blocks.compress, V)[0]

    def _wide_phi(self, gamma: Gamma) -> LinearOperator:
        """Return Phi of the last W as an operator."""
        there = copy.copy(self)  # keeps the features of this W when the engine moves on
        assert there._state is not None
        slopes = there._state[2].slopes
        ones = np.ones((self.n_rows, 1))
        sums = {form: there._psi_times(form, gamma, ones) for form in slopes}

        def multiply(V: Array) -> Array:
            out = np.zeros_like(V)
            for form in slopes:
                product = there._psi_times(form, gamma, V)
                out += product if form == "inner" else 2 * (sums[form] * V - product)
            return out

        return phi_operator(self._X, self._mean, multiply)

    def _psi_times(self, form: str, gamma: Gamma, V: Array) -> Array:
        """Return Psi V (n, m) of the last W: sum_c s_c f_c o (C M^+ C' (f_c o V))."""
        assert self._state is not None
        core, F, width = self._state[2].slopes[form], gamma.factors, V.shape[1]
        pull = core.apply(self._sum(partial(blocks.slope_sums, form=form), F, V)[0])
        back = {"form": form, "weights": gamma.weights, "pull": pull, "width": width}
        return self._each(partial(blocks.slope_rows, **back), F, width=width)

    def _thinned(self, gamma: Gamma) -> tuple[Any, Gamma]:
        """Return exact sums on some rows, and Gamma such that sums over pairs keep their size.

        The rows have the scales that they have among all.
        """
        count = min(EXACT_ROWS, self.n_rows)
        rows = np.linspace(0, self.n_rows - 1, count).astype(int)
        engine = Exact(self._engine.budget(), matrix_features=self._engine.matrix_features)
        exact = engine.attach(self._X[rows], self.kernel, mean=self._mean, n_jobs=self._n_threads)
        exact._scales = [None if s is None else np.asarray(s[rows]) for s in self._rows.scales]
        factors = np.asarray(gamma.factors[rows]) * (self.n_rows / count)
        return exact, Gamma(factors, gamma.weights)


def _some(points: Points, rows: Array) -> Points:
    """Return some of the points."""
    scales = [None if s is None else s[rows] for s in points.scales]
    return Points(points.rows[rows], points.terms, scales)


def _estimated_error(sample: Points, basis: Basis) -> float:
    """Return the relative error of the centred kernel matrix of some rows of a sample."""
    probe, K = _probe(sample)
    C = basis.comparison.features(probe)[0]
    error = _centred(K - C @ basis.core.apply(C.T))
    return float(np.linalg.norm(error) / np.linalg.norm(_centred(K)))


def _probe(sample: Points) -> tuple[Points, Array]:
    """Return some rows of a sample and their kernel matrix."""
    probe = _some(sample, np.linspace(0, len(sample.rows) - 1, PROBE).astype(int))
    whole = slice(0, PROBE)
    return probe, probe.derivatives(whole, whole, 0)[0]


def _centred(K: Array) -> Array:
    """Return H K H: what is the same for all pairs has no say in groupings, however large."""
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1)[:, None]


@dataclass(frozen=True)
class LowRankExtension:
    """Multiplies the kernel between new rows and the training rows with fixed columns.

    Attributes
    ----------
    comparison : Landmarks or Frequencies
        What new rows are compared with.
    W : array of shape (d, q)
        Subspace.
    offset : array of shape (q,)
        Projected mean, subtracted from projected new rows.
    reference : array of shape (m, d) or None
        Rows in all features, kept only for kernels with one scale per point.
    pull : array of shape (m, r)
        M^+ C'V of the training rows.
    """

    comparison: Any
    W: Array
    offset: Array
    reference: Array | None
    pull: Array

    def multiply(self, X: Any) -> Array:
        """Return K(X, training rows) V, shape (m, r), for new rows X (m, d)."""
        width = max(self.W.shape[0], self.comparison.size)
        return np.concatenate([self._block(X[rows]) for rows in slices(X.shape[0], width)])

    def _block(self, X: Any) -> Array:
        P = np.asarray(X @ self.W) - self.offset
        scales = [part.point_scales(X, self.reference) for _, part in self.comparison.terms]
        points = Points(P, self.comparison.terms, scales)
        return self.comparison.features(points)[0] @ self.pull
