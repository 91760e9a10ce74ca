"""Solvers: which W maximises Tr(Gamma K)."""

from __future__ import annotations

from .base import Solver, SolverResult, Step, relative_residual
from .dimension_growth import DimensionGrowth
from .grassmann import Grassmann
from .ism import ISM
from .level_shift import ascend
from .point import Point, evaluate, result_at
from .stiefel import Stiefel

__all__ = [
    "ISM",
    "DimensionGrowth",
    "Grassmann",
    "Point",
    "Solver",
    "SolverResult",
    "Step",
    "Stiefel",
    "as_solver",
    "ascend",
    "evaluate",
    "relative_residual",
    "result_at",
]

NAMES: dict[str, type[Solver]] = {
    "ism": ISM,
    "dimension_growth": DimensionGrowth,
    "stiefel": Stiefel,
    "grassmann": Grassmann,
}


def as_solver(solver: str | Solver) -> Solver:
    """Return the solver behind a name (or the object itself).

    Parameters
    ----------
    solver : str or Solver
        Name, such as "stiefel", or solver.

    Returns
    -------
    Solver
        The solver.

    Examples
    --------
    >>> from multifacet.solvers import as_solver
    >>> as_solver("ism").max_iter
    10
    """
    if isinstance(solver, str) and solver in NAMES:
        return NAMES[solver]()
    if isinstance(solver, type):
        raise ValueError(f"solver={solver.__name__} is a class: use {solver.__name__}()")
    if isinstance(solver, Solver):
        return solver
    raise ValueError(
        f"solver={solver!r} is not known: use one of {', '.join(map(repr, NAMES))} or an object "
        "with a method solve, such as those of multifacet.solvers"
    )
