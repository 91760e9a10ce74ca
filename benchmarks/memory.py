"""Peak memory of KDAC when the kernel matrix (3.2 GB) does not fit the budget."""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from multifacet import KDAC
from multifacet.datasets import make_moons_views
from multifacet.engines import Exact
from multifacet.solvers import ISM

from .table import Table

N, QUICK_N = 20_000, 1000


def fit(n: int) -> tuple[float, float, float]:
    """Return the GiB of this process at the most, those before the fit, and its seconds."""
    X, labelings = make_moons_views(n, random_state=0)
    before, began = peak(), time.perf_counter()
    KDAC(
        bandwidth=0.3, novelty_weight=1.0, n_components=2, init="spectral", max_iter=1,
        solver=ISM(max_iter=4), engine=Exact(memory="1 GiB"), random_state=0,
    ).fit(X, given=labelings[:, 0])  # fmt: skip
    return peak(), before, time.perf_counter() - began


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def run(quick: bool = False) -> list[Table]:
    n = QUICK_N if quick else N
    table = Table(
        f"KDAC at n = {n:,} with a budget of 1 GiB",
        ["peak memory of the process, GiB", "of which before fit", "seconds", "bar"],
        note="One spectral start, one outer iteration, a climb of five steps; tiles recomputed.",
    )
    # In a process of its own, so that the peak is that of this fit.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        table.add(*alone.submit(fit, n).result(), "< 1.5 GiB")
    return [table]
