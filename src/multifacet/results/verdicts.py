"""What counts as new, clear, found again and beyond chance, and what it is called.

Summaries, comparisons, reports and the workbench take their words from here, so that a number is
called the same wherever it is shown.
"""

from __future__ import annotations

import math

from ..search import PLAN

#: p-value up to which something is beyond chance, unless the user says otherwise.
SIGNIFICANCE = 0.05
#: Stability from which a view that is beyond chance is firm, and fair: judgement, not yet measured.
#: (Alone it says little: columns of few values give structureless tables a stability of 1.)
FIRM, FAIR = 0.8, 0.5
#: What the words of a verdict mean.
VERDICTS = {
    "firm": "beyond chance, and other rows tell the same",
    "fair": "beyond chance, as far as other rows were asked they tell much the same",
    "weak": "beyond chance, but other rows tell something else, or it is nearly known already",
    "chance": "chance cannot be ruled out",
}
#: NMI with what is known from which a view says little that is new.
REPEATS = 0.2
#: Stability from which groups are found again so often.
_AGAIN = ((0.9, "nearly always"), (0.7, "mostly"), (0.4, "in part"), (-math.inf, "hardly"))
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
STABILITY_SCALE = "1 if always found again, 0 if no more than by chance"


def how_separated(separation: float) -> str:
    """Return how groups are separated: clearly, moderately or hardly."""
    if separation >= PLAN.clear:
        return "clearly"
    return "moderately" if separation >= PLAN.weak else "hardly"


def how_stable(stability: float) -> str:
    """Return how often groups are found again: nearly always, mostly, in part or hardly."""
    return next(words for least, words in _AGAIN if stability >= least) + " found again"


def verdict(
    p_value: float | None,
    stability: float | None,
    novelty: float = 0.0,
    significance: float = SIGNIFICANCE,
) -> str:
    """Return in one word how far to believe a view, from all that is known about it.

    Parameters
    ----------
    p_value : float or None
        How often data without groups look as good.
    stability : float or None
        How far other rows tell the same.
    novelty : float
        NMI with what is known.
    significance : float
        p-value up to which something is beyond chance.

    Returns
    -------
    {"firm", "fair", "weak", "chance", ""}
        *chance* if that cannot be ruled out. What is beyond it is *weak* if other rows tell
        something else or if it nearly repeats what is known, *firm* if other rows tell the same,
        and *fair* in between, or if nobody asked them. Empty if nothing is known.

    Examples
    --------
    >>> from multifacet.results.verdicts import verdict
    >>> verdict(0.01, 0.95), verdict(0.01, 0.6), verdict(0.01, 0.1), verdict(0.3, 0.95)
    ('firm', 'fair', 'weak', 'chance')
    """
    if p_value is None and stability is None:
        return ""
    if p_value is not None and not beyond_chance(p_value, significance):
        return "chance"
    if novelty >= REPEATS or (stability is not None and stability < FAIR):
        return "weak"
    return "firm" if stability is not None and stability >= FIRM else "fair"


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
