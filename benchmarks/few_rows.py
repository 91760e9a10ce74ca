"""Few rows of many features: SupervisedKDR beside principal components that a rival learns from.

Generated tables, of which nothing was tuned on these seeds. The rival is linear discriminant
analysis, or least squares for a real target, on as many components as a fifth of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from multifacet import SupervisedKDR

from .table import Table, figure

LEARNED, UNSEEN, FEATURES, SEEDS, NEIGHBOURS = 40, 400, 2000, range(4), 5
#: Projected rows (learned, unseen) of a method.
Places = tuple[np.ndarray, np.ndarray]


def features_that_tell(rng: np.random.Generator, n_classes: int) -> Places:
    """Return rows of which forty features are higher or lower in each class."""
    y = np.arange(LEARNED + UNSEEN) % n_classes
    X = rng.standard_normal((len(y), FEATURES))
    X[:, :40] += 0.9 * rng.standard_normal((n_classes, 40))[y]
    return X, y


def factor_that_tells(rng: np.random.Generator) -> Places:
    """Return rows of twenty factors behind all features, one of which is higher in a class."""
    y = np.arange(LEARNED + UNSEEN) % 2
    factors = rng.standard_normal((len(y), 20))
    factors[:, 3] += 2.5 * y
    mixed = factors @ rng.standard_normal((20, FEATURES)) / np.sqrt(20)
    return mixed + 0.5 * rng.standard_normal(mixed.shape), y


def real_target(rng: np.random.Generator) -> Places:
    """Return rows of five factors behind 300 features, one of which is the target but for noise."""
    X = rng.standard_normal((LEARNED + UNSEEN, FEATURES))
    factors = rng.standard_normal((len(X), 5))
    X[:, :300] += 0.7 * factors @ rng.standard_normal((5, 300))
    return X, factors[:, 0] + 0.3 * rng.standard_normal(len(X))


KINDS: dict[str, Callable[[np.random.Generator], Places]] = {
    "two classes, told by 40 features": lambda rng: features_that_tell(rng, 2),
    "three classes, told by 40 features": lambda rng: features_that_tell(rng, 3),
    "two classes, told by one of 20 factors": factor_that_tells,
    "a real target, one of five factors": real_target,
}


def places(X: np.ndarray, y: np.ndarray, real: bool) -> dict[str, Places]:
    """Return where the methods put the rows, of which they see the first ones only."""
    X = StandardScaler().fit(X[:LEARNED]).transform(X)
    inside, known = X[:LEARNED], y[:LEARNED]
    components = PCA(LEARNED // 5, random_state=0).fit(inside).transform(X)
    if real:
        line = LinearRegression().fit(components[:LEARNED], known)
        rival = line.predict(components)[:, None]
    else:
        rival = LinearDiscriminantAnalysis().fit(components[:LEARNED], known).transform(components)
    ours = SupervisedKDR(2).fit(inside, known).transform(X)
    found = {"ours": ours, "PCA, then LDA": rival, "PCA": components[:, :2]}
    return {name: (Z[:LEARNED], Z[LEARNED:]) for name, Z in found.items()}


def models(real: bool) -> dict[str, Any]:
    """Return what predicts from the reduced rows."""
    if real:
        return {"kNN": KNeighborsRegressor(NEIGHBOURS), "linear": Ridge(1e-3)}
    return {"kNN": KNeighborsClassifier(NEIGHBOURS), "linear": LogisticRegression(max_iter=500)}


def told(model: Any, Z: Places, y: np.ndarray, real: bool) -> np.ndarray:
    """Return by unseen row whether it is told right, or one minus its relative squared error."""
    predicted, truth = model.fit(Z[0], y[:LEARNED]).predict(Z[1]), y[LEARNED:]
    return (
        1 - (predicted - truth) ** 2 / truth.var() if real else (predicted == truth).astype(float)
    )


def comparisons(seeds: range) -> Iterator[list[Any]]:
    """Yield a row of the table for each kind, model and seed."""
    for name, make in KINDS.items():
        for seed in seeds:
            X, y = make(np.random.default_rng(seed))
            real = y.dtype.kind == "f"
            found = places(X, y, real)
            for model_name, model in models(real).items():
                ours, rival, plain = (told(model, Z, y, real) for Z in found.values())
                gaps = ours - rival
                error = gaps.std(ddof=1) / np.sqrt(len(gaps))
                scores = (figure(one.mean(), ".3f") for one in (ours, rival, plain))
                gain = figure(gaps.mean(), "+.3f", f" ± {error:.3f}")
                yield [name, seed, model_name, *scores, gain, gaps.mean() >= -error]


def few_rows(quick: bool = False) -> Table:
    """Return ours beside principal components that are learned from, on generated tables."""
    rows = list(comparisons(SEEDS[:1] if quick else SEEDS))
    held = sum(bool(row[-1]) for row in rows)
    table = Table(
        f"Bar: never worse than PCA, then LDA, with {LEARNED} rows of {FEATURES} features",
        ["table", "seed", "model", "SupervisedKDR", "PCA, then LDA", "PCA", "gain", "held"],
        note=f"Held in {held} of {len(rows)}: not worse by more than one standard error over rows "
        f"(±). Accuracy, or the share of the variance of a real target that is explained, of "
        f"{UNSEEN} further rows. The rival learns from as many principal components as a fifth of "
        "the rows (least squares for a real target); SupervisedKDR and PCA have two dimensions.",
    )
    for row in rows:
        table.add(*row)
    return table
