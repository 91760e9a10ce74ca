"""Where candidates come from: one file a source."""

from .base import Proposal, Source
from .compact import CompactSource
from .kernel import KernelSearch, KernelSource, StartMaker
from .mixture import MixtureSource
from .step import StepSource

__all__ = [
    "CompactSource",
    "KernelSearch",
    "KernelSource",
    "MixtureSource",
    "Proposal",
    "Source",
    "StartMaker",
    "StepSource",
]
