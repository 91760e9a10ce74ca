"""A view in words: which features tell its groups apart, and how to read its subspace."""

from .axes import varimax
from .contrast import Contrast
from .differences import NOTICEABLE
from .explanation import Explanation, explain, importance
from .vocabulary import telling_words
from .words import beyond_guessing, only_numbered

__all__ = [
    "NOTICEABLE",
    "Contrast",
    "Explanation",
    "beyond_guessing",
    "explain",
    "importance",
    "only_numbered",
    "telling_words",
    "varimax",
]
