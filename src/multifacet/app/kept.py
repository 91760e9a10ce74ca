"""What a kept exploration says: it may come from anywhere, so all of it is checked before use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
from pydantic import BaseModel, ValidationError

from ..frames.dates import split_part
from ..results.views import Views
from .schemas import FORMAT, STATE, KeptState, KeptVersion
from .steps import FindDict, Merges, StateDict, StepDict, UseDict

Model = TypeVar("Model", bound=BaseModel)


def read_state(folder: Path) -> StateDict:
    """Read exploration.json; raise unless it says what such a file can say."""
    text = (folder / STATE).read_bytes()
    version = _read(KeptVersion, text).format
    if version != FORMAT:
        raise ValueError(f"it has format {version}, this version reads {FORMAT}")
    return cast(StateDict, _read(KeptState, text).model_dump())


def _read(model: type[Model], text: bytes) -> Model:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        # What it holds is not repeated: it may hold anything.
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{STATE} is damaged{where and f' at {where}'}: {first['msg']}") from error


def check_setup(roles: UseDict, columns: Collection[str]) -> None:
    """Raise unless columns exist and have one role each."""
    used = [*roles["features"], *roles["given"]]
    used += [] if roles["identifier"] is None else [roles["identifier"]]
    features = {*roles["features"]}
    absent = next((name for name in used if not _known(name, columns, name in features)), None)
    if absent is not None:
        raise ValueError(f"its table has no column {absent!r}")
    if len(set(used)) < len(used):
        raise ValueError("a column has two roles")


def _known(name: str, columns: Collection[str], feature: bool) -> bool:
    """Tell whether a table has a column, or the dates of which a feature is a part."""
    asked = split_part(name) if feature else None
    return name in columns or (asked is not None and asked[0] in columns)


def check_steps(steps: Sequence[StepDict], columns: Collection[str], n_rows: int) -> None:
    """Raise unless every step is about the table and about views that were found before it."""
    found: set[str] = set()
    for step in steps:
        view = step["view"]
        if step["do"] != "find":
            if view not in found:
                raise ValueError(f"a step is about {view!r}, which was not found before it")
            continue
        if view in found:
            raise ValueError(f"{view!r} is found twice")
        check_setup(step, columns)
        dropped = step["dropped"]
        if dropped != sorted({*dropped}) or (dropped and dropped[-1] >= n_rows):
            raise ValueError(f"{view!r} leaves out rows that its table does not have")
        among = step["among"]
        if among is not None and (among != sorted({*among}) or {*among} & {*dropped}):
            raise ValueError(f"{view!r} is about rows that it leaves out")
        if step["follows"] > len(step["known"]):
            raise ValueError(f"{view!r} follows more views than were known")
        if not {*step["merged"]} <= {*step["known"]} <= found:
            raise ValueError(f"{view!r} builds on views that were not found before it")
        found.add(view)


def check_groups(steps: Sequence[StepDict], count_found: Callable[[str], int]) -> None:
    """Raise unless all groups that are merged or named exist; views are found with so many."""
    counts: dict[str, int] = {}
    for step in steps:
        view = step["view"]
        if step["do"] == "find":
            counts[view] = count_found(view)
            for known, merges in step["merged"].items():
                count_merged(count_found(known), merges)
        elif step["do"] == "merge":
            counts[view] = count_merged(counts[view], [step["groups"]])
        elif step["do"] == "rename" and (step["group"] or 0) >= counts[view]:
            raise ValueError(f"{view!r} has no group {step['group']}")


def count_merged(count: int, merges: Merges) -> int:
    """Return how many groups are left; raise if some cannot be merged."""
    for groups in merges:
        if len({*groups}) < len(groups) or max(groups) >= count or len(groups) == count:
            raise ValueError(f"groups={groups} cannot be merged: there are {count}")
        count -= len(groups) - 1
    return count


def load_views(path: Path, step: FindDict, columns: Collection[str], n_rows: int) -> Views:
    """Read a view; raise unless it fits the step that found it and the table."""
    try:
        views = Views.load(path)
        fits = _fits(views, step, columns, n_rows - len(step["dropped"]))
    except (MemoryError, FileNotFoundError):
        raise
    except Exception as error:  # anything can be wrong inside, and shows in many types
        raise ValueError(
            f"{path.name!r} is damaged: {str(error) or type(error).__name__}"
        ) from error
    if not fits:
        raise ValueError(f"{path.name!r} is damaged: it does not fit its table, or itself")
    return views


def _fits(views: Views, step: FindDict, columns: Collection[str], n: int) -> bool:
    """Tell whether the arrays of a view have the types and shapes that belong together."""
    (view,) = views
    d, k, q = len(views.encoding.feature_names), view.n_clusters, len(view.components)
    encoded = [feature for column in views.encoding.columns for feature in column.features]
    explanation, path = view.explanation, views.frontier
    shapes = [
        (view.labels, "i", (n,)),
        (view.components, "f", (q, d)),
        (view.projection, "f", (n, view.projection.shape[-1])),
        (view.feature_weights, "f", (d,)),
        (views.encoding.mean, "f", (d,)),
        (views.encoding.scale, "f", (d,)),
        (explanation.weights, "f", (d,)),
        (explanation.strength, "f", (d,)),
        (explanation.effects, "f", (k, d)),
        (explanation.loadings, "f", (q or d, d)),
        (explanation.rotation, "f", (q or d, q or d)),
    ]
    if path is not None:
        shapes += [(path.rows, "i", path.rows.shape), (path.labels, "i", path.labels.shape)]
        if path.labels.shape[1:] != path.rows.shape or not {*path.rows.tolist()} <= {*range(n)}:
            return False
    return (
        all(one.dtype.kind == kind and one.shape == shape for one, kind, shape in shapes)
        and all(bool(np.isfinite(one).all()) for one, _, _ in shapes)
        and np.unique(view.labels).tolist() == list(range(k))
        and sorted(encoded) == list(range(d))
        and all(_known(column.name, columns, True) for column in views.encoding.columns)
        and views.index.shape == (n,)
        and all(labels.shape == (n,) for labels in views.given.values())
        and {*step["given"]} <= {*views.given}
    )
