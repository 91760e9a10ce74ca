"""What distribution costs on one machine, that it changes no label, and what a cluster would take.

The data are those of ``size``, made by the workers in 16 partitions. A whole automatic fit with the
labels of all rows, by the low-rank engine, by Dask's threads, and by one, two and four worker
processes behind a scheduler; the same with all rows refined; the labels of every estimator beside
those of rows in memory; and what is projected from the costs of single tasks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from multifacet import (
    KDAC,
    EmbeddingKDAC,
    LinearKDAC,
    SemiSupervisedKDR,
    SupervisedKDR,
    UnsupervisedKDR,
    ViewFinder,
    find_views,
)
from multifacet.engines.cluster import local_workers
from multifacet.fitting.driver import ManyRows
from multifacet.metrics import nmi

from .projection import projected
from .size import SETTINGS, data
from .table import Table, figure

PARTITIONS = 16
#: Beyond 20,000 rows, where all but one pass is about a sample: what is below takes many passes.
SIZES, QUICK_SIZES = (200_000, 2_000_000), (24_000, 32_000)
REFINED = 500_000
PROCESSES, QUICK_PROCESSES = (1, 2, 4), (1, 2)
#: Everything that is not said is chosen; and what makes a fit quick, but no groups.
AUTOMATIC: dict[str, Any] = {"random_state": 0}
QUICK: dict[str, Any] = {
    "kernel": "linear", "n_components": 2, "novelty_weight": 3.0, "n_starts": 1, "random_state": 0,
}  # fmt: skip
LOCAL, THREADS = "low-rank, 2 threads, in memory", "Dask, threads"


def in_partitions(rows: int) -> Any:
    """Return the data as a dask array that whoever computes it makes by itself."""
    import dask.array as da

    each = rows // PARTITIONS
    numbers = da.arange(PARTITIONS, chunks=1)[:, None]
    chunks = ((each,) * PARTITIONS, (20,))
    return numbers.map_blocks(_made, each, chunks=chunks, dtype=float, meta=np.empty((0, 0)))


def _made(number: np.ndarray, rows: int) -> np.ndarray:
    return data(rows, seed=int(number[0, 0]))[0]


def labels(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what is given and what is hidden, for all rows."""
    parts = [data(rows // PARTITIONS, seed=number)[1:] for number in range(PARTITIONS)]
    given, hidden = zip(*parts, strict=True)
    return np.concatenate(given), np.concatenate(hidden)


@contextmanager
def way(processes: int | None) -> Iterator[None]:
    """Have what is inside computed by so many processes; by threads if it is None."""
    if processes is None:
        yield
    else:
        with local_workers(processes) as client, client.as_current():
            yield


def timed(task: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = task()
    return time.perf_counter() - began, result


class Refined(KDAC):
    """All rows are refined, also where other rows tell the same as a sample."""

    many_rows = ManyRows(same=2.0)


def fitted(
    X: Any, given: np.ndarray, settings: dict[str, Any], kind: type[KDAC] = KDAC
) -> np.ndarray:
    """Return the labels that a fit ends with."""
    return np.asarray(kind(2, n_jobs=2, **settings).fit(X, given=given).labels_)


def automatic(
    sizes: tuple[int, ...], processes: tuple[int, ...], settings: dict[str, Any]
) -> Table:
    table = Table(
        "A whole automatic fit, with the labels of all rows",
        _columns(sizes),
        note="KDAC with two clusters and everything else automatic, 20 features in 16 partitions. "
        "The search on a sample runs where the call is made and takes most of the time; the ratio "
        "is that of the most rows, to threads with rows in memory. Processes beyond the cores of "
        "this machine show what they cost, not what they bring.",
    )
    return compared(table, sizes, processes, lambda X, given: fitted(X, given, settings))


def refining(rows: int, processes: tuple[int, ...], settings: dict[str, Any]) -> Table:
    table = Table(
        "The same where all rows are refined",
        _columns((rows,)),
        note="KDAC at fixed settings, with the refinement that is left out where a second sample "
        "tells the same as the first: up to five steps of several passes over all rows. That is "
        "the most that processes cost.",
    )
    return compared(table, (rows,), processes, lambda X, y: fitted(X, y, settings, Refined))


def _columns(sizes: tuple[int, ...]) -> list[str]:
    return ["way", *(f"seconds, {n:,} rows" for n in sizes), "ratio", "NMI hidden"]


def compared(
    table: Table,
    sizes: tuple[int, ...],
    processes: tuple[int, ...],
    fit: Callable[[Any, np.ndarray], np.ndarray],
) -> Table:
    """Return a table with a row for each way of computing a fit."""
    spent: dict[str, list[float]] = {}
    known = {n: labels(n) for n in sizes}
    ways = {LOCAL: None, THREADS: None} | {
        f"Dask, {n} process{'es' * (n > 1)}": n for n in processes
    }
    for name, count in ways.items():
        spent[name], found = [], 0.0
        with way(count):
            for n in sizes:
                given, hidden = known[n]
                X = in_partitions(n)
                X = X.compute() if name == LOCAL else X
                seconds, told = timed(lambda X=X, given=given: fit(X, given))
                spent[name].append(seconds)
                found = nmi(told, hidden)
        ratio = figure(spent[name][-1] / spent[LOCAL][-1], ".2f")
        table.add(name, *spent[name], ratio, found)
        print(table.last, flush=True)
    return table


def estimators(settings: dict[str, Any]) -> dict[str, Callable[[Any, np.ndarray], Any]]:
    """Return what tells labels, or places, of rows beside what is given."""
    return {
        "KDAC": lambda X, y: KDAC(2, **settings).fit(X, given=y).labels_,
        "LinearKDAC": lambda X, y: LinearKDAC(2, random_state=0).fit(X, given=y).labels_,
        "EmbeddingKDAC": lambda X, y: (
            EmbeddingKDAC(
                2, bandwidth=1.0, random_state=0, engine="lowrank" if _here(X) else "dask"
            )
            .fit(X, given=y)
            .labels_
        ),
        "UnsupervisedKDR": lambda X, y: (
            UnsupervisedKDR(2, n_components=2, bandwidth=1.0, random_state=0).fit(X).labels_
        ),
        "SupervisedKDR": lambda X, y: (
            SupervisedKDR(1, kernel="linear").fit(X, y).transform(X)[:, 0] > 0
        ),
        "SemiSupervisedKDR": lambda X, y: (
            SemiSupervisedKDR(2, n_components=2, bandwidth=1.0, score_weight=1.0, random_state=0)
            .fit(X, y.astype(float))
            .labels_
        ),
        "ViewFinder": lambda X, y: (
            ViewFinder(1, 2, method="linear", random_state=0).fit(X, given=y).labels_
        ),
        "find_views": lambda X, y: find_views(
            X, given=y, n_views=1, n_clusters=2, method="linear"
        ).predict(X)[:, 0],
    }


def _here(X: Any) -> bool:
    return isinstance(X, np.ndarray)


def agreement(rows: int, settings: dict[str, Any]) -> Table:
    table = Table(
        f"Labels of {rows:,} rows beside those of the same rows in memory",
        ["estimator", "equal labels", "rows that differ"],
        note="Two worker processes. ViewFinder and find_views look at rows that their content "
        "chooses, all others at the same sample or at all rows. Of SupervisedKDR, the side of the "
        "axis.",
    )
    given, _ = labels(rows)
    with way(2):
        X = in_partitions(rows)
        here = X.compute()
        for name, tell in estimators(settings).items():
            local = np.asarray(tell(here, given)).astype(int)
            other = int((np.asarray(tell(X, given)).astype(int) != local).sum())
            differ = min(other, rows - other)  # two groups, by any numbers
            table.add(name, figure(100 * (1 - differ / rows), ".4g", " %"), differ)
            print(table.last, flush=True)
    return table


def run(quick: bool = False) -> list[Table]:
    sizes, processes = (QUICK_SIZES, QUICK_PROCESSES) if quick else (SIZES, PROCESSES)
    fixed = QUICK if quick else {**SETTINGS, "n_starts": 2}
    return [
        automatic(sizes, processes, QUICK if quick else AUTOMATIC),
        refining(QUICK_SIZES[0] if quick else REFINED, (2,), fixed),
        agreement(sizes[0], fixed),
        *projected(quick),
    ]
