"""How well rows held out are told in few dimensions, beside what other reductions reach."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from ..documents import ConfusionDict, HeldOutDict
from ..linalg import Array
from ..validation import are_classes

#: Rows that are predicted at most, and rows below which nothing is said.
MOST_ROWS, LEAST_ROWS = 1500, 30
#: Neighbours that predict a row, fewer if there are fewer rows for each of them.
NEIGHBOURS, ROWS_PER_NEIGHBOUR = 15, 20
#: Rows for each principal component that is left to a discriminant analysis of many features.
ROWS_PER_COMPONENT = 5
#: What our own reduction is called beside others.
OURS = "these dimensions"


def held_out_comparison(model: Any, X: Any, y: Array, n_folds: int) -> HeldOutDict | None:
    """Predict rows from their neighbours in a subspace that was learned without them.

    Parameters
    ----------
    model : SupervisedKDR
        Fitted. Its copies choose anew in every fold what it has chosen, but for the number of
        dimensions, which all reductions share.
    X : array or CSR matrix of shape (n, d)
        Data.
    y : array of shape (n,) or (n, m)
        Classes or real targets.
    n_folds : int
        Folds.

    Returns
    -------
    dict or None
        None if there are too few rows.
    """
    names, codes = np.unique(y, return_inverse=True) if are_classes(y) else (None, y.astype(float))
    # Every fold needs two classes to learn from.
    if len(y) < LEAST_ROWS or (names is not None and np.sort(np.bincount(codes))[-2] < n_folds):
        return None
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
    X, codes = X[rows], codes[rows]
    kind = KFold if names is None else StratifiedKFold
    folds = list(kind(n_folds, shuffle=True, random_state=0).split(codes, codes))
    # Not sklearn's clone, which would copy the callable that shows progress.
    options = model.get_params(deep=False) | {"n_components": model.n_components_, "verbose": 0}
    reductions: dict[str, BaseEstimator] = {OURS: type(model)(**options)}
    reductions |= _rivals(X, None if names is None else len(names), model.n_components_, n_folds)
    told = {name: np.empty(codes.shape) for name in reductions}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say was said of all rows
        for name, reduction in reductions.items():
            for learning, out in folds:
                told[name][out] = _predicted(reduction, X, codes, learning, out, names is not None)
    right = {name: _right(codes, one, names is not None) for name, one in told.items()}
    confusion: ConfusionDict | None = None
    if names is not None:
        counts = np.zeros((len(names), len(names)), dtype=int)
        np.add.at(counts, (codes, told[OURS].astype(int)), 1)
        confusion = {"classes": [str(name) for name in names], "counts": counts.tolist()}
    return {
        "n_rows": len(codes),
        "n_folds": n_folds,
        "measure": "variance explained" if names is None else "accuracy",
        "scores": [
            {"method": name, "score": float(one.mean()), "error": _error(one)}
            for name, one in right.items()
        ],
        "confusion": confusion,
    }


def _rivals(X: Any, n_classes: int | None, q: int, n_folds: int) -> dict[str, BaseEstimator]:
    """Return what else reduces such rows to as many dimensions."""
    n_learning = X.shape[0] * (n_folds - 1) // n_folds
    most = min(X.shape[1], n_learning - 1)
    solver = "arpack" if issparse(X) else "auto"
    rivals: dict[str, BaseEstimator] = {}
    if min(q, most) < X.shape[1]:
        rivals["PCA"] = PCA(min(q, most), svd_solver=solver, random_state=0)
    if n_classes is None:
        return rivals if issparse(X) else rivals | {"PLS": PLSRegression(min(q, most))}
    lda = LinearDiscriminantAnalysis(n_components=min(q, n_classes - 1, most))
    if X.shape[1] * ROWS_PER_COMPONENT <= n_learning and not issparse(X):
        return rivals | {"LDA": lda}
    kept = max(min(q, most), min(most, n_learning // ROWS_PER_COMPONENT))
    first = PCA(kept, svd_solver=solver, random_state=0)
    lda.set_params(n_components=min(q, n_classes - 1, kept))
    return rivals | {"PCA, then LDA": make_pipeline(first, lda)}


def _predicted(
    reduction: Any, X: Any, y: Array, learning: Array, out: Array, classes: bool
) -> Array:
    """Return what neighbours tell about rows that the reduction has not seen."""
    reduction.fit(X[learning], y[learning])
    near, new = reduction.transform(X[learning]), reduction.transform(X[out])
    k = max(3, min(NEIGHBOURS, len(learning) // ROWS_PER_NEIGHBOUR))
    model = KNeighborsClassifier(k) if classes else KNeighborsRegressor(k)
    return np.asarray(model.fit(near, y[learning]).predict(new))


def _right(y: Array, told: Array, classes: bool) -> Array:
    """Return how far each row is told: 1 or 0, or one minus its part of the squared error."""
    if classes:
        return (told == y).astype(float)
    spread = y.var(axis=0)
    return np.asarray(
        (1 - (told - y) ** 2 / np.where(spread > 0, spread, 1.0)).reshape(len(y), -1)
    ).mean(axis=1)


def _error(right: Array) -> float:
    return float(right.std() / np.sqrt(len(right)))
