"""What counts as new, clear, firm and beyond chance, and what it is called: for all who say so.

Summaries, comparisons, reports and the workbench take their words from here, so that a number is
called the same wherever it is shown.
"""

from __future__ import annotations

import math

from ..search import PLAN

#: p-value up to which something is beyond chance, unless the user says otherwise.
SIGNIFICANCE = 0.05
#: Stability from which a view is called firm, and fair.
FIRM, FAIR = 0.9, 0.7
#: NMI up to which groupings are related in which way, and how much they then have in common.
_GRADES = (
    (0.05, "hardly related", "next to nothing"),
    (0.2, "weakly related", "little"),
    (0.5, "clearly related", "something"),
    (0.9, "strongly related", "much"),
    (math.inf, "nearly the same", "nearly everything"),
)
#: How to read a separation, and a stability.
SEPARATION_SCALE = f"0 is none, from {PLAN.clear:g} on it is clear"
STABILITY_SCALE = f"1 if always found again, from {FIRM:g} on it is firm"


def how_separated(separation: float) -> str:
    """Return how groups are separated: clearly, moderately or hardly."""
    if separation >= PLAN.clear:
        return "clearly"
    return "moderately" if separation >= PLAN.weak else "hardly"


def how_stable(stability: float) -> str:
    """Return what a stability is called: firm, fair or shaky."""
    return "firm" if stability >= FIRM else "fair" if stability >= FAIR else "shaky"


def beyond_chance(p_value: float, significance: float = SIGNIFICANCE) -> bool:
    """Tell whether something is more than chance."""
    return p_value <= significance


def how_related(nmi: float) -> str:
    """Return how two groupings are related that are so beyond chance."""
    return next(relation for most, relation, _ in _GRADES if nmi <= most)


def in_common(nmi: float) -> str:
    """Return how much two groupings have in common."""
    return next(amount for most, _, amount in _GRADES if nmi <= most)


def equals(p_value: float) -> str:
    """Return a p-value with what stands before it: = 0.031, or < 0.001."""
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"
