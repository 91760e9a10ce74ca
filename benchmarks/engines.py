"""Which engine for which size: "auto" against the exact and the low-rank engine."""

from __future__ import annotations

import time

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from multifacet import KDAC
from multifacet.metrics import nmi

from .size import SETTINGS, data, measured
from .table import Table

SIZES, QUICK_SIZES = (300, 1000, 2000, 3000, 4000, 6000, 10_000), (300,)
SHAPES, QUICK_SHAPES = ((5000, 5000), (50_000, 20_000)), ((200, 300),)


def choice_table(sizes: tuple[int, ...]) -> Table:
    table = Table(
        'engine="auto" against both engines (KDAC at fixed settings, d = 20)',
        ["rows", "exact", "low-rank", "auto", "auto / best"],
        note="Seconds, the best of three runs each, beyond 3000 rows of one. Bar: auto takes at "
        "most 1.5 x the best.",
    )
    for n in sizes:
        X, given, _ = data(n)
        seconds = {}
        for engine in ("exact", "lowrank", "auto"):
            runs = []
            for _ in range(3 if n <= 3000 else 1):
                began = time.perf_counter()
                KDAC(2, engine=engine, **SETTINGS).fit(X, given=given)
                runs.append(time.perf_counter() - began)
            seconds[engine] = min(runs)
        best = min(seconds["exact"], seconds["lowrank"])
        table.add(n, *seconds.values(), seconds["auto"] / best)
        print(table.last, flush=True)
    return table


def text(n: int, d: int, per_row: int = 20, k: int = 3, seed: int = 0):
    """Rows of words: a quarter from the topic of one labeling, a quarter from that of another."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, (2, n))
    frequency = 1 / np.arange(200, d + 200)
    words = rng.choice(d, (n, per_row), p=frequency / frequency.sum())
    source = rng.random((n, per_row))
    for place, labeling in enumerate(labels):
        topics = rng.choice(d, (k, 50), replace=False)
        drawn = topics[labeling[:, None], rng.integers(0, 50, (n, per_row))]
        words = np.where((source >= place / 4) & (source < (place + 1) / 4), drawn, words)
    cells = (np.ones(n * per_row), (np.repeat(np.arange(n), per_row), words.ravel()))
    return normalize(csr_matrix(cells, shape=(n, d))), labels


def wide_table(shapes: tuple[tuple[int, int], ...]) -> Table:
    table = Table(
        "Wide sparse data: text-like rows of 20 words among many, two independent labelings of 3",
        ["rows", "features", "settings", "seconds", "GiB beyond the data", "NMI hidden",
         "NMI given"],
        note="A d x d matrix of 20,000 features would take 3 GiB. Bar: 50,000 x 20,000 within "
        "4 GiB.",
    )  # fmt: skip
    for n, d in shapes:
        X, (given, hidden) = text(n, d)
        for settings in ({"n_components": 2, "bandwidth": 0.1, "novelty_weight": 3.0}, {}):
            spent, memory, model = measured(
                lambda X=X, given=given, s=settings: KDAC(3, random_state=0, **s).fit(
                    X, given=given
                )
            )
            kind = "fixed" if settings else "automatic"
            table.add(n, d, kind, spent, memory, nmi(model.labels_, hidden),
                      nmi(model.labels_, given))  # fmt: skip
            print(table.last, flush=True)
    return table


def run(quick: bool = False) -> list[Table]:
    return [
        choice_table(QUICK_SIZES if quick else SIZES),
        wide_table(QUICK_SHAPES if quick else SHAPES),
    ]
