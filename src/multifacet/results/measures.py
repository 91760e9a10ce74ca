"""What can be said of a grouping, in the same way wherever it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..evidence import independence_test
from ..explain import Explanation, explain
from ..kernels import Gaussian
from ..linalg import Array
from ..metrics import cluster_quality
from ..search.judge import corrected_nmi
from ..search.residual import residual_scores
from ..search.separation import NeighbourGraph

#: Rows on which groups are judged that no search has judged.
JUDGED_ROWS = 1000
#: How the note begins that says why there is no p-value of independence.
INDEPENDENCE = "Independence"
#: What is said about groups that no search has found.
CHANGED = "Stability and chance are not known of these groups, which were changed after the search."


def judged_rows(n: int) -> Array:
    """Return the rows, evenly taken, on which groups are judged."""
    return np.linspace(0, n - 1, min(n, JUDGED_ROWS)).astype(int)


def judged_points(X: Any, projection: Array, components: Array, known: Sequence[Array]) -> Array:
    """Return where groups are judged: in their subspace, or where the known groups are removed."""
    return projection if len(components) else residual_scores(X, known)


def separation_of(points: Array, labels: Array) -> float:
    """Return how well groups are separated, see :attr:`multifacet.View.separation`."""
    rows = judged_rows(len(points))
    inside = np.unique(labels[rows], return_inverse=True)[1]
    return NeighbourGraph.of(points[rows]).separation(inside).score


def quality_of(points: Array, labels: Array, bandwidth: float | None = None) -> float:
    """Return the cluster quality in a Gaussian kernel, of the median distance if None."""
    rows = judged_rows(len(points))
    return cluster_quality(points[rows], labels[rows], kernel=Gaussian(bandwidth))


def novelty_of(labels: Array, known: Sequence[Array]) -> float:
    """Return the largest NMI with what is known, 0 for what chance gives and if nothing is."""
    groups, *others = (np.unique(one, return_inverse=True)[1] for one in (labels, *known))
    return max((corrected_nmi(groups, one) for one in others), default=0.0)


def independence_of(labels: Array, known: Sequence[Array], seed: int) -> float | None:
    """Return the p-value of independence from all that is known, None if nothing is."""
    found = [independence_test(labels, one, random_state=seed).p_value for one in known]
    # Several tests: the smallest p-value, corrected for how many there were.
    return min(1.0, len(found) * min(found)) if found else None


def explained(X: Any, labels: Array, components: Array, **words: Any) -> Explanation:
    """Return the features behind groups; those without a subspace were found in all features."""
    basis = components if len(components) else np.eye(X.shape[1])
    return explain(X, labels, basis, **words)


def same_grouping(a: Array, b: Any) -> bool:
    """Tell whether two labelings differ in nothing but the numbers of their groups."""
    codes = [np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (a, b)]
    pairs = len(np.unique(np.column_stack(codes), axis=0))
    return pairs == codes[0].max() + 1 == codes[1].max() + 1
