"""The axes of a reduction in words: which features they are made of, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..linalg import Array
from ..validation import are_classes

#: Features that a sentence names at most; each has this part of the largest loading.
MOST_NAMED, LEAST_PART = 4, 0.25
#: Correlation below which a number hardly changes along an axis.
HARDLY = 0.2


def axis_sentences(
    components: Array, projection: Array, features: Sequence[str], told: Mapping[str, Array]
) -> list[str]:
    """Say of each axis which features it rises and falls with, and what it tells.

    Parameters
    ----------
    components : array of shape (q, d)
        The axes.
    projection : array of shape (n, q)
        The rows along them.
    features : sequence of str
        Names of the features.
    told : mapping of str to array of shape (n,)
        What the axes may tell, by name: classes, clusters or numbers.
    """
    return [
        f"Dimension {i} {_made_of(axis, features)}; {_tells(projection[:, i - 1], told)}"
        for i, axis in enumerate(components, start=1)
    ]


def _made_of(axis: Array, features: Sequence[str]) -> str:
    used = np.flatnonzero(axis)
    order = used[np.argsort(-np.abs(axis[used]), kind="stable")]
    named = [j for j in order[:MOST_NAMED] if abs(axis[j]) >= LEAST_PART * abs(axis[order[0]])]
    parts = []
    for verb, sign in (("rises with", 1), ("falls with", -1)):
        words = [f"{features[j]} ({abs(axis[j]):.2f})" for j in named if sign * axis[j] > 0]
        if words:
            parts.append(f"{verb} {_listed(words)}")
    rest = len(order) - len(named)
    more = f", and depends less on {rest} other feature{'s' * (rest > 1)}" if rest else ""
    return " and ".join(parts) + more


def _tells(values: Array, told: Mapping[str, Array]) -> str:
    """Say what the places along an axis tell best."""
    name, best = max(told.items(), key=lambda one: _share(values, one[1]))
    share = _share(values, best)
    if not are_classes(best):
        correlation = np.corrcoef(values, best.astype(float))[0, 1] if share else 0.0
        if abs(correlation) < HARDLY:
            return f"{name} hardly changes along it (correlation {correlation:.2f})"
        direction = "rises" if correlation > 0 else "falls"
        return f"{name} {direction} along it (correlation {correlation:.2f})"
    groups = np.unique(best)
    means = [values[best == group].mean() for group in groups]
    low, high = groups[int(np.argmin(means))], groups[int(np.argmax(means))]
    return (
        f"{name} goes from {low} (lowest) to {high} (highest), and tells {share:.0%} of where rows "
        "lie along it"
    )


def _share(values: Array, told: Array) -> float:
    """Return the share of the variance along an axis that lies between groups, or on a line."""
    spread = values.var()
    if not spread:
        return 0.0
    if not are_classes(told):
        return float(np.corrcoef(values, told.astype(float))[0, 1] ** 2)
    codes = np.unique(told, return_inverse=True)[1]
    sizes = np.bincount(codes)
    means = np.bincount(codes, values) / sizes
    return float((sizes * (means - values.mean()) ** 2).sum() / (len(values) * spread))


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
