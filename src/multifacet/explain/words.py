"""Numbers about groups in words: short, and nothing said that does not hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..linalg import Array
from .contrast import Contrast
from .differences import NOTICEABLE

#: Every group is described up to this many; more would not be read.
MAX_GROUPS = 4
#: Of features that make up a subspace at most this many are named ...
MAX_FEATURES = 3
#: ... each of which has at least this share of the weight of the first.
MIN_WEIGHT = 0.1
#: From this share of its rows on, a group mostly has a property; below, it has it more often.
MOSTLY = 0.6
#: Features tell groups if they place at least this share of the rows beyond the largest group.
MUCH = 0.5
NUMBERS = {2: "two", 3: "three"}
#: So many features that are only numbered mean nothing one by one, unless a few of them have this
#: share of the weight.
MANY_NUMBERED, MOST_WEIGHT = 50, 0.5
_NUMBERED = re.compile(r"(.*?)[\[ ]?\d+\]?")


def only_numbered(names: Sequence[str], weights: Any) -> bool:
    """Tell whether features are many, have numbers for names, and none of them stands out.

    So are those of embeddings: that ``x512`` is high says nothing to anyone.

    Examples
    --------
    >>> from multifacet.explain import only_numbered
    >>> only_numbered([f"x{j}" for j in range(768)], [1 / 768] * 768)
    True
    >>> only_numbered(["mass", "age"], [0.5, 0.5])
    False
    """
    if len(names) <= MANY_NUMBERED:
        return False
    leading = np.sort(np.asarray(weights, dtype=float))[::-1]
    if leading[:MAX_FEATURES].sum() >= MOST_WEIGHT * leading.sum():
        return False
    found = [_NUMBERED.fullmatch(name) for name in names]
    return all(found) and len({one[1] for one in found if one}) == 1


def beyond_guessing(told: float | None, sizes: Sequence[int] | Array) -> bool:
    """Whether features that place a share of the rows tell groups of these sizes.

    To guess the largest group places many rows too.

    Examples
    --------
    >>> from multifacet.explain import beyond_guessing
    >>> beyond_guessing(0.96, [145, 5]), beyond_guessing(0.96, [75, 75])
    (False, True)
    """
    largest = max(sizes) / sum(sizes)
    return (told or 0.0) - largest >= MUCH * (1 - largest)


@dataclass(frozen=True)
class Property:
    """A feature of two values: what rows are called that have the higher, and the lower one."""

    high: str
    low: str
    shares: Array  # of the higher one in each group


@dataclass(frozen=True)
class Teller:
    """Puts numbers into words."""

    names: list[str]
    groups: list[str]
    sizes: Array
    weights: Array
    contrasts: list[Contrast]
    effects: Array  # (k, contrasts)
    shift: Array | None  # mean differences (k, contrasts) in original units
    properties: dict[int, Property]
    told: float | None  # share of rows
    ends: Array  # (k, contrasts): -1 or 1 where all rows of a group are at the least or most value
    directions: int | None = None  # in which groups lie, if features are only numbered

    @property
    def cluster_names(self) -> list[str]:
        """What each group is like."""
        if not self.contrasts:
            return [f"group {group}" for group in self.groups]
        return [self._cluster_name(c) for c in range(len(self.groups))]

    def sentence(self, direction_effect: float) -> str:
        """Return what holds: features differ, a direction in the subspace does, or no mean."""
        if self.contrasts:
            return f"{self._levels()}; {self._alone()}"
        return self._mixture() if direction_effect >= NOTICEABLE else self._shape()

    def _levels(self) -> str:
        k, names = len(self.groups), self.cluster_names
        if k > MAX_GROUPS:
            features = _listed([contrast.called(self.names) for contrast in self.contrasts])
            return f"{k} groups told apart by {features} ({self._sizes()})"
        # First whoever is at one value, then what is high: in two groups the other one is low.
        order = np.lexsort([-self.effects[:, 0], self.ends[:, 0] == 0])
        if k == 2:
            first, other = order
            return (
                f"2 groups: {names[first]} in group {self.groups[first]} ({self.sizes[first]} "
                f"rows) against group {self.groups[other]} ({self.sizes[other]})"
            )
        parts = [f"{names[c]} in group {self.groups[c]} ({self.sizes[c]} rows)" for c in order]
        return f"{k} groups: {'; '.join(parts)}"

    def _alone(self) -> str:
        """Say how far the named features tell the groups."""
        count = len({feature for contrast in self.contrasts for feature in contrast.features})
        one = count == 1
        which = "it alone" if one else f"these {NUMBERS[count]} alone"
        if not beyond_guessing(self.told, self.sizes):
            return f"{which} {'does' if one else 'do'} not tell them"
        return f"{which} {'tells' if one else 'tell'} {_percent(self.told or 0.0)} of rows"

    def _mixture(self) -> str:
        if self.directions is not None:
            return f"{len(self.groups)} groups {self._where(self.directions)} ({self._sizes()})"
        features, _ = self._heaviest()
        return (
            f"{len(self.groups)} groups told apart by a mixture of features, none of which differs "
            f"clearly by itself, led by {features} ({self._sizes()})"
        )

    def _shape(self) -> str:
        if len(self.groups) == 1:
            return f"1 group of {self.sizes[0]} rows"
        if self.directions is not None:
            where = self._where(self.directions)
            shape = f"{len(self.groups)} groups that differ in shape, not in level,"
            return f"{shape} {where} ({self._sizes()})"
        features, where = self._heaviest()
        return (
            f"{len(self.groups)} groups that differ in shape, not in level, {where} {features} "
            f"({self._sizes()})"
        )

    def _where(self, directions: int) -> str:
        """Say where groups lie among features that mean nothing one by one."""
        d = len(self.names)
        if directions >= d:
            return f"in all {d} features"
        which = "a direction" if directions == 1 else f"{directions} directions"
        return f"along {which} of all {d} features"

    def _heaviest(self) -> tuple[str, str]:
        """Return the features that make up the subspace, and what to call their span."""
        ranks = np.argsort(np.argsort(self.names))  # of equal weights the first by name
        order = np.lexsort([ranks, -self.weights.round(9)])[:MAX_FEATURES]
        order = order[self.weights[order] >= MIN_WEIGHT * self.weights[order[0]]]
        spans = {1: "along", 2: "in the plane of", 3: "in the space of"}
        all_told = self.weights[order].sum() > 1 - MIN_WEIGHT
        where = spans[len(order)] if all_told else "in a mixture led by"
        return _listed([self.names[i] for i in order]), where

    def _cluster_name(self, c: int) -> str:
        levels: dict[tuple[str, int | None], list[str]] = {}
        for place, contrast in enumerate(self.contrasts):
            if abs(self.effects[c, place]) >= NOTICEABLE:
                level, name = self._level(c, place, contrast)
                named = levels.setdefault((level, contrast.given), [])
                if name not in named:
                    named.append(name)
        parts = [
            f"{level} {_listed(names)}" if given is None else self._relation(names, level, given)
            for (level, given), names in levels.items()
        ]
        return ", ".join(parts) or "near average"

    def _level(self, c: int, place: int, contrast: Contrast) -> tuple[str, str]:
        """Return the word for how a feature differs in cluster c, and the feature."""
        high = bool(self.effects[c, place] > 0)
        if contrast.feature in self.properties:
            told = self.properties[contrast.feature]
            instead = None if high else self._instead(told, c)
            return _property_level(instead or told, c, high=high or instead is not None)
        if self.ends[c, place]:
            return "all at", f"the {'most' if high else 'least'} {self.names[contrast.feature]}"
        amount = "" if self.shift is None else f" ({_rounded(self.shift[c, place])})"
        words = ("high", "low") if contrast.given is None else ("large", "small")
        return words[not high], f"{self.names[contrast.feature]}{amount}"

    def _instead(self, lacking: Property, c: int) -> Property | None:
        """Return what most rows of a cluster have in the place of another value of a column."""
        column = lacking.high.partition("=")[0] + "="
        others = [one for one in self.properties.values() if one.high.startswith(column)]
        found = [one for one in others if one is not lacking and one.shares[c] >= MOSTLY]
        return max(found, key=lambda one: float(one.shares[c]), default=None)

    def _relation(self, names: list[str], level: str, given: int) -> str:
        whose = "its" if len(names) == 1 else "their"
        return f"{_listed(names)} {level} for {whose} {self.names[given]}"

    def _sizes(self) -> str:
        if len(self.sizes) <= MAX_GROUPS:
            return f"{_listed([str(size) for size in self.sizes])} rows"
        smallest, largest = self.sizes.min(), self.sizes.max()
        return f"{largest if smallest == largest else f'{smallest} to {largest}'} rows each"


def _property_level(told: Property, c: int, *, high: bool) -> tuple[str, str]:
    """Say how many rows of a group have a property that is more, or less, frequent in it."""
    share = told.shares[c] if high else 1 - told.shares[c]
    name = told.high if high else told.low
    if share == 1:
        return "all", name
    if share >= MOSTLY:
        return "mostly", f"{name} ({_percent(share)})"
    # Most rows are not what sets the group apart: it has more of them than others.
    return "more often", f"{name} ({_percent(share)})"


def _percent(share: float) -> str:
    """Return a share as a percentage, which is 0 or 100 only if none or all are meant."""
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _rounded(number: float) -> str:
    """Return three significant digits with sign, in exponential notation only if too long."""
    if number and not 1e-9 <= abs(number) < 1e15:
        return f"{number:+.3g}"
    return np.format_float_positional(
        number, precision=3, unique=False, fractional=False, trim="-", sign=True
    )
