"""Many rows: time, memory and recovery from 10^4 to 10^7 rows of 20 features.

Two independent groupings in two dimensions each, blobs (given) and moons (to be found), and 16
noise features of low variance. Settings are fixed; the exact engine reaches NMI 1 with them at
n = 2000. Rivals on the same data: ``Residual``, and ClustPy's NrKmeans if it is installed.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from multifacet import KDAC
from multifacet.baselines import Residual
from multifacet.metrics import nmi

from .table import Table

SETTINGS = {"n_components": 2, "bandwidth": 0.1, "novelty_weight": 3.0, "random_state": 0}
SIZES = (10_000, 100_000, 1_000_000)
ON_DISK = 10_000_000


def data(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 2, n)
    blobs = 0.3 * rng.standard_normal((n, 2))
    blobs[:, 0] += 2 * given - 1
    moons, hidden = make_moons(n, noise=0.05, random_state=seed)
    noise = 0.1 * rng.standard_normal((n, 16))
    return np.hstack([blobs, moons - moons.mean(axis=0), noise]), given, hidden


class PeakMemory:
    """Highest resident memory of this process that is not a mapped file, beyond the start."""

    def __enter__(self) -> PeakMemory:
        self._done, self.peak, self._before = threading.Event(), 0, _anonymous()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.05):
            self.peak = max(self.peak, _anonymous() - self._before)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def _anonymous() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


def measured(fit) -> tuple[float, float, object]:
    began = time.perf_counter()
    with PeakMemory() as memory:
        model = fit()
    return time.perf_counter() - began, memory.peak / 2**30, model


def on_disk(folder: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    path = os.path.join(folder, "rows.npy")
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, 20))
    labels = np.empty((2, n), dtype=np.int8)
    step = 500_000
    for start in range(0, n, step):
        stop = min(start + step, n)
        rows[start:stop], *labels[:, start:stop] = data(stop - start, seed=start)
    rows.flush()
    return np.load(path, mmap_mode="r"), labels[0], labels[1]


def nrkmeans(X: np.ndarray):
    from clustpy.alternative import NrKmeans

    return NrKmeans([2, 2, 1], random_state=0).fit(X)


def size_table() -> Table:
    table = Table(
        "KDAC at fixed settings on many rows (d = 20, blobs given, moons hidden)",
        ["rows", "method", "seconds", "GiB beyond the data", "NMI hidden", "NMI given"],
        note="10^7 rows are on disk in single precision. Bars: NMI >= 0.98 at each size, 10^6 rows "
        "below 70 s and 4 GiB, 10^7 within 2 GiB, exponent of time <= 1.1.",
    )
    seconds = {}
    for n in SIZES:
        X, given, hidden = data(n)
        for name, fit in {
            "KDAC": lambda X=X, given=given: KDAC(2, **SETTINGS).fit(X, given=given),
            "Residual": lambda X=X, given=given: Residual(2, random_state=0).fit(X, given=given),
            "NrKmeans": lambda X=X: nrkmeans(X),
        }.items():
            try:
                spent, memory, model = measured(fit)
            except ImportError:
                continue
            labels = np.asarray(model.labels_).reshape(n, -1)
            best = max(nmi(column, hidden) for column in labels.T)
            table.add(n, name, spent, memory, best, nmi(labels[:, 0], given))
            seconds[name, n] = spent
            print(table.rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        X, given, hidden = on_disk(folder, ON_DISK)
        spent, memory, model = measured(lambda: KDAC(2, **SETTINGS).fit(X, given=given))
        table.add(ON_DISK, "KDAC", spent, memory, nmi(model.labels_, hidden),
                  nmi(model.labels_, given))  # fmt: skip
        print(table.rows[-1], flush=True)
    growth = np.log10(seconds["KDAC", 10**6] / seconds["KDAC", 10**5])
    table.add("", "exponent from 10^5 to 10^6", float(growth), "", "", "")
    return table


def run() -> list[Table]:
    return [size_table()]
