"""Views written to annotated data of single cells (AnnData)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ..files.binary import need
from ..linalg import Array

if TYPE_CHECKING:
    from .views import Views

#: What begins the names of all that is written.
PREFIX = "multifacet"


def with_views(data: Any, views: Views) -> Any:
    """Return a copy of annotated data in which views are written.

    Labels go to ``obs`` as categories, places to ``obsm``, what tells groups apart among the
    variables to ``varm`` (per variable and group, how many standard deviations its mean is above
    that of the other rows), and the words and numbers about each view to ``uns``; all of it under
    names that begin with one prefix. Observations that a view is not about have missing labels.
    """
    pd = need("pandas", "anndata", "AnnData")
    written = data.copy()
    places = pd.Index(data.obs_names.astype(str)).get_indexer(
        pd.Index([str(name) for name in views.index])
    )
    if (places < 0).any():
        absent = str(views.index[int(np.argmin(places))])
        raise ValueError(f"data has no observation {absent!r}, which the views are about")
    for i, view in enumerate(views, start=1):
        name = f"{PREFIX}_{i}"
        labels = np.full(data.n_obs, None, dtype=object)
        labels[places] = [str(label) for label in view.labels]
        groups = [str(group) for group in range(view.n_clusters)]
        written.obs[name] = pd.Categorical(labels, groups)
        points = np.full((data.n_obs, view.projection.shape[1]), np.nan)
        points[places] = view.projection
        written.obsm[f"X_{name}"] = points
        written.varm[name] = _effects(data.X, places, view.labels)
    written.uns[PREFIX] = {
        f"{PREFIX}_{i}": {key: str(value) for key, value in row.items()}
        for i, row in enumerate(views.table(), start=1)
    }
    return written


def _effects(X: Any, places: Array, labels: Array) -> Array:
    """Return how far groups are from all other rows in each variable (p, k), in deviations."""
    part = X[places]
    indicator = (labels[:, None] == np.arange(labels.max() + 1)).astype(float)
    sizes, n = indicator.sum(axis=0), len(labels)
    total = np.asarray(part.sum(axis=0), dtype=float).ravel()[:, None]
    squares = part.multiply(part) if issparse(part) else np.asarray(part, dtype=float) ** 2
    mean = total / n
    spread = np.sqrt(np.maximum(np.asarray(squares.sum(axis=0)).ravel()[:, None] / n - mean**2, 0))
    inside = np.asarray(part.T @ indicator)
    gap = inside / sizes - (total - inside) / np.maximum(n - sizes, 1)
    return np.divide(gap, spread, out=np.zeros_like(gap), where=spread > 0)
