"""What W should depend on, or avoid: Gamma of every learning paradigm, as signed factors.

All paradigms maximise Tr(Gamma K_XW) over W'W = I (IKDR 2019, Eq. 1) with

    Gamma = D^-1/2 H (U U' + sum_c w_c f_c f_c') H D^-1/2 .

U is the embedding of clusters still to be found (absent in the supervised case), the f_c are
columns made of what is known, and w_c > 0 asks for dependence on them, w_c < 0 for independence.
D holds the degrees of K_XW (the identity in the supervised case and for kernels that can be
negative). Gamma is never formed: it is kept as F diag(s) F' with F of shape (n, r).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from .kernels import Gaussian, median_distance
from .linalg import Array, incomplete_cholesky
from .rowwise import by_rows

NoveltyScale = Literal["unit", "paper"]
TargetKernel = Literal["linear", "gaussian"]


@dataclass(frozen=True)
class Gamma:
    """A symmetric matrix F diag(s) F' in factors.

    Attributes
    ----------
    factors : array of shape (n, r)
        F.
    weights : array of shape (r,)
        s, of either sign.
    """

    factors: Array
    weights: Array


@dataclass(frozen=True)
class Problem:
    """A learning paradigm: fixed, centred columns with weights, and clusters to be found.

    Attributes
    ----------
    columns : array of shape (n, r), or Indicators
        What is known, centred; r may be zero.
    weights : array of shape (r,)
        Positive to depend on a column, negative to avoid it.
    n_clusters : int
        Number of clusters to be found; zero if there is nothing unknown but W.
    """

    columns: Any
    weights: Array
    n_clusters: int = 0

    def whole(self) -> Problem:
        """Return the same problem with the columns of all rows as an array."""
        return replace(self, columns=self.columns[:])

    def take(self, rows: Array) -> Problem:
        """Return the same problem on some rows, with columns as long as on all."""
        columns = _centre(np.asarray(self.columns[rows]))
        columns = columns * np.sqrt(len(self.columns) / len(rows))
        return Problem(columns, self.weights, self.n_clusters)

    def gamma(self, embedding: Array | None = None, degrees: Array | None = None) -> Gamma:
        """Return Gamma for an embedding U (n, k) and degrees (n,); None leaves either out."""
        factors, weights = self.columns, self.weights
        if embedding is not None:
            # Engines centre it already, up to rounding. What is left of the mean is rounded so that
            # the order in which it was added up cannot be seen.
            mean = np.round(np.asarray(embedding.mean(axis=0)), 12)
            # (No columns cannot stand beside an embedding in chunks.)
            known = (factors,) if len(weights) else ()
            width = embedding.shape[1] + len(weights)
            factors = by_rows(partial(_centred_beside, mean=mean), embedding, *known, width=width)
            weights = np.concatenate([np.ones(embedding.shape[1]), weights])
        if degrees is not None:
            factors = by_rows(_over_roots, factors, degrees, width=factors.shape[1])
        return Gamma(factors, weights)


def with_moving_degrees(gamma: Gamma, row_objectives: Array, degrees: Array) -> Gamma:
    """Return Gamma corrected for the fact that degrees move with W.

    The papers freeze D in the W-step. But J(W) = sum_ij M_ij K_ij / sqrt(d_i d_j) has the
    differential sum_ij (Gamma_ij - (e_i + e_j) / 2) dK_ij with e = (Gamma o K) 1 / d, so the
    gradient of the joint objective is that of a fixed Gamma with two more factors.

    Parameters
    ----------
    gamma : Gamma
        D^-1/2 M D^-1/2 at the current W.
    row_objectives : array of shape (n,)
        (Gamma o K) 1.
    degrees : array of shape (n,)
        K 1.
    """
    e = by_rows(np.divide, row_objectives, degrees)
    # (e 1' + 1 e') / 2 = (a a' - b b') / 4 with a = e/s + s and b = e/s - s, for any scale s.
    # A power of two scales exactly.
    scale = 2.0 ** np.round(np.log2(float(np.sqrt(np.abs(e).mean())) or 1.0))
    width = gamma.factors.shape[1] + 2
    factors = by_rows(partial(_with_shares, scale=float(scale)), gamma.factors, e, width=width)
    return Gamma(factors, np.concatenate([gamma.weights, [-0.25, 0.25]]))


def supervised(targets: Array) -> Problem:
    """Maximise HSIC(XW, targets): Gamma = H K_Y H with K_Y = targets targets'."""
    return Problem(_centre(targets), np.ones(targets.shape[1]))


def unsupervised(n_rows: int, n_clusters: int) -> Problem:
    """Find clusters and the subspace they live in; nothing is known."""
    return Problem(np.zeros((n_rows, 0)), np.zeros(0), n_clusters)


def semi_supervised(scores: Array, weight: float, n_clusters: int) -> Problem:
    """Find clusters in a subspace that also depends on expert scores (IKDR 2019, Eq. 2).

    The centred scores are scaled so that their kernel has trace ``n_clusters``, the trace of
    U U'. With that, a weight of one gives the scores and the clusters the same say, whatever the
    unit of the scores and the number of rows.
    """
    columns = _centre(scores)
    columns = columns * np.sqrt(n_clusters / np.sum(columns**2))
    return Problem(columns, np.full(columns.shape[1], float(weight)), n_clusters)


def alternative(
    labelings: Sequence[Array], weight: float, n_clusters: int, *, scale: NoveltyScale = "unit"
) -> Problem:
    """Find clusters in a subspace independent of the given labelings (ISM 2018, Eq. 2).

    Parameters
    ----------
    labelings : sequence of integer arrays of shape (n,)
        Their one-hot columns are placed side by side (KDAC 2014, section 2.1).
    weight : float
        Novelty weight lambda.
    n_clusters : int
        Number of clusters to be found.
    scale : {"unit", "paper"}
        "unit" scales each one-hot column to unit length, so that lambda means the same at every
        number of rows; "paper" keeps the raw columns.
    """
    return alternative_by_rows(labelings, weight, n_clusters, scale=scale).whole()


def alternative_by_rows(
    labelings: Sequence[Array], weight: float, n_clusters: int, *, scale: NoveltyScale = "unit"
) -> Problem:
    """Return the problem of :func:`alternative` with columns that are made of rows asked for."""
    if not labelings:
        raise ValueError("an alternative needs at least one given labeling")
    if scale not in ("unit", "paper"):
        raise ValueError(f"novelty_scale must be 'unit' or 'paper', got {scale!r}")
    columns = Indicators(labelings, unit=scale == "unit")
    return Problem(columns, np.full(columns.shape[1], -float(weight)), n_clusters)


def strength(labelings: Sequence[Array], n_rows: int, scale: NoveltyScale) -> float:
    """Return the weight in "unit" scale that is as strong as a weight of one in this scale.

    In the papers' units an indicator of a group of n_c rows has length sqrt(n_c).
    """
    if scale == "unit" or not labelings:
        return 1.0
    columns = sum(int(labels.max()) + 1 for labels in labelings)
    return n_rows * len(labelings) / columns


class Indicators:
    """Centred indicator columns (n, c) of labelings, made of the rows that are asked for.

    They tell nothing beyond the labels, and take as many numbers a row as there are groups.

    Parameters
    ----------
    labelings : sequence of integer arrays of shape (n,)
        Groups, in memory or in chunks.
    unit : bool
        Whether indicators are scaled to unit length before they are centred.
    """

    def __init__(self, labelings: Sequence[Array], *, unit: bool) -> None:
        self._labelings = list(labelings)
        self._values: list[Array] = []  # what each group looks like, a row for each
        self._groups: list[Array] = []
        n = len(self._labelings[0])
        for labels in self._labelings:
            groups, sizes = _counted(np.asarray(labels))
            # The mean of zeros and ones is exact, whoever adds them up.
            values = np.eye(len(groups)) - sizes / n
            self._values.append(values / np.sqrt(sizes) if unit else values)
            self._groups.append(groups)
        self.shape = (n, sum(map(len, self._groups)))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Array:
        """Return the columns (m, c) of some rows."""
        task = partial(_looked_up, groups=self._groups, values=self._values)
        return by_rows(task, *(labels[rows] for labels in self._labelings), width=self.shape[1])


def _counted(labels: Array) -> tuple[Array, Array]:
    """Return the groups of labels (n,), sorted, and their sizes."""
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= len(labels):
        return np.unique(labels, return_counts=True)
    sizes = np.bincount(labels)  # without sorting millions of rows
    groups = np.flatnonzero(sizes)
    return groups, sizes[groups]


def _looked_up(*labelings: Array, groups: list[Array], values: list[Array]) -> Array:
    parts = zip(labelings, groups, values, strict=True)
    found = [rows[np.searchsorted(known, labels)] for labels, known, rows in parts]
    return np.hstack(found) if len(found) > 1 else found[0]


def one_hot(labels: Array) -> Array:
    """Return the indicator columns (n, c) of labels (n,), in sorted order of the labels."""
    return (labels[:, None] == np.unique(np.asarray(labels))).astype(float)


def target_factor(
    targets: Array, kernel: TargetKernel = "linear", *, sigma: float | None = None
) -> Array:
    """Return F (n, r) with F F' = K_Y for real targets (n, m).

    Parameters
    ----------
    targets : array of shape (n, m)
        Columns are standardised first, so that none counts more because of its unit.
    kernel : {"linear", "gaussian"}
        The Gaussian kernel is factored by incomplete Cholesky to a relative trace error of 1e-6.
    sigma : float, optional
        Bandwidth of the Gaussian kernel; the median distance by default.
    """
    spread = targets.std(axis=0)
    Y = (targets - targets.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if kernel == "linear":
        return Y
    if kernel != "gaussian":
        raise ValueError(f"target_kernel must be 'linear' or 'gaussian', got {kernel!r}")
    return gaussian_factor(Y, sigma if sigma is not None else (median_distance(Y) or 1.0))


def gaussian_factor(points: Array, sigma: float) -> Array:
    """Return F (n, r) with FF' = K, the Gaussian kernel of points (n, m), to a relative 1e-6."""
    gaussian = Gaussian(sigma)

    def column(i: int) -> Array:
        return gaussian.f(((points - points[i]) ** 2).sum(axis=1))

    return incomplete_cholesky(column, np.ones(len(points)))


def _centred_beside(embedding: Array, *columns: Array, mean: Array) -> Array:
    centred = embedding - mean
    return np.hstack([centred, *columns]) if columns else centred


def _over_roots(factors: Array, degrees: Array) -> Array:
    return factors / np.sqrt(degrees)[:, None]


def _with_shares(factors: Array, e: Array, scale: float) -> Array:
    return np.hstack([factors, np.stack([e / scale + scale, e / scale - scale], axis=1)])


def _centre(columns: Array) -> Array:
    return columns - columns.mean(axis=0)
