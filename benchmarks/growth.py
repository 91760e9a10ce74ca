"""How the time of ``find_views`` grows: with rows, features, groups, what is given, and views."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import random as random_sparse

from multifacet import View, ViewFinder
from multifacet.datasets import make_gaussian_views, make_independent_views
from multifacet.metrics import nmi

from .record import RESULTS
from .table import Table, figure
from .waiting import seconds, unit

#: What grows, with the values that are tried; the first two are those of the quick form.
ROWS = (1_000, 3_000, 10_000, 100_000, 1_000_000)
FEATURES = (5, 20, 50, 100, 200, 500, 1_000, 5_000)
SPARSE = (1_000, 5_000, 20_000)
GROUPS = (2, 5, 10, 20, 50)
GIVEN = (1, 2, 3, 5)
VIEWS = (1, 2, 3, 4)
#: Rows where something else grows, and features where rows do.
FEW_ROWS, SPARSE_ROWS, SOME_FEATURES = 1_000, 5_000, 20
#: Slopes of the logarithm of time that are allowed.
BARS = {"rows": 1.0, "features": 2.0, "features, sparse": 1.0}


@dataclass(frozen=True)
class Task:
    """A search: its data, what is given, the hidden grouping, and options."""

    X: object
    given: np.ndarray | None
    hidden: np.ndarray
    options: dict[str, object]

    def found(self) -> tuple[float, list[View]]:
        """Return the seconds of the search, and its views."""
        finder = ViewFinder(**{"n_views": 1, "random_state": 0} | self.options)
        took = seconds(lambda: finder.fit(self.X, given=self.given))
        return took, finder.views_


def blobs(n: int, d: int, k: int = 3, hidden: str = "blobs") -> Task:
    X, labelings = make_independent_views(
        n, ["blobs", hidden], n_clusters=[2, k], n_noise=max(d - 4, 0), random_state=0
    )
    return Task(X[:, :d].astype(np.float32), labelings[:, 0], labelings[:, 1], {})


def many_groups(k: int) -> Task:
    X, labelings = make_gaussian_views(max(FEW_ROWS, 40 * k), [2, k], random_state=0)
    return Task(X, labelings[:, 0], labelings[:, 1], {"n_clusters": k})


def several_given(m: int) -> Task:
    X, labelings = make_independent_views(FEW_ROWS, ["blobs"] * (m + 1), random_state=0)
    return Task(X, labelings[:, :m], labelings[:, m], {})


def several_views(m: int) -> Task:
    X, labelings = make_independent_views(FEW_ROWS, ["blobs"] * m, random_state=0)
    return Task(X, None, labelings[:, 0], {"n_views": m})


def sparse(d: int) -> Task:
    """Counts of words: two topics, each with words of its own."""
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 2, (2, SPARSE_ROWS))
    X = random_sparse(SPARSE_ROWS, d, density=min(0.05, 50 / d), format="csr", random_state=0)
    words = random_sparse(SPARSE_ROWS, 40, density=0.5, format="lil", random_state=1)
    for word in range(40):  # ten words of each topic
        topic, side = topics[word % 2], word // 20
        words[topic != side, word] = 0
    X[:, :40] = words.tocsr()
    return Task(X.tocsr(), topics[0], topics[1], {"n_clusters": 2})


GROWTHS: dict[str, tuple[tuple[int, ...], Callable[[int], Task]]] = {
    "rows": (ROWS, lambda n: blobs(n, SOME_FEATURES)),
    "features": (FEATURES, lambda d: blobs(FEW_ROWS, d)),
    "features, sparse": (SPARSE, sparse),
    "groups asked for": (GROUPS, many_groups),
    "labelings given": (GIVEN, several_given),
    "views": (VIEWS, several_views),
}


def slope(values: list[int], times: list[float]) -> float:
    """Return the slope of log time over the last two values, where it is steepest to come."""
    (a, b), (s, t) = values[-2:], times[-2:]
    return float(np.log(t / s) / np.log(b / a))


def draw(curves: dict[str, tuple[list[int], list[float]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
    for ax, (name, (values, units)) in zip(axes.flat, curves.items(), strict=True):
        ax.loglog(values, units, marker="o")
        ax.set(xlabel=name, ylabel="units")
    fig.savefig(RESULTS / "growth.png", dpi=110)


def run(quick: bool = False) -> list[Table]:
    warnings.simplefilter("ignore")
    one = unit()
    table = Table(
        "Time of a search as something grows",
        ["what grows", "value", "seconds", "units", "NMI hidden"],
        note=f"ViewFinder, one view with evidence unless views grow. Rows: {SOME_FEATURES} "
        f"features; otherwise {FEW_ROWS} rows (sparse: {SPARSE_ROWS}). As a picture: growth.png. "
        f"A unit took {one:.2f} s.",
    )
    slopes = Table(
        "Slopes of log time over the last two values",
        ["what grows", "slope", "bar"],
        note="Features: quadratic below 500, linear above.",
    )
    curves = {}
    for name, (values, task) in GROWTHS.items():
        chosen = list(values[:2] if quick else values)
        times = []
        for value in chosen:
            work = task(value)
            took, views = work.found()
            times.append(took)
            agreement = max((nmi(view.labels, work.hidden) for view in views), default=0.0)
            table.add(name, value, took, figure(took / one, ".2f"), figure(agreement, ".2f"))
            print(table.last, flush=True)
        curves[name] = chosen, [took / one for took in times]
        slopes.add(name, figure(slope(chosen, times), ".2f"), BARS.get(name, ""))
    if not quick:
        draw(curves)
    return [slopes, table]
