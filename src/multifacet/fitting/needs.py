"""What an engine must be able to do, asked before the work, and what rows must be like."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate import NEEDS as CERTIFICATE_NEEDS
from ..engines import as_engine
from ..kernels import Kernel
from ..linalg import Array
from ..solvers import as_solver
from ..solvers.base import operations_needed
from ..wording import Argument, ArgumentError


def check_engine(X: Any, name: Any, solver: Any) -> None:
    """Raise before the work if the engine cannot read X or do what will be asked of it.

    Parameters
    ----------
    X : array, CSR matrix or rows yet to be read of shape (n, d)
        Data.
    name, solver : str or object
        Engine and solver as a user names them; no solver is None.
    """
    engine = as_engine(name)
    reason = engine.accepts(X)
    if reason is not None:
        raise ValueError(f"engine={name!r} cannot read X: {reason}")
    if solver is None:
        return
    # What a solver finds is certified.
    users = {
        f"solver={solver!r}": operations_needed(as_solver(solver)),
        "the certificate": CERTIFICATE_NEEDS,
    }
    for user, needed in users.items():
        missing = sorted(needed - engine.operations)
        if missing:
            raise ValueError(
                f"{user} needs {' and '.join(missing)}, which engine={name!r} does not "
                "offer: use engine='auto', or add it to the engine and its 'operations'"
            )


def refuse_isolation(degrees: Array | None, kernel: Kernel, bandwidth: float | None) -> None:
    """Raise if most rows are similar to nothing but themselves."""
    if degrees is None:
        return
    alone = sum(weight * float(part.f(np.zeros(1))[0]) for weight, part in kernel.terms)
    isolated = int((degrees <= alone * (1 + 1e-9)).sum())
    if 2 * isolated > len(degrees):
        width: str | Argument = "the bandwidth"
        if bandwidth is not None:
            width = Argument("bandwidth", f"{bandwidth:.3g}")
        raise ArgumentError(
            width,
            f" is so small that {isolated} of {len(degrees)} rows are similar to no other row "
            "(their degree underflows): raise it or leave it at 'auto'",
        )
