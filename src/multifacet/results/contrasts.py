"""The features that tell groups apart, in the terms of the table, and their distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..documents import ContrastDict
from ..explain import Contrast
from ..frames import Encoding
from ..linalg import Array
from .plain import listed, rounded

if TYPE_CHECKING:
    from .view import View

#: Intervals in which values are counted, at most one for each value.
INTERVALS = 24
#: Share of the rows at either end that may lie beyond: few strange values take no room from others.
BEYOND = 0.005


def opposites(encoding: Encoding) -> dict[str, str]:
    """Return what rows are called that do not have the property of a feature of two values."""
    found = {}
    for column in encoding.columns:
        if len(column.features) != 1 or column.kind == "number":
            continue
        name = encoding.feature_names[column.features[0]]
        is_category = len(column.categories) == 2
        found[name] = f"{column.name}={column.categories[0]}" if is_category else f"not {name}"
    return found


def describe_contrasts(view: View, X: Any, encoding: Encoding) -> list[ContrastDict]:
    """Return how each contrast of a view is distributed in its groups."""
    return [_described(one, view.labels, X, encoding) for one in view.explanation.contrasts]


def _described(contrast: Contrast, labels: Array, X: Any, encoding: Encoding) -> ContrastDict:
    i, names = contrast.feature, encoding.feature_names
    values = contrast.values(X) * encoding.scale[i] + encoding.mean[i]
    low, high = np.quantile(values, [BEYOND, 1 - BEYOND])
    if low == high:
        low, high = values.min(), values.max()
    bins = min(INTERVALS, len(np.unique(values)))
    place = ((values - low) / (high - low) * bins).astype(int).clip(0, bins - 1)
    k = int(labels.max()) + 1
    counts = np.bincount(labels * bins + place, minlength=k * bins).reshape(k, bins)
    means = np.bincount(labels, values) / np.bincount(labels)
    return {
        "name": contrast.called(names),
        "feature": names[i],
        "given": None if contrast.given is None else names[contrast.given],
        "low": rounded(low),
        "high": rounded(high),
        "counts": counts.tolist(),
        "means": listed(means),
    }
