"""How far to believe a grouping: stability, significance, independence, and the frontier.

*Stability* asks whether other rows would have told the same: the search is repeated on
subsamples. *Significance* asks whether data without clusters would have looked as good.
*Independence* asks whether a grouping has anything to do with what was given. The *frontier*
shows what novelty costs in quality.

All of it is optional: what cannot be measured becomes a note (:func:`attempt`), and the view stays.
"""

from ..search import significance
from .attempts import attempt as attempt
from .independence import TestResult, independence_test
from .novelty import Frontier, frontier
from .refits import found_again, stability

__all__ = [
    "Frontier",
    "TestResult",
    "found_again",
    "frontier",
    "independence_test",
    "significance",
    "stability",
]
