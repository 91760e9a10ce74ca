"""Results as plain dicts, in the words and units of the table: what reports are made of."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ..evidence import Frontier
from ..explain import NOTICEABLE, importance, telling_features
from ..frames import Encoding
from ..frames.encoding import Column
from ..linalg import Array
from ..metrics import nmi
from ..search import PLAN, Selection
from .verdicts import beyond_chance, equals, how_separated, how_stable, in_common
from .view import View

if TYPE_CHECKING:
    from .views import Views

#: Version of the dict that :func:`describe_views` returns.
FORMAT = 1
#: More points hide each other and bloat a report.
MAX_POINTS = 2000
#: Columns that are described for every group, and those that are shown of a typical row: the
#: leading ones.
MAX_COLUMNS, EXAMPLE_COLUMNS = 100, 12
#: Typical rows of a group.
EXAMPLES = 3
#: Candidates kept of a search.
MAX_CANDIDATES = 10
#: What is known about a view in numbers.
NUMBERS = ("quality", "separation", "novelty", "stability", "p_value", "independence")
#: Between a number and its percent sign: a space that does not break.
NO_BREAK = "\N{NO-BREAK SPACE}"


def describe_views(views: Views) -> dict[str, Any]:
    """Return views as a dict that strict JSON can hold; see :meth:`Views.to_dict`."""
    n = len(views.index)
    rows = np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(int)
    names = [*views.given, *(view.name for view in views)]
    labelings = [*views.given.values(), *(view.labels for view in views)]
    kept = [*views, *([] if views.rejected is None else [views.rejected])]
    # A view avoids what was given and all views before it.
    described = [
        _describe_view(view, rows, names[: len(views.given) + i], views.significance)
        for i, view in enumerate(kept)
    ]
    used = [column for column in views.encoding.columns if column.features]
    return {
        "kind": "views",
        "format": FORMAT,
        "n_rows": n,
        "n_features": len(views.encoding.feature_names),
        "features": list(views.encoding.feature_names),
        "columns": [column.name for column in used],
        "identifier": views.encoding.identifier,
        "significance": views.significance,
        "sentence": _answer(views),
        "index": _plain(views.index),
        "given": [_describe_given(name, labels) for name, labels in views.given.items()],
        "views": described[: len(views)],
        "rejected": described[-1] if views.rejected is not None else None,
        "agreement": {
            "names": names,
            "nmi": [[_rounded(nmi(a, b)) for b in labelings] for a in labelings],
        },
        "frontier": None if views.frontier is None else _describe_frontier(views.frontier),
        "points": {"rows": rows.tolist(), "sampled_from": n},
    }


def describe_selection(selection: Selection) -> dict[str, Any]:
    """Return how settings were chosen: the best candidates, and how many were turned down.

    The keys are ``sentence``, ``rule``, ``plan`` (its key), ``found``, ``n_rows`` (of the
    subsample), ``n_candidates``, ``rejected`` (how many for which reason) and ``candidates`` (the
    best ten, as in :meth:`Selection.table`).
    """
    reasons = Counter(one.rejected for one in selection.candidates if one.rejected)
    sentence = str(selection)
    if not math.isfinite(selection.chosen.separation):  # there is none to tell
        sentence = (
            f"none of {len(selection.candidates)} candidates is admissible: the median distance "
            "and the papers' start are used"
        )
    return {
        "sentence": sentence,
        "rule": selection.rule,
        "plan": selection.plan.key,
        "found": bool(selection.found),
        "n_rows": len(selection.rows),
        "n_candidates": len(selection.candidates),
        "rejected": dict(reasons.most_common()),
        "candidates": [
            {name: v if isinstance(v, str) else _rounded(v) for name, v in row.items()}
            for row in selection.table()[:MAX_CANDIDATES]
        ],
    }


def describe_groups(view: View, X: Any, encoding: Encoding, index: Array) -> list[dict[str, Any]]:
    """Return each cluster of a view in the terms of the table.

    Each has ``label``, ``size``, ``name``, ``profile`` (of the leading columns: mean and standard
    deviation of numbers, the share of true values, the shares of categories) and ``examples``: the
    rows nearest to the middle of the group in the features that define it, with their values.
    """
    score = importance(view.feature_weights, view.explanation.strength)
    used = [column for column in encoding.columns if column.features]
    # A stable sort keeps the order of the table where columns are equally important.
    used.sort(key=lambda column: -score[column.features].sum())
    digits = min(np.finfo(X.dtype).precision, 12)
    profiles: list[dict[str, Any]] = [{} for _ in range(view.n_clusters)]
    for column in used[:MAX_COLUMNS]:
        described = _profile(column, _decoded(X, column, encoding), view.labels, digits)
        for profile, one in zip(profiles, described, strict=True):
            profile[column.name] = one
    shown = used[:EXAMPLE_COLUMNS]
    return [
        {
            "label": c,
            "size": int((view.labels == c).sum()),
            "name": view.explanation.cluster_names[c],
            "profile": profiles[c],
            "examples": [
                {
                    "row": _plain(index[[i]])[0],
                    "values": {
                        column.name: _value(column, _decoded(X[[i]], column, encoding)[0], digits)
                        for column in shown
                    },
                }
                for i in _typical_rows(view, X, c)
            ],
        }
        for c in range(view.n_clusters)
    ]


def belief(view: View, known: str = "what is known") -> str:
    """Say in a few words how far to believe a view."""
    parts = []
    if view.stability is not None:
        parts.append(f"{how_stable(view.stability)}: stability {view.stability:.2f}")
    if view.p_value is not None:
        parts.append(f"chance p {equals(view.p_value)}")
    if view.independence is not None:
        parts.append(f"NMI with {known} {view.novelty:.2f}")
    return ". ".join(filter(None, [", ".join(parts), *view.notes]))


def leading_features(view: View, names: list[str], most: int = 3) -> list[str]:
    """Return the names of the features that tell a view's groups apart, as its sentence does.

    If none does by itself, these are the features that make up most of its subspace.
    """
    found = view.explanation
    telling = telling_features(found.weights, found.strength, found.effects)
    if telling:
        return [names[i] for i in telling]
    order = np.argsort(-view.feature_weights, kind="stable")[:most]
    return [names[i] for i in order if view.feature_weights[i] >= 0.05]


def _describe_given(name: str, labels: Array) -> dict[str, Any]:
    values = [str(value) for value in _plain(labels)]
    return {"name": name, "groups": dict(Counter(values).most_common()), "labels": values}


def _describe_frontier(frontier: Frontier) -> dict[str, Any]:
    numbers = ("weights", "quality", "dependence", "novelty")
    return {name: _listed(getattr(frontier, name)) for name in numbers} | {
        "chosen": frontier.chosen
    }


def _describe_view(
    view: View, rows: Array, known: list[str], significance: float
) -> dict[str, Any]:
    found = view.explanation
    readable = view.projection
    if len(view.components):
        readable = view.projection @ found.rotation.T
    return {
        "name": view.name,
        "sentence": view.sentence,
        "evidence": _evidence(view, known, significance),
        "n_clusters": view.n_clusters,
        **{name: _rounded(getattr(view, name)) for name in NUMBERS},
        "settings": {name: _rounded(value) for name, value in vars(view.settings).items()},
        "selection": view.selection,
        "groups": view.groups,
        "feature_weights": _listed(view.feature_weights),
        "strength": _listed(found.strength),
        "effects": [_listed(row) for row in found.effects],
        "loadings": [_listed(axis) for axis in found.loadings] if len(view.components) else [],
        "labels": view.labels.tolist(),
        "coordinates": [_listed(point) for point in readable[rows]],
    }


def _answer(views: Views) -> str:
    """Say what was looked for and what was found."""
    where = f"{len(views.index)} rows and {len(views.encoding.feature_names)} features"
    known = " and ".join(views.given)
    beside = f"Beside {known}, " if known else ""
    if not views.views:
        text = f"{beside}no {'other ' * bool(known)}grouping beyond chance was found in {where}."
    else:
        several = len(views) > 1
        count = f"{len(views)} {'other ' * bool(known)}grouping{'s' * several}"
        text = f"{beside}{count} {'were' if several else 'was'} found in {where}."
    return text[0].upper() + text[1:]


def _evidence(view: View, known: list[str], significance: float) -> str:
    """Say how good a view is, how different from what is known, and how sure."""
    score = view.separation
    if score == -math.inf:
        return "No groups that are separated and new were found."
    parts = []
    real = view.p_value is None or beyond_chance(view.p_value, significance)
    if view.p_value is not None and not real:
        parts.append(
            "Chance cannot be ruled out: data without groups look as separated in "
            f"{_percent(view.p_value)} of cases (separation {score:.2f})."
        )
    else:
        parts.append(
            f"The groups are {how_separated(score)} separated ({score:.2f}; from {PLAN.clear:g} on "
            "it is clear)."
        )
    if view.independence is not None:
        others = "what was known" if len(known) != 1 else known[0]
        parts.append(
            f"They have {in_common(view.novelty)} in common with {others} (NMI {view.novelty:.2f})."
        )
    if view.stability is not None:
        parts.append(
            f"On subsamples of the rows the same groups come back with an agreement of "
            f"{view.stability:.2f}: {how_stable(view.stability)}."
        )
    if view.p_value is not None and real:
        often = _percent(view.p_value)
        parts.append(f"Chance alone would separate groups as well in {often} of cases.")
    return " ".join([*parts, *view.notes])


def _percent(p_value: float) -> str:
    """Return a p-value as a percentage, in a text that does not break before the sign."""
    if p_value < 0.001:
        return f"less than 0.1{NO_BREAK}%"
    return f"{100 * p_value:.{1 if p_value < 0.1 else 0}f}{NO_BREAK}%"


def _typical_rows(view: View, X: Any, cluster: int) -> list[int]:
    """Return the rows nearest to the mean of a cluster in the features that define it.

    Each counts by its effect size, in standard deviations of all rows: the more a feature sets the
    cluster apart, the less may a typical row stray from its mean. If no feature does, the subspace
    is what defines the cluster.
    """
    inside = np.flatnonzero(view.labels == cluster)
    effects = np.abs(view.explanation.effects[cluster])
    order = np.argsort(-effects, kind="stable")[:EXAMPLE_COLUMNS]
    defining = order[effects[order] >= NOTICEABLE]
    if len(defining):
        part = X[:, defining].toarray() if issparse(X) else X[:, defining]
        points = part[inside] / part.std(axis=0) * effects[defining]
    else:
        points = view.projection[inside]
    distance = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    return inside[np.argsort(distance, kind="stable")[:EXAMPLES]].tolist()


def _decoded(X: Any, column: Column, encoding: Encoding) -> Array:
    """Return a column before it was standardised, shape (n, its number of features)."""
    where = column.features
    part = X[:, where].toarray() if issparse(X) else X[:, where]
    return part * encoding.scale[where] + encoding.mean[where]


def _profile(column: Column, values: Array, labels: Array, digits: int) -> list[dict[str, Any]]:
    """Return what a column is like in each cluster."""
    sizes = np.bincount(labels)
    means = np.column_stack([np.bincount(labels, part) / sizes for part in values.T])
    if column.kind == "number":
        squares = np.bincount(labels, ((values - means[labels]) ** 2)[:, 0]) / sizes
        pairs = zip(means[:, 0], np.sqrt(squares), strict=True)
        return [{"mean": _rounded(m, digits), "sd": _rounded(s, digits)} for m, s in pairs]
    shares = means.clip(0.0, 1.0).round(6)
    if column.kind == "boolean":
        return [{"share": float(share)} for share in shares[:, 0]]
    if shares.shape[1] == 1:
        shares = np.column_stack([1 - shares, shares])
    return [{"shares": dict(zip(column.categories, row.tolist(), strict=True))} for row in shares]


def _value(column: Column, numbers: Array, digits: int) -> Any:
    """Return one cell as it was in the table."""
    if column.kind == "number":
        return _rounded(numbers[0], digits)
    if column.kind == "boolean":
        return bool(numbers[0] > 0.5)
    position = int(numbers[0] > 0.5) if len(numbers) == 1 else int(np.argmax(numbers))
    return column.categories[position]


def _plain(values: Array) -> list[Any]:
    """Return labels or identifiers as a list that JSON can hold: dates and objects become text."""
    listed = values.astype(str).tolist() if values.dtype.kind in "mM" else values.tolist()
    return [v if isinstance(v, str | int) else str(v) for v in listed]


def _listed(values: Array) -> list[float | None]:
    return [_rounded(value) for value in values]


def _rounded(value: Any, digits: int = 6) -> Any:
    """Return a number with so many significant digits, None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int | np.integer) else float(f"{value:.{digits}g}")
