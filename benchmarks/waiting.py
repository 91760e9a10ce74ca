"""What users wait for, in units of work that every machine can do beside it."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from multifacet import SupervisedKDR, find_views
from multifacet.datasets import load_penguins, make_independent_views
from multifacet.files import write_table

from .published import DATA
from .table import Table, figure

#: One unit: so many dense eigenproblems of so many rows, in one thread.
EIGENPROBLEMS, SIZE = 100, 400
#: Seconds of one unit where the goals, which are in seconds, were set.
UNIT_OF_GOALS = 2.0
REPEATS = 3


def unit() -> float:
    """Return the seconds of one unit."""
    A = np.random.default_rng(0).standard_normal((SIZE, SIZE))
    A = A @ A.T
    with threadpool_limits(1):
        return seconds(lambda: [np.linalg.eigh(A) for _ in range(EIGENPROBLEMS)])


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def penguins() -> dict[str, list]:
    table = load_penguins(as_dict=True)
    table.pop("sex")
    return table


def moons_beside_blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, labelings = make_independent_views(n, ["blobs", "moons"], n_noise=4, random_state=0)
    return X, labelings[:, 0]


def one_view(data, given) -> Callable[[], object]:
    return lambda: find_views(data, given=given, n_views=1)


def first_candidate() -> float:
    """Return the seconds until a search of the penguins tells of a first candidate."""
    told: list[float] = []
    began = time.perf_counter()

    def listen(event) -> None:
        if event["stage"] == "select":
            told.append(time.perf_counter() - began)

    find_views(penguins(), given="species", n_views=1, n_refits=0, verbose=listen)
    return told[0]


def command() -> float:
    """Return the seconds that the command takes beyond the library call, as it is installed.

    An installed package comes with byte code, so a first run writes it, wherever that goes here.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "penguins.csv", penguins())
        words = ["--given", "species", "--views", "1", "--quiet", "--force"]
        line = [sys.executable, "-m", "multifacet", "find", str(folder / "penguins.csv"), *words]
        place = os.environ | {"PYTHONPYCACHEPREFIX": str(folder / "code")}
        place.pop("PYTHONDONTWRITEBYTECODE", None)

        def run() -> object:
            return subprocess.run(line, check=True, capture_output=True, cwd=folder, env=place)

        run()
        whole = seconds(run)
    return whole - seconds(one_view(penguins(), "species"))


def moon_400() -> np.ndarray | None:
    path = DATA / "moon_400.csv"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        return np.array(list(csv.reader(file))[1:])[:, 2:].astype(float)


def works(quick: bool) -> list[tuple[str, float, Callable[[], float]]]:
    """Return what is timed: name, goal in seconds, and what returns its seconds."""
    found = [
        ("penguins, one view with full evidence", 2.0, one_view(penguins(), "species")),
        ("1,000 x 8, given, one view", 2.0, one_view(*moons_beside_blobs(1000))),
    ]
    if not quick:
        moons = moon_400()
        if moons is not None:
            found.append(("moon_400, nothing given, all views", 5.0, lambda: find_views(moons)))
        digits, target = load_digits(return_X_y=True)
        chosen, fixed = SupervisedKDR(9), SupervisedKDR(9, bandwidth=4.0)
        found += [
            ("10,000 x 8, given, one view", 4.0, one_view(*moons_beside_blobs(10_000))),
            ("SupervisedKDR, digits, 9 dimensions", 4.0, lambda: chosen.fit(digits, target)),
            ("the same at a fixed bandwidth", 1.5, lambda: fixed.fit(digits, target)),
        ]
    timed = [(name, goal, lambda call=call: seconds(call)) for name, goal, call in found]
    return [
        *timed,
        ("first candidate of the penguins", 0.3, first_candidate),
        ("`multifacet find` on penguins beyond the library call", 1.5, command),
    ]


def waiting(quick: bool = False) -> Table:
    table = Table(
        "What users wait for",
        ["work", "seconds", "units", "goal, units", "goal met"],
        note=f"One unit is {EIGENPROBLEMS} dense eigenproblems of {SIZE} x {SIZE} in one thread, "
        f"measured before and after each work. Goals were set where it took {UNIT_OF_GOALS:g} s. "
        f"Medians of {REPEATS} runs after one that warms up.",
    )
    for name, goal, measured in works(quick):
        measured()
        runs = []
        for _ in range(1 if quick else REPEATS):
            around = unit()
            took = measured()
            runs.append((took, took / (0.5 * (around + unit()))))
        took, units = (median(column) for column in zip(*runs, strict=True))
        allowed = goal / UNIT_OF_GOALS
        table.add(name, took, figure(units, ".2f"), figure(allowed, ".2f"), units <= allowed)
        print(table.last, flush=True)
    return table
