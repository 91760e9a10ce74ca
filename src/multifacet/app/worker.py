"""The search, in a process of its own: it can be stopped, and cannot take the page down."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..progress import Event
from .words import for_the_page

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from .steps import FoundViews, OptionsDict, ProgressDict, SketchDict, TaskDict

#: Share of the machine's memory that a search may take.
MEMORY_SHARE = 0.8
#: Seconds between two messages about progress, and points of a picture on the way.
PACE, SKETCH_POINTS = 0.15, 2000
#: What groups have in common, from 0 to 1, from which a view leaves them together, and how many
#: views are looked at until one does.
TOGETHER, MOST_PASSED = 0.7, 5


def work(connection: Connection) -> None:
    """Do one job after the other, and tell about them through the connection."""
    _limit_memory()
    # What takes seconds to import is ready before someone clicks.
    from ..tables import find  # noqa: F401

    try:
        kept: list[_Kept] = []
        while True:
            _do(connection.recv(), connection, kept)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):  # nobody is left to tell
        return


def _limit_memory() -> None:
    """Let a search fail before the whole machine does, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    most = int(MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _do(job: TaskDict, connection: Connection, kept: list[_Kept]) -> None:
    """Find views one after the other, each given all before it."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", category=UserWarning)
            _find(job, connection, kept)
        notes = list(dict.fromkeys(for_the_page(warning.message) for warning in caught))
        connection.send({"kind": "done", "notes": notes})
    except (EOFError, BrokenPipeError):
        raise
    except MemoryError as error:
        kept.clear()
        words = f"the search ran out of memory{f': {error}' if str(error) else ''}"
        connection.send({"kind": "failed", "message": words})
    except Exception as error:  # whatever it is, the page has to hear of it
        known = isinstance(error, ValueError | OSError | ImportError)
        words = for_the_page(error) if known else f"unexpected {type(error).__name__}: {error}"
        connection.send({"kind": "failed", "message": words})


def _find(job: TaskDict, connection: Connection, kept: list[_Kept]) -> None:
    """Find views one after the other; ``kept`` holds the search that is gone on with, if any."""
    import numpy as np

    from ..frames import prepare
    from ..tables.find import told_views

    columns, given = dict(job["columns"]), list(job["given"])
    rows = np.arange(job["n_rows"]) if job["rows"] is None else np.array(job["rows"])
    for name in job["names"]:
        prepared = prepare(
            columns,
            given=given or None,
            features=job["features"],
            identifier=job["identifier"],
            standardize=job["standardize"],
            missing=job["missing"],
            latent=True,
        )
        places = prepared.rows
        index = rows[places] if prepared.encoding.identifier is None else prepared.index
        shown = prepared.shown.within(job["image_folder"])
        prepared = replace(prepared, rows=rows[places], index=index, shown=shown)
        search, follows = _begun(prepared, job["options"], kept)
        view = search.next(_Teller(connection, prepared, name), _kept_together(job, prepared.rows))
        if view is None:
            raise ValueError("no further grouping was found: allow one again, or change settings")
        passed = len(search.found) - 1 - follows
        views = told_views(prepared, search.finder, [view])
        if views[0].repeats:  # the next search is given it, as that of find_views is
            kept.clear()
        labels: Any = [None] * len(rows)
        for row, label in zip(places, view.labels, strict=True):
            labels[row] = int(label)
        columns[name] = labels
        given.append(name)
        dropped = sorted({*range(job["n_rows"])} - {*views.rows.tolist()})
        found: FoundViews = {
            "kind": "found",
            "views": views,
            "name": name,
            "dropped": dropped,
            "follows": follows,
            "passed": passed,
        }
        connection.send(found)


def _kept_together(job: TaskDict, rows: Any) -> Callable[[Any], bool] | None:
    """Return what tells whether labels of some rows leave groups together, if anyone asked."""
    import numpy as np

    if job["together"] is None:
        return None
    members = [np.flatnonzero(np.isin(rows, group)) for group in job["together"]]

    def together(labels: Any) -> bool:
        shares = [np.bincount(labels[one], minlength=labels.max() + 1) for one in members]
        spread = [one / max(one.sum(), 1) for one in shares]
        # What all of the groups have in common: 1 if they are spread alike, 0 if they are apart.
        return bool(np.minimum.reduce(spread).sum() >= TOGETHER)

    return together


@dataclass
class _Kept:
    """A search with what it has found: it can go on where all of that is avoided, and no more."""

    X: Any
    options: OptionsDict
    finder: Any
    ongoing: Any
    found: list[Any]

    def next(self, tell: _Teller, fits: Callable[[Any], bool] | None) -> Any:
        """Return the next view; those that do not fit are passed over like views seen before."""
        self.finder.set_params(verbose=tell)
        for _ in range(1 if fits is None else MOST_PASSED):
            view = self.ongoing.next(self.found)
            if view is None:
                return None
            self.found.append(view.labels)
            if fits is None or fits(view.labels):
                return view
        return None

    def leads_to(self, X: Any, options: OptionsDict, known: list[Any]) -> bool:
        """Tell whether going on is what is asked for."""
        from ..results.measures import same_grouping

        mine = [*self.ongoing.given, *self.found]
        return (
            options == self.options
            and len(known) == len(mine)
            and _same(X, self.X)
            and all(map(same_grouping, mine, known))
        )


def _begun(prepared: Any, options: OptionsDict, kept: list[_Kept]) -> tuple[_Kept, int]:
    """Return the search for the next view, and how many views it has found before."""
    from ..finding.finder import ViewFinder
    from ..validation import check_labelings

    X = prepared.X
    known = check_labelings(prepared.given or None, X.shape[0], prepared.given_names)
    if kept and kept[0].leads_to(X, options, known):
        return kept[0], len(kept[0].found)
    kept.clear()  # before the next one takes its memory
    finder = ViewFinder(1, **options)
    kept.append(_Kept(X, options, finder, finder.begin(X, given=known or None), []))
    return kept[0], 0


def _same(X: Any, other: Any) -> bool:
    """Tell whether two tables of features, both of which may be sparse, are the same."""
    import numpy as np
    from scipy.sparse import issparse

    if X.shape != other.shape or issparse(X) != issparse(other):
        return False
    return bool((other != X).nnz == 0) if issparse(X) else np.array_equal(X, other)


class _Teller:
    """Turns events of the library into messages, not too many, and draws the best so far."""

    def __init__(self, connection: Connection, prepared: Any, name: str) -> None:
        self._connection, self._prepared, self._name = connection, prepared, name
        self._last = self._last_sketch = 0.0
        self._sketched: Any = None
        self._stage: str | None = None

    def __call__(self, event: Event) -> None:
        """Pass on an event."""
        now = time.monotonic()
        best = event.get("best")
        new = best is not None and best is not self._sketched
        if new and now - self._last_sketch > 4 * PACE:
            self._sketched, self._last_sketch = best, now
            self._connection.send(self._sketch(best, event.get("rows")))
        # A stage that is over sooner than the pace is told of all the same.
        if now - self._last > PACE or "done" not in event or event["stage"] != self._stage:
            self._last, self._stage = now, event["stage"]
            told: ProgressDict = {"kind": "progress", "name": self._name, "stage": event["stage"]}
            if "done" in event:
                told["done"] = event["done"]
            if "total" in event:
                told["total"] = event["total"]
            if best is not None and best.separation > -1e9:
                told["separation"] = float(best.separation)
            self._connection.send(told)

    def _sketch(self, best: Any, labelled: Any) -> SketchDict:
        """Return rows in the subspace of a candidate: those that it has labels for, if known."""
        import numpy as np

        X = self._prepared.X
        n = X.shape[0]
        if labelled is None and len(best.labels) == n:
            labelled = np.arange(n)
        rows = labelled
        if rows is None:
            rows = np.linspace(0, n - 1, min(n, SKETCH_POINTS)).round().astype(int)
        points = np.asarray(X[rows] @ best.W[:, :2])
        points = points - points.mean(axis=0)
        return {
            "kind": "sketch",
            "name": self._name,
            "points": {
                "rows": self._prepared.rows[rows].tolist(),
                "x": points[:, 0].round(4).tolist(),
                "y": points[:, 1].round(4).tolist() if points.shape[1] > 1 else None,
                "labels": None if labelled is None else best.labels.tolist(),
                "total": n,
            },
            "n_clusters": int(best.n_clusters),
            "admissible": not best.rejected,
        }
