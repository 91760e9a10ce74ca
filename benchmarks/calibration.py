"""The null behind p-values: what the search finds where there is nothing.

Writes ``multifacet/search/null.json``, with the key of the plan that the laws belong to, and tells
how often further clouds get a small p-value by them; the quick form has too few clouds for laws
and writes nothing.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import scale

from multifacet import ViewFinder
from multifacet.search import PLAN
from multifacet.search.null import FILE, NullLaw, NullLaws, shape_of

from .table import Table

#: Clouds that the laws are fitted to, and further ones that they are checked on.
CLOUDS, CHECKED, QUICK_CLOUDS = 200, 60, 6
#: The 95 % quantile of a Gumbel law of mean zero, in scales.
GUMBEL_95 = 2.393
#: Deviations by which the quantile is taken higher, since it is that of a sample: with 0.84 the
#: true one is below it in four of five cases.
CONFIDENCE = 0.84


def cloud(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Return data without clusters, possibly around given groups."""
    n = int(np.exp(rng.uniform(np.log(80), np.log(450))))
    d = int(np.exp(rng.uniform(np.log(3), np.log(25))))
    X = rng.standard_normal((n, d))
    kind = rng.integers(3)
    if kind:
        half = slice(None, None, 2 if kind == 2 else 1)
        X[:, half] = rng.uniform(-np.sqrt(3), np.sqrt(3), X[:, half].shape)
    if kind == 2:
        X = X @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    groups = int(rng.choice([0, 2, 3]))
    if not groups:
        return scale(X), None
    given = rng.integers(0, groups, n)
    return scale(X + 3 * rng.standard_normal((groups, d))[given]), given


def searched(seed: int) -> list[float] | None:
    """Return the shape, separation and stability of the view found in a cloud, if any is."""
    rng = np.random.default_rng(9000 + seed)
    X, given = cloud(rng)
    k = rng.choice(["auto", "auto", "auto", 2, 3, 5])
    asked = None if k == "auto" else int(k)
    view = ViewFinder(1, asked or "auto", random_state=0).fit(X, given=given).views_[0]
    if not np.isfinite(view.separation):
        return None
    return [*shape_of(*X.shape, asked), view.separation, view.stability]


def fitted(shapes: np.ndarray, statistic: np.ndarray) -> NullLaw:
    """Return the law whose mean is linear in the shapes."""
    coefficients = np.linalg.lstsq(shapes, statistic, rcond=None)[0]
    rest = statistic - shapes @ coefficients
    level = min(0.95 + CONFIDENCE * np.sqrt(0.95 * 0.05 / len(rest)), 1.0)
    scale_of_rest = np.quantile(rest, level) / GUMBEL_95
    return NullLaw(*(round(float(value), 4) for value in (*coefficients, scale_of_rest)))


def exceeded(law: NullLaw, shapes: np.ndarray, statistic: np.ndarray) -> np.ndarray:
    """Return the p-values of statistics on data of some shapes."""
    means = shapes @ np.array([law.level, law.rows, law.features, law.splits])
    return -np.expm1(-np.exp(-((statistic - means) / law.scale + np.euler_gamma)))


def run(quick: bool = False) -> list[Table]:
    clouds, checked = (QUICK_CLOUDS, 2) if quick else (CLOUDS, CHECKED)
    found = Parallel(n_jobs=-1)(delayed(searched)(seed) for seed in range(clouds + checked))
    values = np.array([one for one in found[:clouds] if one is not None])
    shapes, separated, stable = values[:, :4], values[:, 4], values[:, 5]
    laws = NullLaws(PLAN.key, fitted(shapes, separated), fitted(shapes, separated + stable))
    if not quick:
        Path(str(files("multifacet.search").joinpath(FILE))).write_text(laws.to_json(), "utf-8")
    table = Table(
        f"Null of the automatic search ({len(values)} clouds, plan {PLAN.key})",
        ["statistic", "level", "rows", "features", "splits", "scale", "p < 0.05 in further clouds"],
        note=f"Of {checked} further clouds, those without any view have p = 1.",
    )
    further = np.array([one for one in found[clouds:] if one is not None])
    for name, law, statistic in (
        ("separation", laws.separation, further[:, 4]),
        ("separation + stability", laws.with_stability, further[:, 4] + further[:, 5]),
    ):
        small = int((exceeded(law, further[:, :4], statistic) < 0.05).sum())
        table.add(name, *vars(law).values(), f"{small} of {checked}")
    return [table]
