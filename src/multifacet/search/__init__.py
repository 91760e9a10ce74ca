"""How a grouping is found when nobody says where it is.

A table and what is known about it make a :class:`Sample`; sources propose groupings of it; a judge
puts them on one scale; the bank ranks them (:func:`select`). All constants are in one
:class:`SearchPlan`, and :mod:`.null` knows what structureless data reach under it.
"""

from .appraisal import Appraisal
from .bank import Bank, Selection, select
from .candidate import Candidate, Settings
from .judge import judge, with_stability
from .null import chance, significance
from .papers import eigengap_dimension, papers_settings, select_by_quality
from .plan import PLAN, SearchPlan
from .sample import Sample
from .sources import (
    ChainSource,
    CompactSource,
    HeapSource,
    KernelSource,
    MixtureSource,
    Proposal,
    Source,
    StepSource,
)

__all__ = [
    "PLAN",
    "Appraisal",
    "Bank",
    "Candidate",
    "ChainSource",
    "CompactSource",
    "HeapSource",
    "KernelSource",
    "MixtureSource",
    "Proposal",
    "Sample",
    "SearchPlan",
    "Selection",
    "Settings",
    "Source",
    "StepSource",
    "chance",
    "eigengap_dimension",
    "judge",
    "papers_settings",
    "select",
    "select_by_quality",
    "significance",
    "with_stability",
]
