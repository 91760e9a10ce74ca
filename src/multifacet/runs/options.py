"""What can be said to a run, by the names that files and the command line use."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """Something that can be said to a run.

    Attributes
    ----------
    name : str
        What run.json and files of options call it; the command line puts two dashes before it.
    parameter : str
        What the library calls it.
    default : object
        Its value if nobody says anything.
    """

    name: str
    parameter: str
    default: Any = None


#: All options, by name.
OPTIONS = {
    option.name: option
    for option in (
        Option("data", "data"),
        Option("format", "format"),
        Option("separator", "separator"),
        Option("decimal", "decimal"),
        Option("encoding", "encoding"),
        Option("matrix", "matrix", "auto"),
        Option("id", "identifier"),
        Option("rows", "rows"),
        Option("given", "given", []),
        Option("existing", "existing", []),
        Option("target", "target", []),
        Option("scores", "scores", []),
        Option("labels", "labels", []),
        Option("features", "features", []),
        Option("exclude", "exclude", []),
        Option("categories", "categories", "reference"),
        Option("keep-trivial", "keep_trivial", False),
        Option("missing", "missing", "error"),
        Option("standardize", "standardize", "auto"),
        Option("views", "n_views", "auto"),
        Option("clusters", "n_clusters", "auto"),
        Option("dimensions", "n_components", "auto"),
        Option("sparsity", "sparsity"),
        Option("folds", "n_folds", 3),
        Option("strategy", "strategy", "iterative"),
        Option("method", "method", "auto"),
        Option("novelty-weight", "novelty_weight", "auto"),
        Option("refits", "n_refits", 3),
        Option("bandwidth", "bandwidth", "auto"),
        Option("seed", "random_state", 0),
        Option("jobs", "n_jobs"),
        Option("workers", "workers"),
        Option("scheduler", "scheduler"),
    )
}
_DATA = ("data", "format", "separator", "decimal", "encoding", "matrix", "id")
_FEATURES = ("features", "exclude", "categories", "missing", "standardize")
_SEARCH = ("bandwidth", "seed", "jobs")
#: The options of each task.
TASKS: dict[str, tuple[str, ...]] = {
    "find": (
        *(*_DATA, "rows", "given", "existing", "views", "clusters", *_FEATURES),
        *("keep-trivial", "strategy", "method", "dimensions", "novelty-weight", "refits", *_SEARCH),
        *("workers", "scheduler"),
    ),
    "reduce": (
        *(*_DATA, "target", "scores", "dimensions", "clusters", "sparsity", "folds"),
        *(*_FEATURES, *_SEARCH),
    ),
    "compare": (*_DATA, "labels", "missing", "seed"),
}


def defaults(task: str) -> dict[str, Any]:
    """Return what a task is told if nobody says anything, by the parameters of the library."""
    return {OPTIONS[name].parameter: OPTIONS[name].default for name in TASKS[task]}


def spell(value: Any) -> str:
    """Return a value as one word: a list with commas, and quotes around names that hold one."""
    if not isinstance(value, list):
        return str(value)
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(value)
    return text.getvalue()
