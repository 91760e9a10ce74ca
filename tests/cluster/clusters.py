"""Clusters of real processes, and tables whose partitions do harm once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

#: Workers of one thread in processes of their own; nothing listens beyond this machine.
LOCAL = {
    "n_workers": 2,
    "threads_per_worker": 1,
    "processes": True,
    "dashboard_address": ":0",
    "host": "127.0.0.1",
}
SIZES = (100, 0, 150, 150)
#: A cluster in a process that can be killed with its scheduler; it ends with its input.
APART = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0",
                      host="127.0.0.1") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def labelled_table(n_rows=400):
    """Return a data frame with two groupings, one of them in the column given, and the other."""
    import pandas as pd

    from multifacet.datasets import make_gaussian_views

    X, labelings = make_gaussian_views(n_rows, [2, 3], rotate=False, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["given"] = labelings[:, 0]
    return frame, labelings[:, 1]


def in_partitions(frame, sizes=SIZES, on_read=None):
    """Return a dask data frame of partitions of these sizes; ``on_read`` is told their numbers."""
    import dask.dataframe as dd

    ends = np.cumsum([0, *sizes])
    parts = [frame.iloc[a:b] for a, b in pairwise(ends)]

    def read(number):
        if on_read is not None:
            on_read(number)
        return parts[number]

    return dd.from_map(read, range(len(parts)), meta=frame.iloc[:0])


def once(marker, number, end):
    """Return what sends a signal to its own process when a partition is read for the first time."""
    place = str(marker)

    def on_read(read):
        if read == number:
            try:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), end)

    return on_read


@contextmanager
def cluster_apart(folder):
    """Give the process of a cluster, and the address of its scheduler."""
    script = folder / "cluster.py"
    script.write_text(APART)
    line = [sys.executable, str(script)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process, process.stdout.readline().decode().strip()
        finally:
            process.stdin.close()
            process.send_signal(signal.SIGKILL)
