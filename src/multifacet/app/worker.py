"""The search, in a process of its own: it can be stopped, and cannot take the page down."""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING, Any

from ..progress import Event
from .words import for_the_page

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Share of the machine's memory that a search may take.
MEMORY_SHARE = 0.8
#: Seconds between two messages about progress, and points of a picture on the way.
PACE, SKETCH_POINTS = 0.15, 2000


def work(connection: Connection) -> None:
    """Do one job after the other, and tell about them through the connection."""
    _limit_memory()
    # What takes seconds to import is ready before someone clicks.
    from ..tables import find  # noqa: F401

    try:
        while True:
            _do(connection.recv(), connection)
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


def _do(job: dict[str, Any], connection: Connection) -> None:
    """Find views one after the other, each given all before it."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", category=UserWarning)
            _find(job, connection)
        notes = list(dict.fromkeys(for_the_page(warning.message) for warning in caught))
        connection.send({"kind": "done", "notes": notes})
    except (EOFError, BrokenPipeError):
        raise
    except MemoryError as error:
        words = f"the search ran out of memory{f': {error}' if str(error) else ''}"
        connection.send({"kind": "failed", "message": words})
    except Exception as error:  # whatever it is, the page has to hear of it
        known = isinstance(error, ValueError | OSError | ImportError)
        words = for_the_page(error) if known else f"unexpected {type(error).__name__}: {error}"
        connection.send({"kind": "failed", "message": words})


def _find(job: dict[str, Any], connection: Connection) -> None:
    from ..finding.finder import ViewFinder
    from ..frames import prepare
    from ..tables.find import views_of

    columns, given = dict(job["columns"]), list(job["given"])
    table = {name: job[name] for name in ("features", "identifier", "standardize", "missing")}
    for name in job["names"]:
        prepared = prepare(columns, given=given or None, **table)
        tell = _Teller(connection, prepared, name)
        views = views_of(prepared, ViewFinder(1, verbose=tell, **job["options"]))
        dropped = sorted({*range(job["n_rows"])} - {*views.rows.tolist()})
        connection.send({"kind": "found", "views": views, "name": name, "dropped": dropped})
        labels: Any = [None] * job["n_rows"]
        for row, label in zip(views.rows, views[0].labels, strict=True):
            labels[row] = int(label)
        columns[name] = labels
        given.append(name)


class _Teller:
    """Turns events of the library into messages, not too many, and draws the best so far."""

    def __init__(self, connection: Connection, prepared: Any, name: str) -> None:
        self._connection, self._prepared, self._name = connection, prepared, name
        self._last = self._last_sketch = 0.0
        self._sketched: Any = None

    def __call__(self, event: Event) -> None:
        """Pass on an event."""
        now = time.monotonic()
        best = event.get("best")
        new = best is not None and best is not self._sketched
        if new and now - self._last_sketch > 4 * PACE:
            self._sketched, self._last_sketch = best, now
            sketch = self._sketch(best, event.get("rows"))
            self._connection.send({"kind": "sketch", "name": self._name, **sketch})
        if now - self._last > PACE or "done" not in event:
            self._last = now
            told: dict[str, Any] = {
                key: event[key] for key in ("stage", "done", "total") if key in event
            }
            if best is not None and best.separation > -1e9:
                told["separation"] = float(best.separation)
            self._connection.send({"kind": "progress", "name": self._name, **told})

    def _sketch(self, best: Any, labelled: Any) -> dict[str, Any]:
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
