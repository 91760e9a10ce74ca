"""Several views without being told anything: how many, which, and against ClustPy.

The rivals need ClustPy, which is not a dependency: ``pip install clustpy`` into the environment of
the benchmark. Without it their columns stay empty.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.preprocessing import scale

from multifacet import ViewFinder
from multifacet.metrics import match_labelings

from .families import FAMILIES
from .published import DATA, load
from .table import Table, figure

#: Families of the comparison: plain, noisy and rotated ones of every shape.
COMPARED = [0, 1, 2, 4, 5, 10, 14, 18, 22, 24]
NULLS, QUICK_NULLS = 50, 2


def data_sets(quick: bool):
    if DATA.exists() and not quick:
        for name in ("moon_400", "moon_noise_200", "large_gauss_200"):
            X, labels = load(name)
            yield name, scale(X), np.column_stack([codes(v) for v in labels.values()])
        X, labels = load("faces_624x20")
        yield "faces_624x20", scale(X), np.column_stack([codes(v) for v in labels.values()])
    for i in COMPARED[: 1 if quick else None]:
        yield FAMILIES[i].name, *FAMILIES[i].make(0)


def codes(values):
    return np.unique(values, return_inverse=True)[1]


def rivals(X, labelings) -> dict[str, float]:
    """Return the mean matched NMI of ClustPy's methods, told the true numbers where they ask."""
    try:
        from clustpy.alternative import (
            AutoNR,
            ClusteringInOrthogonalSpaces,
            NrKmeans,
            OrthogonalClustering,
        )
    except ImportError:
        return {}
    ks = [len(np.unique(column)) for column in labelings.T]
    methods = {
        "NrKmeans": lambda: NrKmeans([*ks, 1], random_state=0),
        "AutoNR": lambda: AutoNR(random_state=0),
        "Orthogonal clustering": lambda: OrthogonalClustering(ks, random_state=0),
        "Orthogonal spaces": lambda: ClusteringInOrthogonalSpaces(ks, random_state=0),
    }
    found = {}
    for name, make in methods.items():
        try:
            labels = np.asarray(make().fit(X).labels_).reshape(len(X), -1)
            found[name] = match_labelings(labelings, labels).score
        except Exception as error:
            print(f"{name} failed: {error!r}")
            found[name] = 0.0
    return found


def comparison(quick: bool) -> Table:
    table = Table(
        "Nothing given: mean matched NMI over all labelings",
        ["data", "find_views", "views", "told k and views", "best rival", "which", "seconds"],
        note="The rivals are told the numbers of views and clusters (AutoNR is not); find_views "
        "chooses everything in the first column and is told the same in the third.",
    )
    ours, told, best = [], [], []
    for name, X, labelings in data_sets(quick):
        ks = [len(np.unique(column)) for column in labelings.T]
        began = time.perf_counter()
        free = ViewFinder(n_refits=3, random_state=0).fit(X)
        seconds = time.perf_counter() - began
        fixed = ViewFinder(len(ks), ks, n_refits=0, random_state=0).fit(X)
        scores = rivals(X, labelings)
        which = max(scores, key=scores.get) if scores else ""
        ours.append(match_labelings(labelings, free.labelings_).score if free.n_views_ else 0.0)
        told.append(match_labelings(labelings, fixed.labelings_).score)
        best.append(scores.get(which, np.nan))
        table.add(name, ours[-1], free.n_views_, told[-1], best[-1], which, seconds)
        print(table.last, flush=True)
    table.add("mean", float(np.mean(ours)), "", float(np.mean(told)), float(np.mean(best)), "", "")
    return table


def number_of_views(quick: bool) -> Table:
    counts, seeds = ((1,), 1) if quick else ((1, 2, 3, 4), 5)
    table = Table(
        f"n_views='auto': views found where there are 1 to {counts[-1]} ({seeds} seeds each)",
        ["true views", "found", "right"],
        note="Blobs of 2 or 3 clusters, moons and rings, n = 500, rotated; nothing given.",
    )
    from multifacet.datasets import make_independent_views

    shapes = [("moons", 2), ("blobs", 3), ("rings", 2), ("blobs", 2)]
    hits = 0
    for count in counts:
        found = []
        for seed in range(seeds):
            chosen = [shapes[(seed + i) % 4] for i in range(count)]
            X, _ = make_independent_views(
                500, [s for s, _ in chosen], n_clusters=[k for _, k in chosen],
                n_noise=2, rotate=True, random_state=seed,
            )  # fmt: skip
            found.append(ViewFinder(n_refits=3, random_state=0).fit(scale(X)).n_views_)
        hits += sum(n == count for n in found)
        table.add(count, " ".join(map(str, found)), f"{sum(n == count for n in found)} of {seeds}")
        print(table.last, flush=True)
    table.add("all", "", figure(hits / (seeds * len(counts)), ".0%", " (bar 70 %)"))
    return table


def no_structure(nulls: int) -> Table:
    table = Table(
        f"No further view where there is none ({nulls} data sets)",
        ["data", "cases", "no further view"],
        note="A Gaussian cloud, nothing given; one clustering, given. n = 150 to 500, d = 4 to 12.",
    )
    right = {"one cloud": [], "one clustering, given": []}
    for seed in range(nulls):
        rng = np.random.default_rng(5000 + seed)
        n, d = int(rng.choice([150, 300, 500])), int(rng.choice([4, 8, 12]))
        X = rng.standard_normal((n, d))
        given = None
        if seed % 2:
            given = rng.integers(0, 3, n)
            X = X + 4 * rng.standard_normal((3, d))[given]
        finder = ViewFinder(n_refits=3, random_state=0).fit(scale(X), given=given)
        right["one clustering, given" if seed % 2 else "one cloud"].append(finder.n_views_ == 0)
    for name, values in right.items():
        table.add(name, len(values), figure(np.mean(values), ".0%"))
    everything = [value for values in right.values() for value in values]
    table.add("all", len(everything), figure(np.mean(everything), ".0%", " (bar 90 %)"))
    return table


def run(quick: bool = False) -> list[Table]:
    nulls = QUICK_NULLS if quick else NULLS
    return [no_structure(nulls), number_of_views(quick), comparison(quick)]
