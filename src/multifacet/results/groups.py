"""The groups of a view in the terms of the table: what they are like, and typical rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ..documents import GroupDict, Profile
from ..explain import NOTICEABLE, importance
from ..frames import Encoding
from ..frames.encoding import Column
from ..linalg import Array
from .plain import plain, rounded

if TYPE_CHECKING:
    from .view import View

#: Columns that are described for every group, and those that are shown of a typical row: the
#: leading ones.
MAX_COLUMNS, EXAMPLE_COLUMNS = 100, 12
#: Typical rows of a group.
EXAMPLES = 3


def describe_groups(view: View, X: Any, encoding: Encoding, index: Array) -> list[GroupDict]:
    """Return each cluster of a view in the terms of the table.

    Each has ``label``, ``size``, ``name``, ``profile`` (of the leading columns: mean and standard
    deviation of numbers, the share of true values, the shares of categories) and ``examples``: the
    rows nearest to the middle of the group in the features that define it, with their values.
    """
    score = importance(view.feature_weights, view.explanation.strength)
    used = [column for column in encoding.columns if column.features]
    # A stable sort keeps the order of the table where columns are equally important.
    used.sort(key=lambda column: -score[column.features].sum())
    digits = min(np.finfo(X.dtype).precision, 12)
    profiles: list[dict[str, Profile]] = [{} for _ in range(view.n_clusters)]
    for column in used[:MAX_COLUMNS]:
        described = _profile(column, _decoded(X, column, encoding), view.labels, digits)
        for profile, one in zip(profiles, described, strict=True):
            profile[column.name] = one
    shown = used[:EXAMPLE_COLUMNS]
    return [
        {
            "label": c,
            "size": int((view.labels == c).sum()),
            "name": view.explanation.cluster_names[c],
            "profile": profiles[c],
            "examples": [
                {
                    "row": plain(index[[i]])[0],
                    "values": {
                        column.name: _value(column, _decoded(X[[i]], column, encoding)[0], digits)
                        for column in shown
                    },
                }
                for i in _typical_rows(view, X, c)
            ],
        }
        for c in range(view.n_clusters)
    ]


def _typical_rows(view: View, X: Any, cluster: int) -> list[int]:
    """Return the rows nearest to the mean of a cluster in the features that define it.

    Each counts by its effect size, in standard deviations of all rows: the more a feature sets the
    cluster apart, the less may a typical row stray from its mean. If no feature does, the subspace
    is what defines the cluster.
    """
    inside = np.flatnonzero(view.labels == cluster)
    effects = np.abs(view.explanation.effects[cluster])
    order = np.argsort(-effects, kind="stable")[:EXAMPLE_COLUMNS]
    defining = order[effects[order] >= NOTICEABLE]
    if len(defining):
        part = X[:, defining].toarray() if issparse(X) else X[:, defining]
        points = part[inside] / part.std(axis=0) * effects[defining]
    else:
        points = view.projection[inside]
    distance = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    return inside[np.argsort(distance, kind="stable")[:EXAMPLES]].tolist()


def _decoded(X: Any, column: Column, encoding: Encoding) -> Array:
    """Return a column before it was standardised, shape (n, its number of features)."""
    where = column.features
    part = X[:, where].toarray() if issparse(X) else X[:, where]
    return part * encoding.scale[where] + encoding.mean[where]


def _profile(column: Column, values: Array, labels: Array, digits: int) -> Sequence[Profile]:
    """Return what a column is like in each cluster."""
    sizes = np.bincount(labels)
    means = np.column_stack([np.bincount(labels, part) / sizes for part in values.T])
    if column.kind == "number":
        squares = np.bincount(labels, ((values - means[labels]) ** 2)[:, 0]) / sizes
        pairs = zip(means[:, 0], np.sqrt(squares), strict=True)
        return [{"mean": rounded(m, digits), "sd": rounded(s, digits)} for m, s in pairs]
    shares = means.clip(0.0, 1.0).round(6)
    if column.kind == "boolean":
        return [{"share": float(share)} for share in shares[:, 0]]
    if shares.shape[1] == 1:
        shares = np.column_stack([1 - shares, shares])
    return [{"shares": dict(zip(column.categories, row.tolist(), strict=True))} for row in shares]


def _value(column: Column, numbers: Array, digits: int) -> Any:
    """Return one cell as it was in the table."""
    if column.kind == "number":
        return rounded(numbers[0], digits)
    if column.kind == "boolean":
        return bool(numbers[0] > 0.5)
    position = int(numbers[0] > 0.5) if len(numbers) == 1 else int(np.argmax(numbers))
    return column.categories[position]
