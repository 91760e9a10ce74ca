"""Results as plain dicts, in the words and units of the table: what reports are made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..documents import (
    CandidateDict,
    FrontierDict,
    GivenDict,
    PathStepDict,
    SelectionDict,
    ViewDict,
    ViewsDocument,
)
from ..evidence import Frontier
from ..linalg import Array
from ..metrics import nmi
from ..search import PLAN, Candidate, Selection
from ..search.path import path_of, plateau_of
from .plain import listed, plain, rounded
from .relations import NOTHING
from .verdicts import (
    SIGNIFICANCE,
    beyond_chance,
    equals,
    how_separated,
    how_stable,
    in_common,
    verdict,
)

if TYPE_CHECKING:
    from .view import View
    from .views import Views

#: Version of the dict that :func:`describe_views` returns.
FORMAT = 1
#: More points hide each other and bloat a report.
MAX_POINTS = 2000
#: Candidates kept of a search.
MAX_CANDIDATES = 10
#: What a label is called that is missing.
MISSING = "(missing)"
#: Between a number and its percent sign: a space that does not break.
NO_BREAK = "\N{NO-BREAK SPACE}"


def describe_views(views: Views) -> ViewsDocument:
    """Return views as a dict that strict JSON can hold; see :meth:`Views.to_dict`."""
    n = len(views.index)
    rows = np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(int)
    names = [*views.given, *(view.name for view in views)]
    labelings = [*views.given.values(), *(view.labels for view in views)]
    kept = [*views, *([] if views.rejected is None else [views.rejected])]
    # A view avoids what was given and all views before it.
    described = [
        _describe_view(views, view, rows, names[: len(views.given) + i])
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
        "scaling": views.encoding.scaling,
        "sentence": _answer(views),
        "index": plain(views.index),
        "roles": [] if views.roles is None else views.roles.table(),
        "given": [_describe_given(name, plain(labels)) for name, labels in views.given.items()],
        "references": _described_references(views),
        "views": described[: len(views)],
        "rejected": described[-1] if views.rejected is not None else None,
        "agreement": {
            "names": names,
            "nmi": [[rounded(nmi(a, b)) for b in labelings] for a in labelings],
        },
        "frontier": None if views.frontier is None else _describe_frontier(views.frontier),
        "points": {"rows": rows.tolist(), "sampled_from": n},
    }


def describe_selection(selection: Selection) -> SelectionDict:
    """Return how settings were chosen: the best candidates, and how many were turned down.

    The keys are ``sentence``, ``rule``, ``plan`` (its key), ``found``, ``n_rows`` (of the
    subsample), ``n_candidates``, ``rejected`` (how many for which reason), ``candidates`` (the
    best ten, as in :meth:`Selection.table`), ``path`` (versions with fewer and more groups) and
    ``plateau`` (from how many to how many groups it makes no difference).
    """
    reasons = Counter(one.rejected for one in selection.candidates if one.rejected)
    sentence = str(selection)
    if not math.isfinite(selection.chosen.separation):  # there is none to tell
        sentence = (
            f"none of {len(selection.candidates)} candidates is admissible: the median distance "
            "and the papers' start are used"
        )
    path = path_of(selection.candidates, selection.plan)
    level = plateau_of(path, selection.chosen.n_clusters, selection.plan) if path else ()
    return {
        "sentence": sentence,
        "rule": selection.rule,
        "plan": selection.plan.key,
        "found": bool(selection.found),
        "n_rows": len(selection.rows),
        "n_candidates": len(selection.candidates),
        "rejected": dict(reasons.most_common()),
        "candidates": [_describe_candidate(row) for row in selection.table()[:MAX_CANDIDATES]],
        "path": [_describe_step(one) for one in path],
        "plateau": list(level),
    }


def belief(view: View, known: str = "what is known", significance: float = SIGNIFICANCE) -> str:
    """Say in a few words how far to believe a view."""
    word = verdict(view.p_value, view.stability, view.novelty, significance)
    parts = []
    if view.stability is not None:
        parts.append(f"stability {view.stability:.2f}")
    if view.p_value is not None:
        parts.append(f"chance p {equals(view.p_value)}")
    if view.independence is not None:
        parts.append(f"NMI with {known} {view.novelty:.2f}")
    numbers = ": ".join(filter(None, [word, ", ".join(parts)]))
    return ". ".join(filter(None, [numbers, *view.notes]))


def repeating(view: View) -> str:
    """Say that a view only repeats features, if it does."""
    if not view.repeats:
        return ""
    if len(view.repeats) == 1:
        return f"only repeats the feature {view.repeats[0]}"
    return f"only repeats the combinations of the features {' and '.join(view.repeats)}"


def leading_features(view: View, names: list[str], most: int = 3) -> list[str]:
    """Return the names of the features that tell a view's groups apart, as its sentence does.

    If none does by itself, these are the features that make up most of its subspace.
    """
    if view.explanation.contrasts:
        return [names[i] for i in view.explanation.named]
    order = np.argsort(-view.feature_weights, kind="stable")[:most]
    return [names[i] for i in order if view.feature_weights[i] >= 0.05]


def _describe_candidate(row: Mapping[str, Any]) -> CandidateDict:
    plain_row = {name: v if isinstance(v, str | bool) else rounded(v) for name, v in row.items()}
    return cast(CandidateDict, plain_row)


def _describe_step(one: Candidate) -> PathStepDict:
    return {
        "n_clusters": one.n_clusters,
        "separation": rounded(one.separation),
        "surprise": rounded(one.surprise),
    }


def _describe_given(name: str, labels: Sequence[Any]) -> GivenDict:
    values = [str(value) for value in labels]
    return {"name": name, "groups": dict(Counter(values).most_common()), "labels": values}


def _described_references(views: Views) -> list[GivenDict]:
    """Return the labels that come closest to each view, to be shown beside it."""
    closest = []
    for view in views:
        related = [one for one in views.relations(view) if one.column in views.references]
        related = [one for one in related if not one.numbers and one.agreement > NOTHING]
        closest += [one.column for one in related[:1]]
    found = []
    for name in dict.fromkeys(closest):
        one = views.references[name]
        named = [*(one.names or []), MISSING]  # the code -1 takes the last
        found.append(_describe_given(name, [named[code] for code in one.values.tolist()]))
    return found


def _describe_frontier(frontier: Frontier) -> FrontierDict:
    return {
        "weights": listed(frontier.weights),
        "quality": listed(frontier.quality),
        "dependence": listed(frontier.dependence),
        "novelty": listed(frontier.novelty),
        "chosen": frontier.chosen,
    }


def _describe_view(views: Views, view: View, rows: Array, known: list[str]) -> ViewDict:
    found, significance = view.explanation, views.significance
    readable = view.projection
    if len(view.components):
        readable = view.projection @ found.rotation.T
    return {
        "name": view.name,
        "sentence": view.sentence,
        "evidence": _evidence(view, known, significance),
        "verdict": verdict(view.p_value, view.stability, view.novelty, significance),
        "kind": view.kind,
        "beside": views.beside(view),
        "relations": [one.to_dict() for one in views.relations(view)],
        "repeats": view.repeats,
        "n_clusters": view.n_clusters,
        "quality": rounded(view.quality),
        "separation": rounded(view.separation),
        "novelty": rounded(view.novelty),
        "stability": rounded(view.stability),
        "p_value": rounded(view.p_value),
        "independence": rounded(view.independence),
        "settings": {
            "n_clusters": view.settings.n_clusters,
            "n_components": view.settings.n_components,
            "bandwidth": rounded(view.settings.bandwidth),
            "novelty_weight": rounded(view.settings.novelty_weight),
        },
        "selection": view.selection,
        "groups": view.groups,
        "feature_weights": listed(view.feature_weights),
        "strength": listed(found.strength),
        "contrasts": view.contrasts,
        "told": rounded(found.told),
        "gallery": view.gallery,
        "effects": [listed(row) for row in found.effects],
        "loadings": [listed(axis) for axis in found.loadings] if len(view.components) else [],
        "labels": view.labels.tolist(),
        "coordinates": [listed(point) for point in readable[rows]],
    }


def _answer(views: Views) -> str:
    """Say what was looked for and what was found."""
    where = f"{len(views.index)} rows and {len(views.encoding.feature_names)} features"
    known = " and ".join(views.given)
    beside = f"Beside {known}, " if known else ""
    found = len(views.believed)
    doubtful = len(views) - found
    other = "other " * bool(known)
    if not found:
        text = f"{beside}no {other}grouping beyond chance was found in {where}."
    else:
        text = f"{beside}{_counted(found, other + 'grouping')} found in {where}."
    if doubtful:
        more = f"{_counted(doubtful, 'more ' * bool(found) + 'grouping')} seen and not believed."
        text = f"{text} {more}"
    return text[0].upper() + text[1:]


def _counted(count: int, word: str) -> str:
    """Return how many there were: 1 grouping was, 2 groupings were."""
    return f"{count} {word} was" if count == 1 else f"{count} {word}s were"


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
            f"{view.stability:.2f}: they are {how_stable(view.stability)}."
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
