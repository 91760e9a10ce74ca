"""Two searches beside each other: what was asked, what came out, and how far the groups agree."""

from __future__ import annotations

from ..tables.compare import compare_labelings
from . import display
from .answers import ChosenAnswer, ComparedAnswer, RunAnswer, RunsAnswer
from .exploration import Exploration


def runs(exploration: Exploration) -> RunsAnswer:
    """Return the views of an exploration by name."""
    facets = exploration.facets().values()
    return {
        "id": exploration.id,
        "name": exploration.name,
        "views": [{"id": one.id, "name": one.name} for one in facets],
    }


def compare(one: Exploration, view_id: str, other: Exploration, other_id: str) -> ComparedAnswer:
    """Return the settings and the evidence of two searches, and how far their groups agree."""
    if one.id == other.id and view_id == other_id:
        raise ValueError("a view agrees with itself: choose two")
    if one.file.sha256 != other.file.sha256:
        raise ValueError(
            f"{one.name!r} and {other.name!r} are different tables: only groups of the same rows "
            "can be compared"
        )
    found = [_run(one, view_id), _run(other, other_id)]
    first, second = one.labels(view_id), other.labels(other_id)
    agreement = compare_labelings({"first": first, "second": second}, missing="drop").to_dict()
    return {"runs": found, "agreement": agreement["pairs"][0]}


def _run(exploration: Exploration, view_id: str) -> RunAnswer:
    """Return what was asked in a search, beside what it found."""
    facet = exploration.facet(view_id)
    view, step = exploration.views(view_id)[0], facet.step
    searched = exploration.as_found(view_id)[0].settings
    chosen: ChosenAnswer = {
        "n_clusters": view.n_clusters,
        "n_components": len(view.components) or None,
        "novelty_weight": searched.novelty_weight,
    }
    return {
        **display.summary(exploration, facet),
        "exploration": exploration.id,
        "features": step["features"],
        "standardize": step["standardize"],
        "scaling": exploration.views(view_id).encoding.scaling,
        "missing": step["missing"],
        "chosen": chosen,
    }
