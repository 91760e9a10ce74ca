"""Tables of every shape: noise of few and many rows and features, and what is said of it."""

from __future__ import annotations

from itertools import product
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed

from multifacet import find_views

from .table import Table

ROWS = (5, 8, 16, 31, 32, 33, 47, 48, 49, 64, 100)
FEATURES = (1, 2, 5, 50, 400, 401, 500, 1000)
#: A seed each: nothing given and one view, something given, and the number of views left open.
CALLS = ({"n_views": 1}, {"n_views": 1, "given": True}, {"n_views": "auto"})


def outcome(n_rows: int, n_features: int, seed: int, options: dict) -> str:
    """Return the number of views, or the refusal: anything but a ValueError is a fault."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    if options.get("given"):
        options = options | {"given": np.arange(n_rows) % 2}
    try:
        return f"{len(find_views(X, **options))} views"
    except ValueError as error:
        return f"refused: {error}"


def outcomes(n_rows: int, n_features: int) -> list:
    """Return the row of the table for one shape."""
    began = perf_counter()
    told = [outcome(n_rows, n_features, seed, call) for seed, call in enumerate(CALLS)]
    return [n_rows, n_features, *told, perf_counter() - began]


def run(quick: bool = False) -> list[Table]:
    table = Table(
        "Standard normal tables of every shape: outcomes of find_views over three calls",
        ["rows", "features", "one view", "one view beside a known one", "all views", "seconds"],
        note="Evidence at its defaults. An exception other than a stated refusal ends the run. Two "
        "shapes at a time, so seconds are no measure of speed.",
    )
    shapes = [(8, 2), (16, 50)] if quick else product(ROWS, FEATURES)
    for row in Parallel(n_jobs=-1)(delayed(outcomes)(*shape) for shape in shapes):
        table.add(*row)
    return [table]
