"""Which engine for which size: "auto" against the exact and the low-rank engine.

The sizes are close where "auto" changes from one engine to the other, at 1200 rows: only there can
it choose the wrong one. Beyond, the time of all pairs grows with the square of the rows (minutes at
10,000) and tells nothing new, so the exact engine is not run; ``size`` has many rows.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from multifacet import KDAC
from multifacet.metrics import nmi

from .size import SETTINGS, data, measured
from .table import Table

SIZES, QUICK_SIZES = (300, 600, 900, 1200, 1500, 2000, 10_000), (300,)
#: Up to here every engine is run, several times; beyond, those without all pairs are, once.
ALL_PAIRS, RUNS = 2000, 3
SHAPES, QUICK_SHAPES = ((5000, 5000), (50_000, 20_000)), ((200, 300),)
#: Of texts; in a narrower kernel the alternation runs to its limit, and minutes tell no more.
OF_TEXT = {"n_components": 2, "bandwidth": 0.3, "novelty_weight": 3.0}


def choice_table(sizes: tuple[int, ...]) -> Table:
    table = Table(
        'engine="auto" against both engines (KDAC at fixed settings, d = 20)',
        ["rows", "exact", "low-rank", "auto", "auto / best"],
        note=f"Seconds, the best of {RUNS} runs each, in turn; beyond {ALL_PAIRS} rows of one, "
        "without the exact engine. Bar: auto takes at most 1.5 x the best.",
    )
    for n in sizes:
        seconds = seconds_of(n, ("exact", "lowrank", "auto")[n > ALL_PAIRS :])
        best = min(seconds.get("exact", np.inf), seconds["lowrank"])
        table.add(n, seconds.get("exact"), seconds["lowrank"], seconds["auto"],
                  seconds["auto"] / best)  # fmt: skip
        print(table.last, flush=True)
    return table


def seconds_of(n: int, engines: tuple[str, ...]) -> dict[str, float]:
    """Return the shortest time of each engine; they take turns, so that all see the same load."""
    X, given, _ = data(n)
    seconds = dict.fromkeys(engines, np.inf)
    for engine in engines * (RUNS if n <= ALL_PAIRS else 1):
        began = time.perf_counter()
        KDAC(2, engine=engine, **SETTINGS).fit(X, given=given)
        seconds[engine] = min(seconds[engine], time.perf_counter() - began)
    return seconds


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
        for settings in (OF_TEXT, {}):
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
