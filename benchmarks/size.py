"""Many rows: time, memory and recovery from 10^4 to 10^7 rows.

Two independent groupings in two dimensions each, one of blobs (given), one to be found (moons or
blobs again), and 16 noise features of low variance. Settings are fixed; with them the exact engine
reaches NMI 1 at n = 2000. Rivals on the same data: ``Residual``, and ClustPy's NrKmeans if it is
installed.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from multifacet import KDAC, SupervisedKDR
from multifacet.baselines import Residual
from multifacet.files import open_table
from multifacet.frames import prepare
from multifacet.metrics import nmi

from .table import Table, figure

SETTINGS = {"n_components": 2, "bandwidth": 0.1, "novelty_weight": 3.0, "random_state": 0}
SIZES, QUICK_SIZES = (10_000, 100_000, 1_000_000), (500, 1000)
ON_DISK, QUICK_ON_DISK = 10_000_000, 2000


def data(n: int, seed: int = 0, shape: str = "moons") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    given, hidden = rng.integers(0, 2, n), rng.integers(0, 2, n)
    blobs = 0.3 * rng.standard_normal((n, 4))
    blobs[:, 0] += 2 * given - 1
    blobs[:, 2] += 2 * hidden - 1
    noise = 0.1 * rng.standard_normal((n, 16))
    if shape == "moons":
        moons, hidden = make_moons(n, noise=0.05, random_state=seed)
        blobs[:, 2:] = moons - moons.mean(axis=0)
    return np.hstack([blobs, noise]), given, hidden


class PeakMemory:
    """Highest resident memory of this process that is not a mapped file, beyond the start."""

    def __enter__(self) -> PeakMemory:
        self._done, self.peak, self._before = threading.Event(), 0, anonymous_memory()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.05):
            self.peak = max(self.peak, anonymous_memory() - self._before)

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def anonymous_memory() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


def measured(fit) -> tuple[float, float, object]:
    """Return seconds, GiB beyond the start, and what was made."""
    began = time.perf_counter()
    with PeakMemory() as memory:
        model = fit()
    return time.perf_counter() - began, memory.peak / 2**30, model


def parquet_of(folder: str, n: int) -> tuple[str, np.ndarray]:
    """Write rows in row groups; return the path and the hidden labels."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = os.path.join(folder, "rows.parquet")
    hidden = np.empty(n, dtype=np.int8)
    step, writer = 500_000, None
    for start in range(0, n, step):
        stop = min(start + step, n)
        X, given, hidden[start:stop] = data(stop - start, seed=start)
        columns = {f"f{j}": column.astype(np.float32) for j, column in enumerate(X.T)}
        table = pa.table({"given": given.astype(np.int8), **columns})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path, hidden


def nrkmeans(X: np.ndarray):
    from clustpy.alternative import NrKmeans

    return NrKmeans([2, 2, 1], random_state=0).fit(X)


def size_table(sizes: tuple[int, ...]) -> Table:
    table = Table(
        "KDAC at fixed settings on many rows (d = 20, blobs given)",
        ["rows", "hidden", "method", "seconds", "GiB beyond the data", "NMI hidden",
         "NMI given", "time, KDAC = 1"],
        note="Bars: NMI >= 0.98 at each size, 10^6 rows below 70 s and 4 GiB, exponent of time <= "
        "1.1. NrKmeans is told the number of clusters of both groupings and nothing else; its "
        "better labeling counts.",
    )  # fmt: skip
    seconds = {}
    for n in sizes:
        for shape in ("moons", "blobs"):
            X, given, hidden = data(n, shape=shape)
            for name, fit in {
                "KDAC": lambda X=X, given=given: KDAC(2, **SETTINGS).fit(X, given=given),
                "Residual": lambda X=X, given=given: Residual(2, random_state=0).fit(
                    X, given=given
                ),
                "NrKmeans": lambda X=X: nrkmeans(X),
            }.items():
                try:
                    spent, memory, model = measured(fit)
                except ImportError:
                    continue
                labels = np.asarray(model.labels_).reshape(n, -1)
                best = max(range(labels.shape[1]), key=lambda j: nmi(labels[:, j], hidden))
                seconds[n, shape, name] = spent
                table.add(
                    n, shape, name, spent, memory, nmi(labels[:, best], hidden),
                    nmi(labels[:, best], given), spent / seconds[n, shape, "KDAC"],
                )  # fmt: skip
                print(table.last, flush=True)
    less, more = sizes[-2:]
    ratio = seconds[more, "moons", "KDAC"] / seconds[less, "moons", "KDAC"]
    growth = np.log(ratio) / np.log(more / less)
    table.note += f" Exponent of KDAC's time from {less:,} to {more:,} rows: {growth:.2f}."
    return table


def on_disk_table(n: int) -> Table:
    table = Table(
        f"{n:,} rows from a Parquet file",
        ["step", "seconds", "GiB in all", "NMI hidden"],
        note="Memory of the whole process that is no mapped file. Bar: 2 GiB.",
    )
    with tempfile.TemporaryDirectory() as folder:
        path, hidden = parquet_of(folder, n)
        before = anonymous_memory() / 2**30
        spent, memory, prepared = measured(
            lambda: prepare(open_table(path), given="given", standardize=False)
        )
        table.add("encode into a mapped file", spent, before + memory, "")
        before = anonymous_memory() / 2**30
        given = prepared.given[0]
        spent, memory, model = measured(lambda: KDAC(2, **SETTINGS).fit(prepared.X, given=given))
        table.add("KDAC at fixed settings", spent, before + memory, nmi(model.labels_, hidden))
    return table


def further_table(n: int) -> Table:
    table = Table(
        f"Other fits of {n:,} rows",
        ["fit", "seconds", "times the fixed fit", "GiB beyond the data", "right"],
        note="Right: NMI with the hidden labels, or the share of new rows on which 15 neighbours "
        "are right. Bar: all settings automatic cost at most 3 x the fixed fit.",
    )
    X, given, hidden = data(n)
    fixed, memory, model = measured(lambda: KDAC(2, **SETTINGS).fit(X, given=given))
    table.add("KDAC, fixed", fixed, 1, memory, figure(nmi(model.labels_, hidden), ".3f"))
    spent, memory, model = measured(lambda: KDAC(2, random_state=0).fit(X, given=given))
    found = figure(nmi(model.labels_, hidden), ".3f")
    table.add("KDAC, automatic", spent, figure(spent / fixed, ".2f"), memory, found)
    del X
    X, y = ten_classes(n, 50)
    test, truth = ten_classes(20_000, 50, seed=1)
    spent, memory, model = measured(lambda: SupervisedKDR(4, random_state=0).fit(X, y))
    right, before = accuracy(model, X, y, test, truth)
    table.add("SupervisedKDR, 10 classes, 50 features", spent, "", memory, figure(right, ".3f"))
    table.note += f" Without a reduction, 15 neighbours are right on {before:.3f}."
    return table


def ten_classes(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Classes on a spiral of blobs in four dimensions, the others are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, n)
    X = rng.standard_normal((n, d))
    angle = 2 * np.pi * np.arange(10) / 10
    centres = 3 * np.column_stack(
        [np.cos(angle), np.sin(angle), np.cos(3 * angle), np.sin(3 * angle)]
    )
    X[:, :4] = centres[y] + 0.5 * X[:, :4]
    return X, y


def accuracy(model, X, y, test, truth) -> tuple[float, float]:
    """Return the share of new rows on which 15 neighbours are right, after and before reduction."""
    from sklearn.neighbors import KNeighborsClassifier

    rows = slice(0, 20_000)
    nearest = KNeighborsClassifier(15).fit(model.transform(X[rows]), y[rows])
    share = (nearest.predict(model.transform(test)) == truth).mean()
    whole = KNeighborsClassifier(15).fit(X[rows], y[rows])
    before = (whole.predict(test[:2000]) == truth[:2000]).mean()
    return float(share), float(before)


def run(quick: bool = False) -> list[Table]:
    # In a process of its own, so that memory in all is that of this task alone.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        on_disk = alone.submit(on_disk_table, QUICK_ON_DISK if quick else ON_DISK).result()
    sizes = QUICK_SIZES if quick else SIZES
    return [size_table(sizes), on_disk, further_table(sizes[-1])]
