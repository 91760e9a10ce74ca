"""What ``find_views`` finds where the answer is known: shapes, small groups, products, and nothing.

Every table is searched by the default method; ``selection`` does the same for KDAC alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import pdist
from sklearn.preprocessing import scale

from multifacet import ViewFinder
from multifacet.datasets import make_independent_views
from multifacet.metrics import nmi

from .calibration import KINDS, structureless
from .families import REPORTED, SEEDS
from .table import Table, figure

#: Where the answer counts as found.
FOUND = 0.9
PROCESSES = 2
#: Shares of the rows that a small group has, and tables of each.
SHARES, SMALL = (0.05, 0.1, 0.15, 0.2), 6
#: How far such a group is away, in standard deviations.
DISTANCE = 5.0
#: Numbers of groups of two independent groupings, how features are mixed, and tables of each.
PRODUCTS, MIXED, PRODUCT_SEEDS = ((2, 2), (2, 3), (3, 3)), ("plain", "rotated", "correlated"), 3
#: Numbers of clear groups in a plane among two noise features, how far the nearest are apart (in
#: standard deviations), and tables of each number and place.
CLEAR, APART, CLEAR_SEEDS = range(2, 9), 6.0, 6
PLACES = ("anywhere", "on a circle")
#: Numbers of groups of two groupings of which either hides finer groups of the other.
SEVERAL, SEVERAL_SEEDS = ((3, 5), (2, 8), (4, 3)), 3
#: Structureless tables; their seeds are none of those to which the null laws were fitted.
NOTHING, FIRST_SEED = 105, 70_000


def found_in(X: np.ndarray, **options: Any) -> ViewFinder:
    """Return the default search of a table, fitted."""
    warnings.simplefilter("ignore")  # in a process of its own
    given = options.pop("given", None)
    return ViewFinder(random_state=0, **options).fit(X, given=given)


def family_case(index: int, seed: int) -> tuple[float, float, bool]:
    """Return the NMI told k, the NMI automatic, and whether k was right then."""
    family = REPORTED[index]
    X, labelings = family.make(seed)
    scores, right = [], False
    for k in (family.k[1], "auto"):
        options = {"n_views": 1, "n_clusters": k, "n_refits": 0, "given": labelings[:, 0]}
        views = found_in(X, **options).views_
        each = [nmi(views[0].labels, truth) for truth in labelings.T[1:]] if views else [0.0]
        scores.append(max(each))
        right = bool(views) and views[0].n_clusters == family.k[1 + int(np.argmax(each))]
    return scores[0], scores[1], right


def small_case(share: float, seed: int) -> tuple[float, float]:
    """Return the NMI with one group of a share of 400 rows, five standard deviations away.

    And the NMI of the best cut, by whoever knows all means, shares and given groups: at this
    distance some rows of a group lie among the others.
    """
    rng = np.random.default_rng(2000 + seed)
    noise = rng.standard_normal((400, 6))
    given = rng.integers(0, 3, 400)
    X = noise.copy()
    X[:, :2] += 4 * np.eye(3)[given][:, :2]
    hidden = (rng.permutation(400) < share * 400).astype(int)
    direction = rng.standard_normal(6)
    direction /= np.linalg.norm(direction)
    X += DISTANCE * hidden[:, None] * direction
    along = noise @ direction + DISTANCE * hidden
    cut = along > DISTANCE / 2 + np.log((1 - share) / share) / DISTANCE
    known = given if seed % 2 else None
    # Without anything given, the three groups are a view too.
    views = found_in(scale(X), n_views=1 if seed % 2 else 2, n_refits=0, given=known).views_
    best = max((nmi(view.labels, hidden) for view in views), default=0.0)
    return best, nmi(cut.astype(int), hidden)


def product_case(numbers: Sequence[int], mixed: str, seed: int) -> tuple[float, int]:
    """Return the smaller NMI with two independent groupings, and how many views were found."""
    rng = np.random.default_rng(3000 + seed)
    labelings = np.column_stack([rng.integers(0, k, 400) for k in numbers])
    blocks = []
    for labels, k in zip(labelings.T, numbers, strict=True):
        angle = 2 * np.pi * labels / k
        centres = np.column_stack([np.cos(angle), np.sin(angle)]) * (3.5 if k == 2 else 4.0)
        blocks.append(centres + rng.standard_normal((400, 2)))
    X = np.hstack(blocks)
    if mixed == "rotated":
        X = X @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    elif mixed == "correlated":
        X = X @ (np.eye(4) + 0.5 * rng.uniform(-1, 1, (4, 4)))
    views = found_in(scale(X), n_refits=3).views_
    best = [max((nmi(v.labels, truth) for v in views), default=0.0) for truth in labelings.T]
    return min(best), len(views)


def clear_case(k: int, place: str, seed: int) -> tuple[float, int]:
    """Return the NMI of the first view with k clear groups in a plane, and how many views."""
    rng = np.random.default_rng(8000 + 100 * k + seed)
    labels = rng.integers(0, k, 400)
    angles = 2 * np.pi * np.arange(k) / k
    centres = np.column_stack([np.cos(angles), np.sin(angles)]) * APART / (2 * np.sin(np.pi / k))
    while place == "anywhere":
        centres = APART * rng.standard_normal((k, 2))
        if pdist(centres).min() >= APART:
            break
    X = np.hstack([centres[labels] + rng.standard_normal((400, 2)), rng.standard_normal((400, 2))])
    views = found_in(scale(X), n_refits=3).views_
    return (nmi(views[0].labels, labels) if views else 0.0), len(views)


def several_case(numbers: Sequence[int], seed: int) -> tuple[float, int]:
    """Return the smaller NMI with two groupings of several groups each, and how many views."""
    rng = np.random.default_rng(9500 + seed)
    shapes = ["blobs", "blobs"]
    X, labelings = make_independent_views(400, shapes, n_clusters=list(numbers), random_state=rng)
    X = np.hstack([X, rng.standard_normal((400, 4))])
    X = X @ np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    views = found_in(scale(X), n_refits=3).views_
    best = [max((nmi(v.labels, truth) for v in views), default=0.0) for truth in labelings.T]
    return min(best), len(views)


def nothing_case(seed: int) -> int:
    """Return how many views are announced in a structureless table."""
    kind = KINDS[seed % len(KINDS)]
    X, given = structureless(kind, np.random.default_rng(FIRST_SEED + seed))
    return found_in(X, given=given).n_views_


def every(case: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    return Parallel(PROCESSES)(delayed(case)(*one) for one in arguments)


def family_table(seeds: range) -> Table:
    table = Table(
        "Groups of known shape: NMI of the first view, one row per family",
        ["family", "told k", "automatic", "k right"],
        note=f"The reported half of the families, seeds: {len(seeds)}. What hides beside the given "
        "view counts, whichever of several is found.",
    )
    arguments = [(i, seed) for i in range(len(REPORTED)) for seed in seeds]
    found = every(family_case, arguments)
    for i, family in enumerate(REPORTED):
        own = [score for (j, _), score in zip(arguments, found, strict=True) if j == i]
        told, free = (" ".join(f"{one[c]:.2f}" for one in own) for c in (0, 1))
        table.add(family.name, told, free, f"{sum(one[2] for one in own)} of {len(own)}")
    shares = [figure(np.mean([one[c] >= FOUND for one in found]), ".0%") for c in (0, 1)]
    right = sum(one[2] for one in found)
    table.add(f"NMI >= {FOUND:g}", *shares, f"{right} of {len(found)}")
    return table


def small_table(count: int) -> Table:
    table = Table(
        f"One small group, {DISTANCE:g} standard deviations away from the others",
        ["share of the rows", "given", "NMI", "best cut", "found"],
        note="400 rows, 6 features, k chosen; every other table has three further groups given, "
        "and in those without, the best of two views counts. Found: at least "
        f"{FOUND:g} times the NMI of the best cut, by whoever knows all means and shares.",
    )
    arguments = [(share, seed) for share in SHARES for seed in range(count)]
    found = np.array(every(small_case, arguments))
    hits = found[:, 0] >= FOUND * found[:, 1]
    for share in SHARES:
        for given in (False, True):
            own = np.array([s == share and seed % 2 == given for s, seed in arguments])
            if own.any():
                cells = (" ".join(f"{one:.2f}" for one in column) for column in found[own].T)
                table.add(f"{share:.0%}", given, *cells, f"{hits[own].sum()} of {own.sum()}")
    table.add("all", "", "", "", f"{hits.sum()} of {len(hits)}")
    return table


def product_table(seeds: int) -> Table:
    table = Table(
        "Two independent groupings, nothing given: the worse of both, and how many views",
        ["groups", "features", "NMI", "views", "both found"],
        note=f"400 rows, 4 features, everything chosen. Found: NMI >= {FOUND:g} with a view each.",
    )
    arguments = [(ks, how, seed) for ks in PRODUCTS for how in MIXED for seed in range(seeds)]
    found = every(product_case, arguments)
    for ks in PRODUCTS:
        for how in MIXED:
            own = [
                one for a, one in zip(arguments, found, strict=True) if a[0] == ks and a[1] == how
            ]
            table.add(
                f"{ks[0]} x {ks[1]}",
                how,
                " ".join(f"{one[0]:.2f}" for one in own),
                " ".join(str(one[1]) for one in own),
                f"{sum(one[0] >= FOUND for one in own)} of {len(own)}",
            )
    table.add("all", "", "", "", f"{sum(one[0] >= FOUND for one in found)} of {len(found)}")
    return table


def clear_table(seeds: int) -> Table:
    table = Table(
        "Clear groups in a plane, nothing given: NMI of the first view, and how many views",
        ["groups", "where", "NMI", "views", "told once"],
        note=f"400 rows, 4 features of which two are noise, neighbours {APART:g} standard "
        f"deviations apart or more. Told once: one view, NMI >= {FOUND:g}. Four groups on a circle "
        "are the corners of a square, and rightly two views of two.",
    )
    arguments = [(k, place, seed) for k in CLEAR for place in PLACES for seed in range(seeds)]
    found = every(clear_case, arguments)
    hits = [score >= FOUND and views == 1 for score, views in found]
    for at in range(0, len(found), seeds):
        own = found[at : at + seeds]
        scores, views = (" ".join(format(one[c], (".2f", "d")[c]) for one in own) for c in (0, 1))
        told = f"{sum(hits[at : at + seeds])} of {seeds}"
        table.add(*arguments[at][:2], scores, views, told)
    table.add("all", "", "", "", f"{sum(hits)} of {len(hits)}")
    return table


def several_table(seeds: int) -> Table:
    table = Table(
        "Two groupings of several groups among noise, nothing given: the worse of both",
        ["groups", "NMI", "views", "both found"],
        note="400 rows, 8 features turned against each other, everything chosen.",
    )
    arguments = [(numbers, seed) for numbers in SEVERAL for seed in range(seeds)]
    found = every(several_case, arguments)
    for at in range(0, len(found), seeds):
        own, (a, b) = found[at : at + seeds], arguments[at][0]
        scores, views = (" ".join(format(one[c], (".2f", "d")[c]) for one in own) for c in (0, 1))
        table.add(f"{a} and {b}", scores, views, f"{sum(o[0] >= FOUND for o in own)} of {seeds}")
    table.add("all", "", "", f"{sum(one[0] >= FOUND for one in found)} of {len(found)}")
    return table


def nothing_table(count: int) -> Table:
    table = Table(
        "Tables without groups: how many are silent",
        ["kind", "silent"],
        note="60 to 450 rows, 3 to 100 features, half of them around given groups; none of those "
        "to which the null laws were fitted.",
    )
    found = every(nothing_case, [(seed,) for seed in range(count)])
    for i, kind in enumerate(KINDS):
        own = found[i :: len(KINDS)]
        table.add(kind, f"{sum(one == 0 for one in own)} of {len(own)}")
    silent = sum(one == 0 for one in found)
    table.add("all", f"{silent} of {len(found)}")
    return table


def run(quick: bool = False) -> list[Table]:
    if quick:
        return [small_table(1), several_table(1), nothing_table(len(KINDS))]
    return [
        family_table(SEEDS),
        small_table(SMALL),
        product_table(PRODUCT_SEEDS),
        clear_table(CLEAR_SEEDS),
        several_table(SEVERAL_SEEDS),
        nothing_table(NOTHING),
    ]
