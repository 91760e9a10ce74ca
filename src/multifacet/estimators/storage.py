"""Views in files: arrays and JSON in one ``.npz``, nothing executable."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..explain import Explanation
from ..files import atomic
from ..linalg import Array
from ..search import Settings
from .view import View

_ARRAYS = ("labels", "components", "projection", "feature_weights")
_PLAIN = tuple(f.name for f in fields(View) if f.name not in (*_ARRAYS, "settings", "explanation"))


def write_archive(path: Path, meta: dict[str, Any], arrays: Mapping[str, Array]) -> None:
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
        with np.load(path, allow_pickle=False) as file:
            meta = json.loads(bytes(file["meta"]))
            arrays = {name: file[name] for name in file.files if name != "meta"}
    except Exception as error:  # numpy, zipfile and zlib say in many types what is wrong inside
        raise ValueError(f"{str(path)!r} does not hold {what}: {error}") from error
    if meta.get("format") != version:
        raise ValueError(
            f"{str(path)!r} has format {meta.get('format')}, this version reads {version}: find "
            "the views again"
        )
    return meta, arrays


def pack_views(views: Sequence[View]) -> tuple[list[dict[str, Any]], dict[str, Array]]:
    """Return views as dicts that JSON can hold, and their arrays by name."""
    described: list[dict[str, Any]] = []
    arrays: dict[str, Array] = {}
    for i, view in enumerate(views):
        arrays |= {f"view{i}_{name}": getattr(view, name) for name in _ARRAYS}
        plain = {name: getattr(view, name) for name in _PLAIN}
        if not math.isfinite(view.separation):
            plain["separation"] = None  # JSON knows no infinity
        words = {"settings": asdict(view.settings), "explanation": view.explanation.to_dict()}
        described.append(plain | words)
    return described, arrays


def unpack_views(described: Sequence[dict[str, Any]], arrays: Mapping[str, Array]) -> list[View]:
    """Return the views that :func:`pack_views` has taken apart."""
    views = []
    for i, one in enumerate(described):
        parts: dict[str, Any] = {name: arrays[f"view{i}_{name}"] for name in _ARRAYS}
        parts |= {name: one[name] for name in _PLAIN}
        if parts["separation"] is None:
            parts["separation"] = -math.inf
        parts["settings"] = Settings(**one["settings"])
        parts["explanation"] = Explanation.from_dict(one["explanation"])
        views.append(View(**parts))
    return views
