"""multifacet: several valid groupings of the same data, and the features behind each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Imported on first use, so that ``import multifacet`` costs nothing.
_HOME = {
    "KDAC": "estimators.kdac",
    "LinearKDAC": "estimators.closed_forms",
    "EmbeddingKDAC": "estimators.closed_forms",
    "ViewFinder": "finding.finder",
    "find_views": "tables.find",
    "View": "results.view",
    "Views": "results.views",
    "reduce_table": "tables.reduce",
    "compare_labelings": "tables.compare",
    "SupervisedKDR": "estimators.supervised",
    "UnsupervisedKDR": "estimators.unsupervised",
    "SemiSupervisedKDR": "estimators.unsupervised",
    "ISAAC": "isaac",
}
_MODULES = ("kernels", "solvers", "engines", "metrics", "datasets", "baselines", "evidence")

__all__ = [
    "ISAAC",
    "KDAC",
    "EmbeddingKDAC",
    "LinearKDAC",
    "SemiSupervisedKDR",
    "SupervisedKDR",
    "UnsupervisedKDR",
    "View",
    "ViewFinder",
    "Views",
    "baselines",
    "compare_labelings",
    "datasets",
    "engines",
    "evidence",
    "find_views",
    "kernels",
    "metrics",
    "reduce_table",
    "solvers",
]

if TYPE_CHECKING:
    from . import baselines, datasets, engines, evidence, kernels, metrics, solvers
    from .estimators.closed_forms import EmbeddingKDAC, LinearKDAC
    from .estimators.kdac import KDAC
    from .estimators.supervised import SupervisedKDR
    from .estimators.unsupervised import SemiSupervisedKDR, UnsupervisedKDR
    from .finding.finder import ViewFinder
    from .isaac import ISAAC
    from .results.view import View
    from .results.views import Views
    from .tables.compare import compare_labelings
    from .tables.find import find_views
    from .tables.reduce import reduce_table


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
