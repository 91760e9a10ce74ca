"""Where candidates come from: one file a source."""

from .base import Proposal, Source
from .kernel import KernelSearch, KernelSource, StartMaker

__all__ = ["KernelSearch", "KernelSource", "Proposal", "Source", "StartMaker"]
