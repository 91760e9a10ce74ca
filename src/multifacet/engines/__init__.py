"""Engines: how sums over all pairs of rows are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import OPERATIONS, OPTIONAL, Engine, PairSums
from .choose import Auto
from .exact import Exact
from .lowrank import LowRank

if TYPE_CHECKING:
    from .dask import Dask

__all__ = ["Dask", "Engine", "Exact", "LowRank", "PairSums", "as_engine"]

NAMES: dict[str, type[Engine] | str] = {
    "auto": Auto,
    "dask": "Dask",  # imported when it is asked for, as dask is an extra
    "exact": Exact,
    "lowrank": LowRank,
}


def __getattr__(name: str) -> Any:
    if name == "Dask":
        from .dask import Dask

        return Dask
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def as_engine(engine: str | Engine) -> Engine:
    """Return the engine behind a name (or the object itself).

    Parameters
    ----------
    engine : str or Engine
        Name, such as "lowrank", or engine.

    Returns
    -------
    Engine
        The engine.

    Examples
    --------
    >>> from multifacet.engines import as_engine
    >>> as_engine("exact")
    Exact(memory='2 GiB', ...)
    """
    if isinstance(engine, str) and engine in NAMES:
        kind = NAMES[engine]
        return (__getattr__(kind) if isinstance(kind, str) else kind)()
    if not hasattr(engine, "attach") or isinstance(engine, type):
        raise ValueError(
            f"engine={engine!r} is not known: use one of {', '.join(map(repr, sorted(NAMES)))} "
            "or an engine object from multifacet.engines"
        )
    if not isinstance(engine, Engine):
        raise ValueError(
            f"engine={engine!r} has 'attach' but not 'accepts' and 'operations': derive its class "
            "from multifacet.engines.Engine, which brings them"
        )
    missing = OPERATIONS - OPTIONAL - engine.operations
    if missing:
        raise ValueError(
            f"engine={engine!r} does not offer {', '.join(sorted(missing))}, but every engine has "
            "to: add it to its sums and to its 'operations'"
        )
    return engine
