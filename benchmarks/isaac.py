"""ISAAC: subspaces recovered, data of the literature, against AutoNR, and the cost of growth.

AutoNR and the stick figures need ClustPy, which is not a dependency. Without it their rows and
columns stay empty. Times are those of the processor: others may use the machine as well.
"""

from __future__ import annotations

import signal
import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import scale

from multifacet import ISAAC
from multifacet.datasets import load_penguins
from multifacet.metrics import match_labelings, pair_f1

from .published import DATA, load
from .subspaces import (
    GAP,
    block_error,
    independent_subspaces,
    lost_dependence,
    subspaces_and_densities,
)
from .table import Table, figure

#: Seeds of the reported data sets; those used during development were 1000 to 1019, 3000 to 3031.
SEEDS, QUICK_SEEDS = range(2000, 2020), range(2001, 2002)
#: How many of them AutoNR is run on, and the seconds of the processor that it is given each time.
RIVALLED, LIMIT = 5, 60


def timed(model, X: np.ndarray):
    """Return the fitted model and the seconds of the processor it took."""
    began = time.process_time()
    return model.fit(X), time.process_time() - began


def autonr(X: np.ndarray):
    """Return the labelings of ClustPy's AutoNR and its time; None if it is not there or fails."""

    def stop(*_):
        raise TimeoutError(f"more than {LIMIT} s")

    try:
        from clustpy.alternative import AutoNR

        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        model, seconds = timed(AutoNR(random_state=0), scale(X))
    except Exception as error:
        print(f"AutoNR: {error!r}")
        return None, float("nan")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return np.asarray(model.labels_).reshape(len(X), -1), seconds


def scores(truth: np.ndarray, found: np.ndarray | None) -> tuple[float, float, int]:
    """Return F1, mean matched NMI and number of views."""
    if found is None:
        return float("nan"), float("nan"), 0
    views = found[:, [len(np.unique(column)) > 1 for column in found.T]]
    if not views.shape[1]:
        return 0.0, 0.0, 0
    return pair_f1(truth, views), match_labelings(truth, views).score, views.shape[1]


def recovery(seeds: range) -> Table:
    table = Table(
        "Generated independent subspaces: recovered",
        ["data", "dimensions", "clusters", "whole", "split: dependence / price (bits)",
         "block error", "k right", "F1", "NMI", "views", "seconds",
         "as published: whole", "as published: F1"],
        note=f"Random mixing matrix, Gaussian mixtures of 2 to 5 clusters at least {GAP:g} sd "
        "apart. The block error is the mean share of foreign subspaces in a component. k counts "
        "as wrong in a subspace that is not whole. For a subspace that was split: how many bits "
        "its parts depend on each other under the true density, and what the parameters that tell "
        "this cost; with less dependence than price the parts are the shorter description. "
        "As published: faithful=True.",
    )  # fmt: skip
    whole, justified, right, ours, published = [], [], [], [], []
    for seed in seeds:
        X, labelings, sizes, mixing, densities = subspaces_and_densities(seed)
        model, seconds = timed(ISAAC(random_state=0), X)
        error, owners = block_error(model, mixing, sizes)
        missed = sorted(set(range(len(sizes))) - set(owners))
        lost = [lost_dependence(model, mixing, sizes, densities, j, len(X)) for j in missed]
        whole.append(not missed)
        justified.append(all(pair is not None and pair[0] < pair[1] for pair in lost))
        truth = [len(np.unique(column)) for column in labelings.T]
        counts = zip(owners, model.n_clusters_, strict=True)
        hits = sum(owner >= 0 and k == truth[owner] for owner, k in counts)
        right += [True] * hits + [False] * (len(sizes) - hits)
        ours.append(scores(labelings, model.labelings_))
        literal = ISAAC(faithful=True, random_state=0).fit(X)
        literal_whole = set(block_error(literal, mixing, sizes)[1]) >= set(range(len(sizes)))
        published.append((literal_whole, scores(labelings, literal.labelings_)[0]))
        table.add(
            f"{len(X)} x {X.shape[1]}", "+".join(map(str, sizes)), "+".join(map(str, truth)),
            whole[-1], ", ".join(f"{p[0]:.1f} / {p[1]:.1f}" if p else "mixed" for p in lost),
            error, f"{hits} of {len(sizes)}", *ours[-1][:2], f"{ours[-1][2]} of {len(sizes)}",
            seconds, published[-1][0], figure(published[-1][1], ".2f"),
        )  # fmt: skip
        print(table.last, flush=True)
    f1, nmi, _ = np.mean(ours, axis=0)
    literal_share, literal_f1 = np.mean(published, axis=0)
    table.add(
        "all", "", "", figure(np.mean(whole), ".0%", " (bar 80 %)"),
        figure(np.mean(justified), ".0%", " whole, or shorter in parts"), "",
        figure(np.mean(right), ".0%", " (bar 80 %)"), figure(f1, ".3f", " (bar 0.9)"), nmi, "", "",
        figure(literal_share, ".0%"), figure(literal_f1, ".2f"),
    )  # fmt: skip
    return table


def rivalry(quick: bool) -> Table:
    table = Table(
        "Against AutoNR",
        ["data", "F1", "AutoNR F1", "NMI", "AutoNR NMI", "views true/ISAAC/AutoNR", "seconds",
         "AutoNR / ISAAC time"],
        note=f"AutoNR sees standardised features, and the principal components of the stick "
        f"figures. It is stopped after {LIMIT} s of the processor; a dash is what it did not find "
        "in that time.",
    )  # fmt: skip
    cases = []
    for seed in QUICK_SEEDS if quick else SEEDS[:RIVALLED]:
        X, labelings, *_ = independent_subspaces(seed)
        cases.append((f"generated {X.shape[0]} x {X.shape[1]}", X, labelings))
    for name, X, labelings, m in literature(quick):
        reduced = X if m == "auto" else PCA(m).fit_transform(X)
        cases.append((name, reduced, labelings))
    for name, X, labelings in cases:
        model, seconds = timed(ISAAC(random_state=0), X)
        rival, rival_seconds = autonr(X)
        ours, theirs = scores(labelings, model.labelings_), scores(labelings, rival)
        table.add(
            name, ours[0], theirs[0], ours[1], theirs[1],
            f"{labelings.shape[1]}/{ours[2]}/{theirs[2]}", seconds, rival_seconds / seconds,
        )  # fmt: skip
        print(table.last, flush=True)
    return table


def literature(quick: bool):
    """Yield name, data, labelings and the number of principal components."""
    X, labelings = load_penguins()
    yield "penguins (species, sex)", X, labelings, "auto"
    if quick:
        return
    try:
        from clustpy.data import load_stickfigures

        sticks = load_stickfigures(return_X_y=True)
        for m in (4, 5, "auto"):
            yield f"stick figures, {m} components", *sticks, m
    except ImportError:
        pass
    if DATA.exists():
        X, labels = load("faces_624x20")
        codes = [np.unique(values, return_inverse=True)[1] for values in labels.values()]
        yield f"faces ({', '.join(labels)})", X, np.column_stack(codes), "auto"


def literature_table(quick: bool) -> Table:
    table = Table(
        "Data of the literature",
        ["data", "NMI of each labeling", "F1", "found (dimensions: clusters)", "seconds"],
        note="The stick figures should give NMI >= 0.95 for both. A fifth factor, three levels of "
        "brightness, leaks into their four leading components, where both labelings then depend "
        "on each other. Reduced by n_components; auto chooses five by itself.",
    )
    for name, X, labelings, m in literature(quick):
        model, seconds = timed(ISAAC(n_components=m, random_state=0), X)
        matching = match_labelings(labelings, model.labelings_)
        shown = ", ".join(
            f"{len(one.members)}: {one.mixture.n_clusters}" for one in model.subspaces_
        )
        each = " ".join(f"{row.max():.2f}" for row in matching.table)
        table.add(name, each, scores(labelings, model.labelings_)[0], shown, seconds)
        print(table.last, flush=True)
    return table


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(quick: bool) -> Table:
    table = Table(
        "Cost of growth",
        [
            "what grows",
            "sizes",
            "seconds",
            "exponent",
            "from the second size",
            "published worst case",
        ],
        note="n at d = 4 (two planes), d at n = 1000 (planes). Published: n m^3 + n^2 m^2 k. "
        "Subspaces are sought on 10,000 rows at most, and up to 16 components with three contrast "
        "functions, beyond with one.",
    )
    rows, features = [1000, 5000, 25_000, 100_000], [4, 10, 30, 100]
    if quick:
        rows, features = [300, 600, 900], [4, 6, 8]
    cases = {
        "n": (rows, [(n, [2, 2]) for n in rows], "2"),
        "d": (features, [(1000, [2] * (d // 2)) for d in features], "3"),
    }
    for name, (sizes, shapes, published) in cases.items():
        seconds = []
        for n, dimensions in shapes:
            X = independent_subspaces(1, n=n, sizes=dimensions)[0]
            seconds.append(timed(ISAAC(random_state=0), X)[1])
            print(name, X.shape, seconds[-1], flush=True)
        shown = " ".join(f"{one:.1f}" for one in seconds)
        listed = " ".join(map(str, sizes))
        table.add(name, listed, shown, exponent(sizes, seconds),
                  exponent(sizes[1:], seconds[1:]), published)  # fmt: skip
    return table


def run(quick: bool = False) -> list[Table]:
    seeds = QUICK_SEEDS if quick else SEEDS
    return [literature_table(quick), recovery(seeds), rivalry(quick), growth(quick)]
