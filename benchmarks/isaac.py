"""ISAAC: subspaces recovered, data of the literature, against AutoNR, and the cost of growth.

AutoNR and the stick figures need ClustPy, which is not a dependency. Without it their rows and
columns stay empty.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import scale

from multifacet import ISAAC
from multifacet.datasets import load_penguins
from multifacet.metrics import match_labelings, pair_f1

from .published import DATA, load
from .table import Table

#: Seeds of the reported data sets; those used during development were 1000 to 1019.
SEEDS = range(2000, 2020)
#: How many of them AutoNR is run on; it takes minutes.
RIVALLED = 5
#: Distance between the centres of clusters, in standard deviations of the widest.
GAP = 5.0


def independent_subspaces(seed: int, *, n: int | None = None, sizes: list[int] | None = None):
    """Return data (n, m), labelings, dimensions of the subspaces, and the mixing matrix."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1000, 2001))
    sizes = sizes or [int(rng.integers(1, 4)) for _ in range(int(rng.integers(2, 6)))]
    parts = [gaussian_mixture(n, b, int(rng.integers(2, 6)), rng) for b in sizes]
    S = np.hstack([points for points, _ in parts])
    mixing = rng.standard_normal((S.shape[1], S.shape[1]))
    return S @ mixing.T, np.column_stack([labels for _, labels in parts]), sizes, mixing


def gaussian_mixture(n: int, b: int, k: int, rng: np.random.Generator):
    """Return k Gaussians of unequal sizes and shapes in b dimensions."""
    labels = rng.choice(k, n, p=rng.dirichlet(np.full(k, 20.0)))
    side = 1.6 * GAP * k ** (1 / b)
    centres = rng.uniform(0, side, (k, b))
    while (np.linalg.norm(centres[:, None] - centres, axis=2) + np.eye(k) * side).min() < GAP:
        centres = rng.uniform(0, side, (k, b))
    points = np.empty((n, b))
    for c in range(k):
        shape = np.linalg.qr(rng.standard_normal((b, b)))[0] * rng.uniform(0.4, 1.0, b)
        points[labels == c] = centres[c] + rng.standard_normal(((labels == c).sum(), b)) @ shape.T
    return points, labels


def block_error(model: ISAAC, mixing: np.ndarray, sizes: list[int]) -> tuple[float, list[int]]:
    """Return the share of foreign subspaces in the components, and the true one of each found."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    power = (model.components_ @ mixing) ** 2
    share = np.stack([power[:, block == b].sum(axis=1) for b in range(len(sizes))], axis=1)
    share /= share.sum(axis=1, keepdims=True)
    owners = []
    for one in model.subspaces_:
        true = np.unique(share[one.members].argmax(axis=1))
        whole = len(true) == 1 and len(one.members) == sizes[true[0]]
        owners.append(int(true[0]) if whole else -1)
    return float(1 - share.max(axis=1).mean()), owners


def timed(model, X: np.ndarray):
    """Return the fitted model and the seconds it took."""
    began = time.perf_counter()
    return model.fit(X), time.perf_counter() - began


def autonr(X: np.ndarray):
    """Return the labelings of ClustPy's AutoNR and its time; None if it is not there or fails."""
    try:
        from clustpy.alternative import AutoNR

        model, seconds = timed(AutoNR(random_state=0), scale(X))
    except Exception as error:
        print(f"AutoNR: {error!r}")
        return None, float("nan")
    return np.asarray(model.labels_).reshape(len(X), -1), seconds


def scores(truth: np.ndarray, found: np.ndarray | None) -> tuple[float, float, int]:
    """Return F1, mean matched NMI and number of views."""
    if found is None:
        return float("nan"), float("nan"), 0
    views = found[:, [len(np.unique(column)) > 1 for column in found.T]]
    if not views.shape[1]:
        return 0.0, 0.0, 0
    return pair_f1(truth, views), match_labelings(truth, views).score, views.shape[1]


def recovery() -> Table:
    table = Table(
        "Generated independent subspaces: recovered, and against AutoNR",
        ["data", "dimensions", "subspaces whole", "block error", "k right", "F1", "NMI",
         "AutoNR F1", "AutoNR NMI", "views true/ISAAC/AutoNR", "seconds", "AutoNR / ISAAC time"],
        note=f"Random mixing matrix, Gaussian mixtures of 2 to 5 clusters at least {GAP:g} sd "
        "apart. The block error is the mean share of foreign subspaces in a component. k counts "
        "as wrong in a subspace that is not whole. AutoNR sees standardised features.",
    )  # fmt: skip
    whole, right, ours, theirs = [], [], [], []
    for seed in SEEDS:
        X, labelings, sizes, mixing = independent_subspaces(seed)
        model, seconds = timed(ISAAC(random_state=0), X)
        error, owners = block_error(model, mixing, sizes)
        whole.append(sorted(owners) == list(range(len(sizes))))
        truth = [len(np.unique(column)) for column in labelings.T]
        counts = zip(owners, model.n_clusters_, strict=True)
        hits = sum(owner >= 0 and k == truth[owner] for owner, k in counts)
        right += [True] * hits + [False] * (len(sizes) - hits)
        rival, rival_seconds = autonr(X) if seed - SEEDS[0] < RIVALLED else (None, float("nan"))
        ours.append(scores(labelings, model.labelings_))
        theirs.append(scores(labelings, rival))
        table.add(
            f"{len(X)} x {X.shape[1]}", "+".join(map(str, sizes)), whole[-1], error,
            f"{hits} of {len(sizes)}", *ours[-1][:2], *theirs[-1][:2],
            f"{len(sizes)}/{ours[-1][2]}/{theirs[-1][2]}", seconds, rival_seconds / seconds,
        )  # fmt: skip
        print(table.rows[-1], flush=True)
    mean_ours = np.mean(ours, axis=0)
    mean_theirs = np.mean(theirs[:RIVALLED], axis=0)
    table.add(
        "all", "", f"{np.mean(whole):.0%} (bar 80 %)", "", f"{np.mean(right):.0%} (bar 80 %)",
        f"{mean_ours[0]:.3f} (bar 0.9)", float(mean_ours[1]), float(mean_theirs[0]),
        float(mean_theirs[1]), "", "", "",
    )  # fmt: skip
    return table


def literature():
    """Yield name, data, labelings and the number of principal components."""
    try:
        from clustpy.data import load_stickfigures

        sticks = load_stickfigures(return_X_y=True)
        for m in (4, 5):
            yield f"stick figures, {m} components", *sticks, m
    except ImportError:
        pass
    X, labelings = load_penguins()
    yield "penguins (species, sex)", X, labelings, "auto"
    if DATA.exists():
        X, labels = load("faces_624x20")
        codes = [np.unique(values, return_inverse=True)[1] for values in labels.values()]
        yield f"faces ({', '.join(labels)})", X, np.column_stack(codes), "auto"


def literature_table() -> Table:
    table = Table(
        "Data of the literature",
        ["data", "NMI of each labeling", "F1", "found (dimensions: clusters)", "AutoNR NMI",
         "AutoNR F1", "AutoNR views", "seconds", "AutoNR / ISAAC time"],
        note="The stick figures should give NMI >= 0.95 for both. AutoNR sees the same principal "
        "components of the stick figures, standardised features otherwise.",
    )  # fmt: skip
    for name, X, labelings, m in literature():
        model, seconds = timed(ISAAC(n_components=m, random_state=0), X)
        reduced = X if m == "auto" else PCA(m).fit_transform(scale(X))
        rival, rival_seconds = autonr(reduced)
        matching = match_labelings(labelings, model.labelings_)
        shown = ", ".join(
            f"{len(one.members)}: {one.mixture.n_clusters}" for one in model.subspaces_
        )
        f1, nmi, views = scores(labelings, rival)
        each = " ".join(f"{row.max():.2f}" for row in matching.table)
        table.add(name, each, scores(labelings, model.labelings_)[0], shown, nmi, f1, views,
                  seconds, rival_seconds / seconds)  # fmt: skip
        print(table.rows[-1], flush=True)
    return table


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth() -> Table:
    table = Table(
        "Cost of growth",
        ["what grows", "sizes", "seconds", "exponent", "published worst case"],
        note="n at d = 4 (two planes), d at n = 1000 (planes). Published: n m^3 + n^2 m^2 k.",
    )
    rows, features = [1000, 5000, 25_000, 100_000], [4, 10, 30, 100]
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
        table.add(name, listed, shown, exponent(sizes, seconds), published)
    return table


def run() -> list[Table]:
    return [literature_table(), recovery(), growth()]
