"""Blocks of rows: the arithmetic of the low-rank engine, as functions of one block.

Every sum over pairs is a sum over blocks of what one of these functions returns, and every result
with one value per row is put together from blocks. Who calls them, threads over slices or workers
over chunks, does not matter to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..kernels import Kernel
from ..linalg import Array
from .alike import Alike
from .tiles import Points

#: Numbers per block of rows: a block and what is made of it stay in cache.
BLOCK_SIZE = 2**18
#: Rows beyond which C is kept in single precision: half the memory, more than twice the speed, and
#: an error far below that of the approximation.
SINGLE_ROWS = 10_000
#: Bytes of the largest chunk, a number of blocks.
CHUNK_BYTES = 2**26
#: Chunks from which on they grow with the data.
CHUNKS = 16
#: Rows of the smallest chunk: some, or whole blocks of any width where C is in single precision.
FEWEST_ROWS, WHOLE_BLOCKS = 256, 8192
#: Chunks whose sums are added up in one step.
FOLD = 8

Terms = tuple[tuple[float, Kernel], ...]
#: Arrays to be added up over blocks.
Sums = tuple[Array, ...]


@dataclass(frozen=True)
class Block:
    """Rows with all that is known of them.

    Attributes
    ----------
    X : array or CSR matrix of shape (b, d), optional
        Rows, from which the mean is still to be subtracted; None where nobody reads them.
    mean : array of shape (d,)
        Mean of all rows.
    scales : sequence of arrays of shape (b,) or None
        Scale of each row, for each term of the kernel.
    P : array of shape (b, q), optional
        Projected rows.
    comparison : Landmarks or Frequencies, optional
        What they are compared with.
    kept : array of shape (b, m), optional
        The result of the comparison, C.
    """

    X: Any
    mean: Array
    scales: tuple[Array | None, ...]
    P: Array | None = None
    comparison: Any = None
    kept: Array | None = None

    def __getitem__(self, rows: slice) -> Block:
        """Return a part of the block."""
        X, P, kept, *scales = (
            None if part is None else part[rows]
            for part in (self.X, self.P, self.kept, *self.scales)
        )
        return replace(self, X=X, scales=tuple(scales), P=P, kept=kept)

    def points(self) -> Points:
        """Return the projected rows as points."""
        assert self.P is not None
        dtype = self.P.dtype
        scales = [None if s is None else s.astype(dtype) for s in self.scales]
        return Points(self.P, self.comparison.terms, scales)

    def features(self, *, slope: bool = False) -> tuple[Array, dict[str, Array]]:
        """Return C and, if asked, those of the slopes."""
        if self.kept is not None and (not slope or self.comparison.rate is not None):
            return self.kept, {"difference": self.kept} if slope else {}
        assert self.P is not None
        C, slopes = self.comparison.features(self.points(), slope=slope)
        dtype = self.P.dtype  # as it would be kept
        named = {form: part.astype(dtype, copy=False) for form, part in slopes.items()}
        return C.astype(dtype, copy=False), named


def chunk_rows(n_rows: int, n_features: int) -> int:
    """Return the rows of a chunk, a power of two that depends on nothing but the shape.

    Sums are added up within chunks first, wherever they are computed. So they have the same parts
    in the same order for every engine, and come out the same to the last bit.
    """
    most = max(CHUNK_BYTES // (8 * max(n_features, 64)), FEWEST_ROWS)
    least = min(FEWEST_ROWS if n_rows <= SINGLE_ROWS else WHOLE_BLOCKS, most)
    return 1 << min(max(n_rows // CHUNKS, least), most).bit_length() - 1


def slices(n_rows: int, width: int) -> list[slice]:
    """Return the slices that cut rows of some width into blocks."""
    size = 1 << max(BLOCK_SIZE // width, 64).bit_length() - 1
    return [slice(a, min(a + size, n_rows)) for a in range(0, n_rows, size)]


def add_up(parts: Iterable[Sums]) -> Sums:
    """Return the sums of arrays over blocks, in their order and in double precision."""
    totals: list[Array] = []
    for part in parts:
        if not totals:
            totals = [np.array(array, dtype=float) for array in part]
            continue
        for total, array in zip(totals, part, strict=True):
            total += array
    return tuple(totals)


def fold(parts: Iterable[Sums]) -> Sums:
    """Return the sums over chunks, added up in groups, and these in groups, and so on."""
    levels: list[list[Sums]] = [[]]
    for part in parts:
        levels[0].append(part)
        for height in range(len(levels)):
            if len(levels[height]) < FOLD:
                break
            levels += [[]] * (height + 1 == len(levels))
            levels[height + 1] = [*levels[height + 1], add_up(levels[height])]
            levels[height] = []
    rest: list[Sums] = []
    for level in levels:
        rest = [add_up(level + rest)] if level or rest else []
    return rest[0]


# -- one value or more per row ----------------------------------------------------------------


def project(block: Block, *, W: Array, dtype: Any) -> Array:
    """Return the projected rows (b, q)."""
    return (np.asarray(block.X @ W) - block.mean @ W).astype(dtype, copy=False)


def compare(block: Block) -> Array:
    """Return C (b, m)."""
    return block.features()[0]


def degrees(block: Block, *, pull: Array) -> Array:
    """Return C pull (b,); never less than what a row has with itself."""
    return np.maximum(product(compare(block), pull)[:, 0], diagonal(block.points()))


def row_objectives(block: Block, F: Array, *, weights: Array, pull: Array) -> Array:
    """Return the row sums (b,) of F diag(weights) F' o K, given M^+ C'F of all rows."""
    return (F * product(compare(block), pull)) @ weights


def eigenvectors(
    block: Block, root: Array | None, more: Array | None, *, back: Array, shift: Array
) -> Array:
    """Return the eigenvectors (b, k) from those of the small matrix."""
    return product(_normalised(block, root, more), back) - shift


def slope_rows(
    block: Block, F: Array, *, form: str, weights: Array, pull: Array, width: int
) -> Array:
    """Return Psi V (b, width) = sum_c s_c f_c o (C pull_c)."""
    C, alike = block.features(slope=True)[1][form], Alike.of(F)
    if alike is not None:
        return alike.spread(C, pull.reshape(C.shape[1], -1, width) * weights[:, None])
    return np.einsum("nr,nrm->nm", F * weights, product(C, pull).reshape(len(C), -1, width))


# -- sums over rows ---------------------------------------------------------------------------


def total(block: Block) -> Sums:
    """Return C'1 (m, 1)."""
    return (compare(block).sum(axis=0, dtype=float)[:, None],)


def compress(block: Block, V: Array) -> Sums:
    """Return C'V (m, r)."""
    return (product(compare(block).T, V),)


def moments(block: Block, root: Array | None, more: Array | None) -> Sums:
    """Return A'A and A'1 of the rows A of the normalised features."""
    A = _normalised(block, root, more)
    return A.T @ A, A.sum(axis=0)


def phi_products(block: Block, F: Array) -> Sums:
    """Return (f_c o [X, 1])' C (r, d + 1, m) for each slope, and C'F unless one slope tells it."""
    C, slopes = block.features(slope=True)
    found = tuple(_times_data(block, F, part) for part in slopes.values())
    return found if block.comparison.rate is not None else (*found, C.T @ F.astype(C.dtype))


def phi_scatter(block: Block, F: Array, *, weights: Array, pull: Array) -> Sums:
    """Return X' diag(Psi 1) X, with Psi 1 = sum_c s_c f_c o (C M^+ C' f_c)."""
    C = block.features(slope=True)[1]["difference"]
    return (_scatter(block, (F * product(C, pull)) @ weights),)


def slope_sums(block: Block, F: Array, V: Array, *, form: str) -> Sums:
    """Return C'(f_c o V), all c side by side, for the slope of a form."""
    spread = (F[:, :, None] * V[:, None, :]).reshape(len(F), -1)
    return (product(block.features(slope=True)[1][form].T, spread),)


def projected_products(block: Block, F: Array) -> Sums:
    """Return C'F (m, r), and C'(f_c o [P, 1]) (m, r (q + 1)) of each slope, all c side by side."""
    C, slopes = block.features(slope=True)
    F, alike = F.astype(C.dtype, copy=False), Alike.of(F)
    if alike is not None:
        P = _beside_ones(block)
        found = (alike.sums(part, P).transpose(1, 0, 2) for part in slopes.values())
        return product(C.T, F), *(one.reshape(C.shape[1], -1).astype(float) for one in found)
    spread = (F[:, :, None] * _beside_ones(block)[:, None, :]).reshape(len(F), -1)
    return product(C.T, F), *(product(part.T, spread) for part in slopes.values())


def phi_times_w(block: Block, F: Array, *, weights: Array, pulls: dict[str, Array]) -> Sums:
    """Return the part of Phi W (d, q): X' times what Psi makes of the projected rows."""
    P = _beside_ones(block)
    moved = np.zeros((len(P), P.shape[1] - 1))
    for form, pull in pulls.items():
        rows = slope_rows(block, F, form=form, weights=weights, pull=pull, width=P.shape[1])
        others, own = rows[:, :-1], rows[:, -1:] * P[:, :-1]
        moved += others if form == "inner" else 2 * (own - others)
    return (np.asarray(block.X.T @ moved) - np.outer(block.mean, moved.sum(axis=0)),)


def initial_products(block: Block, F: Array) -> Sums:
    """Return X'F (t, d, r) and F'1 (t, r) of all terms, F scaled as each of them asks for."""
    scaled = [_scaled(F, scale) for scale in block.scales]
    sums = [part.sum(axis=0) for part in scaled]
    if issparse(block.X):
        pairs = zip(scaled, sums, strict=True)
        products = [np.asarray(block.X.T @ S) - np.outer(block.mean, s) for S, s in pairs]
    else:
        X = block.X - block.mean
        products = [X.T @ S for S in scaled]
    return np.stack(products), np.stack(sums)


def initial_scatter(block: Block, F: Array, *, pulls: list[Array | None]) -> Sums:
    """Return X' diag(sum of F pull over the terms) X; None for a term without a part in it."""
    sums = np.zeros(len(F))
    for scale, pull in zip(block.scales, pulls, strict=True):
        sums += 0.0 if pull is None else _scaled(F, scale) @ pull
    return (_scatter(block, sums),)


# -- parts ------------------------------------------------------------------------------------


def product(C: Array, V: Array) -> Array:
    """Return C V in double precision, multiplied in that of C: a mixed product would copy C."""
    return (C @ V.astype(C.dtype, copy=False)).astype(float, copy=False)


def _beside_ones(block: Block) -> Array:
    """Return [P, 1] (b, q + 1): the ones give row sums."""
    assert block.P is not None
    return np.column_stack([block.P, np.ones_like(block.P[:, :1])])


def diagonal(points: Points) -> Array:
    """Return k(x, x) of points."""
    values = np.zeros(len(points.rows))
    for weight, part in points.terms:
        inner = np.einsum("ij,ij->i", points.rows, points.rows)
        values += weight * part.f(inner if part.form == "inner" else np.zeros(len(inner)))
    return values


def _scaled(F: Array, scale: Array | None) -> Array:
    return F if scale is None else F * scale[:, None]


def _normalised(block: Block, root: Array | None, more: Array | None) -> Array:
    """Return the rows of D^-1/2 C, and further columns beside them."""
    C = compare(block)
    C = C if root is None else root[:, None].astype(C.dtype) * C
    return C if more is None else np.hstack([C, more.astype(C.dtype)])


def _times_data(block: Block, F: Array, C: Array) -> Array:
    """Return (f_c o [X, 1])' C for each column f_c of F, shape (r, d + 1, m)."""
    X, mean = block.X, block.mean
    shape = (F.shape[1], X.shape[1] + 1, C.shape[1])
    if issparse(X):
        found = np.zeros(shape)
        for c, f in enumerate(F.T.astype(C.dtype)):
            scaled = f[:, None] * C
            sums = scaled.sum(axis=0)
            found[c] = np.vstack([np.asarray(X.T @ scaled) - np.outer(mean, sums), sums])
        return found
    X = np.column_stack([X - mean, np.ones(len(X))]).astype(C.dtype, copy=False)
    alike = Alike.of(F)
    if alike is not None:
        return alike.sums(X, C)
    spread = (F[:, :, None].astype(C.dtype) * X[:, None, :]).reshape(len(X), -1)
    return (spread.T @ C).reshape(shape)


def _scatter(block: Block, sums: Array) -> Array:
    """Return X' diag(sums) X of the centred rows."""
    X, mean = block.X, block.mean
    if not issparse(X):
        X = X - mean
        return X.T @ (sums[:, None] * X)
    v = np.asarray(X.T @ sums)
    cross = np.outer(mean, v)
    scatter = (X.T @ X.multiply(sums[:, None]).tocsr()).toarray()
    return scatter - cross - cross.T + sums.sum() * np.outer(mean, mean)
