"""What a cluster would take for very many rows, projected from what single tasks cost here."""

from __future__ import annotations

import pickle
import time

import numpy as np

from multifacet import find_views
from multifacet.engines.cluster import local_workers
from multifacet.results.partitioned import Teller
from multifacet.tables.survey import survey

from .size import data
from .table import Table, figure

#: Rows of a partition, and bytes per second between two machines, that are assumed.
PARTITION_ROWS, BANDWIDTH = 1_000_000, 125e6
ROWS, WORKERS = (10**7, 10**8, 10**9, 10**10), (1, 10, 100, 1000)
TRIED_ROWS, QUICK_TRIED_ROWS = 1_000_000, 2000
TASKS, QUICK_TASKS = 5000, 50
#: Tasks of a partition: it is read, looked at, joined with others; read again, and labelled.
TASKS_EACH = 5


def costs(quick: bool) -> dict[str, float]:
    """Return measured seconds and bytes."""
    import dask.array as da

    rows = QUICK_TRIED_ROWS if quick else TRIED_ROWS
    X, given, _ = data(rows)
    part = da.from_array(X, chunks=(rows, -1))
    began = time.perf_counter()
    looked = survey(part)
    read = time.perf_counter() - began
    began = time.perf_counter()
    views = find_views(part, given=given, n_views=1, n_clusters=2)
    search = time.perf_counter() - began - read
    teller = Teller.of(views.encoding, views.views)
    began = time.perf_counter()
    teller.groups(X)
    tell = time.perf_counter() - began
    return {
        "search": max(search, 0.0),
        "row": (read + tell) / rows,
        "sample": float(len(pickle.dumps(looked))),
        "views": float(len(pickle.dumps(teller))),
        "task": _seconds_of_a_task(QUICK_TASKS if quick else TASKS),
    }


def _seconds_of_a_task(count: int) -> float:
    """Return what a scheduler spends on a task that does nothing."""
    import dask

    with local_workers(1) as client, client.as_current():
        nodes = [dask.delayed(_nothing)(number) for number in range(count)]
        dask.compute(nodes[:1])
        began = time.perf_counter()
        dask.compute(nodes)
        return (time.perf_counter() - began) / count


def _nothing(number: int) -> None:
    return None


def seconds(cost: dict[str, float], rows: int, workers: int) -> float:
    """Return what one view of so many rows is expected to take."""
    partitions = int(np.ceil(rows / PARTITION_ROWS))
    rounds = np.ceil(partitions / workers)  # a worker has one partition at a time
    at_work = rounds * PARTITION_ROWS * cost["row"]
    told = partitions * TASKS_EACH * cost["task"]
    # Samples travel once in every round; views once to every worker, from one place.
    sent = rounds * cost["sample"] / BANDWIDTH + workers * cost["views"] / BANDWIDTH
    # The scheduler decides while workers work.
    return cost["search"] + max(at_work, told) + sent


def projected(quick: bool = False) -> list[Table]:
    cost = costs(quick)
    measured = Table(
        "What one task costs here",
        ["what", "measured"],
        note="One thread of this machine: a pass over the rows of a partition that learns the "
        "encoding and draws the sample, and another one that tells labels, without reading them "
        "from a disk or a store.",
    )
    measured.add("seconds per million rows, both passes", figure(1e6 * cost["row"]))
    measured.add("seconds of the search on the sample", figure(cost["search"]))
    measured.add("MB of the sample of a partition", figure(cost["sample"] / 1e6))
    measured.add("MB of the views that a worker gets", figure(cost["views"] / 1e6))
    measured.add("milliseconds of the scheduler per task", figure(1e3 * cost["task"]))
    table = Table(
        "A projection: seconds of find_views with one view and the labels of all rows",
        ["rows", *(f"{n:,} worker{'s' * (n > 1)}" for n in WORKERS)],
        note="Nobody has measured this: it is computed from the costs above, for 20 features in "
        "partitions of a million rows, workers of one thread as fast as this machine, and "
        f"{BANDWIDTH / 1e6:.0f} MB per second between any two of them. Reading from a store, "
        "waiting for it, and workers that fail come on top.",
    )
    for rows in ROWS:
        table.add(f"{rows:,}", *(figure(seconds(cost, rows, n), ".3g") for n in WORKERS))
    return [measured, table]
