"""A view in words: which features tell its groups apart, and how to read its subspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_matrix, issparse

from .linalg import Array, column_moments

#: Least effect size that is called a difference: Cohen's "medium", visible to the eye.
NOTICEABLE = 0.5
#: A sentence names at most this many features ...
MAX_FEATURES = 3
#: ... each of which has at least this share of the importance of the first,
MIN_IMPORTANCE = 0.1
#: and describes every group up to this many; more would not be read.
MAX_GROUPS = 4
#: Indicators such as sex=male hold for a group if so many of its rows have them.
NEARLY_ALL = 0.9
#: Least pooled variance as a share of the total: effect sizes stay finite when groups are pure.
MIN_WITHIN = 1e-4


@dataclass(frozen=True)
class Explanation:
    """What a view is about. Clusters are in the order of ``np.unique(labels)``.

    Attributes
    ----------
    feature_names : list of str
        Names of the d features.
    weights : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    effects : array of shape (k, d)
        Standardised mean difference of each cluster against all other rows: Cohen's d with pooled
        standard deviation and Hedges' correction. Zero for features without spread; pure groups,
        whose pooled deviation vanishes, get a large finite number.
    strength : array of shape (d,)
        Eta squared: share of each feature's variance that lies between the clusters.
    loadings : array of shape (q, d)
        Basis of the subspace rotated to few large entries (varimax). The first axis tells the
        clusters apart best; the largest entry of every axis is positive.
    rotation : array of shape (q, q)
        ``loadings == rotation @ components``; coordinates turn by ``projection @ rotation.T``.
    cluster_names : list of str
        What is high or low in each of the k clusters.
    sentence : str
        The view in one sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import explain
    >>> X = np.array([[0.0, 1.0], [0.1, -1.0], [2.0, -1.0], [2.1, 1.0]])
    >>> explanation = explain(X, [0, 0, 1, 1], [[1.0, 0.0]], feature_names=["mass", "age"])
    >>> explanation.weights.tolist()
    [1.0, 0.0]
    """

    feature_names: list[str]
    weights: Array
    effects: Array
    strength: Array
    loadings: Array
    rotation: Array
    cluster_names: list[str]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return lists and strings only, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Explanation:
        """Return the explanation that :meth:`to_dict` was called on."""
        arrays = ("weights", "effects", "strength", "loadings", "rotation")
        return cls(**values | {name: np.array(values[name], dtype=float) for name in arrays})


def importance(weights: Any, strength: Any) -> Array:
    """Return how far each feature (d,) is behind a view.

    It is if it is in the subspace and differs between the clusters, so the product of the two
    counts: a feature that only differs is merely correlated with those in the subspace, and one
    that is only in the subspace, be it noise, tells no clusters apart.
    """
    return np.asarray(weights, dtype=float) * np.asarray(strength, dtype=float)


def telling_features(weights: Any, strength: Any, effects: Any) -> list[int]:
    """Return the features to name, the most important first: those that differ noticeably.

    There is none if the clusters differ in a mixture of features only, or in shape.
    """
    score = importance(weights, strength)
    differs = np.abs(np.asarray(effects, dtype=float)).max(axis=0) >= NOTICEABLE
    enough = score >= MIN_IMPORTANCE * score.max()
    order = np.argsort(-score, kind="stable")
    return [int(i) for i in order if differs[i] and enough[i]][:MAX_FEATURES]


def explain(
    X: Any,
    labels: Any,
    components: Any,
    *,
    feature_names: Sequence[str] | None = None,
    units: Any = None,
) -> Explanation:
    """Explain a grouping by the features that differ between its clusters.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n, d)
        Data in which the grouping was found, usually standardised.
    labels : array-like of shape (n,)
        The grouping, with k clusters.
    components : array-like of shape (q, d)
        Orthonormal basis of its subspace.
    feature_names : sequence of str, optional
        Names of the d features; by default the columns of a data frame, or x0, x1, ...
        A column of two values named ``sex=male`` is told as a property that rows have or not.
    units : array-like of shape (d,), optional
        How much one unit of X is in the original measure, as ``scale_`` of a ``StandardScaler``:
        the words then add by how much the mean of a cluster differs from that of all other rows.

    Returns
    -------
    Explanation
        Numbers, readable axes and a sentence. A level ("high", "low") is claimed only where a
        mean differs by at least half a pooled standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import explain
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [60, 40])
    >>> X = rng.standard_normal((100, 3)) + np.outer(labels, [4, -2, 0])
    >>> view = explain(X, labels, np.eye(2, 3), feature_names=["mass", "depth", "age"])
    >>> view.cluster_names
    ['low mass, high depth', 'high mass, low depth']
    >>> view.sentence
    '2 groups: high mass, low depth in group 1 (40 rows); low mass, high depth in group 0 (60 rows)'
    """
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    X = X if issparse(X) else np.asarray(X)
    names = _as_names(feature_names, X.shape[1])
    components = np.asarray(components, dtype=float)
    labels = np.asarray(labels)
    _check_shapes(X, labels, components)
    values, groups = np.unique(labels, return_inverse=True)
    shift, effects, strength = _differences(X, groups)
    weights = (components**2).sum(axis=0)
    weights /= weights.sum()
    projected = np.asarray(X @ components.T)
    rotation = _readable_rotation(components, projected, groups)
    tell = _Teller(
        names=names,
        groups=[str(value) for value in values],
        sizes=np.bincount(groups),
        effects=effects,
        weights=weights,
        named=telling_features(weights, strength, effects),
        shift=None if units is None else shift * _check_units(units, names),
        shares=_indicator_shares(X, groups, names),
    )
    return Explanation(
        feature_names=names,
        weights=weights,
        effects=effects,
        strength=strength,
        loadings=rotation @ components,
        rotation=rotation,
        cluster_names=tell.cluster_names,
        sentence=tell.sentence(_direction_effect(projected, groups)),
    )


def varimax(W: Any, *, max_iter: int = 500, tol: float = 1e-10) -> Array:
    """Find the rotation that makes loadings sparse: few large entries, many near zero.

    Parameters
    ----------
    W : array-like of shape (d, q)
        Loadings, one column per axis.
    max_iter : int, default=500
        Most iterations.
    tol : float, default=1e-10
        Relative gain of an iteration below which it stops.

    Returns
    -------
    array of shape (q, q)
        Orthogonal R; the columns of ``W @ R`` maximise the variance of their squared entries.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import varimax
    >>> W = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]) / np.sqrt(2)
    >>> np.round(np.abs(W @ varimax(W)), 6).sum(axis=0)
    array([1., 1.])
    """
    W = np.asarray(W, dtype=float)
    # Axes along the most distinct features: from W itself, the iteration can stand still at a
    # minimum, as in the example.
    R = qr(W.T, mode="economic", pivoting=True)[0]
    gain = 0.0
    for _ in range(max_iter):
        L = W @ R
        U, singular, Vt = np.linalg.svd(W.T @ (L**3 - L * (L**2).mean(axis=0)))
        if singular.sum() <= gain * (1 + tol):
            break
        gain = singular.sum()
        R = U @ Vt
    return R


def _readable_rotation(components: Array, projected: Array, groups: Array) -> Array:
    """Return the varimax rotation (q, q), signs fixed, the axis that tells groups apart first."""
    rotation = varimax(components.T).T
    between = _differences(projected @ rotation.T, groups)[2]
    rotation = rotation[np.argsort(-between.round(6), kind="stable")]
    loadings = rotation @ components
    largest = np.abs(loadings).argmax(axis=1)
    return rotation * np.sign(loadings[np.arange(len(loadings)), largest])[:, None]


def _differences(X: Any, groups: Array) -> tuple[Array, Array, Array]:
    """Return mean differences (k, d) to all other rows, effect sizes (k, d), eta squared (d,)."""
    n = X.shape[0]
    sizes = np.bincount(groups)[:, None]
    indicator = csr_matrix((np.ones(n), (groups, np.arange(n))))
    sums = indicator @ X
    means = (sums.toarray() if issparse(sums) else sums) / sizes
    mean = (sizes * means).sum(axis=0) / n
    variance = column_moments(X)[1] ** 2
    varying = np.sqrt(variance) > 1e-12 * np.sqrt(variance.max())
    scale = np.where(varying, variance, 1.0)
    between = (sizes * (means - mean) ** 2).sum(axis=0) / n
    shift = (means - mean) * n / np.maximum(n - sizes, 1)
    # The rows of a cluster and all others, each around its own mean: total minus between.
    within = scale - sizes * (n - sizes) / n**2 * shift**2
    pooled = np.sqrt(np.maximum(within, MIN_WITHIN * scale) * n / max(n - 2, 1))
    hedges = 1 - 3 / (4 * max(n - 2, 1) - 1)
    return shift, np.where(varying, hedges * shift / pooled, 0.0), varying * between / scale


def _direction_effect(projected: Array, groups: Array) -> float:
    """Return the largest effect size in the subspace, along the mean differences themselves."""
    shift, _, _ = _differences(projected, groups)
    _, effects, _ = _differences(projected @ shift.T, groups)
    return float(np.abs(np.diag(effects)).max())


def _indicator_shares(X: Any, groups: Array, names: list[str]) -> dict[int, Array]:
    """Share (k,) of rows with the property, for each column of two values named like sex=male."""
    shares = {}
    for i in (i for i, name in enumerate(names) if "=" in name):
        column = X[:, [i]].toarray().ravel() if issparse(X) else X[:, i]
        high = column == column.max()
        if (high | (column == column.min())).all():
            shares[i] = np.bincount(groups, weights=high) / np.bincount(groups)
    return shares


@dataclass(frozen=True)
class _Teller:
    """Puts numbers into words."""

    names: list[str]
    groups: list[str]
    sizes: Array
    effects: Array
    weights: Array
    named: list[int]  # features
    shift: Array | None  # mean differences (k, d) in original units
    shares: dict[int, Array]

    @property
    def cluster_names(self) -> list[str]:
        if not self.named:
            return [f"group {group}" for group in self.groups]
        return [self._cluster_name(c) for c in range(len(self.groups))]

    def sentence(self, direction_effect: float) -> str:
        """Return what holds: features differ, a direction in the subspace does, or no mean."""
        if self.named:
            return self._levels()
        return self._mixture() if direction_effect >= NOTICEABLE else self._shape()

    def _levels(self) -> str:
        k, names = len(self.groups), self.cluster_names
        if k > MAX_GROUPS:
            features = _listed([self.names[i] for i in self.named])
            return f"{k} groups told apart by {features} ({self._sizes()})"
        parts = [
            f"{names[c]} in group {self.groups[c]} ({self.sizes[c]} rows)"
            for c in np.argsort(-self.effects[:, self.named[0]])
        ]
        return f"{k} groups: {'; '.join(parts)}"

    def _mixture(self) -> str:
        features, _ = self._heaviest()
        return (
            f"{len(self.groups)} groups told apart by a mixture of features, none of which differs "
            f"clearly by itself, led by {features} ({self._sizes()})"
        )

    def _shape(self) -> str:
        if len(self.groups) == 1:
            return f"1 group of {self.sizes[0]} rows"
        features, where = self._heaviest()
        return (
            f"{len(self.groups)} groups that differ in shape, not in level, {where} {features} "
            f"({self._sizes()})"
        )

    def _heaviest(self) -> tuple[str, str]:
        """Return the features that make up the subspace, and what to call their span."""
        order = np.argsort(-self.weights, kind="stable")[:MAX_FEATURES]
        order = order[self.weights[order] >= MIN_IMPORTANCE * self.weights[order[0]]]
        spans = {1: "along", 2: "in the plane of", 3: "in the space of"}
        all_told = self.weights[order].sum() > 1 - MIN_IMPORTANCE
        where = spans[len(order)] if all_told else "in a mixture led by"
        return _listed([self.names[i] for i in order]), where

    def _cluster_name(self, c: int) -> str:
        levels: dict[str, list[str]] = {}
        for i in self.named:
            if abs(self.effects[c, i]) >= NOTICEABLE:
                levels.setdefault(self._level(c, i), []).append(self._measured(c, i))
        parts = [f"{level} {_listed(names)}".strip() for level, names in levels.items()]
        return ", ".join(parts) or "near average"

    def _level(self, c: int, i: int) -> str:
        """Return the word before the name of a feature that differs in cluster c."""
        high = self.effects[c, i] > 0
        if i not in self.shares:
            return "high" if high else "low"
        share = self.shares[i][c]
        if high:
            return "" if share >= NEARLY_ALL else "more often"
        return "not" if share <= 1 - NEARLY_ALL else "less often"

    def _measured(self, c: int, i: int) -> str:
        if self.shift is None or i in self.shares:
            return self.names[i]
        return f"{self.names[i]} ({_rounded(self.shift[c, i])})"

    def _sizes(self) -> str:
        if len(self.sizes) <= MAX_GROUPS:
            return f"{_listed([str(size) for size in self.sizes])} rows"
        smallest, largest = self.sizes.min(), self.sizes.max()
        return f"{largest if smallest == largest else f'{smallest} to {largest}'} rows each"


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _rounded(number: float) -> str:
    """Return three significant digits with sign, in exponential notation only if too long."""
    if number and not 1e-9 <= abs(number) < 1e15:
        return f"{number:+.3g}"
    return np.format_float_positional(
        number, precision=3, unique=False, fractional=False, trim="-", sign=True
    )


def _as_names(names: Any, d: int) -> list[str]:
    if names is None:
        return [f"x{i}" for i in range(d)]
    if len(names) != d:
        raise ValueError(f"feature_names has {len(names)} names for {d} features")
    return [str(name) for name in names]


def _check_shapes(X: Any, labels: Array, components: Array) -> None:
    n, d = X.shape
    if labels.shape != (n,):
        raise ValueError(f"labels has shape {labels.shape}, expected ({n},): one label per row")
    if components.ndim != 2 or components.shape[1] != d:
        raise ValueError(
            f"components has shape {components.shape}, expected (q, {d}): one column per feature"
        )


def _check_units(units: Any, names: list[str]) -> Array:
    units = np.asarray(units, dtype=float)
    if units.shape != (len(names),):
        raise ValueError(f"units has shape {units.shape}, expected ({len(names)},)")
    return units
