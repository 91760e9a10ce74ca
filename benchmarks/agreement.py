"""The low-rank engine against the exact one: the same answer on every data set and kernel?

Twice: each engine all the way from the papers' spectral start, and only the final climb from one
W. Where alternations take different turns the first differs though the second does not. ``NMI`` is
between the two label sets, ``angle`` the largest principal angle between the two subspaces in
radians. Where labels differ, the agreement of both with the truth tells which is right.
"""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import scale

from multifacet import KDAC
from multifacet.datasets import load_penguins
from multifacet.engines import Exact, LowRank
from multifacet.kernels import (
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    median_distance,
)
from multifacet.metrics import nmi

from .papers.cases import MAKERS, Case, read
from .published import DATA
from .record import RESULTS
from .table import Table

RANKS = (10, 25, 50, 100, 200, 400)


def cases(quick: bool) -> list[Case]:
    """All data sets of Table 1, and the others of the shared folder; one in the quick form."""
    if quick:
        return [MAKERS["small Gauss"]()]
    found = [make() for make in MAKERS.values()]
    X, [diagnosis] = read("cancer_683x9", 1)
    found.append(_case("cancer", scale(X), diagnosis, [], 2, 2))
    X, [identity, pose, *_] = read("faces_624x66", 4)
    found.append(_case("faces, 66 features", scale(X), pose, [identity], 4, 17))
    X, _ = read("kdac_synthetic1_600x6", 0)
    found.append(_case("synthetic 1", scale(X), X[:, 0] > np.median(X[:, 0]), [], 3, 2))
    X, known = load_penguins()
    found.append(_case("penguins", scale(X), known[:, 0], [known[:, 1]], 2, 2))
    return found


def _case(name, X, given, hidden, k, q) -> Case:
    sigma = 0.5 * median_distance(X)
    return Case(name, X, given, hidden, k, q, sigma, 3.0 / len(X), {})


def kernels(case: Case) -> dict:
    return {
        "Gaussian": Gaussian(case.sigma),
        "polynomial": Polynomial(3),
        "linear": Linear(),
        "squared": Squared(),
        "multiquadratic": Multiquadratic(),
        "relative": RelativeGaussian(),
        "sum": Gaussian(case.sigma) + 0.01 * Polynomial(2),
    }


def fit(case: Case, kernel, engine):
    """Fit from the spectral start of the exact engine, as the papers do."""
    return KDAC(
        case.k, n_components=case.q, kernel=kernel, novelty_weight=case.weight,
        novelty_scale="paper", init="spectral", engine=engine, random_state=0,
    ).fit(case.X, given=case.given)  # fmt: skip


def refit(case: Case, kernel, engine, start):
    return KDAC(
        case.k, n_components=case.q, kernel=kernel, novelty_weight=case.weight,
        novelty_scale="paper", init=start, max_iter=1, engine=engine, random_state=0,
    ).fit(case.X, given=case.given)  # fmt: skip


def angle(one, other) -> float:
    """Largest principal angle between two subspaces; what spans the whole space has none."""
    A, B = one.components_, other.components_
    sine = np.linalg.norm(B - (B @ A.T) @ A, 2)
    return float(np.arcsin(min(sine, 1.0)))


def truth(model, case: Case) -> float:
    return max((nmi(model.labels_, hidden) for hidden in case.hidden), default=np.nan)


def same_answer(quick: bool) -> Table:
    table = Table(
        "The low-rank engine at its default rank against the exact engine",
        ["data", "kernel", "NMI of both", "angle", "truth exact", "truth low rank", "bar",
         "NMI from one W", "angle from one W", "rank", "error of K"],
        note="Bar: NMI >= 0.98, or equal agreement with the truth (within 0.02), and an angle <= "
        "0.1 rad, each engine on its own from the spectral start.",
    )  # fmt: skip
    every = []
    for case in cases(quick):
        for name, kernel in kernels(case).items():
            exact, low = (fit(case, kernel, engine) for engine in (Exact(), LowRank()))
            same, apart = nmi(exact.labels_, low.labels_), angle(exact, low)
            right = abs(truth(exact, case) - truth(low, case)) <= 0.02
            met = (same >= 0.98 or right) and apart <= 0.1
            every.append(met)
            start = exact.components_.T
            near = refit(case, kernel, LowRank(), start)
            again = refit(case, kernel, Exact(), start)
            sums = LowRank().attach(case.X, kernel, mean=case.X.mean(axis=0))
            sums.degrees(low.components_.T)
            table.add(
                case.name, name, same, apart, truth(exact, case), truth(low, case),
                "met" if met else "missed", nmi(again.labels_, near.labels_), angle(again, near),
                sums.rank, sums.error,
            )  # fmt: skip
            print(table.last, flush=True)
    table.note += f" Met by {sum(every)} of {len(every)}."
    return table


def growing_rank(quick: bool) -> Table:
    table = Table(
        "Angle to the exact subspace as the rank grows (Gaussian kernel)",
        ["data", *map(str, RANKS)],
        note="Refused: most rows are similar to no landmark, an error with a sentence. The "
        "same as a picture: agreement.png.",
    )
    curves = {}
    for case in cases(quick):
        kernel = Gaussian(case.sigma)
        start = fit(case, kernel, Exact()).components_.T
        exact = refit(case, kernel, Exact(), start)
        ranks = [rank for rank in RANKS if rank <= len(case.X)]
        angles = [angle_at(rank, case, kernel, exact, start) for rank in ranks]
        shown = ["refused" if np.isnan(value) else value for value in angles]
        table.add(case.name, *shown, *[""] * (len(RANKS) - len(ranks)))
        curves[case.name] = ranks, angles
        print(table.last, flush=True)
    if not quick:
        draw(curves)
    return table


def angle_at(rank: int, case: Case, kernel, exact, start) -> float:
    try:
        return angle(exact, refit(case, kernel, LowRank(rank=rank), start))
    except ValueError:  # most rows are similar to no landmark
        return np.nan


def draw(curves: dict) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, (ranks, angles) in curves.items():
        ax.loglog(ranks, np.maximum(angles, 1e-9), marker="o", markersize=3, label=name)
    ax.axhline(0.1, color="grey", linestyle=":", label="bar")
    ax.set(xlabel="rank", ylabel="angle to the exact subspace (rad)")
    ax.legend(fontsize=7, ncol=2)
    figure.savefig(RESULTS / "agreement.png", dpi=110)


def run(quick: bool = False) -> list[Table]:
    if not DATA.exists():
        return [Table("Agreement", [], note="The shared data sets are not on this machine.")]
    return [same_answer(quick), growing_rank(quick)]
