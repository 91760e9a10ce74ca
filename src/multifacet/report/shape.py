"""What a report can be made of: checked where a result is read from a file that may be damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..documents import (
    ComparisonDocument,
    GroupDict,
    ReductionDocument,
    RunDict,
    ViewDict,
    ViewsDocument,
)
from ..files import check_shape, shape_of
from ..results.gallery import check_gallery


def check_document(document: Mapping[str, Any]) -> None:
    """Raise unless a report can be made of the dict of a result; ``kind`` is one that is known."""
    kind, check_sizes = _KINDS[document["kind"]]
    check_shape(document, shape_of(kind))
    check_sizes(document)


def check_run(run: Any) -> None:
    """Raise unless a report can be made with the record of a run."""
    check_shape(run, shape_of(RunDict))


def _check_views(document: ViewsDocument) -> None:
    n, places = document["n_rows"], document["points"]["rows"]
    _size("index", document["index"], n)
    _some("points.rows", places)
    _within("points.rows", places, n)
    for i, given in enumerate(document["given"]):
        _size(f"given[{i}].labels", given["labels"], n)
        _among(f"given[{i}].labels", given["labels"], given["groups"])
    for i, view in enumerate(document["views"]):
        _check_view(document, view, f"views[{i}]")
    if document["rejected"] is not None:
        _check_view(document, document["rejected"], "rejected")
    names, nmi = document["agreement"]["names"], document["agreement"]["nmi"]
    _table("agreement.nmi", nmi, len(names), len(names))
    path = document["frontier"]
    if path is not None:
        _some("views", document["views"])
        _some("frontier.weights", path["weights"])
        for name in ("quality", "dependence"):
            _size(f"frontier.{name}", path[name], len(path["weights"]))
        if path["chosen"] is not None:
            _within("frontier.chosen", [path["chosen"]], len(path["weights"]))


def _check_view(document: ViewsDocument, view: ViewDict, place: str) -> None:
    d, n, drawn = len(document["features"]), document["n_rows"], len(document["points"]["rows"])
    _some("features", document["features"])
    for name in ("feature_weights", "strength"):
        _size(f"{place}.{name}", view[name], d)
    _some(f"{place}.effects", view["effects"])
    for table in ("effects", "loadings"):
        _table(f"{place}.{table}", view[table], len(view[table]), d)
    _size(f"{place}.labels", view["labels"], n)
    _within(f"{place}.n_clusters", [view["n_clusters"]], n + 1)
    _within(f"{place}.labels", view["labels"], view["n_clusters"])
    axes = len(view["loadings"]) or len(view["coordinates"][0] if view["coordinates"] else [])
    _table(f"{place}.coordinates", view["coordinates"], drawn, axes)
    _some(f"{place}.coordinates[0]", view["coordinates"][0])
    for i, one in enumerate(view.get("contrasts", [])):
        where = f"{place}.contrasts[{i}]"
        _some(f"{where}.counts", one["counts"])
        _some(f"{where}.counts[0]", one["counts"][0])
        _table(f"{where}.counts", one["counts"], view["n_clusters"], len(one["counts"][0]))
        _size(f"{where}.means", one["means"], view["n_clusters"])
    check_gallery(view.get("gallery"), view["n_clusters"], f"{place}.gallery")
    if view["groups"]:
        _check_groups(view["groups"], len(view["effects"]), f"{place}.groups")


def _check_groups(groups: Sequence[GroupDict], count: int, place: str) -> None:
    _size(place, groups, count)
    first = groups[0]
    _some(f"{place}[0].examples", first["examples"])
    for i, group in enumerate(groups):
        _within(f"{place}[{i}].label", [group["label"]], count)
        for name, one in first["profile"].items():
            check_shape(group["profile"], {name: dict.fromkeys(one, ...)}, f"{place}[{i}].profile")
        wanted = dict.fromkeys(first["examples"][0]["values"], ...)
        for j, example in enumerate(group["examples"]):
            check_shape(example["values"], wanted, f"{place}[{i}].examples[{j}].values")


def _check_reduction(document: ReductionDocument) -> None:
    d, points = len(document["features"]), document["points"]
    _some("features", document["features"])
    _some("loadings", document["loadings"])
    _table("loadings", document["loadings"], len(document["loadings"]), d)
    _size("feature_weights", document["feature_weights"], d)
    _size("strength", document.get("strength", document["features"]), d)
    drawn = len(points["coordinates"])
    _some("points.coordinates", points["coordinates"])
    _table("points.coordinates", points["coordinates"], drawn, len(document["loadings"]))
    _size("points.index", points["index"], drawn)
    if points["colour"] is not None:
        _size("points.colour.values", points["colour"]["values"], drawn)
        if points["colour"]["kind"] == "number":
            check_shape(points["colour"]["values"], [(float, None)], "points.colour.values")
        else:
            check_shape(points["colour"], {"groups": {...: int}}, "points.colour")
            _among("points.colour.values", points["colour"]["values"], points["colour"]["groups"])
    if document["clusters"] is not None:
        _some("clusters.sizes", document["clusters"]["sizes"])
        _within("clusters.sizes", document["clusters"]["sizes"], document["n_rows"] + 1, low=1)
    sparsity, told = document.get("sparsity"), document.get("held_out")
    if sparsity is not None:
        _some("sparsity.path", sparsity["path"])
        _within("sparsity.chosen", [sparsity["chosen"]], len(sparsity["path"]))
    if told is not None:
        _some("held_out.scores", told["scores"])
        if told["confusion"] is not None:
            count = len(told["confusion"]["classes"])
            _table("held_out.confusion.counts", told["confusion"]["counts"], count, count)


def _check_comparison(document: ComparisonDocument) -> None:
    count = len(document["labelings"])
    _some("labelings", document["labelings"])
    _table("nmi", document["nmi"], count, count)
    for i, pair in enumerate(document["pairs"]):
        _table(f"pairs[{i}].counts", pair["counts"], len(pair["rows"]), len(pair["columns"]))


_KINDS: dict[str, tuple[type, Callable[[Any], None]]] = {
    "views": (ViewsDocument, _check_views),
    "reduction": (ReductionDocument, _check_reduction),
    "comparison": (ComparisonDocument, _check_comparison),
}


def _some(place: str, values: Sequence[Any]) -> None:
    if not values:
        raise ValueError(f"{place} is empty")


def _size(place: str, values: Sequence[Any], expected: int) -> None:
    if len(values) != expected:
        raise ValueError(f"{place} has {len(values)} entries, not {expected}")


def _table(place: str, rows: Sequence[Sequence[Any]], count: int, width: int) -> None:
    _size(place, rows, count)
    for i, row in enumerate(rows):
        _size(f"{place}[{i}]", row, width)


def _among(place: str, labels: Sequence[Any], groups: Mapping[str, int]) -> None:
    other = next((str(label) for label in labels if str(label) not in groups), None)
    if other is not None:
        raise ValueError(f"{place} has {other!r}, which is none of its groups")


def _within(place: str, values: Sequence[int], end: int, low: int = 0) -> None:
    wrong = next((value for value in values if not low <= value < end), None)
    if wrong is not None:
        raise ValueError(f"{place} holds {wrong}, which is not from {low} to {end - 1}")
