"""Engines: how sums over all pairs of rows are computed."""

from __future__ import annotations

from .base import Engine, PairSums
from .exact import Exact

__all__ = ["Engine", "Exact", "PairSums", "as_engine"]

NAMES: dict[str, type[Exact]] = {"auto": Exact, "exact": Exact}


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
