"""An exploration: a table, what was done with it step by step, and the directory that keeps it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..files import FileData, read_file, write_json
from ..frames.shown import read_shown
from ..frames.table import read_table
from ..linalg import Array
from ..results.gallery import with_gallery
from ..results.views import Views
from ..runs.table import named_columns, unused
from .facets import Facet, facets_of, merge, renamed
from .kept import check_groups, check_setup, check_steps, load_views, read_state
from .schemas import FORMAT, STATE, check_name
from .steps import (
    ActionDict,
    FindDict,
    FoundViews,
    GroupsDict,
    Merges,
    OptionsDict,
    RenameDict,
    RolesDict,
    StateDict,
    TaskDict,
    UseDict,
)
from .tables import first_setup, some_rows


@dataclass(frozen=True)
class Origin:
    """Where all rows are, of which an exploration has some, and how many."""

    path: str
    n_rows: int


class Exploration:
    """A table and the steps taken with it.

    The steps are the truth: what they lead to is found by going through them again, so that undo is
    to leave out the last one. Every change is written to the directory before it is answered.
    """

    def __init__(self, folder: Path, state: StateDict, file: FileData) -> None:
        self.folder, self.id = folder, folder.name
        self.name = state["name"]
        self.steps = state["steps"]
        self.counter = state["counter"]
        self.lock = threading.RLock()
        self.problem: str | None = None
        self._unsaved: dict[str, Views] = {}
        self._seen: dict[tuple[str, str], Views] = {}
        self._changes = 0
        self._answers: dict[str, tuple[int, bytes]] = {}
        self.file = file
        columns, identifier = named_columns(self.file)
        table = read_table(columns)  # in which lists of numbers are taken apart
        self.columns = dict(table.columns)
        #: Where the pictures are that a column names: only of a table that whoever started the
        #: server has opened there. Files never say so, since they may come from anywhere.
        self.image_folder: str | None = None
        #: Where all rows are, if these are a sample; known for the same reason only here.
        self.origin: Origin | None = None
        first = first_setup(self.file, table, identifier)
        self.setup = state["setup"] or first
        self.n_rows = table.n_rows

    @classmethod
    def begin(cls, folder: Path, file: FileData) -> Exploration:
        """Begin with a table that was read from the directory."""
        state: StateDict = {
            "format": FORMAT,
            "name": file.name,
            "file": file.name,
            "counter": 0,
            "setup": None,
            "steps": [],
        }
        exploration = cls(folder, state, file)
        exploration.save()
        return exploration

    @classmethod
    def open(cls, folder: Path, read: Callable[[Path], FileData] = read_file) -> Exploration:
        """Take up an exploration that was kept; raise unless all of it is as it was written."""
        try:
            state = read_state(folder)
            exploration = cls(folder, state, read(folder / state["file"]))
            exploration._check()
            return exploration
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{folder.name!r} is no exploration that can be opened: {error}"
            ) from error

    def _check(self) -> None:
        """Raise unless the steps are such as can be taken with this table and these views."""
        check_setup(self.setup, self.columns)
        check_steps(self.steps, self.columns, self.n_rows)
        check_groups(self.steps, lambda view_id: self.as_found(view_id)[0].n_clusters)

    def save(self) -> None:
        """Write everything that is not yet on disk; a failure is remembered, not raised."""
        with self.lock:
            self._changes += 1
            try:
                for name, views in list(self._unsaved.items()):
                    views.save(self.folder / f"{name}.npz")
                    self._seen[name, ""] = self._unsaved.pop(name)
                state: StateDict = {
                    "format": FORMAT,
                    "name": self.name,
                    "file": self.file.name,
                    "counter": self.counter,
                    "setup": self.setup,
                    "steps": self.steps,
                }
                write_json(self.folder / STATE, state)
                self.problem = None
            except OSError as error:
                self.problem = f"not saved: {error}"

    def remembered(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Return what was made under this name, made again if anything was done since."""
        changes = self._changes
        if self._answers.get(name, (None,))[0] != changes:
            self._answers[name] = (changes, make())
        return self._answers[name][1]

    # What was done

    def facets(self) -> dict[str, Facet]:
        """Return the views with all that was done to them, in the order of their discovery."""
        return facets_of(self.steps)

    def facet(self, name: str) -> Facet:
        """Return one view; raise if there is none of this name."""
        facets = self.facets()
        if name not in facets:
            raise LookupError(f"there is no view {name!r} in this exploration")
        return facets[name]

    def do(self, step: ActionDict) -> None:
        """Take a step with a view."""
        with self.lock:
            facet = self.facet(step["view"])
            if step["do"] == "merge":
                k = self.views(facet.id)[0].n_clusters
                groups = sorted(set(step["groups"]))
                if len(groups) < 2 or groups[0] < 0 or groups[-1] >= k:
                    raise ValueError(
                        f"groups={step['groups']} cannot be merged: name 2 or more of 0 to {k - 1}"
                    )
                if len(groups) == k:
                    raise ValueError("all groups in one is no grouping: leave one out")
                step = {**step, "groups": groups}
            if step["do"] == "rename":
                self._check_name(facet, step)
            self.steps.append(step)
            self.save()

    def _check_name(self, facet: Facet, step: RenameDict) -> None:
        name = step["name"] = check_name(step["name"])
        if step["group"] is None:
            taken = {one.name for one in self.facets().values() if one.id != facet.id}
            if name in taken | set(self.columns):
                raise ValueError(f"the name {name!r} is taken: choose another")
        elif not 0 <= step["group"] < self.views(facet.id)[0].n_clusters:
            raise ValueError(f"group={step['group']} does not exist in {facet.name!r}")

    def undo(self) -> None:
        """Take back the last step; a view that was found goes with it."""
        with self.lock:
            if not self.steps:
                raise ValueError("there is nothing to undo")
            self.steps.pop()
            self.save()

    # Searching

    def configure(self, setup: RolesDict) -> None:
        """Say what the columns are for."""
        with self.lock:
            table = read_table(self.columns)
            for role, columns in _use(setup).items():
                names = table.find(role, columns)
                if len(set(names)) < len(names):
                    raise ValueError(f"{role} names a column twice")
            used = [*setup["features"], *setup["given"]]
            used += [setup["identifier"]] if setup["identifier"] is not None else []
            if len(set(used)) < len(used):
                raise ValueError(
                    "a column has two roles: it can be a feature, known or the identifier"
                )
            self.setup = {**self.setup, **setup}
            self.save()

    def task(
        self,
        options: OptionsDict,
        count: int,
        *,
        features: list[str] | None = None,
        rows: list[int] | None = None,
        together: GroupsDict | None = None,
    ) -> TaskDict:
        """Return what a worker needs to find so many views beside all that is known.

        What was accepted is known, and what was rejected is not to come again: the search is given
        both. ``features`` and ``rows`` are the only ones to look at, if someone said so, and the
        groups of a view in ``together`` are not to be told apart.
        """
        with self.lock:
            setup = self.setup if features is None else {**self.setup, "features": features}
            self._check_hints(features, rows)
            if not setup["features"]:
                raise ValueError("no column is a feature: choose at least one")
            known = [one for one in self.facets().values() if one.status != "new"]
            names = []
            for _ in range(count):
                self.counter += 1
                taken = {*self.columns, *(one.name for one in self.facets().values())}
                names.append(unused(f"view {self.counter}", taken))
            # All columns: those that are no features are compared with what is found.
            columns = self.columns | {one.name: self.known_labels(one, one.merges) for one in known}
            among = None if rows is None else sorted({*rows})
            if among is not None:
                columns = some_rows(columns, np.array(among))
            return {
                "columns": columns,
                "features": setup["features"],
                "given": [*setup["given"], *(one.name for one in known)],
                "known": [one.id for one in known],
                "merged": {one.id: one.merges for one in known},
                "setup": _use(setup),
                "identifier": setup["identifier"],
                "standardize": setup["standardize"],
                "missing": setup["missing"],
                "options": options,
                "names": names,
                "rows": among,
                "together": None if together is None else self._rows_of(**together),
                "n_rows": self.n_rows,
                "image_folder": self.image_folder,
            }

    def _rows_of(self, view: str, groups: list[int]) -> list[list[int]]:
        """Return the rows of each of some groups of a view."""
        labels, rows = self.views(view)[0].labels, self.rows(view)
        if not {*groups} <= {*labels.tolist()} or len({*groups}) < len(groups):
            raise ValueError(f"groups of this view are counted from 0 to {labels.max()}, each once")
        return [rows[labels == group].tolist() for group in groups]

    def _check_hints(self, features: list[str] | None, rows: list[int] | None) -> None:
        strange = [name for name in features or [] if name not in self.setup["features"]]
        if strange:
            raise ValueError(f"{strange[0]!r} is no feature of this table: choose among those")
        if rows is not None and not {*rows} <= {*range(self.n_rows)}:
            raise ValueError(f"rows are counted from 0 to {self.n_rows - 1} in this table")

    def known_labels(self, facet: Facet, merges: Merges) -> list[int | None]:
        """Return what a search is told of a view with some groups merged.

        Rows outside of those that the view was looked for among are one further group.
        """
        labels = self.as_found(facet.id)[0].labels
        for groups in merges:
            labels = merge(labels, groups)
        others = None if facet.step["among"] is None else int(labels.max()) + 1
        every: list[int | None] = [others] * self.n_rows
        for row, label in zip(self.rows(facet.id).tolist(), labels.tolist(), strict=True):
            every[row] = label
        return every

    def found(self, task: TaskDict, message: FoundViews) -> str:
        """Keep a view that a worker has found, and return its id."""
        with self.lock:
            number = 1 + max((int(one[1:]) for one in self._used_ids()), default=0)
            view_id, views = f"v{number}", message["views"]
            before = task.setdefault("found", [])
            step: FindDict = {
                "do": "find",
                "view": view_id,
                "name": message["name"],
                "dropped": message["dropped"],
                "options": task["options"],
                "standardize": task["standardize"],
                "missing": task["missing"],
                **task["setup"],
                # The labels of accepted views may change later; what was known stays.
                "known": [*task["known"], *before],
                "merged": task["merged"],
                # So many of them were found by the same search, which went on.
                "follows": message["follows"],
                # And so many more, which were passed over since they did not fit a hint.
                "passed": message["passed"],
                "among": task["rows"],
            }
            before.append(view_id)
            self._unsaved[view_id] = renamed(views, message["name"], {})
            self._seen = {key: seen for key, seen in self._seen.items() if key[0] != view_id}
            self.steps.append(step)
            self.save()
            return view_id

    def _used_ids(self) -> Iterator[str]:
        yield from self.facets()
        yield from (path.stem for path in self.folder.glob("v*.npz") if path.stem[1:].isdigit())

    # Looking

    def views(self, view_id: str) -> Views:
        """Return a view with its evidence, as merged and renamed so far."""
        with self.lock:
            facet = self.facet(view_id)
            key = (
                view_id,
                json.dumps([facet.name, facet.merges, sorted(facet.group_names.items())]),
            )
            if key not in self._seen:
                views = self.as_found(view_id)
                for groups in facet.merges:
                    views = self._merged(views, groups, facet)
                # Of each view, what was found and its last version are held.
                kept = {k: v for k, v in self._seen.items() if k[0] != view_id or k[1] == ""}
                self._seen = kept | {key: renamed(views, facet.name, facet.group_names)}
            return self._seen[key]

    def as_found(self, view_id: str) -> Views:
        """Return a view before anything was done to it."""
        key = (view_id, "")
        if view_id in self._unsaved:
            return self._unsaved[view_id]
        if key not in self._seen:
            step = self.facet(view_id).step
            path = self.folder / f"{view_id}.npz"
            self._seen[key] = load_views(path, step, self.columns, self.n_rows)
        return self._seen[key]

    def _merged(self, views: Views, groups: list[int], facet: Facet) -> Views:
        """Return the view with some groups in one; evidence that is lost with them is None."""
        view, encoding, rows = views[0], views.encoding, self.rows(facet.id)
        X = encoding.transform(some_rows(self.columns, rows, self._used(views)))
        changed = view.relabelled(
            merge(view.labels, groups),
            X,
            given=list(views.given.values()),
            encoding=encoding,
            index=views.index,
        )
        if views.roles is not None:
            shown = read_shown(read_table(self.columns), views.roles, rows)
            changed = with_gallery(changed, shown.within(self.image_folder), views.index)
        return replace(views, views=[changed])

    def _used(self, views: Views) -> list[str]:
        return [column.name for column in views.encoding.columns if column.features]

    def rows(self, view_id: str) -> Array:
        """Return the positions of the rows that a view is about."""
        gone = np.array(self.facet(view_id).step["dropped"], dtype=int)
        return np.delete(np.arange(self.n_rows), gone)

    def labels(self, view_id: str) -> list[int | None]:
        """Return the groups of all rows, None for those that were dropped."""
        labels: list[int | None] = [None] * self.n_rows
        for row, label in zip(
            self.rows(view_id).tolist(), self.views(view_id)[0].labels.tolist(), strict=True
        ):
            labels[row] = label
        return labels


def _use(setup: UseDict) -> UseDict:
    """Return what the columns are for, and nothing else."""
    return {
        "features": setup["features"],
        "given": setup["given"],
        "identifier": setup["identifier"],
    }
