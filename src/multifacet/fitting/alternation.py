"""From every start to one solution: explore, keep the best, climb."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..alternate import Exploration, Keep, Solution, Start, climb, explore
from ..engines import PairSums
from ..engines.threads import ordered_map, thread_count
from ..problems import Gamma, Problem
from ..progress import Callback
from ..solvers import Solver
from ..solvers.base import SolverResult

#: Steps of the final climb for one iteration of the alternation, and its residual in units of
#: the tolerance of the alternation.
CLIMB_STEPS, CLIMB_TOLERANCE = 5, 10.0


@dataclass(frozen=True)
class Effort:
    """What the user said about solver and limits.

    Attributes
    ----------
    solver : Solver
        How W is found for fixed U.
    max_iter : int
        Most iterations of the alternation; the final climb takes at most five times as many steps.
    tol : float
        The alternation has settled when W moves by less; the climb ends where the relative
        gradient is below ten times as much.
    seed : int
        Seed of k-means and of the sample.
    n_jobs : int or None
        Threads; None uses all cores.
    callback : callable or None
        Hears of the progress.
    """

    solver: Solver
    max_iter: int
    tol: float
    seed: int
    n_jobs: int | None = None
    callback: Callback | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Alternation:
    """The final solution, Gamma at it, the solver's report and all explorations."""

    solution: Solution
    gamma: Gamma
    result: SolverResult
    explorations: list[Exploration]


def alternate(
    sums: PairSums,
    problem: Problem,
    starts: Sequence[Start],
    effort: Effort,
    *,
    keep: Keep,
    max_climb: int | None = None,
) -> Alternation:
    """Explore from every start, then refine the best solution.

    Parameters
    ----------
    sums, problem
        The engine's sums, and the problem with ``n_clusters`` > 0.
    starts : sequence of Start
        Explored in parallel, one thread each.
    effort : Effort
        Solver of the W-step, and limits.
    keep : {"best", "settled", "first"}
        Which solution of an exploration counts: the best seen; the one at which the alternation
        settles, as in the papers; or the start, from which no solver moves.
    max_climb : int, optional
        Most steps of the final climb, if not as many as the effort allows.
    """
    began = time.perf_counter()
    explorations = _explorations(sums, problem, starts, effort, keep)
    best = max((run.solution for run in explorations), key=lambda solution: solution.rank)
    explored = time.perf_counter()
    solution, gamma, result = climb(
        sums,
        problem,
        best,
        seed=effort.seed,
        max_iter=CLIMB_STEPS * effort.max_iter if max_climb is None else max_climb,
        tol=CLIMB_TOLERANCE * effort.tol,
    )
    result.timings = {"explore": explored - began, "climb": time.perf_counter() - explored}
    if effort.callback is not None:
        effort.callback({"stage": "climb", "objective": solution.objective})
    return Alternation(solution, gamma, result, explorations)


def _explorations(
    sums: PairSums, problem: Problem, starts: Sequence[Start], effort: Effort, keep: Keep
) -> list[Exploration]:
    # Starts share the cores if each can have its own kernel matrix; otherwise one start at a time
    # has all of them.
    lanes = min(len(starts), thread_count(effort.n_jobs), sums.max_forks)

    def run(start: Start) -> Exploration:
        own = sums.fork() if lanes > 1 else sums
        return explore(
            own,
            problem,
            effort.solver,
            start,
            keep=keep,
            max_iter=effort.max_iter,
            tol=effort.tol,
            seed=effort.seed,
        )

    done: list[Exploration] = []
    for one in ordered_map(run, starts, lanes):
        done.append(one)
        if effort.callback is not None:
            effort.callback(
                {
                    "stage": "explore",
                    "start": one.start,
                    "done": len(done),
                    "total": len(starts),
                    "objective": one.solution.objective,
                }
            )
    return done
