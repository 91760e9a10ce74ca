"""The null behind p-values: what the search finds where there is nothing.

Writes the constants of ``multifacet.evidence.NULL_SEPARATION`` and ``NULL_WITH_STABILITY``.
"""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import scale

from multifacet import KDAC
from multifacet.evidence import stability
from multifacet.search import ROWS

from .table import Table

CLOUDS = 120


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


def run() -> list[Table]:
    rows = []
    for seed in range(CLOUDS):
        rng = np.random.default_rng(9000 + seed)
        X, given = cloud(rng)
        k = rng.choice(["auto", "auto", "auto", 2, 3, 5])
        k = "auto" if k == "auto" else int(k)
        model = KDAC(k, random_state=0).fit(X, given=given)
        best = model.selection_.chosen
        part = model.selection_.rows
        known = [] if given is None else [given[part]]
        stable = stability(X[part], best.labels, best.settings, given=known)
        splits = 0.0 if k == "auto" else np.log2(k) - 1
        shape = [1.0, np.log(min(len(X), ROWS) / ROWS), np.log(X.shape[1]), splits]
        if not best.rejected:
            rows.append([*shape, best.separation, stable])
    values = np.array(rows)
    table = Table(
        f"Null of the automatic search ({len(values)} clouds)",
        ["statistic", "level", "rows", "features", "splits", "scale", "95 % quantile"],
    )
    for name, statistic in (
        ("separation", values[:, 4]),
        ("separation + stability", values[:, 4] + values[:, 5]),
    ):
        coefficients = np.linalg.lstsq(values[:, :4], statistic, rcond=None)[0]
        rest = statistic - values[:, :4] @ coefficients
        # A Gumbel law of mean zero has its 95 % quantile at 2.393 scales.
        table.add(name, *map(float, coefficients), float(np.quantile(rest, 0.95) / 2.393),
                  float(np.quantile(statistic, 0.95)))  # fmt: skip
    return [table]
