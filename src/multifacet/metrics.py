"""Measures of groupings: agreement, quality, dependence, and scores for several labelings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from .engines.choose import few_rows
from .kernels import (
    Kernel,
    as_kernel,
    gram_rows,
    median_distance,
    needs_bandwidth,
    with_bandwidth,
)
from .linalg import Array
from .problems import Gamma, one_hot

_ROWS_PER_BLOCK = 1024
#: Beyond this many columns the inclusion-exclusion sum of ``pair_f1`` is slower than pairs.
_MAX_EXACT_COLUMNS = 12
#: Integer labels below this are counted as they are.
_MOST_CODES = 256


def nmi(a: Any, b: Any) -> float:
    """Normalised mutual information with the geometric mean: I(a, b) / sqrt(H(a) H(b)).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Two labelings.

    Returns
    -------
    float
        Between 0 and 1; 0 if either labeling has a single cluster.

    Examples
    --------
    >>> from multifacet.metrics import nmi
    >>> round(nmi([0, 0, 1, 1], ["x", "x", "y", "y"]), 6)
    1.0
    """
    table = _contingency(a, b)
    p = table / table.sum()
    rows, cols = p.sum(axis=1), p.sum(axis=0)
    entropy_a, entropy_b = _entropy(rows), _entropy(cols)
    if entropy_a == 0 or entropy_b == 0:
        return 0.0
    information = max(entropy_a + entropy_b - _entropy(p.ravel()), 0.0)
    return float(min(information / np.sqrt(entropy_a * entropy_b), 1.0))


def novelty(labels: Any, given: Any) -> float:
    """Largest NMI of a labeling with what was given: 0 is entirely new, 1 is known already.

    Parameters
    ----------
    labels : array-like of shape (n,)
        A labeling.
    given : array-like of shape (n,) or (n, m)
        One or several given labelings.

    Returns
    -------
    float
        The papers' novelty measure (lower is more novel).

    Examples
    --------
    >>> from multifacet.metrics import novelty
    >>> novelty([0, 1, 0, 1], [0, 0, 1, 1])
    0.0
    """
    return max(nmi(labels, column) for column in _columns(given).T)


def hsic(X: Any, Y: Any, *, kernel: Any = "gaussian", target_kernel: Any = "auto") -> float:
    """Hilbert-Schmidt independence criterion: Tr(K H L H) / (n - 1)^2.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data.
    Y : array-like of shape (n,) or (n, m)
        Data, or labels if it is one-dimensional and not of floats.
    kernel, target_kernel : str or Kernel
        Kernels of X and of Y. A Gaussian without bandwidth takes the median distance;
        "auto" is Gaussian for data and the indicator of equality for labels.

    Returns
    -------
    float
        Not negative for positive definite kernels; near zero for independent data.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.metrics import hsic
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> hsic(x, x**2) > 10 * hsic(x, np.random.default_rng(1).normal(size=200))
    True
    """
    X = _as_points(X)
    Y = np.asarray(Y)
    labels = Y.ndim == 1 and Y.dtype.kind != "f"
    if len(Y) != len(X):
        raise ValueError(f"Y has {len(Y)} rows and X has {len(X)}")
    if labels and (isinstance(target_kernel, str) and target_kernel == "auto"):
        Y, target = one_hot(Y), as_kernel("linear")
    else:
        Y = _as_points(one_hot(Y) if labels else Y)
        auto = isinstance(target_kernel, str) and target_kernel == "auto"
        target = _filled("gaussian" if auto else target_kernel, Y)
    source = _filled(kernel, X)
    n = len(X)
    product, sums, other_sums = 0.0, np.zeros(n), np.zeros(n)
    for rows, (K, L) in gram_rows([source, target], [X, Y]):
        product += float(np.vdot(K, L))
        sums[rows], other_sums[rows] = K.sum(axis=1), L.sum(axis=1)
    # Tr(KHLH) = <K, L> - 2/n (K1)'(L1) + (1'K1)(1'L1)/n^2: centring without n x n arrays.
    centred = product - 2 / n * sums @ other_sums + sums.sum() * other_sums.sum() / n**2
    return float(centred / (n - 1) ** 2)


def cluster_quality(X: Any, labels: Any, *, kernel: Any = "gaussian") -> float:
    """Cluster quality CQ of a labeling: tr(U' H D^-1/2 K D^-1/2 H U) with unit indicators U.

    Parameters
    ----------
    X : array-like of shape (n, q)
        Data, usually projected.
    labels : array-like of shape (n,) or embedding of shape (n, k)
        Labels, or an orthonormal embedding U.
    kernel : str or Kernel
        A Gaussian without bandwidth takes the median distance. It must be non-negative.

    Returns
    -------
    float
        At most the number of clusters. It grows when the bandwidth shrinks, so compare it at
        one bandwidth only.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.kernels import Gaussian
    >>> from multifacet.metrics import cluster_quality
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> good = cluster_quality(X, [0, 0, 1, 1], kernel=Gaussian(1.0))
    >>> good > cluster_quality(X, [0, 1, 0, 1], kernel=Gaussian(1.0))
    True
    """
    X = _as_points(X)
    filled = _filled(kernel, X)
    if not filled.nonnegative:
        raise ValueError(f"kernel={kernel!r} can be negative, so it has no degrees to divide by")
    values = np.asarray(labels)
    if values.ndim == 2:
        U = values.astype(float)
    else:
        U = one_hot(values)
        U = U / np.sqrt(U.sum(axis=0))
    sums = few_rows(X, filled, n_jobs=None)
    everything = np.eye(X.shape[1])
    columns = (U - U.mean(axis=0)) / np.sqrt(sums.degrees(everything))[:, None]
    return sums.objective(everything, Gamma(columns, np.ones(U.shape[1])))


def mean_squared_error(X: Any, labels: Any) -> float:
    """Mean squared distance of rows to the mean of their cluster (not divided by d).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data.
    labels : array-like of shape (n,)
        Labels.

    Returns
    -------
    float
        (1/n) sum over clusters of the squared distances to their mean.

    Examples
    --------
    >>> from multifacet.metrics import mean_squared_error
    >>> mean_squared_error([[0.0], [2.0], [5.0]], [0, 0, 1])
    0.6666666666666666
    """
    X = _as_points(X)
    indicator = one_hot(_same_length(labels, len(X)))
    means = (indicator.T @ X) / indicator.sum(axis=0)[:, None]
    return float(((X - indicator @ means) ** 2).sum() / len(X))


def kernel_mean_squared_error(X: Any, labels: Any, *, kernel: Any = "gaussian") -> float:
    """Mean squared distance to the cluster mean in the feature space of a kernel.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data.
    labels : array-like of shape (n,)
        Labels.
    kernel : str or Kernel
        A Gaussian without bandwidth takes the median distance.

    Returns
    -------
    float
        (tr K - sum_j 1/n_j sum_{i, l in C_j} K_il) / n; between 0 and 1 for a Gaussian.

    Examples
    --------
    >>> from multifacet.metrics import kernel_mean_squared_error
    >>> kernel_mean_squared_error([[0.0], [2.0], [5.0]], [0, 0, 1], kernel="linear")
    0.6666666666666666
    """
    X = _as_points(X)
    indicator = one_hot(_same_length(labels, len(X)))
    U = indicator / np.sqrt(indicator.sum(axis=0))
    total = 0.0
    for rows, (K,) in gram_rows([_filled(kernel, X)], [X]):
        total += K[np.arange(len(K)), np.arange(len(X))[rows]].sum()
        total -= float(np.vdot(U[rows], K @ U))
    return float(total / len(X))


def dunn_index(
    X: Any,
    labels: Any,
    *,
    separation: Literal["single", "average", "centroid"] = "single",
    diameter: Literal["diameter", "mean_pair", "centroid"] = "diameter",
) -> float:
    """Dunn index: smallest separation between clusters over largest diameter of one.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data.
    labels : array-like of shape (n,)
        Labels, at least two clusters.
    separation : {"single", "average", "centroid"}
        Distance of two clusters: of the closest pair, the mean over pairs, or of their means.
    diameter : {"diameter", "mean_pair", "centroid"}
        Size of a cluster: largest distance of a pair, mean over pairs, or twice the mean
        distance to its mean.

    Returns
    -------
    float
        Larger is better; infinite if every cluster is a single point.

    Examples
    --------
    >>> from multifacet.metrics import dunn_index
    >>> dunn_index([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    4.0
    """
    if separation not in ("single", "average", "centroid"):
        raise ValueError(f"separation={separation!r}: use 'single', 'average' or 'centroid'")
    if diameter not in ("diameter", "mean_pair", "centroid"):
        raise ValueError(f"diameter={diameter!r}: use 'diameter', 'mean_pair' or 'centroid'")
    X = _as_points(X)
    values = _same_length(labels, len(X))
    groups = [X[values == label] for label in np.unique(values)]
    if len(groups) < 2:
        raise ValueError("labels has a single cluster: the Dunn index compares at least two")
    apart = min(_separation(a, b, separation) for a, b in combinations(groups, 2))
    largest = max(_diameter(group, diameter) for group in groups)
    return float(apart / largest) if largest > 0 else np.inf


def pair_f1(truth: Any, found: Any) -> float:
    """Pair-counting F1 of several labelings against several others (ISAAC 2016).

    A pair of rows is together if it shares a cluster in at least one labeling.

    Parameters
    ----------
    truth, found : array-like of shape (n,) or (n, m)
        True and found labelings. Columns with a single cluster are ignored.

    Returns
    -------
    float
        Between 0 and 1; 0 where it is not defined.

    Examples
    --------
    >>> from multifacet.metrics import pair_f1
    >>> pair_f1([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    G, T = (_informative(_columns(labelings)) for labelings in (truth, found))
    if len(G) != len(T):
        raise ValueError(f"truth has {len(G)} rows and found has {len(T)}")
    if not G.shape[1] or not T.shape[1]:
        return 0.0
    pairs_truth, pairs_found = _pairs_together(G), _pairs_together(T)
    both = pairs_truth + pairs_found - _pairs_together(np.hstack([G, T]))
    total = pairs_truth + pairs_found
    return float(2 * both / total) if total else 0.0


class Matching(NamedTuple):
    """An optimal assignment of found labelings to true ones.

    Attributes
    ----------
    score : float
        Sum of the NMI of assigned pairs over the number of true labelings.
    pairs : list of (int, int)
        Column of the truth, column of the found.
    table : array of shape (m_true, m_found)
        NMI of every pair of columns.
    redundancy : float
        Mean NMI between different found labelings; 0 if there is one only.

    Examples
    --------
    >>> from multifacet.metrics import match_labelings
    >>> truth = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> matching = match_labelings(truth, [[0, 1], [1, 1], [0, 0], [1, 0]])
    >>> matching.pairs, round(matching.score, 6)
    ([(0, 1), (1, 0)], 1.0)
    """

    score: float
    pairs: list[tuple[int, int]]
    table: Array
    redundancy: float


def match_labelings(truth: Any, found: Any) -> Matching:
    """Match several found labelings to several true ones, maximising the total NMI.

    Parameters
    ----------
    truth, found : array-like of shape (n,) or (n, m)
        True and found labelings.

    Returns
    -------
    Matching
        Score, assignment, table of NMI and redundancy.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.metrics import match_labelings
    >>> truth = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> match_labelings(truth, truth[:, ::-1]).pairs
    [(0, 1), (1, 0)]
    """
    G, T = _columns(truth), _columns(found)
    table = np.array([[nmi(g, t) for t in T.T] for g in G.T])
    rows, cols = linear_sum_assignment(-table)
    between = [nmi(a, b) for a, b in combinations(T.T, 2)]
    return Matching(
        score=float(table[rows, cols].sum() / G.shape[1]),
        pairs=[(int(r), int(c)) for r, c in zip(rows, cols, strict=True)],
        table=table,
        redundancy=float(np.mean(between)) if between else 0.0,
    )


def _contingency(a: Any, b: Any) -> Array:
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 1 or b.ndim != 1 or len(a) != len(b) or not len(a):
        raise ValueError(f"labelings must be (n,) and equally long, got {a.shape} and {b.shape}")
    first, second = _codes(a), _codes(b)
    width = int(second.max()) + 1
    cells = np.bincount(first * width + second, minlength=(int(first.max()) + 1) * width)
    return cells.reshape(-1, width).astype(float)


def _codes(labels: Array) -> Array:
    """Return labels (n,) as integers from 0; small ones stay as they are, which saves sorting."""
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < _MOST_CODES:
        return labels.astype(np.intp, copy=False)
    return np.unique(labels, return_inverse=True)[1]


def _entropy(p: Array) -> float:
    p = p[p > 0]
    return float(-(p * np.log(p)).sum()) if len(p) > 1 else 0.0


def _columns(labelings: Any) -> Array:
    """Labelings as integer codes (n, m)."""
    values = np.asarray(labelings)
    values = values.reshape(len(values), -1)
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in values.T])


def _informative(labelings: Array) -> Array:
    return labelings[:, labelings.max(axis=0) > 0]


def _pairs_together(labelings: Array) -> int:
    """Count the pairs that agree in at least one column, by inclusion and exclusion."""
    m = labelings.shape[1]
    if m > _MAX_EXACT_COLUMNS:
        n = len(labelings)
        counted = 0
        for i in range(n - 1):
            counted += int((labelings[i + 1 :] == labelings[i]).any(axis=1).sum())
        return counted
    total = 0
    for size in range(1, m + 1):
        for subset in combinations(range(m), size):
            counts = np.unique(labelings[:, subset], axis=0, return_counts=True)[1].astype(object)
            total += (-1) ** (size + 1) * int((counts * (counts - 1) // 2).sum())
    return total


def _as_points(X: Any) -> Array:
    X = np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or not len(X):
        raise ValueError(f"data must have shape (n, d), got {X.shape}")
    if not np.isfinite(X).all():
        raise ValueError("data contain NaN or infinity: drop or impute them first")
    return X


def _same_length(labels: Any, n: int) -> Array:
    values = np.asarray(labels)
    if values.shape != (n,):
        raise ValueError(f"labels has shape {values.shape} for {n} rows")
    return values


def _filled(kernel: Any, X: Array) -> Kernel:
    kernel = as_kernel(kernel)
    return with_bandwidth(kernel, median_distance(X) or 1.0) if needs_bandwidth(kernel) else kernel


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, _ROWS_PER_BLOCK):
        yield slice(start, min(start + _ROWS_PER_BLOCK, n))


def _distances(a: Array, b: Array) -> Array:
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    return np.sqrt(np.maximum(squares, 0.0))


def _separation(a: Array, b: Array, kind: str) -> float:
    if kind == "centroid":
        return float(np.linalg.norm(a.mean(axis=0) - b.mean(axis=0)))
    parts = [_distances(a[rows], b) for rows in _blocks(len(a))]
    if kind == "single":
        return float(min(part.min() for part in parts))
    return float(sum(part.sum() for part in parts) / (len(a) * len(b)))


def _diameter(group: Array, kind: str) -> float:
    n = len(group)
    if kind == "centroid":
        return float(2 * np.linalg.norm(group - group.mean(axis=0), axis=1).mean())
    parts = [_distances(group[rows], group) for rows in _blocks(n)]
    if kind == "diameter":
        return float(max(part.max() for part in parts))
    return float(sum(part.sum() for part in parts) / (n * (n - 1))) if n > 1 else 0.0
