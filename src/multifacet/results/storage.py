"""Views in files: arrays and JSON in one ``.npz``, nothing executable."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..explain import Explanation
from ..files import atomic, check_shape, read_json, shape_of
from ..linalg import Array
from ..search import Settings
from .gallery import check_gallery
from .rule import Rule
from .stored import StoredView
from .view import View

_ARRAYS = ("labels", "components", "projection", "feature_weights")
#: Arrays that not every view has; older files have none of them.
_MAYBE_ARRAYS = ("mean", "landmarks", "places")
_SETTINGS = tuple(f.name for f in fields(Settings) if f.name != "between")  # what was found has one
#: What a view is in JSON.
_VIEW = shape_of(StoredView)
#: Arrays of what has told the labels, if a view was found in some of its rows.
_RULE_ARRAYS = tuple(f.name for f in fields(Rule))
_OTHER = (*_ARRAYS, *_MAYBE_ARRAYS, "settings", "explanation", "told_by")
_PLAIN = tuple(f.name for f in fields(View) if f.name not in _OTHER)


def write_archive(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write arrays, and a dict that JSON can hold, to one file; complete or not at all."""
    text = np.frombuffer(json.dumps(meta, allow_nan=False).encode(), dtype=np.uint8)
    # An open file, because numpy would append a suffix to a path that has none.
    with atomic(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, meta=text, **arrays)


def read_archive(path: Path, what: str, version: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what :func:`write_archive` wrote; ``what`` is what the file should hold."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    try:
        # An open file, because numpy leaves open what it opens and then cannot read.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            meta = read_json(bytes(file["meta"]))
            arrays = {name: np.asarray(file[name]) for name in file.files if name != "meta"}
    except Exception as error:  # a damaged archive fails in many ways, from zlib to the header
        raise ValueError(f"{str(path)!r} does not hold {what}: {error}") from error
    if not isinstance(meta, dict):
        raise ValueError(f"{str(path)!r} does not hold {what}")
    if meta.get("format") != version:
        raise ValueError(
            f"{str(path)!r} has format {meta.get('format')}, this version reads {version}: find "
            "the views again"
        )
    return meta, arrays


def pack_views(views: Sequence[View]) -> tuple[list[StoredView], dict[str, Array]]:
    """Return views as dicts that JSON can hold, and their arrays by name."""
    described: list[StoredView] = []
    arrays: dict[str, Array] = {}
    for i, view in enumerate(views):
        kept = {name: getattr(view, name) for name in (*_ARRAYS, *_MAYBE_ARRAYS)}
        if view.told_by is not None:
            kept |= {f"rule_{name}": getattr(view.told_by, name) for name in _RULE_ARRAYS}
        arrays |= {f"view{i}_{name}": array for name, array in kept.items() if array is not None}
        plain = {name: getattr(view, name) for name in _PLAIN}
        if not math.isfinite(view.separation):
            plain["separation"] = None  # JSON knows no infinity
        words = {"settings": asdict(view.settings), "explanation": view.explanation.to_dict()}
        described.append(cast(StoredView, plain | words))
    return described, arrays


def unpack_views(described: Any, arrays: Mapping[str, Array]) -> list[View]:
    """Return the views that :func:`pack_views` has taken apart; raise if they are damaged."""
    check_shape(described, [_VIEW], "views")
    views = []
    for i, one in enumerate(cast(list[StoredView], described)):
        _check_sizes(one, arrays, f"view{i}")
        names = [name for name in (*_ARRAYS, *_MAYBE_ARRAYS) if f"view{i}_{name}" in arrays]
        parts: dict[str, Any] = {name: arrays[f"view{i}_{name}"] for name in names}
        # What older files have not is left at its default.
        parts |= {name: value for name, value in one.items() if name in _PLAIN}
        if parts["separation"] is None:
            parts["separation"] = -math.inf
        settings = {name: value for name, value in one["settings"].items() if name in _SETTINGS}
        parts["settings"] = Settings(**cast(dict[str, Any], settings))
        if f"view{i}_rule_scores" in arrays:
            parts["told_by"] = Rule(*(arrays[f"view{i}_rule_{name}"] for name in _RULE_ARRAYS))
        check_gallery(one.get("gallery"), one["n_clusters"], f"view{i}.gallery")
        parts["explanation"] = Explanation.from_dict(one["explanation"])
        views.append(View(**parts))
    return views


def check_array(
    arrays: Mapping[str, Array], name: str, shape: tuple[int, ...], kinds: str
) -> Array:
    """Return an array of a file; raise unless it has a shape and its type is of some kinds."""
    if name not in arrays:
        raise ValueError(f"it has no {name}")
    array = arrays[name]
    if array.shape != shape or array.dtype.kind not in kinds:
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not {shape}")
    return array


def _check_rule(arrays: Mapping[str, Array], place: str, axes: int, k: int) -> None:
    """Raise unless a rule tells one of k groups by places in so many axes."""
    scores = arrays[f"{place}_scores"]
    widths = {1 + axes, 1 + axes + axes * (axes + 1) // 2}
    if scores.ndim != 2 or not len(scores) or scores.shape[1] not in widths:
        raise ValueError(f"{place}_scores have the shape {scores.shape}, for {axes} axes")
    if not np.isfinite(check_array(arrays, f"{place}_scores", scores.shape, "f")).all():
        raise ValueError(f"{place}_scores holds numbers that are not finite")
    labels = check_array(arrays, f"{place}_labels", (len(scores),), "iu")
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"{place}_labels are not from 0 to {k - 1}")


def _check_sizes(one: StoredView, arrays: Mapping[str, Array], place: str) -> None:
    """Raise unless the parts of a view belong together."""
    d, k = len(one["explanation"]["feature_names"]), one["n_clusters"]
    for name in ("components", "projection"):
        if arrays.get(f"{place}_{name}", np.zeros(0)).ndim != 2:
            raise ValueError(f"{place}_{name} is missing, or no table")
    (q, _), (n, axes) = arrays[f"{place}_components"].shape, arrays[f"{place}_projection"].shape
    shapes = {"components": (q, d), "projection": (n, q or axes), "feature_weights": (d,)}
    if f"{place}_mean" in arrays:
        shapes["mean"] = (d,)
        if not q:  # new rows find their places by landmarks
            m = len(arrays.get(f"{place}_landmarks", ()))
            shapes |= {"landmarks": (max(m, 1), d), "places": (max(m, 1), axes)}
    for name, expected in shapes.items():
        if not np.isfinite(check_array(arrays, f"{place}_{name}", expected, "f")).all():
            raise ValueError(f"{place}_{name} holds numbers that are not finite")
    labels = check_array(arrays, f"{place}_labels", (n,), "iu")
    if not (n and labels.min() >= 0 and labels.max() < k <= n):
        raise ValueError(f"{place}_labels are not from 0 to {k - 1}")
    if f"{place}_rule_scores" in arrays:
        _check_rule(arrays, f"{place}_rule", axes, k)
    groups, basis = len(one["explanation"]["cluster_names"]), q or d
    words = {"weights": (d,), "strength": (d,), "effects": (groups, d), "loadings": (basis, d)}
    for name, shape in (words | {"rotation": (basis, basis)}).items():
        rows = cast(dict[str, Any], one["explanation"])[name]
        widths = {len(row) for row in rows} if len(shape) == 2 else set(shape[1:])
        if len(rows) != shape[0] or not widths <= set(shape[1:]):
            raise ValueError(f"{name} of {place} has not the shape {shape}")
    for contrast in one["explanation"].get("contrasts", []):
        features = {contrast["feature"], contrast["given"]} - {None}
        if not features <= {*range(d)}:
            raise ValueError(f"contrasts of {place} name features that it does not have")
    if any(
        len(told["counts"]) != k or len(told["means"]) != k for told in one.get("contrasts", [])
    ):
        raise ValueError(f"contrasts of {place} are not of {k} groups")
