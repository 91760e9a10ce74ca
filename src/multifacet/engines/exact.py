"""The exact engine: every pair of rows, in tiles that fit the cache, spread over threads.

K is symmetric, so only tiles on and above the diagonal are visited. A *strip* is one row of
tiles; strips run on a thread pool (numpy releases the lock) and their results are added up in
order, so the number of threads does not change a single bit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from ..kernels import Kernel
from ..linalg import (
    DENSE_EIGEN_SIZE,
    Array,
    Symmetric,
    leading_eigenpairs,
    symmetric_operator,
)
from ..problems import Gamma
from .base import Engine, refuse_unless_accepted
from .threads import ordered_map, single_threaded_blas, thread_count
from .tiles import TILE, Points, TileExtension, product, tiles_of
from .wide import WIDE, initial_phi_operator, phi_operator

_UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}

#: Strips from which threads are worth being started: a pass over fewer takes about as long.
TILES_FOR_THREADS = 4


@dataclass(frozen=True)
class Exact(Engine):
    """Exact sums over all pairs of rows, in O(n^2) time.

    Parameters
    ----------
    memory : int or str, default="2 GiB"
        Budget for arrays of the engine, in bytes or as "512 MiB". The kernel matrix is kept
        between operations only when it fits into a quarter of it; otherwise tiles are recomputed
        and memory stays linear in the number of rows.
    tile : int, default=256
        Rows of a tile: two tiles of numbers should fit into the cache of a core.
    matrix_features : int, default=1000
        Most features for which Phi is a matrix (d, d); beyond, it is multiplied with only.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.engines import Exact
    >>> model = KDAC(engine=Exact(memory="512 MiB"))
    """

    memory: int | str = "2 GiB"
    tile: int = TILE
    matrix_features: int = WIDE

    def __post_init__(self) -> None:
        parse_bytes(self.memory)
        check_whole(self, "tile", low=1)
        check_whole(self, "matrix_features", low=0)

    def attach(
        self, X: Any, kernel: Kernel, *, mean: Array | None = None, n_jobs: int | None = None
    ) -> ExactSums:
        """Return the pair sums of ``kernel`` on the rows of ``X`` (n, d) minus ``mean`` (d,)."""
        refuse_unless_accepted(self, X)
        n, d = X.shape
        budget = parse_bytes(self.memory)
        # Projections, degrees, factors and eigenvectors, of which a few dozen columns are alive
        # at once, the d x d results of the strips in flight, and the scratch of the tiles.
        # Wide data have n x n arrays in the place of the d x d ones.
        wide = d > self.matrix_features
        needed = 8 * (64 * n + 8 * (n * n if wide else d * d) + 16 * self.tile**2)
        if needed > budget:
            raise MemoryError(
                f"the exact engine needs about {needed / 2**20:,.0f} MiB for {n} rows and {d} "
                f"features but may use {budget / 2**20:,.0f} MiB: raise Exact(memory=...) or use "
                "fewer rows or features"
            )
        square = 8 * n * n  # bytes of one n x n array
        # With the matrix, its normalised copy and scratch a fork takes about three of them.
        keep = square <= budget // 4
        forks = budget // (3 * square) if keep else 1
        return ExactSums(
            X, kernel, mean, thread_count(n_jobs), self, keep_gram=keep, max_forks=forks
        )


def check_whole(engine: Any, name: str, *, low: int) -> None:
    """Raise a sentence unless an option of an engine is a whole number of at least ``low``."""
    value = getattr(engine, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {value!r}")


def parse_bytes(size: int | str) -> int:
    """Return a number of bytes from an integer or a text such as "1.5 GiB"."""
    if isinstance(size, str):
        number = size.rstrip("BbIiKkMmGg ")
        unit = size[len(number) :].strip().upper() or "B"
        try:
            value = float(number) * _UNITS[unit]
        except (ValueError, KeyError):
            value = -1.0
    else:
        value = float(size)
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"memory={size!r} is not a size: write bytes or a text like '512 MiB'")
    return int(value)


class ExactSums:
    """Pair sums of one kernel on one data set; see :class:`~multifacet.engines.base.PairSums`."""

    def __init__(
        self,
        X: Any,
        kernel: Kernel,
        mean: Array | None,
        n_threads: int,
        engine: Exact,
        *,
        keep_gram: bool,
        max_forks: int,
    ) -> None:
        self.n_rows, self.n_features = X.shape
        self.kernel = kernel
        self.max_forks = max_forks
        self._sparse = issparse(X)
        # Sparse data stay as they are and their mean is subtracted after projection.
        self._X = X if mean is None or self._sparse else X - mean.astype(X.dtype)
        self._mean = mean if self._sparse else None
        self._rows, self._offset = X, mean
        self._dtype = X.dtype
        self._keep_gram = keep_gram
        self._scales = [
            None if s is None else s.astype(X.dtype)
            for s in (part.point_scales(X) for _, part in kernel.terms)
        ]
        self._engine = engine
        self._tiles = tiles_of(self.n_rows, engine.tile)
        self._n_threads = n_threads if len(self._tiles) >= TILES_FOR_THREADS else 1
        self._gram: tuple[bytes, Array] | None = None
        self._gamma: tuple[Gamma, Array] | None = None

    def fork(self) -> ExactSums:
        """Return a view on the same data that runs in one thread, with its own cache."""
        other = copy.copy(self)
        other._n_threads, other._gram = 1, None
        return other

    # -- the operations ---------------------------------------------------------------------

    def degrees(self, W: Array) -> Array:
        """Return K 1, shape (n,)."""
        return self._multiply(W, np.ones((self.n_rows, 1)))[:, 0]

    def row_objectives(self, W: Array, gamma: Gamma) -> Array:
        """Return the row sums (n,) of Gamma o K."""
        return (gamma.factors * self._multiply(W, gamma.factors)) @ gamma.weights

    def objective(self, W: Array, gamma: Gamma) -> float:
        """Return Tr(Gamma K)."""
        return float(self.row_objectives(W, gamma).sum())

    def phi_and_objective(self, W: Array, gamma: Gamma) -> tuple[Symmetric, float]:
        """Return the surrogate matrix Phi (d, d) and Tr(Gamma K), in one pass."""
        points = self._points(W)
        if self.n_features > self._engine.matrix_features:
            L, objective = self._laplacian(points, gamma)
            return phi_operator(self._X, self._mean_or_zero, L.__matmul__), objective
        if len(self._tiles) == 1:
            with single_threaded_blas():
                return self._one_tile_phi(points, gamma)
        factors = self._gamma_factors(gamma)

        def strip(index: int) -> tuple[Array, Array, Array, float]:
            rows = self._tiles[index]
            difference, inner = _StripSums(self, rows), _StripSums(self, rows)
            value = self._add_strip(index, points, factors, difference, inner)
            quadratic = inner.quadratic() - 2 * difference.quadratic()
            return quadratic, difference.sums, inner.sums, value

        phi = np.zeros((self.n_features, self.n_features))
        difference, inner = np.zeros(self.n_rows), np.zeros(self.n_rows)
        objective = 0.0
        for rows, (quadratic, difference_sums, inner_sums, value) in self._strips(strip):
            phi += quadratic
            difference[rows.start :] += difference_sums
            inner[rows.start :] += inner_sums
            objective += value
        return self._finish_phi(phi + phi.T, difference, inner), float(objective)

    def phi_times_w(self, W: Array, gamma: Gamma) -> tuple[Array, float]:
        """Return Phi W (d, q) and Tr(Gamma K): Psi meets the projected rows only."""
        if self.n_features > self._engine.matrix_features or len(self._tiles) == 1:
            phi, objective = self.phi_and_objective(W, gamma)
            return phi @ W, objective
        points, factors = self._points(W), self._gamma_factors(gamma)
        P = points.rows
        beside = np.hstack([P, np.ones_like(P[:, :1])])  # the ones give row sums

        def strip(index: int) -> tuple[Array, Array, float]:
            parts = [_StripProducts(beside, self._tiles[index]) for _ in range(2)]
            value = self._add_strip(index, points, factors, *parts)
            return parts[0].products, parts[1].products, value

        difference, inner = np.zeros((2, *beside.shape))
        objective = 0.0
        for rows, (difference_part, inner_part, value) in self._strips(strip):
            difference[rows.start :] += difference_part
            inner[rows.start :] += inner_part
            objective += value
        moved = 2 * (difference[:, -1:] * P - difference[:, :-1]) + inner[:, :-1]
        return self._transpose_times(moved), float(objective)

    def _add_strip(
        self,
        index: int,
        points: Points,
        factors: tuple[Array, Array],
        difference: _Accumulator,
        inner: _Accumulator,
    ) -> float:
        """Add the tiles of Psi in a strip, by form of beta; return their part of Tr(Gamma K)."""
        (left, right), rate, tile = factors, points.rate, self._engine.tile
        rows, value = self._tiles[index], 0.0
        scratch = np.empty((2, tile, tile), dtype=self._dtype)
        for cols in self._tiles[index:]:
            psi = product(left[rows], right[cols].T, scratch[0])  # Gamma, so far
            if rate is not None:  # Psi = rate * Gamma o K; the factor can wait
                psi *= points.derivatives(rows, cols, 0, scratch=scratch[1])[0]
                difference.add(cols, psi)
                continue
            K, *slopes = points.derivatives(rows, cols, 1, scratch=scratch[1])
            value += np.vdot(psi, K) * (1.0 if rows == cols else 2.0)
            for sums, slope in zip((difference, inner), slopes, strict=True):
                if slope is not None:
                    slope *= psi
                    sums.add(cols, slope)
        if rate is not None:
            value = float(difference.sums.sum())
            difference.scale(rate)
        return value

    def _one_tile_phi(self, points: Points, gamma: Gamma) -> tuple[Array, float]:
        """Return the same of so few rows that sums over strips would cost more than the pairs."""
        L, objective = self._laplacian(points, gamma)
        product = np.asarray((self._X.T @ L).T) if self._sparse else L @ self._X  # L' = L
        if self._mean is not None:
            product = product - np.outer(L.sum(axis=1), self._mean)
        phi = self._transpose_times(product)
        return 0.5 * (phi + phi.T), objective

    def _laplacian(self, points: Points, gamma: Gamma) -> tuple[Array, float]:
        """Return the matrix L (n, n) with Phi = X' L X of centred rows, and Tr(Gamma K)."""
        whole, G = slice(0, self.n_rows), self._full_gamma(gamma)
        if points.rate is not None:  # Psi = rate * Gamma o K
            psi = points.derivatives(whole, whole, 0)[0]
            psi *= G
            objective = float(psi.sum(axis=1).sum(dtype=float))
            psi *= -2 * points.rate
            psi.flat[:: len(psi) + 1] -= psi.sum(axis=1)
            return psi, objective
        K, difference, inner = points.derivatives(whole, whole, 1)
        L = np.zeros_like(G) if inner is None else G * inner
        if difference is not None:
            psi = G * difference
            L -= 2 * psi
            L.flat[:: len(L) + 1] += 2 * psi.sum(axis=1)
        return L, float(np.vdot(G, K))

    def _full_gamma(self, gamma: Gamma) -> Array:
        """Return Gamma (n, n), kept for the last one if it is small: every W asks for it."""
        if self._gamma is not None and self._gamma[0] is gamma:
            return self._gamma[1]
        left, right = self._gamma_factors(gamma)
        G = np.asarray(left @ right.T)
        if len(self._tiles) == 1:
            self._gamma = (gamma, G)
        return G

    def initial_phi(self, gamma: Gamma) -> Symmetric:
        """Return Phi_0 (d, d): Phi with the kernel's slope at W = 0, in O(n r d)."""
        if self.n_features > self._engine.matrix_features:
            return initial_phi_operator(
                self._X, self._mean_or_zero, self.kernel.terms, self._scales, gamma
            )
        phi = np.zeros((self.n_features, self.n_features))
        difference, inner = np.zeros(self.n_rows), np.zeros(self.n_rows)
        for (weight, part), scale in zip(self.kernel.terms, self._scales, strict=True):
            F = gamma.factors if scale is None else gamma.factors * scale[:, None]
            slopes = weight * part.initial_slope * gamma.weights
            sums = F @ (slopes * F.sum(axis=0))
            XF = np.asarray(self._X.T @ F)
            if part.form == "difference":
                phi -= 2 * (XF * slopes) @ XF.T
                difference += sums
            else:
                phi += (XF * slopes) @ XF.T
                inner += sums
        return self._finish_phi(phi, difference, inner)

    def embedding(
        self,
        W: Array,
        k: int,
        *,
        degrees: Array | None,
        start: Array | None = None,
        extra: Gamma | None = None,
    ) -> tuple[Array, Array]:
        """Return the k leading eigenpairs of H D^-1/2 K D^-1/2 H + extra (values, vectors)."""
        n = self.n_rows
        root = np.ones(n) if degrees is None else 1.0 / np.sqrt(degrees)
        if self._keep_gram:
            if n <= DENSE_EIGEN_SIZE:  # LAPACK is as sure in single precision, Lanczos is not
                root = root.astype(self._dtype)
            M = (self._full_gram(W) * root[:, None]) * root
            M -= M.mean(axis=0)
            M -= M.mean(axis=1)[:, None]
            if extra is not None:
                M += (extra.factors * extra.weights) @ extra.factors.T
            with single_threaded_blas():
                return leading_eigenpairs(M, k, start=start)

        def apply(V: Array) -> Array:
            out = root[:, None] * self._multiply(W, root[:, None] * (V - V.mean(axis=0)))
            out -= out.mean(axis=0)
            if extra is not None:
                out += extra.factors @ (extra.weights[:, None] * (extra.factors.T @ V))
            return out

        return leading_eigenpairs(symmetric_operator(apply, n), k, start=start, block=True)

    def hessian(self, W: Array, gamma: Gamma, directions: Array) -> Array:
        """Return d/dt Phi(W + tZ) W at t = 0 for each direction Z, shape (m, d, q)."""
        points = self._points(W)
        left, right = self._gamma_factors(gamma)
        P = points.rows
        moves = [self._project(Z) for Z in directions]

        def strip(index: int) -> tuple[list[Array], Array]:
            rows = self._tiles[index]
            n_cols = self.n_rows - rows.start
            local = [np.zeros((rows.stop - rows.start, P.shape[1])) for _ in moves]
            remote = np.zeros((len(moves), n_cols, P.shape[1]))
            for cols in self._tiles[index:]:
                G = left[rows] @ right[cols].T
                _, *curvatures = points.derivatives(rows, cols, 2)
                at = slice(cols.start - rows.start, cols.stop - rows.start)
                for m, Q in enumerate(moves):
                    block = _directional_block(G, curvatures, P, Q, rows, cols)
                    rowsum, colsum = block.laplacian.sum(axis=1), block.laplacian.sum(axis=0)
                    local[m] += rowsum[:, None] * P[rows] + block.mixed @ P[cols]
                    if rows != cols:
                        remote[m, at] += colsum[:, None] * P[cols] + block.mixed.T @ P[rows]
            return local, remote

        product = np.zeros((len(moves), self.n_rows, P.shape[1]))
        for rows, (local, remote) in self._strips(strip):
            product[:, rows] += np.stack(local)
            product[:, rows.start :] += remote
        return np.stack([self._transpose_times(part) for part in product])

    def curvature_bound(self, W: Array, gamma: Gamma) -> float:
        """Return 1/2 sum_ij |Gamma_ij f''_ij| ||A_ij||_F^2 (generalised ISM 2018, Eq. 10)."""
        points = self._points(W)
        left, right = self._gamma_factors(gamma)
        squares = self._squared_lengths()

        def strip(index: int) -> float:
            rows, total = self._tiles[index], 0.0
            for cols in self._tiles[index:]:
                G = np.abs(left[rows] @ right[cols].T)
                _, difference, inner = points.derivatives(rows, cols, 2)
                cross = self._cross(rows, cols)
                a, b = squares[rows], squares[cols]
                bound = np.zeros_like(cross)
                if difference is not None:  # A = 2 (x - y)(x - y)'
                    distance = a[:, None] + b - 2 * cross
                    bound += np.abs(difference) * 4 * distance**2
                if inner is not None:  # A = x y' + y x'
                    bound += np.abs(inner) * 2 * (np.outer(a, b) + cross**2)
                total += 0.5 * np.vdot(G, bound) * (1.0 if rows == cols else 2.0)
            return total

        return sum(value for _, value in self._strips(strip))

    def extension(self, W: Array, V: Array) -> TileExtension:
        """Return what multiplies the kernel of new rows and these with V (n, r)."""
        scaled = any(scale is not None for scale in self._scales)
        return TileExtension(
            self._points(W),
            W.astype(self._dtype),
            None if self._offset is None else (self._offset @ W).astype(self._dtype),
            self._rows if scaled else None,
            V,
        )

    # -- parts ------------------------------------------------------------------------------

    def _strips(self, strip: Callable[[int], Any]) -> Iterator[tuple[slice, Any]]:
        """Yield the rows and the result of every strip, in order, computed by the threads."""
        with single_threaded_blas():
            results = ordered_map(strip, range(len(self._tiles)), self._n_threads)
            yield from zip(self._tiles, results, strict=True)

    def _project(self, W: Array) -> Array:
        P = np.asarray(self._X @ W.astype(self._dtype))
        return P if self._mean is None else P - (self._mean @ W).astype(self._dtype)

    def _points(self, W: Array) -> Points:
        return Points(self._project(W), self.kernel.terms, self._scales)

    def _gamma_factors(self, gamma: Gamma) -> tuple[Array, Array]:
        weighted = gamma.factors * gamma.weights
        return weighted.astype(self._dtype), gamma.factors.astype(self._dtype)

    @property
    def _mean_or_zero(self) -> Array:
        return np.zeros(self.n_features) if self._mean is None else self._mean

    def _cross(self, rows: slice, cols: slice) -> Array:
        """Return the inner products of centred rows over all features."""
        cross = self._X[rows] @ self._X[cols].T
        if self._mean is None:
            return np.asarray(cross)
        along = np.asarray(self._X @ self._mean)
        return cross.toarray() - along[rows, None] - along[cols] + self._mean @ self._mean

    def _squared_lengths(self) -> Array:
        """Return the squared lengths (n,) of centred rows over all features."""
        if self._mean is None:
            return np.einsum("ij,ij->i", self._X, self._X)
        own = np.asarray(self._X.multiply(self._X).sum(axis=1)).ravel()
        return own - 2 * np.asarray(self._X @ self._mean) + self._mean @ self._mean

    def _transpose_times(self, V: Array) -> Array:
        """Return X' V of the centred data."""
        product = np.asarray(self._X.T @ V, dtype=float)
        return product if self._mean is None else product - np.outer(self._mean, V.sum(axis=0))

    def _finish_phi(self, phi: Array, difference: Array, inner: Array) -> Array:
        """Add what depends on row sums only: the Laplacian's diagonal and the mean of sparse X.

        Difference kernels give Phi = 2 X' (diag(Psi 1) - Psi) X, inner-product kernels X' Psi X;
        ``phi`` holds X' (Psi_inner - 2 Psi_difference) X of the uncentred data.
        """
        if self._sparse:
            phi = phi + (self._X.T @ self._X.multiply(2 * difference[:, None]).tocsr()).toarray()
        else:
            phi = phi + self._X.T @ (2 * difference[:, None] * self._X)
        if self._mean is not None:
            v = np.asarray(self._X.T @ inner)
            phi = phi - np.outer(self._mean, v) - np.outer(v, self._mean)
            phi += inner.sum() * np.outer(self._mean, self._mean)
        return 0.5 * (phi + phi.T).astype(float)

    def _multiply(self, W: Array, V: Array) -> Array:
        """Return K V, from the kept kernel matrix or tile by tile."""
        if self._keep_gram:
            gram = self._full_gram(W)
            V = V.astype(gram.dtype, copy=False)

            def rows_of(index: int) -> Array:
                return gram[self._tiles[index]] @ V

            return np.concatenate([part for _, part in self._strips(rows_of)]).astype(float)
        points = self._points(W)
        V = np.ascontiguousarray(V, dtype=self._dtype)

        def strip(index: int) -> tuple[Array, Array]:
            rows = self._tiles[index]
            local = np.zeros((rows.stop - rows.start, V.shape[1]))
            remote = np.zeros((self.n_rows - rows.start, V.shape[1]))
            for cols in self._tiles[index:]:
                K = points.derivatives(rows, cols, 0)[0]
                local += K @ V[cols]
                if rows != cols:
                    remote[cols.start - rows.start : cols.stop - rows.start] += K.T @ V[rows]
            return local, remote

        out = np.zeros((self.n_rows, V.shape[1]))
        for rows, (local, remote) in self._strips(strip):
            out[rows] += local
            out[rows.start :] += remote
        return out

    def _full_gram(self, W: Array) -> Array:
        """Return the kernel matrix, kept for the last W: U and D are computed at the same one."""
        key = W.tobytes()
        if self._gram is not None and self._gram[0] == key:
            return self._gram[1]
        points = self._points(W)
        gram = np.empty((self.n_rows, self.n_rows), dtype=self._dtype)

        def strip(index: int) -> None:
            rows = self._tiles[index]
            for cols in self._tiles[index:]:
                gram[rows, cols] = points.derivatives(rows, cols, 0)[0]
                if rows != cols:
                    gram[cols, rows] = gram[rows, cols].T

        for _ in self._strips(strip):
            pass
        self._gram = (key, gram)
        return gram


class _Accumulator(Protocol):
    """Adds up the tiles of one strip of Psi."""

    @property
    def sums(self) -> Array:
        """Row sums of the tiles and their transposes, from the first row of the strip on."""
        ...

    def add(self, cols: slice, psi: Array) -> None:
        """Add a tile; by symmetry it also stands for its transpose."""
        ...

    def scale(self, factor: float) -> None:
        """Multiply everything."""
        ...


class _StripSums:
    """Accumulates one strip of Psi, for one form of beta: half of X' Psi X, and row sums."""

    def __init__(self, engine: ExactSums, rows: slice) -> None:
        self._X, self._rows = engine._X, rows
        self.sums = np.zeros(engine.n_rows - rows.start)
        self._product: Array | None = None  # Psi X of these rows

    def add(self, cols: slice, psi: Array) -> None:
        """Add a tile; by symmetry it also stands for its transpose."""
        rows, start = self._rows, self._rows.start
        self.sums[: rows.stop - start] += psi.sum(axis=1)
        if rows != cols:
            self.sums[cols.start - start : cols.stop - start] += psi.sum(axis=0)
        X = self._X[cols]
        part = np.asarray((X.T @ psi.T).T) if issparse(X) else psi @ X
        # The caller adds the transpose of the result, so a diagonal tile counts half.
        part = 0.5 * part if rows == cols else part
        self._product = part if self._product is None else self._product + part

    def scale(self, factor: float) -> None:
        """Multiply everything."""
        self.sums *= factor
        if self._product is not None:
            self._product = factor * self._product

    def quadratic(self) -> Array:
        """Return X_rows' Psi X (d, d), or a zero if nothing was added."""
        if self._product is None:
            return np.zeros(())
        return np.asarray(self._X[self._rows].T @ self._product, dtype=float)


class _StripProducts:
    """Accumulates Psi V of one strip, for one form of beta; the last column of V holds ones."""

    def __init__(self, V: Array, rows: slice) -> None:
        self._V, self._rows = V, rows
        self.products = np.zeros((len(V) - rows.start, V.shape[1]))

    @property
    def sums(self) -> Array:
        """Row sums of the tiles and their transposes, from the first row of the strip on."""
        return self.products[:, -1]

    def add(self, cols: slice, psi: Array) -> None:
        """Add a tile; by symmetry it also stands for its transpose."""
        rows, start = self._rows, self._rows.start
        self.products[: rows.stop - start] += psi @ self._V[cols]
        if rows != cols:
            self.products[cols.start - start : cols.stop - start] += psi.T @ self._V[rows]

    def scale(self, factor: float) -> None:
        """Multiply everything."""
        self.products *= factor


@dataclass(frozen=True)
class _DirectionalBlock:
    laplacian: Array
    mixed: Array


def _directional_block(
    G: Array, curvatures: list[Array | None], P: Array, Q: Array, rows: slice, cols: slice
) -> _DirectionalBlock:
    """Tile of d/dt Psi: f'' times the change of beta along Q = XZ (ISM+, Eq. 124 and 126).

    ``laplacian`` is what enters through row sums, ``mixed`` what multiplies other rows.
    """
    difference, inner = curvatures
    cross = P[rows] @ Q[cols].T + Q[rows] @ P[cols].T
    laplacian = np.zeros_like(cross)
    mixed = np.zeros_like(cross)
    if difference is not None:
        own = 2 * np.einsum("ij,ij->i", P, Q)
        change = own[rows][:, None] + own[cols] - 2 * cross
        laplacian = 2 * G * difference * change
        mixed = -laplacian
    if inner is not None:
        mixed = mixed + G * inner * cross
    return _DirectionalBlock(laplacian, mixed)
