"""Figures of views, their loadings and the choices that led to them.

Every function draws on axes of its own, or on those passed as ``ax``. No state of pyplot is used or
changed, so the figures work without a display and next to a user's own.
"""

from .paths import plot_frontier, plot_path, plot_sparsity
from .views import plot_loadings, plot_strength, plot_view, plot_views

__all__ = [
    "plot_frontier",
    "plot_loadings",
    "plot_path",
    "plot_sparsity",
    "plot_strength",
    "plot_view",
    "plot_views",
]
