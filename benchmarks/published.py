"""Published alternative clusterings at the published settings, with both kinds of start."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
from sklearn.preprocessing import scale

from multifacet import KDAC
from multifacet.kernels import median_distance
from multifacet.metrics import nmi

from .table import Table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def load(name: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows)
    labels = {header[i]: table[:, i] for i in range(2)}
    return table[:, 2:].astype(float), labels


def centre(X):
    return X - X.mean(axis=0)


def shrink_noise(X):
    return scale(X) / np.repeat([1, 3], [4, 3])


CASES = [
    ("moon_400", scale, "given", "alternative", 2, 3, 0.1, 1.0, "1"),
    ("moon_noise_200", shrink_noise, "given", "alternative", 2, 6, 0.2, 0.1, "1"),
    ("large_gauss_200", centre, "given", "alternative", 2, 3, 5.0, 2.0, "1"),
    ("large_gauss_1000", centre, "given", "alternative", 2, 3, 5.0, 2.0, "1"),
    ("faces_624x20", scale, "pose", "identity", 4, 17, 3.1, 1.0, "0.57"),
    ("faces_624x20", scale, "identity", "pose", 4, 17, 3.1, 1.0, "0.482 (other settings)"),
    ("webkb_1041x139", centre, "university", "topic", 4, 4, None, 0.057, "0.37"),
]


def run(quick: bool = False) -> list[Table]:
    table = Table(
        "Published alternative clusterings (Gaussian kernel, the papers' sigma and lambda)",
        ["data", "given", "init", "NMI hidden", "NMI given", "CQ", "joint objective",
         "smallest cluster", "seconds", "published NMI"],
        note="Large Gauss has two hidden splits: NMI hidden is with the better one. The joint "
        "objective is comparable between the two starts of one data set.",
    )  # fmt: skip
    if not DATA.exists():
        table.note = "The shared data sets are not on this machine."
        return [table]
    for name, prepare, given, hidden, k, q, sigma, weight, published in (
        CASES[1:2] if quick else CASES
    ):
        X, labels = load(name)
        X = prepare(X)
        truths = [labels[hidden]]
        if name.startswith("large_gauss"):
            truths.append(labels[given] == labels[hidden])
        for init in ("spectral", "auto"):
            began = time.perf_counter()
            model = KDAC(
                n_clusters=k, n_components=q, bandwidth=sigma or median_distance(X),
                novelty_weight=weight, novelty_scale="paper", init=init, random_state=0,
            ).fit(X, given=labels[given])  # fmt: skip
            seconds = time.perf_counter() - began
            table.add(
                name,
                given,
                init,
                max(nmi(model.labels_, truth) for truth in truths),
                nmi(model.labels_, labels[given]),
                model.quality_,
                model.objective_,
                int(np.bincount(model.labels_).min()),
                seconds,
                published,
            )
    return [table]
