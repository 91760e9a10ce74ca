"""What long work tells meanwhile: events of known stages, for whoever listens.

An event is a dict with a ``stage``, and whatever else is known. The library words none of them: the
command line, the workbench and ``verbose`` do, and a test holds their words complete.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Literal, TypedDict, get_args

Stage = Literal[
    "view",  # a further view is looked for: number, most
    "select",  # candidates on a sample: done, total, best (a Candidate), rows (of the sample)
    "explore",  # one start of the alternation: start, done, total, objective
    "climb",  # the final refinement: objective
    "solve",  # one start of a solver: objective
    "stability",  # refits on other rows
    "twins",  # the same search in tables like this one without groups: done, total
    "refine",  # all views together
    "frontier",  # what novelty costs in quality
    "components",  # independent components
    "merge",  # dependent components are put together: subspaces, bits
    "clusters",  # clusters of the subspaces: number, most
]
#: All stages.
STAGES: tuple[str, ...] = get_args(Stage)


class Event(TypedDict, total=False):
    """What is known about a step of the work; only ``stage`` is always there."""

    stage: Stage
    number: int
    most: int
    done: int
    total: int
    start: str
    objective: float
    best: Any
    rows: Any
    subspaces: int
    bits: float


Callback = Callable[[Event], None]


def as_callback(verbose: Any) -> Callback | None:
    """Return what receives progress: a callable itself, standard error, or nobody."""
    if callable(verbose):
        return verbose
    return _report_to_stderr if verbose else None


def announce(verbose: Any, stage: Stage, **details: Any) -> None:
    """Tell whoever listens what comes next."""
    callback = as_callback(verbose)
    if callback is not None:
        callback(Event(stage=stage, **details))  # type: ignore[typeddict-item]


def _report_to_stderr(event: Event) -> None:
    # Of a candidate its separation, of arrays nothing.
    plain = {name: getattr(value, "separation", value) for name, value in event.items()}
    fields = [
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in plain.items()
        if isinstance(value, str | int | float)
    ]
    sys.stderr.write(f"multifacet: {', '.join(fields)}\n")
