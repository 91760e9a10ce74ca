"""Views of a table as JSON and arrays: what a file of them holds, checked when it is read."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from ..evidence import Frontier
from ..files import check_shape, shape_of
from ..files.annotated import Representation
from ..frames import Encoding, Reference, Roles
from ..frames.roles import USES, ColumnRole
from ..linalg import Array
from .plain import as_text
from .storage import check_array, pack_views, unpack_views
from .stored import StoredCells, StoredReference, StoredRoles, StoredViews
from .verdicts import SIGNIFICANCE

if TYPE_CHECKING:
    from .view import View
    from .views import Views

#: Version of the file format of :meth:`multifacet.Views.save`.
FORMAT = 2
_FRONTIER_ARRAYS = tuple(f.name for f in fields(Frontier) if f.name != "chosen")
#: In place of an array that is missing.
_NONE = np.zeros(0)
#: What a file of views holds beside arrays.
_META = shape_of(StoredViews)


class Attributes(TypedDict):
    """Those of :class:`multifacet.Views`."""

    views: list[View]
    index: Array
    rows: Array
    given: dict[str, Array]
    encoding: Encoding
    frontier: Frontier | None
    rejected: View | None
    significance: float
    references: dict[str, Reference]
    roles: Roles | None
    cells: Representation | None


def pack(views: Views) -> tuple[StoredViews, dict[str, Array]]:
    """Return views as a dict that JSON can hold, and arrays by name."""
    arrays: dict[str, Array] = {"index": _plain(views.index), "rows": views.rows}
    arrays |= {f"given{i}": _plain(labels) for i, labels in enumerate(views.given.values())}
    arrays |= {f"reference{i}": one.values for i, one in enumerate(views.references.values())}
    kept = [*views.views, *([] if views.rejected is None else [views.rejected])]
    described, packed = pack_views(kept)
    path = views.frontier
    if path is not None:
        packed |= {f"frontier_{name}": getattr(path, name) for name in _FRONTIER_ARRAYS}
    roles, cells = views.roles, views.cells
    if cells is not None and cells.mean is not None and cells.loadings is not None:
        packed |= {"cells_mean": cells.mean, "cells_loadings": cells.loadings}
    meta: StoredViews = {
        "format": FORMAT,
        "given": list(views.given),
        "encoding": views.encoding.to_dict(),
        "views": described,
        "n_views": len(views.views),
        "significance": views.significance,
        "frontier": None if path is None else {"chosen": path.chosen},
        "references": [{"name": n, "names": one.names} for n, one in views.references.items()],
        "roles": None if roles is None else {"n_rows": roles.n_rows, "columns": roles.table()},
        "cells": None if cells is None else _described_cells(cells),
    }
    return meta, arrays | packed


def unpack(found: dict[str, Any], arrays: dict[str, Array]) -> Attributes:
    """Return the attributes of views that a file holds; raise if they do not belong together."""
    check_shape(found, _META)
    meta = cast(StoredViews, found)
    views = unpack_views(meta["views"], arrays)
    n, d = arrays.get("index", _NONE).size, len(meta["encoding"]["feature_names"])
    for name in ("index", *(f"given{i}" for i in range(len(meta["given"])))):
        check_array(arrays, name, (n,), "biufUSmM")
    if any(len(v.labels) != n or len(v.feature_weights) != d for v in views):
        raise ValueError(f"not all views are of {n} rows and {d} features")
    count = meta["n_views"]
    if not 0 <= count <= len(views):
        raise ValueError(f"n_views is {count} for {len(views)} views")
    encoding = Encoding.from_dict(meta["encoding"])
    places = {place for column in encoding.columns for place in column.features}
    if not places <= set(range(d)) or not len(encoding.mean) == len(encoding.scale) == d:
        raise ValueError(f"the encoding is not one of {d} features")
    path = meta["frontier"]
    return {
        "views": views[:count],
        "index": arrays["index"],
        "rows": _unpacked_rows(arrays, n),
        "given": {name: arrays[f"given{i}"] for i, name in enumerate(meta["given"])},
        "encoding": encoding,
        "frontier": None if path is None else _unpacked_frontier(arrays, path["chosen"]),
        "rejected": views[count] if len(views) > count else None,
        "significance": meta.get("significance", SIGNIFICANCE),
        "references": _unpacked_references(meta.get("references", []), arrays, n),
        "roles": _unpacked_roles(meta.get("roles")),
        "cells": _unpacked_cells(meta.get("cells"), arrays),
    }


def _unpacked_rows(arrays: dict[str, Array], n: int) -> Array:
    if "rows" not in arrays:  # older files do not say which rows were dropped
        return np.arange(n)
    rows = check_array(arrays, "rows", (n,), "iu")
    if (np.diff(rows, prepend=-1) <= 0).any():
        raise ValueError("rows are no positions in ascending order")
    return rows


def _unpacked_frontier(arrays: dict[str, Array], chosen: int | None) -> Frontier:
    m, rows = (arrays.get(f"frontier_{name}", _NONE).size for name in ("weights", "rows"))
    shapes = {"labels": (m, rows), "rows": (rows,)}
    known = {
        name: check_array(arrays, f"frontier_{name}", shapes.get(name, (m,)), "fiu")
        for name in _FRONTIER_ARRAYS
    }
    if chosen is not None and not 0 <= chosen < m:
        raise ValueError(f"the frontier has chosen {chosen} of {m} weights")
    return Frontier(**known, chosen=chosen)


def _unpacked_references(
    described: list[StoredReference], arrays: dict[str, Array], n: int
) -> dict[str, Reference]:
    found = {}
    for i, one in enumerate(described):
        names = one["names"]
        values = check_array(arrays, f"reference{i}", (n,), "f" if names is None else "i")
        if names is not None and n and not -1 <= values.min() <= values.max() < len(names):
            raise ValueError(f"reference{i} has labels without a name")
        found[one["name"]] = Reference(values, names)
    return found


def _unpacked_roles(described: StoredRoles | None) -> Roles | None:
    if described is None:
        return None
    columns = [ColumnRole(**cast(Any, column)) for column in described["columns"]]
    if any(column.use not in USES for column in columns):
        raise ValueError("a column has a use that is not known")
    return Roles(columns, described["n_rows"])


def _described_cells(cells: Representation) -> StoredCells:
    return {
        "names": cells.names,
        "layer": cells.layer,
        "key": cells.key,
        "variables": cells.variables,
    }


def _unpacked_cells(
    described: StoredCells | None, arrays: dict[str, Array]
) -> Representation | None:
    if described is None:
        return None
    p, d = len(described["variables"]), len(described["names"])
    if not p:
        return Representation(**described)
    mean = check_array(arrays, "cells_mean", (p,), "f")
    return Representation(
        **described, mean=mean, loadings=check_array(arrays, "cells_loadings", (p, d), "f")
    )


def _plain(values: Array) -> Array:
    """Return values as an array that needs no pickle: objects become text."""
    return as_text(values) if values.dtype == object else values
