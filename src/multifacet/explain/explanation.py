"""A view in words: which features tell its groups apart, and how to read its subspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array, projected
from .axes import readable_rotation
from .contrast import Contrast, telling_contrasts
from .differences import differences, direction_effect
from .words import Property, Teller, only_numbered


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
    contrasts : list of Contrast
        The few features by which the sentence tells the clusters apart, each by itself or in
        relation to another; none if they differ in a mixture of many features, or in shape.
    told : float or None
        Share of the rows whose cluster these features tell without any others.

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
    contrasts: list[Contrast] = field(default_factory=list)
    told: float | None = None

    @property
    def named(self) -> list[int]:
        """The features of all contrasts, in their order."""
        return list(dict.fromkeys(i for one in self.contrasts for i in one.features))

    def to_dict(self) -> dict[str, Any]:
        """Return lists and strings only, ready for JSON."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }
        return plain | {"contrasts": [asdict(contrast) for contrast in self.contrasts]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Explanation:
        """Return the explanation that :meth:`to_dict` was called on."""
        arrays = ("weights", "effects", "strength", "loadings", "rotation")
        contrasts = [Contrast(**one) for one in values.get("contrasts", [])]
        found = {name: np.array(values[name], dtype=float) for name in arrays}
        return cls(**values | found | {"contrasts": contrasts})


def importance(weights: Any, strength: Any) -> Array:
    """Return how far each feature (d,) is behind a view.

    It is if it is in the subspace and differs between the clusters, so the product of the two
    counts: a feature that only differs is merely correlated with those in the subspace, and one
    that is only in the subspace, be it noise, tells no clusters apart.
    """
    return np.asarray(weights, dtype=float) * np.asarray(strength, dtype=float)


def explain(
    X: Any,
    labels: Any,
    components: Any,
    *,
    feature_names: Sequence[str] | None = None,
    units: Any = None,
    opposites: Mapping[str, str] | None = None,
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
    opposites : mapping of str to str, optional
        What rows are called that do not have a property, such as ``{"sex=male": "sex=female"}``.

    Returns
    -------
    Explanation
        Numbers, readable axes and a sentence. It names the fewest features that tell the clusters
        apart, and how many rows they tell alone. A level ("high", "low") is claimed only where a
        mean differs by at least half a pooled standard deviation; where a feature differs in
        relation to another, it is "large for its" other one. Of more than 50 features that are
        only numbered, as those of embeddings, none is named.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import explain
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [60, 40])
    >>> X = rng.standard_normal((100, 3)) + np.outer(labels, [4, -2, 0])
    >>> view = explain(X, labels, np.eye(2, 3), feature_names=["mass", "depth", "age"])
    >>> view.cluster_names
    ['low mass', 'high mass']
    >>> view.sentence
    '2 groups: high mass in group 1 (40 rows) against group 0 (60); it alone tells 100 % of rows'
    """
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    X = X if issparse(X) else np.asarray(X)
    names = _as_names(feature_names, X.shape[1])
    components = np.asarray(components, dtype=float)
    labels = np.asarray(labels)
    _check_shapes(X, labels, components)
    values, groups = np.unique(labels, return_inverse=True)
    _, effects, strength = differences(X, groups)
    weights = (components**2).sum(axis=0)
    weights /= weights.sum()
    places = projected(X, components.T)
    rotation = readable_rotation(components, places, groups)
    scale = None if units is None else _check_units(units, names)
    properties = _properties(X, groups, names, opposites or {})
    contrasts: list[Contrast] = []
    told = directions = None
    if only_numbered(names, weights):
        directions = len(components)
    else:
        contrasts, told = telling_contrasts(X, groups, weights, names, properties)
    contrast_shift, contrast_effects = _contrasted(X, groups, contrasts)
    tell = Teller(
        names=names,
        groups=[str(value) for value in values],
        sizes=np.bincount(groups),
        weights=weights,
        contrasts=contrasts,
        effects=contrast_effects,
        shift=None if scale is None else contrast_shift * scale[[one.feature for one in contrasts]],
        properties=properties,
        told=told,
        ends=_ends(X, groups, contrasts),
        directions=directions,
    )
    return Explanation(
        feature_names=names,
        weights=weights,
        effects=effects,
        strength=strength,
        loadings=rotation @ components,
        rotation=rotation,
        cluster_names=tell.cluster_names,
        sentence=tell.sentence(direction_effect(places, groups)),
        contrasts=contrasts,
        told=told,
    )


def _contrasted(X: Any, groups: Array, contrasts: list[Contrast]) -> tuple[Array, Array]:
    """Return mean differences and effect sizes (k, contrasts) of each cluster to all other rows."""
    if not contrasts:
        return (np.zeros((int(groups.max()) + 1, 0)),) * 2
    found = [differences(contrast.values(X)[:, None], groups) for contrast in contrasts]
    return np.hstack([shift for shift, _, _ in found]), np.hstack([one for _, one, _ in found])


def _ends(X: Any, groups: Array, contrasts: list[Contrast]) -> Array:
    """Return (k, contrasts) where a group is all at the least (-1) or the most (1) of a feature."""
    k = int(groups.max()) + 1
    found = np.zeros((k, len(contrasts)))
    for place, contrast in enumerate(contrasts):
        values = contrast.values(X)
        if contrast.given is not None or len(np.unique(values)) <= k:
            continue
        for group in range(k):
            own = values[groups == group]
            if len(own) > 1 and own.min() == own.max():
                found[group, place] = (own[0] == values.max()) - float(own[0] == values.min())
    return found


def _properties(
    X: Any, groups: Array, names: list[str], opposites: Mapping[str, str]
) -> dict[int, Property]:
    """Return the columns of two values that are told as properties, named like sex=male."""
    found = {}
    for i, name in enumerate(names):
        if "=" not in name and name not in opposites:
            continue
        column = X[:, [i]].toarray().ravel() if issparse(X) else X[:, i]
        high = column == column.max()
        if (high | (column == column.min())).all():
            shares = np.bincount(groups, weights=high) / np.bincount(groups)
            found[i] = Property(name, opposites.get(name, f"not {name}"), shares)
    return found


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
