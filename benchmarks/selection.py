"""Automatic settings: real data, families for tuning and for reporting, k, and time.

``python -m benchmarks selection`` takes a while: 150 data sets, most of them twice.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.preprocessing import scale

from multifacet import KDAC
from multifacet.baselines import Residual
from multifacet.datasets import load_penguins, make_moons_views
from multifacet.metrics import nmi

from .families import REPORTED, SEEDS, TUNING, Family, cases
from .published import DATA, centre, load
from .table import Table, figure


def real_cases():
    """Yield (name, X, given, hidden labelings, k, bar)."""
    if DATA.exists():
        for name, bar in (("moon_400", 0.95), ("moon_noise_200", 0.9)):
            X, labels = load(name)
            yield name, scale(X), labels["given"], [labels["alternative"]], 2, bar
        for name in ("large_gauss_200", "large_gauss_1000"):
            X, labels = load(name)
            third = labels["given"] == labels["alternative"]
            yield name, scale(X), labels["given"], [labels["alternative"], third], 2, 0.95
        X, labels = load("faces_624x20")
        yield "faces, given pose", scale(X), labels["pose"], [labels["identity"]], 20, 0.8
        yield "faces, given identity", scale(X), labels["identity"], [labels["pose"]], 4, 0.4
        X, labels = load("webkb_1041x139")
        known, hidden = labels["university"], [labels["topic"]]
        yield "WebKB, centred", centre(X), known, hidden, 4, 0.3
        yield "WebKB, standardised", scale(X), known, hidden, 4, None
    X, labels = load_penguins()
    yield "penguins, given species", scale(X), labels[:, 0], [labels[:, 1]], 2, 0.5
    yield "penguins, given sex", scale(X), labels[:, 1], [labels[:, 0]], 3, None


def real_table(quick: bool) -> Table:
    table = Table(
        "Defaults only: KDAC(n_clusters=k, random_state=0)",
        ["data", "NMI hidden", "bar", "NMI given (<= 0.05)", "Residual", "separation", "seconds"],
        note="Residual: centre within the given groups, then k-means. WebKB carries its "
        "information in the scale of its columns, so standardising destroys it for every method.",
    )
    for name, X, given, hidden, k, bar in list(real_cases())[-1:] if quick else real_cases():
        began = time.perf_counter()
        model = KDAC(n_clusters=k, random_state=0).fit(X, given=given)
        seconds = time.perf_counter() - began
        plain = Residual(k, random_state=0).fit(X, given=given).labels_
        table.add(
            name,
            max(nmi(model.labels_, truth) for truth in hidden),
            f">= {bar}" if bar else "",
            nmi(model.labels_, given),
            max(nmi(plain, truth) for truth in hidden),
            model.selection_.chosen.separation,
            seconds,
        )
    return table


def score(family: Family, X: np.ndarray, labelings: np.ndarray, n_clusters) -> tuple[float, bool]:
    """Return NMI with the nearest hidden labeling, and whether its number of clusters is right."""
    model = KDAC(n_clusters=n_clusters, random_state=0).fit(X, given=labelings[:, 0])
    found = [nmi(model.labels_, truth) for truth in labelings.T[1:]]
    nearest = int(np.argmax(found))
    return max(found), model.n_clusters_ == family.k[1 + nearest]


def family_tables(families: list[Family], half: str, seeds: range) -> list[Table]:
    detail = Table(
        f"{half}: one row per family, seeds: {len(seeds)}",
        ["family", "NMI with k given", "NMI with k chosen", "k right"],
    )
    told: dict[str, list[float]] = {}
    right: dict[str, list[bool]] = {}
    for family in families:
        first = family.k[1]
        pairs = []
        for one, _, X, labelings in cases([family], seeds):
            known, _ = score(one, X, labelings, first)
            pairs.append((known, *score(one, X, labelings, "auto")))
        told.setdefault(family.kind, []).extend(p[0] for p in pairs)
        right.setdefault(family.kind, []).extend(p[2] for p in pairs)
        shown = [" ".join(f"{p[i]:.2f}" for p in pairs) for i in (0, 1)]
        detail.add(family.name, *shown, f"{sum(p[2] for p in pairs)} of {len(pairs)}")
        print(detail.last, flush=True)
    summary = Table(
        f"{half}: summary",
        ["kind", "cases", "median NMI", "NMI >= 0.9", "bar", "k right (>= 80 %)"],
    )
    for kind, values in told.items():
        bar = "median 0.95, 85 %" if kind == "no noise features" else "80 %"
        share = figure(np.mean(np.array(values) >= 0.9), ".0%")
        k_share = figure(np.mean(right[kind]), ".0%")
        summary.add(kind, len(values), float(np.median(values)), share, bar, k_share)
    everything = np.concatenate(list(told.values()))
    share = figure(np.mean(everything >= 0.9), ".0%")
    k_share = figure(np.mean(np.concatenate(list(right.values()))), ".0%")
    summary.add("all", len(everything), float(np.median(everything)), share, "85 %", k_share)
    return [summary, detail]


def time_table() -> Table:
    X, labelings = make_moons_views(1000, n_noise=3, random_state=0)
    X, given = scale(X), labelings[:, 0]
    events: list[float] = []
    began = time.perf_counter()
    chosen = KDAC(random_state=0, verbose=lambda event: events.append(time.perf_counter())).fit(
        X, given=given
    )
    automatic, first = time.perf_counter() - began, events[0] - began
    fixed = KDAC(
        n_components=chosen.n_components_,
        bandwidth=chosen.bandwidth_,
        novelty_weight=chosen.novelty_weight_,
        init="spectral",
        random_state=0,
    )
    began = time.perf_counter()
    fixed.fit(X, given=given)
    single = time.perf_counter() - began
    table = Table(
        "Time on 1000 x 7 (moons and three noise features), everything automatic",
        ["what", "seconds", "ratio", "bar"],
        note=f"NMI with the hidden labels: {nmi(chosen.labels_, labelings[:, 1]):.2f}.",
    )
    table.add("one fit at these settings from the spectral start", single, 1, "")
    table.add("everything automatic", automatic, figure(automatic / single, ".1f"), "<= 15, <= 5 s")
    table.add("first candidate", first, "", "early")
    return table


def run(quick: bool = False) -> list[Table]:
    seeds, most = (SEEDS[:1], 1) if quick else (SEEDS, None)
    return [
        time_table(),
        real_table(quick),
        *family_tables(REPORTED[:most], "Reported half", seeds),
        *family_tables(TUNING[:most], "Tuning half", seeds),
    ]
