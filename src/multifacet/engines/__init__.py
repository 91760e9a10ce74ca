"""Engines: how sums over all pairs of rows are computed."""

from __future__ import annotations

from .base import Engine, PairSums
from .choose import Auto
from .exact import Exact
from .lowrank import LowRank

__all__ = ["Engine", "Exact", "LowRank", "PairSums", "as_engine"]

NAMES: dict[str, type[Engine]] = {"auto": Auto, "exact": Exact, "lowrank": LowRank}


def as_engine(engine: str | Engine) -> Engine:
    """Return the engine behind a name (or the object itself)."""
    if isinstance(engine, str) and engine in NAMES:
        return NAMES[engine]()
    if isinstance(engine, Engine):
        return engine
    raise ValueError(
        f"engine={engine!r} is not known: use one of {', '.join(map(repr, sorted(NAMES)))} "
        "or an engine object from multifacet.engines"
    )
