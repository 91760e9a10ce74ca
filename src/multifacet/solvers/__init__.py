"""Solvers: which W maximises Tr(Gamma K)."""

from __future__ import annotations

from .base import Solver, SolverResult, Step, relative_residual
from .ism import ISM

__all__ = ["ISM", "Solver", "SolverResult", "Step", "as_solver", "relative_residual"]

NAMES: dict[str, type[ISM]] = {"ism": ISM}


def as_solver(solver: str | Solver) -> Solver:
    """Return the solver behind a name (or the object itself)."""
    if isinstance(solver, str) and solver in NAMES:
        return NAMES[solver]()
    if isinstance(solver, Solver):
        return solver
    raise ValueError(
        f"solver={solver!r} is not known: use one of {', '.join(map(repr, sorted(NAMES)))} "
        "or a solver object from multifacet.solvers"
    )
