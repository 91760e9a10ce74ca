"""Where candidates come from: one file a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import OnCore, Proposal, Source, StartMaker
from .chain import ChainSource
from .compact import CompactSource
from .heap import HeapSource
from .kernel import KernelSearch, KernelSource
from .mixture import MixtureSource
from .step import StepSource

if TYPE_CHECKING:
    from ...kernels import Kernel
    from ...solvers.base import Solver

__all__ = [
    "ChainSource",
    "CompactSource",
    "HeapSource",
    "KernelSearch",
    "KernelSource",
    "MixtureSource",
    "OnCore",
    "Proposal",
    "Source",
    "StartMaker",
    "StepSource",
    "every_source",
]


def every_source(kernel: Kernel, solver: Solver, starts: StartMaker) -> list[Source]:
    """Return all sources, quick ones first: the first picture is there at once."""
    costly = [MixtureSource(), ChainSource(starts), KernelSource(kernel, solver, starts)]
    return [HeapSource(), StepSource(), CompactSource(), *map(OnCore, costly)]
