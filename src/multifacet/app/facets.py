"""Views as the user has made them: accepted or not, with groups merged and named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ..linalg import Array
from ..results.views import Views
from .steps import FindDict, Merges, StepDict


@dataclass
class Facet:
    """A view in an exploration: what was found, and what the user made of it."""

    id: str
    name: str
    step: FindDict
    status: str = "new"
    merges: Merges = field(default_factory=list)
    group_names: dict[int, str] = field(default_factory=dict)


def facets_of(steps: Iterable[StepDict]) -> dict[str, Facet]:
    """Return the views with all that was done to them, in the order of their discovery."""
    facets: dict[str, Facet] = {}
    for step in steps:
        if step["do"] == "find":
            facets[step["view"]] = Facet(step["view"], step["name"], step)
            continue
        facet = facets[step["view"]]
        if step["do"] == "rename":
            if step["group"] is None:
                facet.name = step["name"]
            else:
                facet.group_names[step["group"]] = step["name"]
        elif step["do"] == "merge":
            facet.merges.append(step["groups"])
            facet.group_names = {}
        else:
            facet.status = {"accept": "accepted", "reject": "rejected"}.get(step["do"], "new")
    return facets


def merge(labels: Array, groups: list[int]) -> Array:
    """Return labels with some groups in one, numbered from 0 without gaps."""
    joined = np.where(np.isin(labels, groups), min(groups), labels)
    return np.unique(joined, return_inverse=True)[1]


def renamed(views: Views, name: str, group_names: dict[int, str]) -> Views:
    """Return views whose only view, and some of its groups, have the names of the user."""
    return replace(views, views=[views[0].renamed(name, group_names)])
