"""2018 paper, Table 1: three solvers with two kinds of start on seven data sets."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np

from multifacet import KDAC
from multifacet.metrics import nmi
from multifacet.solvers import ISM, DimensionGrowth, Stiefel

from ..table import Figure, Table, figure
from .cases import Case, cases
from .limit import Limited

SOLVERS = {"ISM": ISM, "SM": Stiefel, "DG": DimensionGrowth}
#: Random starts per solver, and seconds that its W-steps may take in one fit.
REPEATS, LIMIT = 3, 5.0
QUICK = ["small Gauss", "moon + noise"]


def fit(case: Case, solver: str, init: str, seed: int, limit: float) -> dict[str, float]:
    """Return the measures of one fit of KDAC."""
    limited = Limited(SOLVERS[solver](), limit)
    began = time.process_time()
    model = KDAC(
        case.k, n_components=case.q, bandwidth=case.sigma, novelty_weight=case.weight,
        novelty_scale="paper", init=init, n_starts=1, solver=limited, random_state=seed, n_jobs=1,
    ).fit(case.X, given=case.given)  # fmt: skip
    return {
        "NMI": max((nmi(model.labels_, truth) for truth in case.hidden), default=np.nan),
        "CQ": model.quality_,
        "novelty": nmi(model.labels_, case.given),
        "cost": -model.objective_,
        "smallest": float(np.bincount(model.labels_, minlength=case.k).min() / len(case.X)),
        "W": limited.spent,
        "total": time.process_time() - began,
        "evaluations": limited.evaluations,
        "stopped": limited.stopped,
    }


def spread(values: list[float], digits: int = 3, end: str = "") -> Figure | None:
    """Return a value, or mean and standard deviation."""
    several = f" ± {np.std(values):.2g}" if len(values) > 1 else ""
    return figure(np.mean(values), f".{digits}g", several + end)


def run(quick: bool = False) -> list[Table]:
    """Return the table, and who reached the lowest cost."""
    repeats, limit = (1, 1.0) if quick else (REPEATS, LIMIT)
    table = Table(
        "2018 paper, Table 1: alternative clusterings by solver and start",
        ["data", "solver", "start", "NMI", "published", "CQ", "published", "novelty", "published",
         "cost", "smallest cluster", "evaluations of Phi", "W-steps, s", "total, s",
         "published, s"],
    )  # fmt: skip
    costs: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    everything = cases(QUICK if quick else None)
    for case in everything:
        for solver in SOLVERS:
            for init in ("spectral", "random"):
                seeds = range(repeats) if init == "random" else range(1)
                fits = [fit(case, solver, init, seed, limit) for seed in seeds]
                m = {key: [f[key] for f in fits] for key in fits[0]}
                costs[case.name][solver, init] = float(np.min(m["cost"]))
                was = [None if v is None else figure(v, "g") for v in case.published[solver, init]]
                table.add(
                    case.name, solver, init, spread(m["NMI"]), was[0], spread(m["CQ"]), was[1],
                    spread(m["novelty"], 2), was[2], spread(m["cost"], 5),
                    figure(np.min(m["smallest"]), ".0%"), spread(m["evaluations"]),
                    spread(m["W"], 2, " (stopped)" if any(m["stopped"]) else ""),
                    spread(m["total"], 2), was[4],
                )  # fmt: skip
                print(table.last, flush=True)
    table.note = (
        f"KDAC at the published settings; random starts: mean ± standard deviation of {repeats}. "
        f"W-steps of one fit are stopped after {limit:g} s of processor time. All solvers share "
        "the engine, one thread, the U-step and the final climb of the joint objective, so that "
        "cost and CQ are those of one function; the published costs are of mixed scales. "
        + " ".join(f"{case.name}: {case.note}." for case in everything if case.note)
    )
    return [table, ranking(costs)]


def ranking(costs: dict[str, dict[tuple[str, str], float]]) -> Table:
    """Return how far the cost of ISM with the spectral start is from that of every rival."""
    rivals = [
        (s, i) for s in SOLVERS for i in ("spectral", "random") if (s, i) != ("ISM", "spectral")
    ]
    table = Table(
        "Cost of a solver minus that of ISM with the spectral start (best of its starts)",
        ["data", *(f"{solver}, {init}" for solver, init in rivals)],
        note="Positive: ISM is better. Absolute differences below 1e-6 of the cost are zero.",
    )
    for name, found in costs.items():
        ours = found["ISM", "spectral"]
        gaps = [found[rival] - ours for rival in rivals]
        table.add(
            name, *(figure(gap, "+.3g") if abs(gap) > 1e-6 * abs(ours) else 0 for gap in gaps)
        )
    return table
