"""2014 paper, Figure 7 and Tables 1 and 4: KDAC and its variants against the rival methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import scale

from multifacet import KDAC, EmbeddingKDAC, LinearKDAC
from multifacet.baselines import (
    ADFT,
    CAMI,
    CIB,
    COALA,
    MSC,
    ConsKL,
    DecorrelatedKMeans,
    OrthogonalClustering,
    OrthogonalSubspaceClustering,
    Residual,
)
from multifacet.datasets import load_penguins, make_independent_views
from multifacet.kernels import Polynomial, median_distance
from multifacet.metrics import (
    cluster_quality,
    dunn_index,
    kernel_mean_squared_error,
    mean_squared_error,
    nmi,
)

from ..published import DATA
from ..table import Figure, Table, figure
from .cases import MAKERS, Case, read

#: The paper's rivals come first, then those that it does not compare with.
RIVALS: dict[str, Callable[[int, int], Any]] = {
    "CIB": lambda k, d: CIB(k, random_state=0),
    "COALA": lambda k, d: COALA(k),
    "OP-1": lambda k, d: OrthogonalClustering(k, random_state=0),
    "OP-2": lambda k, d: OrthogonalSubspaceClustering(k, random_state=0),
    "cons-KL": lambda k, d: ConsKL(k, random_state=0),
    "CAMI": lambda k, d: CAMI(k, covariance="full" if d <= 50 else "diag", random_state=0),
    "ADFT": lambda k, d: ADFT(k, random_state=0),
    "Dec. k-means": lambda k, d: DecorrelatedKMeans(k, random_state=0),
    "mSC": lambda k, d: MSC(k, random_state=0),
    "Residual": lambda k, d: Residual(k, random_state=0),
}
FAMILY: dict[str, Callable[[int, int], Any]] = {
    "KDAC": lambda k, d: KDAC(k, random_state=0),
    "KDAC linear": lambda k, d: LinearKDAC(k, random_state=0),
    "KDAC embedding": lambda k, d: EmbeddingKDAC(k, random_state=0),
}
#: Published NMI with the alternative and with the given labeling (2014 paper, Tables 1 and 4).
PUBLISHED = {
    "faces, identity given": {
        "KDAC": (0.482, 0.037), "KDAC linear": (0.451, 0.043), "KDAC embedding": (0.478, 0.083),
        "CIB": (0.372, 0.126), "COALA": (0.424, 0.073), "OP-1": (0.442, 0.051),
        "OP-2": (0.442, 0.051), "cons-KL": (0.451, 0.082), "CAMI": (0.439, 0.061),
    },
    "WebKB": {
        "KDAC": (0.467, 0.088), "KDAC linear": (0.307, 0.135), "KDAC embedding": (0.417, 0.125),
        "CIB": (0.326, 0.137), "COALA": (0.373, 0.124), "OP-1": (0.331, 0.142),
        "OP-2": (0.331, 0.142), "cons-KL": (0.412, 0.131), "CAMI": (0.362, 0.115),
    },
}  # fmt: skip
#: Dimension, sigma in median distances and novelty weight of KDAC with the best NMI with pose of
#: 48 settings, chosen with the answer in sight: what the method can do, not what it does alone.
BEST_FOR_POSE = (6, 0.5, 3.0)
#: The same for synthetic 1, of 9 settings with the spectral start.
BEST_FOR_SYNTHETIC_1 = (2, 0.3, 1.0)


NOTE = (
    "Every method knows the number of clusters and is otherwise at its defaults; KDAC chooses "
    "subspace, bandwidth and weight by itself. The settings of 'best of grid' were chosen by the "
    "hidden labels, no others were. CAMI has diagonal covariances beyond 50 features. CQ (at the "
    "median distance), MSE and Dunn index (centroid forms) are measured on all features, as in the "
    "paper. Published values are for the original data: 640 face images of 960 pixels and 350 "
    "words; here faces have 20 whitened principal components and WebKB 139 words. The groups of "
    "synthetic 1 are k-means in its two planes; they are not independent (NMI 0.37), so that a "
    "method that avoids the given must miss a part. Synthetic 2 is generated after the "
    "description: two moons given, three rings hidden; the embedding misses them at 0.05, 0.1 and "
    "0.2 of the median distance as well. Figure 7 is published as a picture only."
)


@dataclass(frozen=True)
class Task:
    """Data with a given and hidden labelings, and KDAC at settings of a paper, if there are any."""

    name: str
    X: np.ndarray = field(repr=False)
    given: np.ndarray = field(repr=False)
    hidden: list[np.ndarray] = field(repr=False)
    k: int
    at: dict[str, Any] = field(default_factory=dict, repr=False)


def published_settings(case: Case) -> dict[str, Any]:
    return {
        "KDAC, 2018 settings": KDAC(
            case.k, n_components=case.q, bandwidth=case.sigma, novelty_weight=case.weight,
            novelty_scale="paper", init="spectral", random_state=0,
        )
    }  # fmt: skip


def from_case(name: str, shown: str | None = None) -> Task:
    case = MAKERS[name]()
    return Task(shown or name, case.X, case.given, case.hidden, case.k, published_settings(case))


def webkb() -> Task:
    """Return WebKB, with the kernel of the 2014 paper as well."""
    task = from_case("WebKB")
    cubic = KDAC(
        4, kernel=Polynomial(), n_components=4, novelty_weight=1.0, init="spectral", random_state=0
    )
    return replace(task, at=task.at | {"KDAC, polynomial": cubic})


def faces_identity() -> Task:
    X, [identity, pose] = read("faces_624x20", 2)
    X = scale(X)
    q, width, weight = BEST_FOR_POSE
    sigma = width * median_distance(X)
    best = KDAC(4, n_components=q, bandwidth=sigma, novelty_weight=weight, random_state=0)
    return Task("faces, identity given", X, identity, [pose], 4, {"KDAC, best of grid": best})


def synthetic_1() -> Task:
    X, _ = read("kdac_synthetic1_600x6", 0)
    views = [KMeans(3, n_init=10, random_state=0).fit_predict(X[:, c : c + 2]) for c in (0, 2)]
    q, width, weight = BEST_FOR_SYNTHETIC_1
    best = KDAC(
        3, n_components=q, bandwidth=width * median_distance(X), novelty_weight=weight,
        init="spectral", random_state=0,
    )  # fmt: skip
    return Task(
        "synthetic 1", X - X.mean(axis=0), views[0], views[1:], 3, {"KDAC, best of grid": best}
    )


def synthetic_2() -> Task:
    X, labelings = make_independent_views(
        600, ["moons", "rings"], n_clusters=[2, 3], random_state=0
    )
    return Task("synthetic 2", X, labelings[:, 0], [labelings[:, 1]], 3)


def penguins(every: int = 1) -> Task:
    X, labelings = (part[::every] for part in load_penguins())
    species, sex = (np.unique(column, return_inverse=True)[1] for column in labelings.T)
    return Task("penguins, species given", scale(X), species, [sex], 2)


TASKS: dict[str, Callable[[], Task]] = {
    "penguins, species given": penguins,
    "synthetic 2": synthetic_2,
    "synthetic 1": synthetic_1,
    "large Gauss": lambda: from_case("large Gauss"),
    "moon": lambda: from_case("moon"),
    "moon + noise": lambda: from_case("moon + noise"),
    "faces, identity given": faces_identity,
    "faces, pose given": lambda: from_case("faces", "faces, pose given"),
    "WebKB": webkb,
    "flower": lambda: from_case("flower"),
}
#: What needs no file of the shared data.
ALWAYS = ("penguins, species given", "synthetic 2")


def tasks_by_name(*names: str) -> list[Task]:
    """Return those of the tasks that can be built on this machine."""
    return [TASKS[name]() for name in names if name in ALWAYS or DATA.exists()]


def measure(task: Task, model: Any) -> dict[str, float]:
    """Return the measures of one method on one task; quality is measured on all features."""
    began = time.perf_counter()
    labels = model.fit(task.X, given=task.given).labels_
    seconds = time.perf_counter() - began
    several = len(np.unique(labels)) > 1
    return {
        "hidden": max((nmi(labels, truth) for truth in task.hidden), default=np.nan),
        "given": nmi(labels, task.given),
        "CQ": cluster_quality(task.X, labels),
        "MSE": mean_squared_error(task.X, labels),
        "MSE_G": kernel_mean_squared_error(task.X, labels),
        "DI": dunn_index(task.X, labels, separation="centroid", diameter="centroid")
        if several
        else np.nan,
        "seconds": seconds,
    }


def run(quick: bool = False) -> list[Table]:
    """Return one table of all methods on all tasks, and the ranking."""
    table = Table(
        "2014 paper, Figure 7, Tables 1 and 4: alternative clusterings by method",
        ["data", "method", "NMI hidden", "published", "NMI given", "published", "CQ", "MSE",
         "MSE, Gaussian", "Dunn", "seconds"],
        note=NOTE,
    )  # fmt: skip
    scores: dict[str, dict[str, float]] = {}
    names = [name for name in TASKS if name != "flower"]  # it has no hidden labeling
    for task in [penguins(every=3)] if quick else tasks_by_name(*names):
        d = task.X.shape[1]
        models = {name: make(task.k, d) for name, make in FAMILY.items()} | task.at
        models |= {name: make(task.k, d) for name, make in RIVALS.items()}
        scores[task.name] = {}
        for name, model in models.items():
            m = measure(task, model)
            scores[task.name][name] = m["hidden"]
            was = PUBLISHED.get(task.name, {}).get(name, ("", ""))
            table.add(
                task.name,
                name,
                number(m["hidden"]),
                was[0],
                number(m["given"]),
                was[1],
                m["CQ"],
                m["MSE"],
                m["MSE_G"],
                m["DI"],
                m["seconds"],
            )
            print(table.last, flush=True)
    return [table, ranking(scores)]


def number(value: float, whose: str = "") -> Figure | None:
    return figure(value, ".3f", f" ({whose})" if whose else "")


def held(ahead: float, *behind: float) -> str:
    return "yes" if ahead > max(behind) - 0.02 else "no"


def ranking(scores: dict[str, dict[str, float]]) -> Table:
    """Return whether KDAC >= its variants >= the rivals, for the NMI with what is hidden."""
    table = Table(
        "Does the ranking KDAC >= variants >= rivals hold for the NMI with the hidden labeling?",
        ["data", "KDAC", "best variant", "best rival of the paper", "best other rival",
         "KDAC first", "variants before rivals"],
        note="KDAC is the better of its own and the 2018 settings; a difference below 0.02 is a "
        "tie and counts as held. The best rival is picked by the hidden labels, which no user "
        "can do.",
    )  # fmt: skip
    paper = list(RIVALS)[:6]
    for name, found in scores.items():
        if not np.isfinite(list(found.values())).all():
            continue
        ours = max(found["KDAC"], found.get("KDAC, 2018 settings", 0.0))
        variant = max(found["KDAC linear"], found["KDAC embedding"])
        first, which = max((found[key], key) for key in paper)
        other, whose = max((found[key], key) for key in list(RIVALS)[6:])
        table.add(
            name, number(ours), number(variant), number(first, which),
            number(other, whose), held(ours, variant, first, other), held(variant, first),
        )  # fmt: skip
    return table
