"""Annotated data of single cells (AnnData) as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from ..files.binary import need
from ..frames.table import listing
from ..linalg import Array
from ..wording import Argument, ArgumentError

#: More variables go through principal components, and so many of them: a search in thousands of
#: genes would be about the noise of most of them.
MOST_VARIABLES, N_COMPONENTS = 100, 50


@dataclass(frozen=True)
class Cells:
    """Annotated data as a table: a data frame, its features, and what there is to say about it."""

    frame: Any
    features: list[str]
    note: str = ""


def read_cells(data: Any, layer: str | None, use_rep: str | None, genes: Any = None) -> Cells:
    """Return annotated data as a table: one row per observation, with the columns of ``obs``.

    Parameters
    ----------
    data : AnnData
        The data.
    layer : str, optional
        Layer to use in place of X.
    use_rep : str, optional
        Representation in ``obsm`` to use in place of variables; "X" takes the variables however
        many they are.
    genes : list of str, optional
        Variables that are the features; by default all of them or, if these are more than 100,
        the principal components in ``obsm["X_pca"]`` or, if there are none, the first fifty.

    Returns
    -------
    Cells
        The table.
    """
    if layer is not None and use_rep not in (None, "X"):
        raise ValueError("layer and use_rep exclude each other: pass one of them")
    if not data.var_names.is_unique:
        raise ValueError("variables of data share names: call data.var_names_make_unique() first")
    chosen = [genes] if isinstance(genes, str) else genes
    if chosen is not None or use_rep == "X" or (use_rep is None and data.n_vars <= MOST_VARIABLES):
        part = data if chosen is None else data[:, _known_genes(data, chosen)]
        values, names, note = _matrix(part, layer), [str(name) for name in part.var_names], ""
    else:
        values, names, note = _components(data, layer, use_rep)
    pd = need("pandas", "anndata", "AnnData")
    values = values.toarray() if issparse(values) else np.asarray(values)
    frame = pd.DataFrame(values, index=data.obs_names, columns=names)
    return Cells(pd.concat([frame, data.obs], axis=1), names, note)


def _known_genes(data: Any, wanted: Any) -> list[str]:
    absent = [name for name in wanted if name not in data.var_names]
    if absent:
        raise ArgumentError(Argument.of("features", absent[0]), " is not a variable of data")
    return list(wanted)


def _matrix(data: Any, layer: str | None) -> Any:
    if layer is None:
        return data.X
    if layer not in data.layers:
        known = f": it has {listing(list(data.layers))}" if len(data.layers) else ", which has none"
        raise ArgumentError(Argument.of("layer", layer), f" is not a layer of data{known}")
    return data.layers[layer]


def _components(data: Any, layer: str | None, use_rep: str | None) -> tuple[Array, list[str], str]:
    """Return a representation of the observations, its names, and where it is from."""
    if use_rep is not None and use_rep not in data.obsm:
        known = listing([*data.obsm, "X"])
        raise ArgumentError(Argument.of("use_rep", use_rep), f" is not in obsm: use one of {known}")
    many = f"data has {data.n_vars:,} variables, so that views are looked for in "
    if use_rep is not None or (layer is None and "X_pca" in data.obsm):
        key = use_rep or "X_pca"
        values = np.asarray(data.obsm[key])
        note = "" if use_rep else f"{many}their principal components in obsm['X_pca']"
        return values, [f"{key}_{j + 1}" for j in range(values.shape[1])], note
    matrix = _matrix(data, layer)
    count = min(N_COMPONENTS, min(matrix.shape) - 1)
    values = PCA(count, svd_solver="arpack", random_state=0).fit_transform(matrix)
    note = f"{many}their first {count} principal components (use_rep='X' takes all of them)"
    return values, [f"PC{j + 1}" for j in range(count)], note
