"""2019 paper, Figure 1b: time against the number of rows, polynomial kernel, q = 20."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import scale

from multifacet.engines import Exact
from multifacet.kernels import Polynomial
from multifacet.problems import one_hot, supervised
from multifacet.search.starts import spectral_start

from ..table import Figure, Table, figure
from .folds import SOLVERS, available, digits
from .limit import Limited

#: Rows, dimension, and seconds after which a solver is stopped.
ROWS, DIMENSION, LIMIT = (200, 400, 800, 1600), 20, 12.0
QUICK_ROWS = (60, 120)


def run(quick: bool = False) -> list[Table]:
    """Return seconds and seconds per evaluation by number of rows, and their slopes."""
    sizes, limit = (QUICK_ROWS, 0.3) if quick else (ROWS, LIMIT)
    names = available()
    table = Table(
        "2019 paper, Figure 1b: seconds by number of rows",
        ["rows", *names, *(f"{name}, evaluations" for name in names)],
        note=f"Supervised, polynomial kernel of degree 3, q = {DIMENSION}, scikit-learn's digits "
        f"in the place of MNIST; to a relative gradient of 1e-6, spectral start, stopped after "
        f"{limit:g} s of processor time (>). The slope is that of the logarithm of seconds per "
        "evaluation, which is what a row costs; the number of evaluations depends on the data. "
        "Published: slopes of about 2 for all, ISM lowest by the number of its evaluations.",
    )
    cost: dict[str, list[float]] = {name: [] for name in names}
    for n in sizes:
        data = digits(n)
        X = scale(data.X)
        sums = Exact().attach(X, Polynomial(), n_jobs=1)
        problem = supervised(one_hot(data.y))
        start = spectral_start(sums, problem, DIMENSION).W
        seconds, evaluations = [], []
        for name in names:
            limited = Limited(SOLVERS[name](), limit)
            limited.solve(sums, problem.gamma(), start)
            cost[name].append(limited.spent / limited.evaluations)
            more = ">" if limited.stopped else ""
            seconds.append(Figure(limited.spent, f"{more}{limited.spent:.2g}"))
            evaluations.append(limited.evaluations)
        table.add(n, *seconds, *evaluations)
        print(table.last, flush=True)
    slopes = [np.polyfit(np.log2(sizes), np.log2(cost[name]), 1)[0] for name in names]
    table.add(
        "slope of one evaluation", *(figure(slope, ".2f") for slope in slopes), *("" for _ in names)
    )
    return [table]
