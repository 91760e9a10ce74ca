"""2018 paper, Figure 4: objective, gradient of the Lagrangian and change of W by iteration."""

from __future__ import annotations

from multifacet.engines import Exact
from multifacet.kernels import Gaussian
from multifacet.problems import alternative
from multifacet.search.starts import spectral_start
from multifacet.solvers import ISM, DimensionGrowth, Stiefel

from ..table import Table, figure
from .cases import cases
from .limit import Limited

QUICK = ["small Gauss", "large Gauss"]
#: Iterations shown, and seconds for a solver.
SHOWN, LIMIT = (0, 1, 2, 3, 5, 10), 10.0


def run(quick: bool = False) -> list[Table]:
    """Return the course of the plain iteration, and the work of all solvers on the same W-step."""
    course = Table(
        "2018 paper, Figure 4: the first W-step by the plain iteration",
        ["data", "measure", *(f"W {i}" for i in SHOWN), "ending"],
        note="Gradient: of the Lagrangian, relative. Change of W: sine of the largest angle "
        "between subspaces. Published: ISM needs fewer than ten iterations, which is enough for W "
        "to rest, not for the gradient to vanish.",
    )
    work = Table(
        "The same W-step to a relative gradient of 1e-6, by solver",
        ["data", "solver", "evaluations of Phi", "objective", "relative gradient", "seconds"],
        note=f"Stopped after {1 if quick else LIMIT:g} s of processor time. Same start and engine, "
        "one thread.",
    )
    for case in cases(QUICK if quick else None):
        sums = Exact().attach(case.X, Gaussian(case.sigma), n_jobs=1)
        problem = alternative([case.given], case.weight, case.k, scale="paper")
        start = spectral_start(sums, problem, case.q)
        plain = ISM(max_iter=30).solve(sums, start.gamma, start.W, polish=False)
        steps = plain.history
        for measure, key in (
            ("objective", "objective"),
            ("gradient", "residual"),
            ("change of W", "change"),
        ):
            cells = [float(getattr(steps[i], key)) if i < len(steps) else "" for i in SHOWN]
            course.add(case.name, measure, *cells, plain.reason if key == "objective" else "")
        for solver in (ISM(), Stiefel(), DimensionGrowth()):
            limited = Limited(solver, 1.0 if quick else LIMIT)
            found = limited.solve(sums, start.gamma, start.W)
            name = {"Stiefel": "SM", "DimensionGrowth": "DG"}.get(type(solver).__name__, "ISM")
            work.add(
                case.name, name, limited.evaluations, figure(found.objective, ".6g"),
                figure(found.residual, ".0e"),
                figure(limited.spent, ".2f", " (stopped)" if limited.stopped else ""),
            )  # fmt: skip
            print(work.last, flush=True)
    return [course, work]
