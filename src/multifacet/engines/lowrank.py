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
from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse

from ..kernels import Gaussian, Kernel
from ..linalg import Array, fix_signs, incomplete_cholesky, subspace_distance
from ..problems import Gamma
from .exact import Exact, parse_bytes
from .landmarks import Fourier, Nystrom, spread_out
from .threads import ordered_map, single_threaded_blas, thread_count
from .tiles import Points

Method = Literal["auto", "nystrom", "cholesky", "fourier"]

#: Rows that landmarks are chosen from, and rows on which the error is estimated.
SAMPLE, PROBE = 4000, 400
#: Sine of the angle by which W may move before landmarks are chosen again.
REFRESH = 0.3
#: First rank tried; it is doubled until the error is small enough.
FIRST_RANK = 64
#: Eigenvalues of M below this share of the largest carry rounding errors only.
CUT = {"float64": 1e-11, "float32": 1e-6}
#: Rows beyond which C is kept in single precision: half the memory, more than twice the speed, and
#: an error far below that of the approximation.
SINGLE_ROWS = 10_000
#: Numbers per block of rows: a block and what is made of it stay in cache.
BLOCK_SIZE = 2**18
#: Rows on which sums that have no low-rank form (curvature) are estimated.
EXACT_ROWS = 2000


@dataclass(frozen=True)
class LowRank:
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
        Relative error of the kernel matrix aimed at (Frobenius norm, on a sample of rows).
    max_rank : int, default=512
        Most landmarks, whatever the error.
    memory : int or str, default="2 GiB"
        Budget for arrays of the engine. C is kept between operations if it fits into half of it.
    seed : int, default=0
        Seed of the sample and of random features.

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

    def __post_init__(self) -> None:
        parse_bytes(self.memory)
        if self.method not in get_args(Method):
            known = ", ".join(map(repr, get_args(Method)))
            raise ValueError(f"method={self.method!r} is not known: use {known}")
        for name in ("rank", "max_rank"):
            value = getattr(self, name)
            if (name, value) != ("rank", "auto") and (isinstance(value, str) or int(value) < 1):
                raise ValueError(f"{name} must be a positive whole number, got {value!r}")
        if not 0 < self.tolerance < 1:
            raise ValueError(f"tolerance must be between 0 and 1, got {self.tolerance}")

    def attach(
        self, X, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = None
    ) -> LowRankSums:
        """Return the pair sums of ``kernel`` on the rows of ``X`` (n, d) minus ``mean`` (d,)."""
        definite = all(isinstance(k, Gaussian) or k.form == "inner" for _, k in kernel.terms)
        gaussian = len(kernel.terms) == 1 and isinstance(kernel.terms[0][1], Gaussian)
        method = self.method
        if method == "auto":
            method = "cholesky" if definite else "nystrom"
        if (method == "fourier" and not gaussian) or (method == "cholesky" and not definite):
            fits = "the Gaussian kernel" if method == "fourier" else "positive definite kernels"
            raise ValueError(f"method={method!r} is for {fits}, not for {kernel!r}: use 'nystrom'")
        n, d = X.shape
        budget = parse_bytes(self.memory)
        needed = 8 * (32 * n + 8 * d * d)
        if needed > budget:
            raise MemoryError(
                f"the low-rank engine needs about {needed / 2**20:,.0f} MiB for {n} rows and {d} "
                f"features but may use {budget / 2**20:,.0f} MiB: raise LowRank(memory=...)"
            )
        return LowRankSums(X, kernel, mean, thread_count(n_jobs), replace(self, method=method))


class LowRankSums:
    """Pair sums of one kernel on one data set; see :class:`~multifacet.engines.base.PairSums`.

    Attributes
    ----------
    error : float
        Estimated relative error of the kernel matrix at the last W.
    rank : int
        Number of landmarks at the last W.
    n_passes : int
        Passes over the data so far.
    """

    max_forks = 1

    def __init__(
        self, X, kernel: Kernel, mean: Array | None, n_threads: int, engine: LowRank
    ) -> None:
        self.n_rows, self.n_features = X.shape
        self.kernel = kernel
        self.error, self.rank, self.n_passes = np.nan, 0, 0
        self._X, self._engine, self._n_threads = X, engine, n_threads
        self._mean = np.zeros(self.n_features) if mean is None else np.asarray(mean, dtype=float)
        rng = np.random.default_rng(engine.seed)
        self._sample = np.sort(rng.permutation(self.n_rows)[:SAMPLE])
        reference = None if self.n_rows <= SAMPLE else X[self._sample]
        self._scales = [part.point_scales(X, reference) for _, part in kernel.terms]
        self._landmarks: tuple[Array, Array] | None = None  # W they were chosen at, and rows
        self._state: tuple[bytes, Array, Any, Array | None] | None = None

    def fork(self) -> LowRankSums:
        """Return a view on the same data that runs in one thread, with its own cache."""
        other = copy.copy(self)
        other._n_threads, other._state, other._landmarks = 1, None, None
        return other

    # -- the operations ---------------------------------------------------------------------

    def degrees(self, W: Array) -> Array:
        """Return K 1, shape (n,); never less than what a row has with itself."""
        degrees = self._multiply(W, np.ones((self.n_rows, 1)))[:, 0]
        return np.maximum(degrees, self._diagonal(W))

    def row_objectives(self, W: Array, gamma: Gamma) -> Array:
        """Return the row sums (n,) of Gamma o K."""
        return (gamma.factors * self._multiply(W, gamma.factors)) @ gamma.weights

    def objective(self, W: Array, gamma: Gamma) -> float:
        """Return Tr(Gamma K)."""
        basis = self._at(W)
        return basis.core.trace(self._compressed(gamma.factors), gamma.weights)

    def phi_and_objective(self, W: Array, gamma: Gamma) -> tuple[Array, float]:
        """Return the surrogate matrix Phi (d, d) and Tr(Gamma K)."""
        basis = self._at(W)
        F, s = gamma.factors, gamma.weights
        d, r = self.n_features, F.shape[1]
        products = {form: np.zeros((r, d + 1, basis.size)) for form in basis.slopes}
        values = np.zeros((basis.size, r))

        def first(rows: slice) -> tuple[dict[str, Array], Array | None]:
            C, slopes = self._features(rows, slope=True)
            found = {form: self._times_data(rows, F[rows], part) for form, part in slopes.items()}
            return found, None if basis.rate is not None else C.T @ F[rows].astype(C.dtype)

        for found, value in self._map(first, reads_data=True):
            for form, part in found.items():
                products[form] += part
            values += 0.0 if value is None else value
        if basis.rate is not None:
            values = products["difference"][:, -1, :].T
        phi = np.zeros((d, d))
        pulls = {}
        for form, core in basis.slopes.items():
            pulls[form] = core.apply(products[form][:, -1, :].T)
            for c in range(r):
                G = products[form][c, :-1]
                part = s[c] * G @ core.apply(G.T)
                phi += part if form == "inner" else -2 * part
        if "difference" in basis.slopes:
            phi += 2 * self._weighted_scatter(F, s, pulls["difference"])
        return 0.5 * (phi + phi.T), basis.core.trace(values, s)

    def initial_phi(self, gamma: Gamma) -> Array:
        """Return Phi_0 (d, d): Phi with the kernel's slope at W = 0, in O(n r d)."""
        return self._delegate(self._X, None).initial_phi(gamma)

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
        root = np.ones(self.n_rows) if degrees is None else 1.0 / np.sqrt(degrees)
        more = np.zeros((self.n_rows, 0)) if extra is None else extra.factors
        m, total = basis.size, basis.size + more.shape[1]
        second, first = np.zeros((total, total)), np.zeros(total)

        def rows_of(rows: slice) -> Array:
            C = self._features(rows)[0]
            C = root[rows, None].astype(C.dtype) * C
            return np.hstack([C, more[rows].astype(C.dtype)]) if more.shape[1] else C

        for square, sums in self._map(lambda rows: _moments(rows_of(rows))):
            second += square
            first += sums
        mean = first / self.n_rows
        S = second - np.outer(first, mean)
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
        shift = mean @ back
        parts = list(self._map(lambda rows: _product(rows_of(rows), back) - shift))
        return np.pad(values, (0, missing)), fix_signs(np.concatenate(parts))

    def hessian(self, W: Array, gamma: Gamma, directions: Array) -> Array:
        """Return d/dt Phi(W + tZ) W for each direction Z, exactly on a sample of rows."""
        rows, sample = self._thinned(gamma)
        return self._delegate(self._X[rows], rows).hessian(W, sample, directions)

    def curvature_bound(self, W: Array, gamma: Gamma) -> float:
        """Return 1/2 sum_ij |Gamma_ij f''_ij| ||A_ij||_F^2, estimated on a sample of rows."""
        rows, sample = self._thinned(gamma)
        return self._delegate(self._X[rows], rows).curvature_bound(W, sample)

    def extension(self, W: Array, V: Array) -> LowRankExtension:
        """Return what is needed to multiply the kernel of new rows with V (n, r)."""
        basis = self._at(W)
        reference = None
        if any(scale is not None for scale in self._scales):
            reference = self._X if self.n_rows <= SAMPLE else self._X[self._sample]
        pull = basis.core.apply(self._compressed(V))
        return LowRankExtension(basis, W, self._mean @ W, reference, pull)

    # -- parts ------------------------------------------------------------------------------

    def _at(self, W: Array) -> Any:
        """Return the landmarks, projected by W; they and the projected rows are kept."""
        key = W.tobytes()
        if self._state is not None and self._state[0] == key:
            return self._state[2]
        self._state = None
        P = self._project(W)
        basis = self._choose(W, P)
        self.rank = basis.size
        kept = None
        self._state = (key, P, basis, None)
        if P.itemsize * self.n_rows * basis.size <= parse_bytes(self._engine.memory) // 2:
            kept = np.empty((self.n_rows, basis.size), dtype=P.dtype)

            def fill(rows: slice) -> None:
                kept[rows] = self._features(rows)[0]

            for _ in self._map(fill):
                pass
        self._state = (key, P, basis, kept)
        return basis

    def _project(self, W: Array) -> Array:
        """Return the projected rows (n, q)."""
        dtype = np.float32 if self.n_rows > SINGLE_ROWS else self._X.dtype
        offset = self._mean @ W

        def part(rows: slice) -> Array:
            return (np.asarray(self._X[rows] @ W) - offset).astype(dtype, copy=False)

        return np.concatenate(list(self._map(part, reads_data=True)))

    def _choose(self, W: Array, P: Array) -> Any:
        """Return the basis at W, with landmarks chosen now or not long ago."""
        engine = self._engine
        if engine.method == "fourier":
            basis: Any = Fourier(self.kernel, P.shape[1], self._most(), engine.seed)
            self.error = self._estimate_error(P, basis)
            return basis
        if self._landmarks is None or subspace_distance(self._landmarks[0], W) > REFRESH:
            self._landmarks = (W, self._new_landmarks(P))
        basis = self._basis(P, self._landmarks[1])
        self.error = self._estimate_error(P, basis)
        return basis

    def _most(self) -> int:
        """Return the largest rank allowed."""
        rank = self._engine.rank
        return self._engine.max_rank if isinstance(rank, str) else int(rank)

    def _new_landmarks(self, P: Array) -> Array:
        """Return the rows that become landmarks."""
        engine = self._engine
        most = min(self._most(), SAMPLE)
        points = P[self._sample].astype(float)
        if engine.method == "cholesky":
            return self._sample[self._pivots(points, most)]
        rank = min(FIRST_RANK, most) if isinstance(engine.rank, str) else most
        while True:
            rows = self._sample[spread_out(points, rank, engine.seed)]
            if rank >= min(most, len(points)):
                return rows
            if self._estimate_error(P, self._basis(P, rows)) <= engine.tolerance:
                return rows
            rank = min(2 * rank, most)

    def _pivots(self, points: Array, most: int) -> Array:
        """Return the pivots of an incomplete Cholesky factorisation of the sample."""
        everything = self._points(points, self._sample)
        whole = slice(0, len(points))
        pivots: list[int] = []

        def column(i: int) -> Array:
            pivots.append(i)
            return everything.derivatives(whole, slice(i, i + 1), 0)[0][:, 0]

        # Inner-product kernels have a finite rank, at which they are exact.
        finite = all(part.form == "inner" for _, part in self.kernel.terms)
        fixed = not isinstance(self._engine.rank, str)
        tol = 1e-12 if finite or fixed else self._engine.tolerance
        incomplete_cholesky(column, self._diagonal_of(everything), tol=tol, max_rank=most)
        return np.array(pivots or [0])

    def _points(self, P: Array, rows: Array | slice) -> Points:
        scales = [None if s is None else s[rows].astype(P.dtype) for s in self._scales]
        return Points(P, self.kernel.terms, scales)

    def _basis(self, P: Array, rows: Array) -> Nystrom:
        cut = CUT.get(str(P.dtype), CUT["float64"])
        return Nystrom(self._points(P[rows].astype(float), rows), cut)

    def _estimate_error(self, P: Array, basis: Any) -> float:
        rows = self._sample[np.linspace(0, len(self._sample) - 1, PROBE).astype(int)]
        probe = self._points(P[rows].astype(float), rows)
        whole = slice(0, len(rows))
        K = probe.derivatives(whole, whole, 0)[0]
        C = basis.features(probe, whole)[0]
        return float(np.linalg.norm(K - C @ basis.core.apply(C.T)) / np.linalg.norm(K))

    def _diagonal(self, W: Array) -> Array:
        self._at(W)
        assert self._state is not None
        parts = self._map(lambda rows: self._diagonal_of(self._points(self._state[1][rows], rows)))  # type: ignore[index]
        return np.concatenate(list(parts))

    @staticmethod
    def _diagonal_of(points: Points) -> Array:
        """Return k(x, x) of points."""
        total = np.zeros(len(points.rows))
        for weight, part in points.terms:
            inner = np.einsum("ij,ij->i", points.rows, points.rows)
            total += weight * part.f(inner if part.form == "inner" else np.zeros(len(inner)))
        return total

    def _blocks(self) -> list[slice]:
        """Return the blocks of rows: whatever is made of one stays in cache."""
        width = max(self.n_features, self.rank, 32)
        size = max(BLOCK_SIZE // width, 64)
        return [slice(a, min(a + size, self.n_rows)) for a in range(0, self.n_rows, size)]

    def _map(self, function: Callable[[slice], Any], *, reads_data: bool = False) -> Iterator[Any]:
        """Yield the results of all blocks, in order, computed by the threads."""
        self.n_passes += reads_data
        with single_threaded_blas():
            yield from ordered_map(function, self._blocks(), self._n_threads)

    def _features(self, rows: slice, *, slope: bool = False) -> tuple[Array, dict[str, Array]]:
        """Return C of a block and, if asked, those of the slopes."""
        assert self._state is not None
        _, P, basis, kept = self._state
        if kept is not None and (not slope or basis.rate is not None):
            return kept[rows], {"difference": kept[rows]} if slope else {}
        points = self._points(P[rows], rows)
        return basis.features(points, slice(0, len(points.rows)), slope=slope)

    def _times_data(self, rows: slice, F: Array, C: Array) -> Array:
        """Return (f_c o [X, 1])' C of a block for each column f_c of F, shape (r, d + 1, m)."""
        X = self._X[rows]
        if issparse(X):
            found = []
            for f in F.T.astype(C.dtype):
                scaled = f[:, None] * C
                sums = scaled.sum(axis=0)
                found.append(
                    np.vstack([np.asarray(X.T @ scaled) - np.outer(self._mean, sums), sums])
                )
            return np.stack(found) if found else np.zeros((0, self.n_features + 1, C.shape[1]))
        X = np.column_stack([X - self._mean, np.ones(len(X))]).astype(C.dtype, copy=False)
        spread = (F[:, :, None].astype(C.dtype) * X[:, None, :]).reshape(len(X), -1)
        return (spread.T @ C).reshape(F.shape[1], self.n_features + 1, C.shape[1])

    def _weighted_scatter(self, F: Array, s: Array, pull: Array) -> Array:
        """Return X' diag(Psi 1) X, with Psi 1 = sum_c s_c f_c o (C M^+ C' f_c)."""

        def part(rows: slice) -> Array:
            C = self._features(rows, slope=True)[1]["difference"]
            sums = (F[rows] * _product(C, pull)) @ s
            X = self._X[rows]
            if not issparse(X):
                X = X - self._mean
                return X.T @ (sums[:, None] * X)
            v = np.asarray(X.T @ sums)
            cross = np.outer(self._mean, v)
            scatter = (X.T @ X.multiply(sums[:, None]).tocsr()).toarray()
            return scatter - cross - cross.T + sums.sum() * np.outer(self._mean, self._mean)

        return np.asarray(sum(self._map(part, reads_data=True)))

    def _compressed(self, V: Array) -> Array:
        """Return C'V (m, r) at the last W."""
        return np.asarray(sum(self._map(lambda rows: _product(self._features(rows)[0].T, V[rows]))))

    def _multiply(self, W: Array, V: Array) -> Array:
        """Return K V."""
        pull = self._at(W).core.apply(self._compressed(V))
        parts = self._map(lambda rows: _product(self._features(rows)[0], pull))
        return np.concatenate(list(parts))

    def _thinned(self, gamma: Gamma) -> tuple[Array, Gamma]:
        """Return rows and Gamma on them, so that sums over pairs keep their size."""
        count = min(EXACT_ROWS, self.n_rows)
        rows = np.linspace(0, self.n_rows - 1, count).astype(int)
        return rows, Gamma(gamma.factors[rows] * (self.n_rows / count), gamma.weights)

    def _delegate(self, X: Any, rows: Array | None) -> Any:
        """Return exact sums on some rows, with the scales that they have among all."""
        exact = Exact(memory=self._engine.memory).attach(
            X, self.kernel, mean=self._mean, n_jobs=self._n_threads
        )
        if rows is not None:
            exact._scales = [None if s is None else s[rows] for s in self._scales]
        return exact


def _product(C: Array, V: Array) -> Array:
    """Return C V in double precision, multiplied in that of C: a mixed product would copy C."""
    return (C @ V.astype(C.dtype, copy=False)).astype(float, copy=False)


def _moments(A: Array) -> tuple[Array, Array]:
    return A.T @ A, A.sum(axis=0)


@dataclass(frozen=True)
class LowRankExtension:
    """Multiplies the kernel between new rows and the training rows with fixed columns.

    Attributes
    ----------
    basis : object
        Landmarks.
    W : array of shape (d, q)
        Subspace.
    offset : array of shape (q,)
        Projected mean, subtracted from projected new rows.
    reference : array of shape (m, d) or None
        Rows in all features, kept only for kernels with one scale per point.
    pull : array of shape (m, r)
        M^+ C'V of the training rows.
    """

    basis: Any
    W: Array
    offset: Array
    reference: Array | None
    pull: Array

    def multiply(self, X) -> Array:
        """Return K(X, training rows) V, shape (m, r), for new rows X (m, d)."""
        size = max(BLOCK_SIZE // max(self.W.shape[0], self.basis.size), 64)
        parts = [self._block(X[a : a + size]) for a in range(0, X.shape[0], size)]
        return np.concatenate(parts)

    def _block(self, X) -> Array:
        P = np.asarray(X @ self.W) - self.offset
        scales = [part.point_scales(X, self.reference) for _, part in self.basis.terms]
        points = Points(P, self.basis.terms, scales)
        return self.basis.features(points, slice(0, len(P)))[0] @ self.pull
