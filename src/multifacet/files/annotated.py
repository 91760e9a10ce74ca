"""Annotated data of single cells (AnnData) as a table: observations are rows."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, svds

from ..frames.notes import Note
from ..frames.table import listing
from ..linalg import Array
from ..wording import Argument, ArgumentError
from .binary import broken, need
from .data import FileData, named_once

#: More variables go through principal components, and so many of them: a search in thousands of
#: genes would be about the noise of most of them.
MOST_VARIABLES, N_COMPONENTS = 100, 50
#: A sparse matrix of more cells would take most of a gigabyte as columns.
MAX_SPARSE_CELLS = 10**8


def is_annotated(data: Any) -> bool:
    """Tell whether data are an AnnData object, whoever has made it."""
    return all(hasattr(type(data), name) for name in ("obs", "obsm", "var_names", "layers"))


def open_annotated(name: str, source: Any) -> Any:
    """Return the annotated data of a .h5ad file: its path, or an open file."""
    anndata = need("anndata", "anndata", ".h5ad")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on old files and repeated names, which are dealt with
            return anndata.read_h5ad(source)
    except Exception as error:  # anything can be wrong inside, and h5py says so in many types
        raise broken(name, ".h5ad", error) from error


def read_h5ad(name: str, content: bytes, matrix: str) -> FileData:
    """Read annotated data: features, and the columns of obs."""
    data = open_annotated(name, io.BytesIO(content))
    notes = []
    if not data.var_names.is_unique:
        data.var_names_make_unique()
        notes.append(Note("variables of the same name were numbered"))
    found, note = _of_matrix(name, data, matrix)
    notes += [note] if note else []
    pairs = [(str(column), data.obs[column].array) for column in data.obs.columns]
    pairs += found.columns(data).items()
    index = np.asarray(data.obs_names, dtype=object)
    return FileData(named_once(name, pairs), index, found.names, notes, cells=found)


def _of_matrix(name: str, data: Any, matrix: str) -> tuple[Representation, Note | None]:
    """Return the representation that a file of options calls ``matrix``, and what to say of it."""
    known = ["X"] if data.X is not None else []
    for part in ("layers", "obsm"):
        known += [f"{part}:{key}" for key in getattr(data, part)]
    if matrix not in ("auto", *known):
        raise ArgumentError(
            Argument.of("matrix", matrix), f" is not in {name!r}: it has {listing(known)}"
        )
    part, _, key = matrix.partition(":")
    layer = key if part == "layers" else None
    use_rep = {"auto": None, "obsm": key}.get(part, "X")
    found, note = choose_representation(data, layer, use_rep)
    values = data.X if layer is None else data.layers[layer]
    n_cells = data.n_obs * len(found.names)
    if found.key is None and issparse(values) and n_cells > MAX_SPARSE_CELLS:
        raise ArgumentError(
            Argument.of("matrix", matrix),
            f" of {name!r} is sparse with {data.n_obs} rows and {data.n_vars} columns, "
            f"{n_cells * 8 / 1e9:.1f} GB as a table: pass a smaller one ({listing(known)})",
        )
    return found, note


@dataclass(frozen=True, eq=False)
class Representation:
    """Where the features of annotated data are: variables, a part of ``obsm``, or components.

    Attributes
    ----------
    names : list of str
        The features.
    layer : str or None
        Layer in place of X.
    key : str or None
        Part of ``obsm`` that holds the features; None if they are, or are made of, variables.
    variables : list of str
        The p variables that components are made of; empty if the features are variables.
    mean : array of shape (p,) or None
        What is subtracted from them.
    loadings : array of shape (p, d) or None
        The components.

    Examples
    --------
    >>> from multifacet.files.annotated import Representation
    >>> Representation(["CD3D", "CD8A"]).names
    ['CD3D', 'CD8A']
    """

    names: list[str]
    layer: str | None = None
    key: str | None = None
    variables: list[str] = field(default_factory=list, repr=False)
    mean: Array | None = field(default=None, repr=False)
    loadings: Array | None = field(default=None, repr=False)

    def columns(self, data: Any) -> dict[str, Array]:
        """Return the features of annotated data, the same or new ones, by name."""
        return dict(zip(self.names, _dense(self._values(data)).T, strict=True))

    def _values(self, data: Any) -> Any:
        if self.key is not None:
            return self._of_key(data)
        matrix = _matrix(data[:, _known_variables(data, self.variables or self.names)], self.layer)
        if self.loadings is None or self.mean is None:
            return matrix
        return np.asarray(matrix @ self.loadings) - self.mean @ self.loadings

    def _of_key(self, data: Any) -> Array:
        if self.key not in data.obsm:
            raise ValueError(
                f"data has no obsm[{self.key!r}], in which the views were found: put the rows at "
                "their places there, such as by scanpy.tl.ingest, or look for views in variables "
                "(use_rep='X', or none in obsm)"
            )
        values = np.asarray(data.obsm[self.key])
        if values.shape[1] != len(self.names):
            raise ValueError(
                f"obsm[{self.key!r}] of data has {values.shape[1]} columns, but had "
                f"{len(self.names)} when the views were found: pass the same representation"
            )
        return values


def choose_representation(
    data: Any, layer: str | None = None, use_rep: str | None = None, genes: Any = None
) -> tuple[Representation, Note | None]:
    """Return where the features of annotated data are, and what there is to say about it.

    Parameters
    ----------
    data : AnnData
        The data.
    layer : str, optional
        Layer to use in place of X.
    use_rep : str, optional
        Representation in ``obsm`` to use in place of variables; "X" takes the variables however
        many they are.
    genes : str or list of str, optional
        Variables that are the features; by default all of them or, if these are more than 100,
        the principal components in ``obsm["X_pca"]`` or, if there are none, the first fifty.
    """
    if layer is not None and use_rep not in (None, "X"):
        raise ValueError("layer and use_rep exclude each other: pass one of them")
    if not data.var_names.is_unique:
        raise ValueError("variables of data share names: call data.var_names_make_unique() first")
    if genes is not None:
        wanted = [genes] if isinstance(genes, str) else list(genes)
        for name in wanted:
            if name not in data.var_names:
                raise ArgumentError(Argument.of("features", name), " is not a variable of data")
        return Representation(wanted, layer), None
    if use_rep == "X" or (use_rep is None and data.n_vars <= MOST_VARIABLES):
        _matrix(data, layer)
        return Representation([str(name) for name in data.var_names], layer), None
    if use_rep is not None and use_rep not in data.obsm:
        known = listing([*data.obsm, "X"])
        raise ArgumentError(Argument.of("use_rep", use_rep), f" is not in obsm: use one of {known}")
    many = f"data has {data.n_vars:,} variables, so that views are looked for in "
    if use_rep is not None or (layer is None and "X_pca" in data.obsm):
        key = use_rep or "X_pca"
        names = [f"{key}_{j + 1}" for j in range(np.asarray(data.obsm[key]).shape[1])]
        note = Note(f"{many}their principal components in obsm['X_pca']; ", "variables")
        return Representation(names, key=key), None if use_rep else note
    found = _components(data, layer)
    fact = f"{many}their first {len(found.names)} principal components; "
    return found, Note(fact, "variables")


def _components(data: Any, layer: str | None) -> Representation:
    """Return the leading principal components of all variables."""
    matrix = _matrix(data, layer)
    if not np.isfinite(matrix.data if issparse(matrix) else matrix).all():
        where = "X" if layer is None else f"layers[{layer!r}]"
        raise ValueError(f"{where} of data has missing or infinite values: replace them first")
    mean = np.asarray(matrix.mean(axis=0), dtype=float).ravel()
    count = min(N_COMPONENTS, min(matrix.shape) - 1)
    centred = LinearOperator(
        matrix.shape,
        matvec=lambda v: matrix @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda u: matrix.T @ u.ravel() - mean * u.sum(),
        dtype=float,
    )
    start = np.random.default_rng(0).uniform(-1, 1, min(matrix.shape))
    directions = svds(centred, count, v0=start, return_singular_vectors="vh")[2][::-1]
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(count), largest])  # which are arbitrary otherwise
    names = [str(name) for name in data.var_names]
    loadings = (directions * signs[:, None]).T
    return Representation([f"PC{j + 1}" for j in range(count)], layer, None, names, mean, loadings)


def _known_variables(data: Any, wanted: list[str]) -> list[str]:
    absent = [name for name in wanted if name not in data.var_names]
    if absent:
        raise ValueError(
            f"data has no variable {listing(absent)}, in which the views were found: all of these "
            "are needed"
        )
    return wanted


def _matrix(data: Any, layer: str | None) -> Any:
    if layer is None:
        if data.X is None:
            raise ValueError("data has no X: name a layer, or a representation in obsm")
        return data.X
    if layer not in data.layers:
        known = f": it has {listing(list(data.layers))}" if len(data.layers) else ", which has none"
        raise ArgumentError(Argument.of("layer", layer), f" is not a layer of data{known}")
    return data.layers[layer]


def _dense(values: Any) -> Array:
    return values.toarray() if issparse(values) else np.asarray(values)
