"""Reduction, then a classifier or clusters: what the supervised and unsupervised tables share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from multifacet import SupervisedKDR, UnsupervisedKDR
from multifacet.kernels import (
    Gaussian,
    Polynomial,
    align,
    as_kernel,
    median_distance,
    needs_bandwidth,
)
from multifacet.metrics import nmi
from multifacet.solvers import ISM, DimensionGrowth, Grassmann, Stiefel

from ..published import DATA
from ..table import Figure, figure
from .cases import read
from .limit import Limited

SOLVERS = {"ISM": ISM, "SM": Stiefel, "GM": Grassmann, "DG": DimensionGrowth}


@dataclass(frozen=True)
class Classes:
    """Data (n, d) with classes (n,)."""

    name: str
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))

    @property
    def shape(self) -> str:
        return f"{self.X.shape[0]} x {self.X.shape[1]}"


def wine() -> Classes:
    data = load_wine()
    return Classes("Wine", data.data, data.target)


def digits(n_rows: int) -> Classes:
    """Return evenly spaced rows, without the pixels that are blank in all of them."""
    data = load_digits()
    rows = np.linspace(0, len(data.data) - 1, n_rows).astype(int)
    X = data.data[rows]
    return Classes("digits", X[:, X.std(axis=0) > 0], data.target[rows])


def shared() -> Iterator[Classes]:
    """Yield cancer and faces if they are on this machine."""
    if DATA.exists():
        for name, file, n_labels in (("cancer", "cancer_683x9", 1), ("faces", "faces_624x66", 4)):
            X, labels = read(file, n_labels)
            yield Classes(name, X, labels[0])


def available() -> list[str]:
    """Return the solvers that can run here; GM needs a package."""
    return [name for name in SOLVERS if name != "GM" or find_spec("pymanopt")]


@dataclass
class Scores:
    """Measures by fold."""

    seconds: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    stopped: int = 0


def gaussian_and_polynomial(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the two kernels weighted by their alignment with the classes."""
    kernels = Gaussian(median_distance(X)), Polynomial()
    first, second = align(kernels, X, y)
    return first * kernels[0] + second * kernels[1]


def cross_validate(
    data: Classes,
    q: int,
    kernel: Any = "gaussian",
    *,
    solver: str = "ISM",
    limit: float = np.inf,
    n_folds: int = 10,
) -> Scores:
    """Return what an RBF SVM makes of the reduced data; a callable kernel sees X and y."""

    def reduce(X: np.ndarray, y: np.ndarray) -> tuple[Any, float, bool]:
        limited = Limited(SOLVERS[solver](), limit)
        chosen = kernel(X, y) if callable(kernel) else kernel
        # The papers' rule; what is chosen on held-out rows is measured by ``reduction``.
        rule = "median" if needs_bandwidth(as_kernel(chosen)) else "auto"
        model = SupervisedKDR(q, kernel=chosen, bandwidth=rule, solver=limited, n_jobs=1).fit(X, y)
        return model, -model.objective_, limited.stopped

    return in_folds(data, reduce, n_folds)


def in_folds(
    data: Classes,
    reduce: Callable[[np.ndarray, np.ndarray], tuple[Any, float, bool]],
    n_folds: int,
    *,
    then_svm: bool = True,
) -> Scores:
    """Return time and cost of a reduction and the accuracy after it, all learned outside a fold.

    Without an SVM the model is a classifier itself.
    """
    scores = Scores()
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(data.X, data.y)
    for train, test in splits:
        scaler = StandardScaler().fit(data.X[train])
        X, unseen = scaler.transform(data.X[train]), scaler.transform(data.X[test])
        began = time.process_time()
        model, cost, stopped = reduce(X, data.y[train])
        scores.seconds.append(time.process_time() - began)
        scores.cost.append(cost)
        scores.stopped += stopped
        if then_svm:
            predicted = (
                SVC().fit(model.transform(X), data.y[train]).predict(model.transform(unseen))
            )
        else:
            predicted = model.predict(unseen)
        scores.accuracy.append(float(np.mean(predicted == data.y[test])))
    return scores


@dataclass(frozen=True)
class Clustered:
    """Measures of one unsupervised reduction."""

    seconds: float
    cost: float
    nmi: float
    stopped: bool


def cluster(
    data: Classes, q: int, kernel: Any = "gaussian", *, solver: str = "ISM", limit: float = np.inf
) -> Clustered:
    """Return how well the clusters of an unsupervised reduction agree with the classes."""
    limited = Limited(SOLVERS[solver](), limit)
    began = time.process_time()
    rule = "median" if needs_bandwidth(as_kernel(kernel)) else "auto"
    model = UnsupervisedKDR(
        data.n_classes, q, kernel=kernel, bandwidth=rule, solver=limited, random_state=0, n_jobs=1
    ).fit(scale(data.X))
    return Clustered(
        time.process_time() - began,
        -model.objective_,
        nmi(model.labels_, data.y),
        limited.stopped,
    )


def spread(values: list[float], digits: int = 3) -> Figure | None:
    """Return mean and standard deviation."""
    return figure(np.mean(values), f".{digits}g", f" ± {np.std(values):.1g}")
