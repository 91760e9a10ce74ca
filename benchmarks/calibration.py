"""The null behind p-values: what the search finds where there is nothing.

Writes ``multifacet/search/null.json``, with the key of the plan that the laws belong to, and tells
how often such tables get a small p-value by the laws of others; the quick form has too few clouds
for laws and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import scale

from multifacet import ViewFinder
from multifacet.search import PLAN
from multifacet.search.null import FILE, GUMBEL_95, NullLaw, NullLaws, shape_of

from .table import Cell, Table, figure

#: Clouds of the kernel's search, and tables of all sources together. Laws are fitted to all, since
#: one table of some hundred moves them, and checked by halves: laws of one half on the other.
CLOUDS, QUICK_CLOUDS = 150, 8
TABLES, QUICK_TABLES = 820, 28
#: What counts as a small p-value, and as a very small one.
SMALL, VERY_SMALL = 0.05, 0.01
#: Deviations by which the quantile is taken higher, since it is that of a sample: with 1.64 the
#: true one is below it in nineteen of twenty cases. (With 0.84 the scale moved from 0.48 to 0.29
#: between two runs of nearly the same search, of which few tables reach anything.)
CONFIDENCE = 1.64


def cloud(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Return data without clusters, possibly around given groups."""
    n = int(np.exp(rng.uniform(np.log(80), np.log(450))))
    # The law is linear in log d up to here; with clouds of up to 100 features its scale is half as
    # wide again, at the cost of all tables of few.
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


#: Tables without groups of the kinds that people have.
KINDS = ("Gaussian", "uniform", "t", "log-normal", "counts", "0/1", "correlated")


def structureless(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a table of a kind, possibly around given groups."""
    n = int(np.exp(rng.uniform(np.log(60), np.log(450))))
    d = int(np.exp(rng.uniform(np.log(3), np.log(100))))
    X = {
        "uniform": lambda: rng.uniform(size=(n, d)),
        "t": lambda: rng.standard_t(4, size=(n, d)),
        "log-normal": lambda: np.exp(0.8 * rng.standard_normal((n, d))),
        "counts": lambda: rng.poisson(rng.uniform(1, 8, d), (n, d)).astype(float),
    }.get(kind, lambda: rng.standard_normal((n, d)))()
    if kind == "0/1":
        X[:, :2] = rng.random((n, 2)) < 0.5
    if kind == "correlated":
        X = X @ rng.standard_normal((d, d))
    if rng.random() < 0.5:
        return scale(X), None
    given = rng.integers(0, 3, n)
    if kind not in ("counts", "0/1"):  # whose values would not stay what they are
        X = X + 2 * X.std(axis=0) * rng.standard_normal((3, d))[given]
    return scale(X), given


def asked(rng: np.random.Generator) -> int | None:
    """Return a number of groups to ask for, mostly none."""
    return (None, None, None, 2, 3, 5)[rng.integers(6)]


def by_kernel(seed: int) -> list[float] | None:
    """Return the shape, separation and stability of the view found in a cloud, if any is."""
    rng = np.random.default_rng(9000 + seed)
    X, given = cloud(rng)
    k = asked(rng)
    view = ViewFinder(1, k or "auto", method="kdac", random_state=0).fit(X, given=given).views_[0]
    if not np.isfinite(view.separation):
        return None
    return [*shape_of(*X.shape, k), view.separation, view.stability]


def table_of(seed: int) -> tuple[np.ndarray, np.ndarray | None, int | None]:
    """Return a structureless table, what is given, and the number of groups to ask for."""
    rng = np.random.default_rng(30_000 + seed)
    X, given = structureless(KINDS[seed % len(KINDS)], rng)
    return X, given, asked(rng)


def by_all_sources(seed: int) -> list[float]:
    """Return the shape, surprise and stability of the view found in a table, zeros if none is."""
    X, given, k = table_of(seed)
    views = ViewFinder(1, k or "auto", n_twins=0, random_state=0).fit(X, given=given).views_
    silent = not views or views[0].surprise is None
    found = [0.0, 0.0] if silent else [views[0].surprise, views[0].stability]
    # Of a few rows no subsample may show the groups: then stability is not a number.
    return [*shape_of(*X.shape, k), *(np.nan if one is None else one for one in found)]


def fitted(shapes: np.ndarray, statistic: np.ndarray) -> NullLaw:
    """Return the law whose mean is linear in the shapes."""
    coefficients = np.linalg.lstsq(shapes, statistic, rcond=None)[0]
    rest = statistic - shapes @ coefficients
    level = min(0.95 + CONFIDENCE * np.sqrt(0.95 * 0.05 / len(rest)), 1.0)
    scale_of_rest = np.quantile(rest, level) / GUMBEL_95
    # Twice as many are beyond the 90 % quantile as beyond the other one, with the same mean excess
    # if the tail is exponential.
    far = rest - np.quantile(rest, 0.9)
    tail = max(far[far > 0].mean(), scale_of_rest)
    return NullLaw(*(round(float(value), 4) for value in (*coefficients, scale_of_rest, tail)))


@dataclass(frozen=True)
class Simulated:
    """What a search found in structureless data.

    Attributes
    ----------
    found : list of list of float, or None
        Shape, statistic and stability of each; None where there is no view.
    together : callable
        How a statistic is joined with its stability.
    """

    found: list[list[float] | None]
    together: Callable[[np.ndarray, np.ndarray], np.ndarray]

    @classmethod
    def by(
        cls,
        search: Callable[[int], list[float] | None],
        together: Callable[[np.ndarray, np.ndarray], np.ndarray],
        count: int,
    ) -> Simulated:
        """Return what a search finds in the tables of the seeds from zero on."""
        found = Parallel(n_jobs=-1)(delayed(search)(seed) for seed in range(count))
        return cls(found, together)

    def laws(self, chosen: np.ndarray | bool = True) -> tuple[list[NullLaw], list[np.ndarray]]:
        """Return laws, alone and with stability, and p-values by the laws of the other half.

        Of the ``chosen`` tables, one truth value each; p-values of the others are not a number.
        """
        every = np.array([one or [np.nan] * 6 for one in self.found])
        chosen = np.broadcast_to(chosen, len(every))
        even = np.arange(len(every)) % 2 == 0
        shapes, alone, stability = every[:, :-2], every[:, -2], every[:, -1]
        laws: list[NullLaw] = []
        p_values = [np.where(chosen, 1.0, np.nan)]  # where there is no view
        for statistic in (alone, self.together(alone, stability)):
            used = np.isfinite(statistic) & chosen
            laws.append(fitted(shapes[used], statistic[used]))
            # Without stability the p-value is that of the statistic alone.
            p_values.append(p_values[-1].copy())
            for half in (even, ~even):
                other = fitted(shapes[used & ~half], statistic[used & ~half])
                now = used & half
                p_values[-1][now] = other.exceeded(statistic[now], shapes[now])
        return laws, p_values[1:]


def share(p_values: np.ndarray, small: float = SMALL) -> str:
    """Return how many p-values are small."""
    return f"{int((p_values < small).sum())} of {int(np.isfinite(p_values).sum())}"


def kind_table(p_values: np.ndarray, given: np.ndarray) -> Table:
    """Return how often tables of each kind have a small p-value."""
    table = Table(
        f"Tables without groups that have p < {SMALL:g}, by kind",
        ["kind", "nothing given", "groups given", "share", f"p < {VERY_SMALL:g}"],
        note="By surprise x stability, without twins of the tables, and by laws that were fitted "
        "to the other half of them.",
    )
    seeds = np.arange(len(p_values))
    kinds = seeds % len(KINDS)
    for number, kind in enumerate(KINDS):
        own = kinds == number
        table.add(kind, *row_of(p_values, own, given))
    table.add("all", *row_of(p_values, np.ones(len(seeds), dtype=bool), given))
    return table


def row_of(p_values: np.ndarray, own: np.ndarray, given: np.ndarray) -> list[Cell]:
    """Return the cells of some tables: without and with given groups, and both together."""
    parts = [share(p_values[own & ~given]), share(p_values[own & given])]
    return [*parts, *(figure(np.mean(p_values[own] < p), ".1%") for p in (SMALL, VERY_SMALL))]


def run(quick: bool = False) -> list[Table]:
    clouds, tables = (QUICK_CLOUDS, QUICK_TABLES) if quick else (CLOUDS, TABLES)
    kernel, kernel_small = Simulated.by(by_kernel, np.add, clouds).laws()
    every = Simulated.by(by_all_sources, np.multiply, tables)
    given = np.array([table_of(seed)[1] is not None for seed in range(tables)])
    free, free_small = every.laws(~given)
    beside, beside_small = every.laws(given)
    found = [*kernel, *free, *beside]
    laws = NullLaws(PLAN.key, *found)
    if not quick:
        Path(str(files("multifacet.search").joinpath(FILE))).write_text(laws.to_json(), "utf-8")
    checked = [f"p < {p:g} by the other half" for p in (SMALL, VERY_SMALL)]
    columns = ["statistic", *NullLaw.__dataclass_fields__, *checked]
    table = Table(
        f"Null of the automatic search (plan {PLAN.key})",
        columns,
        note=f"Kernel's search: {clouds} Gaussian, uniform and mixed clouds, two thirds of them "
        f"with given groups. All sources: {tables} tables, {', '.join(KINDS)} in turn, half of "
        "them with given groups. Tables without any view have p = 1. Laws are fitted to all; the "
        "p-values are by laws of either half on the other.",
    )
    names = [
        f"{whose}: {what}"
        for whose, what, join in (
            ("kernel", "separation", "+"),
            ("all sources, nothing given", "surprise", "x"),
            ("all sources, groups given", "surprise", "x"),
        )
        for what in (what, f"{what} {join} stability")
    ]
    small = [*kernel_small, *free_small, *beside_small]
    for name, law, p_values in zip(names, found, small, strict=True):
        table.add(name, *vars(law).values(), share(p_values), share(p_values, VERY_SMALL))
    p_values = np.fmin(free_small[1], beside_small[1])
    return [table, kind_table(p_values, given)]
