"""The null behind p-values: what the search finds where there is nothing.

Writes ``multifacet/search/null.json``, with the key of the plan that the laws belong to; the quick
form has too few clouds for laws and writes nothing.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import scale

from multifacet import KDAC
from multifacet.evidence import stability
from multifacet.search import PLAN
from multifacet.search.null import FILE, NullLaw, NullLaws, shape_of

from .table import Table

CLOUDS, QUICK_CLOUDS = 120, 6
#: The 95 % quantile of a Gumbel law of mean zero, in scales.
GUMBEL_95 = 2.393


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
    """Return the shape, separation and stability of what is found in one cloud, if anything is."""
    rng = np.random.default_rng(9000 + seed)
    X, given = cloud(rng)
    k = rng.choice(["auto", "auto", "auto", 2, 3, 5])
    asked = None if k == "auto" else int(k)
    model = KDAC(asked or "auto", random_state=0).fit(X, given=given)
    best, part = model.selection_.chosen, model.selection_.rows
    if best.rejected:
        return None
    known = [] if given is None else [given[part]]
    stable = stability(X[part], best.labels, best.settings, given=known)
    return [*shape_of(*X.shape, asked), best.separation, stable]


def fitted(shapes: np.ndarray, statistic: np.ndarray) -> NullLaw:
    """Return the law whose mean is linear in the shapes."""
    coefficients = np.linalg.lstsq(shapes, statistic, rcond=None)[0]
    rest = statistic - shapes @ coefficients
    scale_of_rest = np.quantile(rest, 0.95) / GUMBEL_95
    return NullLaw(*(round(float(value), 4) for value in (*coefficients, scale_of_rest)))


def run(quick: bool = False) -> list[Table]:
    clouds = QUICK_CLOUDS if quick else CLOUDS
    found = Parallel(n_jobs=-1)(delayed(searched)(seed) for seed in range(clouds))
    values = np.array([one for one in found if one is not None])
    shapes, separated, stable = values[:, :4], values[:, 4], values[:, 5]
    laws = NullLaws(PLAN.key, fitted(shapes, separated), fitted(shapes, separated + stable))
    if not quick:
        Path(str(files("multifacet.search").joinpath(FILE))).write_text(laws.to_json(), "utf-8")
    table = Table(
        f"Null of the automatic search ({len(values)} clouds, plan {PLAN.key})",
        ["statistic", "level", "rows", "features", "splits", "scale"],
    )
    table.add("separation", *vars(laws.separation).values())
    table.add("separation + stability", *vars(laws.with_stability).values())
    return [table]
