"""The Dask engine against the low-rank engine on one machine: what distribution costs.

The data are those of ``size``. The same fit, by two threads of the low-rank engine, by Dask's
threads, and by two worker processes behind a scheduler; then the single operations on all rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from multifacet import KDAC
from multifacet.engines import Dask, LowRank
from multifacet.engines.chunked import Chunked
from multifacet.kernels import Gaussian
from multifacet.metrics import nmi
from multifacet.problems import alternative

from .size import SETTINGS, data
from .table import Table, figure

ROWS, FEW_ROWS = 200_000, 2000
QUICK_ROWS, QUICK_FEW_ROWS = 1500, 300
WAYS = ("low-rank, 2 threads", "Dask, threads", "Dask, 2 processes")


@contextmanager
def way(name: str) -> Iterator[Callable[[np.ndarray], Any]]:
    """Give what turns an array into the input of a way to run."""
    import dask.array as da

    def chunked(X: np.ndarray) -> Any:
        return da.from_array(X, chunks=(len(X) // 8, -1))

    if name == "Dask, 2 processes":
        from distributed import Client, LocalCluster

        with LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster, Client(cluster.scheduler_address):  # fmt: skip
            yield chunked
    else:
        yield chunked if name == "Dask, threads" else (lambda X: X)


def timed(task: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = task()
    return time.perf_counter() - began, result


def operations(X: Any, given: np.ndarray, lazy: bool) -> float:
    """Return seconds of one step on all rows: degrees, embedding, objective and Phi."""
    engine, rows = (Dask(), Chunked(X)) if lazy else (LowRank(), X)
    sums = engine.attach(rows, Gaussian(SETTINGS["bandwidth"]), n_jobs=2)
    problem = alternative([given], 3.0, 2)
    if lazy:
        problem = replace(problem, columns=rows.beside(problem.columns))
    rng = np.random.default_rng(0)

    def step() -> None:
        W = np.linalg.qr(np.eye(20)[:, 2:4] + 0.01 * rng.standard_normal((20, 2)))[0]
        degrees = sums.degrees(W)
        U = sums.embedding(W, 2, degrees=degrees)[1]
        gamma = problem.gamma(U, degrees)
        sums.objective(W, gamma)
        sums.phi_and_objective(W, gamma)

    step()
    return min(timed(step)[0] for _ in range(2))


def run(quick: bool = False) -> list[Table]:
    rows, few_rows = (QUICK_ROWS, QUICK_FEW_ROWS) if quick else (ROWS, FEW_ROWS)
    shorter = {"n_starts": 1, "max_iter": 1} if quick else {"n_starts": 2}
    fits = Table(
        f"The same fit of {rows:,} rows",
        ["way", "seconds", "ratio", "NMI hidden", "difference of W"],
        note="KDAC at fixed settings on two cores; the search on a sample, which takes most of the "
        "time, is the same for all. W is compared with that of the low-rank engine.",
    )
    steps = Table(
        "One step on all rows: degrees, embedding, objective and Phi",
        ["way", f"seconds, {few_rows:,} rows", f"seconds, {rows:,} rows", "ratio"],
        note="With few rows a step is nothing but overhead: building graphs, messages to the "
        "scheduler and back. Worker processes also give memory back to the system after every "
        "task, so that each array is paid for anew. Dask's threads cost little where a step takes "
        "a second; processes are for rows that do not fit the memory of one machine, or that are "
        "on several. Rows in the memory of one machine are best left to the low-rank engine, "
        "which gives the same result.",
    )
    X, given, hidden = data(rows)
    few, few_given, _ = data(few_rows)
    first: Any = None
    for name in WAYS:
        with way(name) as turn:
            lazy = name != WAYS[0]
            small = operations(turn(few), few_given, lazy)
            large = operations(turn(X), given, lazy)
            engine = "dask" if lazy else "lowrank"
            model = KDAC(2, engine=engine, n_jobs=2, **SETTINGS, **shorter)
            spent, _ = timed(lambda m=model, turn=turn: m.fit(turn(X), given=given))
            labels = np.asarray(model.labels_)
        first = first or (spent, large, model.components_)
        moved = float(np.abs(model.components_ - first[2]).max())
        fits.add(name, spent, figure(spent / first[0], ".2f"), nmi(labels, hidden),
                 figure(moved, ".0e"))  # fmt: skip
        steps.add(name, small, large, figure(large / first[1], ".2f"))
        print(fits.last, steps.last, flush=True)
    return [fits, steps]
