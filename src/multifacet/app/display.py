"""What the page draws and lists, as plain dicts: points, groups, loadings, agreement, rows."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..documents import ComparisonDocument, DescriptionDict, FrontierDict
from ..frames import Reference
from ..frames.cells import Cells
from ..frames.references import read_reference
from ..frames.table import Columns, read_table
from ..linalg import Array
from ..report.words import axis_names
from ..results.summary import repeating
from ..results.verdicts import SEPARATION_SCALE, VERDICTS, beyond_chance, how_stable
from ..results.views import Views
from ..tables.compare import compare_labelings
from .answers import (
    CodesAnswer,
    DetailAnswer,
    FrontierAnswer,
    JobAnswer,
    MeansAnswer,
    PointsAnswer,
    PreviewAnswer,
    RowsAnswer,
    SegmentsAnswer,
    StateAnswer,
    SummaryAnswer,
)
from .exploration import Exploration
from .facets import Facet
from .steps import FindDict
from .tables import PREVIEW_ROWS, cells_of, describe_columns

#: More points slow a browser down, and hide each other.
MAX_POINTS = 100_000
#: Labels of more values make no picture.
MAX_GROUPS = 64
#: Pixels of the images of one view.
MAX_PIXELS = 1_000_000


def describe(exploration: Exploration, jobs: list[JobAnswer]) -> StateAnswer:
    """Return the state of an exploration, without its points."""
    return {
        "id": exploration.id,
        "name": exploration.name,
        "n_rows": exploration.n_rows,
        "all_rows": None if exploration.origin is None else exploration.origin.n_rows,
        "n_columns": len(exploration.columns),
        "setup": exploration.setup,
        "views": [summary(exploration, one) for one in exploration.facets().values()],
        "jobs": jobs,
        "steps": [{k: v for k, v in s.items() if k != "dropped"} for s in exploration.steps],
        "problem": exploration.problem,
    }


def preview(exploration: Exploration) -> PreviewAnswer:
    """Return the columns of the table and its first rows."""
    rows = np.arange(min(PREVIEW_ROWS, exploration.n_rows))
    return {
        "columns": describe_columns(exploration.columns),
        "rows": cells_of(exploration.columns, rows),
    }


def summary(exploration: Exploration, facet: Facet) -> SummaryAnswer:
    """Return a view in a few words and numbers."""
    views = exploration.views(facet.id)
    view = views[0]
    known = [exploration.facet(one) for one in facet.step["known"]]
    among = facet.step["among"]
    return {
        "id": facet.id,
        "name": facet.name,
        "status": facet.status,
        "sentence": view.sentence,
        "n_clusters": view.n_clusters,
        "sizes": np.bincount(view.labels).tolist(),
        "group_names": group_names(facet, view.n_clusters),
        "colours": group_colours(facet, view.n_clusters),
        "given": [*facet.step["given"], *(one.name for one in known if one.status != "rejected")],
        "avoided": [one.name for one in known if one.status == "rejected"],
        "among": None if among is None else len(among),
        "options": facet.step["options"],
        "stability": view.stability,
        "p_value": view.p_value,
        "novelty": view.novelty if views.given else None,
        "separation": view.separation if np.isfinite(view.separation) else None,
        "verdict": views.verdict(view),
        "verdicts": _verdicts(views),
        "beside": ". ".join(filter(None, [views.beside(view), repeating(view)])),
    }


def _verdicts(views: Views) -> dict[str, str]:
    """Return what the page says beside the numbers of a view."""
    view = views[0]
    said = {"separation": SEPARATION_SCALE, "novelty": "0 is entirely new"}
    word = views.verdict(view)
    if word:
        said["verdict"] = VERDICTS[word]
    if view.stability is not None:
        said["stability"] = how_stable(view.stability)
    if view.p_value is not None:
        real = beyond_chance(view.p_value, views.significance)
        said["p_value"] = "beyond chance" if real else "could be chance"
    return said


def group_names(facet: Facet, count: int) -> list[str]:
    """Return what the groups of a view are called."""
    return [facet.group_names.get(c, f"group {c}") for c in range(count)]


def group_colours(facet: Facet, count: int) -> list[int]:
    """Return the number of each group's colour: its first one, whatever was merged since."""
    colours = list(range(count + sum(len(groups) - 1 for groups in facet.merges)))
    for groups in facet.merges:
        gone = {*groups} - {min(groups)}
        colours = [colour for group, colour in enumerate(colours) if group not in gone]
    return colours


def detail(exploration: Exploration, view_id: str) -> DetailAnswer:
    """Return everything about one view: its description, and the points to draw."""
    facet, views = exploration.facet(view_id), exploration.views(view_id)
    document = views.to_dict()
    view = document["views"][0]
    drawn = stratified(views[0].labels, MAX_POINTS)
    told = {key: value for key, value in view.items() if key not in ("labels", "coordinates")}
    axes = axis_names(view["loadings"], document["features"])
    return {
        **summary(exploration, facet),
        "description": cast(DescriptionDict, told),
        "features": document["features"],
        "axes": axes or ["embedding 1", "embedding 2"],
        "points": _points(exploration, view_id, drawn),
        "known": _known(exploration, view_id, drawn),
        "frontier": _frontier(exploration, view_id, document["frontier"]),
    }


def _points(exploration: Exploration, view_id: str, drawn: Array) -> PointsAnswer:
    view = exploration.views(view_id)[0]
    places = view.projection
    if len(view.components):
        places = places @ view.explanation.rotation.T
    places = places[drawn]
    return {
        "rows": exploration.rows(view_id)[drawn].tolist(),
        "x": _short(places[:, 0]),
        "y": _short(places[:, 1]) if places.shape[1] > 1 else None,
        "labels": view.labels[drawn].tolist(),
        "total": len(view.labels),
    }


def _short(values: Array) -> list[float]:
    return np.round(values.astype(float), 4).tolist()


def _known(exploration: Exploration, view_id: str, drawn: Array) -> list[CodesAnswer]:
    """Return what was given at the points of a view: columns of the table, or earlier views."""
    table, rows = read_table(exploration.columns), exploration.rows(view_id)
    found = []
    for name, labels in exploration.views(view_id).given.items():
        if name in table.columns:
            # Of all rows, so that a label has the same number, and colour, in all views.
            labelled, at = Reference.of_labels(table.read(name)), rows[drawn]
        else:
            labelled, at = Reference(labels, [str(c) for c in range(labels.max() + 1)]), drawn
        found.append(_codes(name, labelled, at))
    return found


def column(exploration: Exploration, view_id: str, name: str) -> CodesAnswer:
    """Return any column of the table at the points of a view: labels, or numbers."""
    table = read_table(exploration.columns)
    if name not in table.columns:
        raise LookupError(f"there is no column {name!r} in this table")
    drawn = stratified(exploration.views(view_id)[0].labels, MAX_POINTS)
    every = read_reference(table, name, np.arange(exploration.n_rows))
    return _codes(name, every, exploration.rows(view_id)[drawn])


def _codes(name: str, reference: Reference, rows: Array) -> CodesAnswer:
    """Return labels as numbers and names; beyond so many names, the rarest are one."""
    values = reference.values[rows]
    if reference.names is None:
        numbers = [None if np.isnan(one) else float(f"{one:.6g}") for one in values.tolist()]
        return {"name": name, "names": [], "codes": [], "numbers": numbers}
    names = reference.names
    if len(names) > MAX_GROUPS:
        counts = np.bincount(reference.values[reference.present], minlength=len(names))
        common = np.sort(np.argsort(-counts, kind="stable")[: MAX_GROUPS - 1])
        places = np.append(np.full(len(names), len(common)), -1)
        places[common] = np.arange(len(common))
        values, names = places[values], [*(names[i] for i in common), "others"]
    return {"name": name, "names": names, "codes": values.tolist(), "numbers": None}


def _frontier(
    exploration: Exploration, view_id: str, described: FrontierDict | None
) -> FrontierAnswer | None:
    """Return the frontier with the groups of each of its points."""
    found = exploration.views(view_id).frontier
    if found is None or described is None:
        return None
    rows = exploration.rows(view_id)[found.rows]
    return {**described, "rows": rows.tolist(), "labels": found.labels.tolist()}


def stratified(labels: Array, most: int) -> Array:
    """Return positions of at most so many rows, evenly from every group; small ones stay whole."""
    if len(labels) <= most:
        return np.arange(len(labels))
    sizes = np.bincount(labels)
    level = most / len(labels)
    least = max(1, most // (4 * len(sizes)))
    wanted = np.maximum(np.floor(sizes * level), np.minimum(sizes, least))
    spare = max(0.0, wanted.sum() - most)
    large = wanted > least
    wanted[large] -= np.ceil(spare * wanted[large] / wanted[large].sum())
    parts = []
    for group, count in enumerate(wanted.astype(int)):
        members = np.flatnonzero(labels == group)
        parts.append(members[np.linspace(0, len(members) - 1, max(count, 0)).round().astype(int)])
    return np.sort(np.concatenate(parts))


def labelings(exploration: Exploration) -> Columns:
    """Return all labelings of the rows: what is known, and the views that were not rejected."""
    found = {name: exploration.columns[name] for name in exploration.setup["given"]}
    for facet in exploration.facets().values():
        if facet.status != "rejected":
            found[facet.name] = exploration.labels(facet.id)
    return found


def agreement(exploration: Exploration) -> ComparisonDocument | None:
    """Return how far all labelings agree; None if there are fewer than two."""
    every = labelings(exploration)
    if len(every) < 2:
        return None
    return compare_labelings(every, missing="drop").to_dict()


def rows_page(exploration: Exploration, rows: Array) -> RowsAnswer:
    """Return some rows of the table with the groups they are in."""
    kept = [one for one in exploration.facets().values() if one.status != "rejected"]
    cells = cells_of(exploration.columns, rows)
    for facet in kept:
        for cell, label in zip(cells, _labels_at(exploration, facet.id, rows), strict=True):
            cell.append(label)
    return {
        "columns": [*exploration.columns, *(facet.name for facet in kept)],
        "rows": rows.tolist(),
        "cells": cells,
        "total": exploration.n_rows,
    }


def _labels_at(exploration: Exploration, view_id: str, rows: Array) -> list[int | None]:
    """Return the groups of some rows, None for those that were dropped."""
    kept, labels = exploration.rows(view_id), exploration.views(view_id)[0].labels
    places = np.searchsorted(kept, rows).clip(max=len(kept) - 1)
    there = kept[places] == rows
    return [int(labels[at]) if ok else None for at, ok in zip(places, there, strict=True)]


def _numbers(exploration: Exploration, step: FindDict) -> list[str]:
    """Return the numeric columns that are neither known nor names of rows."""
    other = {*step["given"], step["identifier"]}
    described = describe_columns({k: v for k, v in exploration.columns.items() if k not in other})
    return [one["name"] for one in described if one["kind"] == "number"]


def _filled(cells: Cells) -> Array:
    """Return numbers, with their mean where they are missing."""
    usual = cells.present.mean() if len(cells.present) else 0.0
    return np.where(cells.missing, usual, cells.values)


def _picture(exploration: Exploration, numbers: list[str]) -> list[list[int]] | None:
    """Return red, green and blue of all rows, if there are three numbers that can be them."""
    if len(numbers) != 3:
        return None
    table = read_table(exploration.columns)
    X = np.column_stack([_filled(table.read(name)) for name in numbers])
    low, high = X.min(), X.max()
    if not (low >= 0 and high <= 255):  # other scales are spread over all shades
        X = 255 * (X - low) / (high - low or 1.0)
    elif high <= 1:
        X = 255 * X
    return X.round().astype(int).tolist()


def images(
    exploration: Exploration, view_id: str, height: int, width: int
) -> MeansAnswer | SegmentsAnswer:
    """Return pictures of a view whose rows are images, or the pixels of one image.

    If a row has height * width features, the mean of every group is an image; if there are
    height * width rows, the groups themselves are one. Pixels that are the same in all rows are no
    features, but belong to the image.
    """
    views = exploration.views(view_id)
    view, pixels = views[0], height * width
    if pixels > MAX_PIXELS:
        raise ValueError(
            f"{height} by {width} are too many pixels: at most {MAX_PIXELS:,} are drawn"
        )
    numbers = [one.name for one in views.encoding.columns if one.kind == "number"]
    if len(numbers) != pixels:
        numbers = _numbers(exploration, exploration.facet(view_id).step)
    if len(numbers) == pixels:
        table, rows = read_table(exploration.columns), exploration.rows(view_id)
        X = np.column_stack([_filled(table.read(name).take(rows)) for name in numbers])
        means = [X[view.labels == c].mean(axis=0) for c in range(view.n_clusters)]
        return {
            "kind": "means",
            "height": height,
            "width": width,
            "images": [_short(m) for m in means],
        }
    if exploration.n_rows == pixels:
        labels = [-1 if one is None else one for one in exploration.labels(view_id)]
        return {
            "kind": "segments",
            "height": height,
            "width": width,
            "labels": labels,
            "picture": _picture(exploration, numbers),
        }
    raise ValueError(
        f"{height} by {width} are {pixels} pixels, but there are {len(numbers)} numeric "
        f"features and {exploration.n_rows} rows: images need one of the two"
    )
