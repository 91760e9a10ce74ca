"""Embeddings: hundreds of features, up to twenty groups, one grouping given or none.

Generated ones have two independent factors, and some a third weak one, behind a random network;
beside them are the pixels of handwritten digits and texts of a topic model. Nothing is downloaded.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from multifacet import Views, find_views
from multifacet.baselines import Residual
from multifacet.datasets import make_embedding_views
from multifacet.metrics import nmi

from .generated import every
from .table import Cell, Table, figure
from .tables import RUNS, Pair, mixture, nrkmeans

#: Numbers of groups of the factor that is given, if one is, and of the other.
FACTORS = ((2, 2), (3, 3), (4, 3), (3, 6), (5, 5), (10, 5), (5, 10), (10, 10), (20, 5), (20, 10))
#: How far the groups of the other factor are apart; the first has 1. The third has three groups.
STRENGTHS, THIRD = (1.0, 0.6, 0.3), (3, 0.3)
ROWS, FEATURES, SEEDS = 1000, 768, 2
#: What counts as found, beside what is given and without, and as no worse than a rival.
BESIDE, ALONE, LEVEL = 0.93, (0.95, 0.9), 0.03
#: Views of which the best counts where nothing is given.
VIEWS = 3
#: Components of rows less their groups, in which mixtures are fitted.
COMPONENTS = 20
#: Tables without groups, of half as many features.
NOTHING = 20


@dataclass(frozen=True)
class Made:
    """Embeddings to be generated."""

    factors: tuple[int, int]
    strength: float
    third: bool
    seed: int

    @property
    def name(self) -> str:
        a, b = self.factors
        return f"{a} x {b}, strength {self.strength:g}{', third factor' if self.third else ''}"

    def make(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows (n, d), and labels (n, 2) of both factors."""
        numbers, strengths = list(self.factors), [1.0, self.strength]
        if self.third:
            numbers, strengths = [*numbers, THIRD[0]], [*strengths, THIRD[1]]
        X, labelings = make_embedding_views(
            ROWS, numbers, strengths=strengths, n_features=FEATURES, random_state=self.seed
        )
        return X, labelings[:, :2]


#: Every strength with every other number of groups, half of them with a third factor.
SETS = tuple(
    Made(factors, STRENGTHS[(i + seed) % 3], (i + seed) % 2 == 1, seed)
    for seed in range(SEEDS)
    for i, factors in enumerate(FACTORS)
)


def in_components(pair: Pair) -> Pair:
    """Return the leading components of rows less the means of their given groups."""
    means = np.stack([pair.X[pair.given == g].mean(axis=0) for g in np.unique(pair.given)])
    return replace(
        pair, X=PCA(COMPONENTS, random_state=0).fit_transform(pair.X - means[pair.given])
    )


#: All are told k; NrKmeans is told both numbers of groups, but not the given ones.
RIVALS: dict[str, Callable[[Pair], np.ndarray | None]] = {
    "centring, k-means": lambda pair: (
        Residual(pair.k, random_state=0).fit(pair.X, given=pair.given).labels_
    ),
    "centring, mixture": lambda pair: mixture(in_components(pair), "tied"),
    "k-means": lambda pair: KMeans(pair.k, n_init=RUNS, random_state=0).fit_predict(pair.X),
    "NrKmeans": nrkmeans,
}


def searched(X: np.ndarray, **options: Any) -> tuple[Views, float]:
    """Return what the default search finds, and seconds."""
    warnings.simplefilter("ignore")  # in a process of its own
    began = time.perf_counter()
    return find_views(X, random_state=0, **options), time.perf_counter() - began


def beside_case(one: Made) -> dict[str, Cell]:
    """Return NMI with the second factor where the first one is given."""
    X, labelings = one.make()
    given, truth = labelings.T
    told, _ = searched(X, given=given, n_views=1, n_clusters=one.factors[1])
    free, seconds = searched(X, given=given, n_views=1)
    pair = Pair(one.name, X, given, truth)
    found = {name: cluster(pair) for name, cluster in RIVALS.items()}
    return {
        "told": best_of(told, truth),
        "free": best_of(free, truth),
        "k": free[0].n_clusters if free else 1,
        "seconds": seconds,
    } | {name: None if labels is None else nmi(labels, truth) for name, labels in found.items()}


def alone_case(one: Made) -> tuple[list[float], int, float]:
    """Return NMI with both factors where nothing is given, how many views, and seconds."""
    X, labelings = one.make()
    views, seconds = searched(X)
    return [best_of(views, truth) for truth in labelings.T], len(views), seconds


def nothing_case(seed: int) -> tuple[bool, int]:
    """Return whether the only factor is given, and how many views are announced."""
    known = bool(seed % 2)
    X, labelings = make_embedding_views(
        ROWS, (2 + seed % 9,) if known else (1,), n_features=FEATURES // 2, random_state=500 + seed
    )
    views, _ = searched(X, given=labelings[:, 0] if known else None)
    return known, len(views)


def best_of(views: Views, truth: np.ndarray) -> float:
    return max((nmi(view.labels, truth) for view in views[:VIEWS]), default=0.0)


def beside_table(sets: tuple[Made, ...]) -> Table:
    table = Table(
        "One factor given: NMI with the other one",
        ["factors", "told k", "k free", "k", "seconds", *RIVALS],
        note=f"{ROWS:,} rows, {FEATURES} features. The second factor is looked for; its strength "
        f"is told, the first has 1. Bars: NMI >= {BESIDE:g} and k within one where k is free; no "
        f"worse than centring and k-means, which is told k, by more than {LEVEL:g}.",
    )
    found = every(beside_case, [(one,) for one in sets])
    for one, row in zip(sets, found, strict=True):
        rivals = [number(row[name]) for name in RIVALS]
        table.add(
            one.name, number(row["told"]), number(row["free"]), row["k"],
            figure(row["seconds"], ".1f"), *rivals,
        )  # fmt: skip
    right = [
        row["free"] >= BESIDE and abs(row["k"] - one.factors[1]) <= 1
        for one, row in zip(sets, found, strict=True)
    ]
    level = {
        how: np.mean([row[how] >= row["centring, k-means"] - LEVEL for row in found])
        for how in ("told", "free")
    }
    empty = [None] * (len(RIVALS) + 2)
    table.add(f"NMI >= {BESIDE:g}, k within one", None, figure(np.mean(right), ".0%"), *empty)
    shares = [figure(share, ".0%") for share in level.values()]
    table.add("not behind centring, k-means", *shares, *empty)
    return table


def alone_table(sets: tuple[Made, ...]) -> Table:
    table = Table(
        f"Nothing given: NMI with both factors, the best of {VIEWS} views",
        ["factors", "first factor", "second factor", "views", "seconds"],
        note=f"Everything is chosen. Bars: {ALONE[0]:g} and {ALONE[1]:g}.",
    )
    found = every(alone_case, [(one,) for one in sets])
    for one, (scores, views, seconds) in zip(sets, found, strict=True):
        table.add(one.name, *(number(score) for score in scores), views, figure(seconds, ".1f"))
    both = np.mean([s[0] >= ALONE[0] and s[1] >= ALONE[1] for s, _, _ in found])
    table.add("both found", figure(both, ".0%"), None, None, None)
    return table


def nothing_table(count: int) -> Table:
    table = Table(
        "Embeddings without further groups: how many are silent",
        ["what", "silent"],
        note=f"{ROWS:,} rows, {FEATURES // 2} features.",
    )
    found = every(nothing_case, [(seed,) for seed in range(count)])
    for name, known in (("no factor", False), ("one factor, which is given", True)):
        own = [views for told, views in found if told == known]
        table.add(name, f"{sum(one == 0 for one in own)} of {len(own)}")
    return table


def slant(images: np.ndarray) -> np.ndarray:
    """Return how far strokes lean, by moments of images (n, h, w)."""
    mass = images.sum(axis=(1, 2))
    y, x = np.mgrid[: images.shape[1], : images.shape[2]].astype(float)
    across, down = ((images * one).sum(axis=(1, 2)) / mass for one in (x, y))
    x, y = x - across[:, None, None], y - down[:, None, None]
    return (images * x * y).sum(axis=(1, 2)) / (images * y**2).sum(axis=(1, 2))


def explained(labels: np.ndarray, given: np.ndarray, values: np.ndarray) -> float:
    """Return the share of variance within given groups that other groups explain."""
    within = values - np.array([values[given == g].mean() for g in np.unique(given)])[given]
    parts = np.unique(labels)
    means = np.array([within[labels == one].mean() for one in parts])
    return float((means[np.searchsorted(parts, labels)] ** 2).mean() / within.var())


def digits_table() -> Table:
    table = Table(
        "Handwritten digits, the digit given: what else do the views tell?",
        ["view", "groups", "slant", "thickness", "verdict"],
        note="Share of the variance within digits that groups explain: how strokes lean, and how "
        "much ink there is.",
    )
    digits = load_digits()
    views, _ = searched(digits.data, given=digits.target)
    ink = digits.data.sum(axis=1)
    for view in views:
        shares = (explained(view.labels, digits.target, one) for one in (slant(digits.images), ink))
        table.add(view.name, view.n_clusters, *(number(one) for one in shares), views.verdict(view))
    return table


def texts(seed: int, n: int = 2000, topics: int = 20, registers: int = 3) -> tuple[Any, np.ndarray]:
    """Return texts as 100 components of TF-IDF, and labels (n, 2): what about, and how said."""
    rng = np.random.default_rng(seed)
    words = 3000
    about, said = (rng.dirichlet(np.full(words, 0.03), size) for size in (topics, registers))
    common = rng.dirichlet(np.full(words, 0.5))
    labelings = np.column_stack([rng.integers(0, k, n) for k in (topics, registers)])
    law = 0.4 * about[labelings[:, 0]] + 0.2 * said[labelings[:, 1]] + 0.4 * common
    lengths = 20 + rng.poisson(130, n)
    counts = np.stack([rng.multinomial(m, p / p.sum()) for m, p in zip(lengths, law, strict=True)])
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return normalize(TruncatedSVD(100, random_state=0).fit_transform(weights)), labelings


def texts_table(seeds: int) -> Table:
    table = Table(
        "Texts of a topic model: 20 topics, three registers",
        ["call", "topic", "register", "groups", "seconds"],
        note="2,000 texts of some 150 words, 100 components of TF-IDF, unit length.",
    )
    for seed in range(seeds):
        X, labelings = texts(seed)
        for name, given in (
            ("topic given", labelings[:, 0]), ("register given", labelings[:, 1]),
            ("nothing given", None),
        ):  # fmt: skip
            views, seconds = searched(X, given=given)
            scores = [None if truth is given else number(best_of(views, truth))
                      for truth in labelings.T]  # fmt: skip
            groups = ", ".join(str(view.n_clusters) for view in views)
            table.add(name, *scores, groups, figure(seconds, ".1f"))
    return table


def number(score: Cell) -> Cell:
    return figure(score, ".2f") if isinstance(score, float) else None


def run(quick: bool = False) -> list[Table]:
    if quick:
        return [beside_table(SETS[:1]), digits_table()]
    return [
        beside_table(SETS),
        alone_table(SETS),
        nothing_table(NOTHING),
        digits_table(),
        texts_table(2),
    ]
