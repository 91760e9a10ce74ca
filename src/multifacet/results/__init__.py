"""What a user holds afterwards: views, reductions, comparisons; their words, and their files."""

from .comparison import Agreement, Comparison
from .found import Found
from .reduction import Reduction
from .view import View
from .views import Views

__all__ = ["Agreement", "Comparison", "Found", "Reduction", "View", "Views"]
