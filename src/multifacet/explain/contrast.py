"""Which few features tell groups apart, and how many rows they tell without any others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..linalg import Array
from .differences import MIN_WITHIN, NOTICEABLE, differences

#: At most this many features are named ...
MAX_FEATURES = 3
#: ... each of which lets at least so many more of the rows be told.
MIN_GAIN = 0.02
#: A feature is behind a view if it has at least this share of the weight of the first.
MIN_WEIGHT = 0.1
#: Of so many features that weigh most, and as many that also differ most, the best are looked for.
MAX_CANDIDATES = 12
#: A pair is told as one feature in relation to the other if it separates groups by so much more
#: than its features do one by one: two lengths that grow together, and of which one is too long.
INTERPLAY = 2.0
#: Rows that are looked at in one go.
BLOCK = 100_000


@dataclass(frozen=True)
class Contrast:
    """What differs between groups: a feature, or a feature among rows alike in another.

    Attributes
    ----------
    feature : int
        The feature.
    given : int or None
        The one that it goes with inside the groups, and in relation to which it is told.
    slope : float
        How much the feature rises inside the groups with one unit of the other.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import Contrast
    >>> X = np.array([[10.0, 1.0], [14.0, 3.0]])  # width, length
    >>> Contrast(0, given=1, slope=2.0).values(X).tolist()  # alike for their length
    [12.0, 12.0]
    """

    feature: int
    given: int | None = None
    slope: float = 0.0

    @property
    def features(self) -> list[int]:
        """All that are named."""
        return [self.feature] if self.given is None else [self.feature, self.given]

    def values(self, X: Any) -> Array:
        """Return the feature (n,), as it would be if all rows were average in the other."""
        own = _columns(X, [self.feature])[:, 0]
        if self.given is None:
            return own
        other = _columns(X, [self.given])[:, 0]
        return own - self.slope * (other - other.mean())

    def called(self, names: Sequence[str]) -> str:
        """Return what it is called."""
        own = names[self.feature]
        return own if self.given is None else f"{own} for its {names[self.given]}"


def telling_contrasts(
    X: Any, groups: Array, weights: Array, names: Sequence[str], properties: Collection[int]
) -> tuple[list[Contrast], float | None]:
    """Return the fewest contrasts that tell groups apart, and the share of rows told by them alone.

    There is none, and no share, if the groups differ in a mixture of many features, or in shape.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    groups : array of int of shape (n,)
        The grouping, 0 to k - 1.
    weights : array of shape (d,)
        Share of each feature in the subspace of the view.
    names : sequence of str
        Names of the features, which make the choice independent of their order.
    properties : collection of int
        Features of two values, which are never told in relation to others.
    """
    if groups.max() == 0:
        return [], None
    strength = differences(X, groups)[2]
    moments = _Moments.of(X, groups, _candidates(weights, strength, names))
    chosen: tuple[int, ...] = ()
    told = 0.0
    for some in moments.best_sets():
        found = moments.told(X, groups, some)
        if found >= told + MIN_GAIN * (len(some) - len(chosen)):
            chosen, told = some, found
    contrasts = [
        contrast
        for contrast in moments.contrasts(chosen, properties)
        if _effects(X, groups, contrast).max() >= NOTICEABLE
    ]
    if not contrasts:
        return [], None
    named = {feature for contrast in contrasts for feature in contrast.features}
    places = tuple(place for place, i in enumerate(moments.features) if i in named)
    return contrasts, moments.told(X, groups, places)


def _effects(X: Any, groups: Array, contrast: Contrast) -> Array:
    return np.abs(differences(contrast.values(X)[:, None], groups)[1])


def _candidates(weights: Array, strength: Array, names: Sequence[str]) -> list[int]:
    """Return features that may be behind a view, by name, so that their order does not matter."""
    able = [i for i in range(len(weights)) if weights[i] >= MIN_WEIGHT * weights.max()]

    def leading(score: Array) -> list[int]:
        return sorted(able, key=lambda i: (-round(float(score[i]), 9), names[i]))[:MAX_CANDIDATES]

    return sorted({*leading(weights), *leading(weights * strength)}, key=lambda i: names[i])


@dataclass(frozen=True)
class _Moments:
    """Means (k, m) and covariances (k, m, m) of groups, in some features."""

    features: list[int]
    sizes: Array
    means: Array
    covariances: Array

    @classmethod
    def of(cls, X: Any, groups: Array, features: list[int]) -> _Moments:
        k, m = int(groups.max()) + 1, len(features)
        sizes = np.bincount(groups, minlength=k)
        sums, squares = np.zeros((k, m)), np.zeros((k, m, m))
        for rows, part in _blocks(X, features):
            sums += [part[groups[rows] == c].sum(axis=0) for c in range(k)]
        means = sums / sizes[:, None]
        for rows, part in _blocks(X, features):
            away = part - means[groups[rows]]
            for c in range(k):
                own = away[groups[rows] == c]
                squares[c] += own.T @ own
        covariances = squares / sizes[:, None, None]
        # No feature is without any spread, which would make it tell without fail.
        centre = sizes @ means / sizes.sum()
        within = np.einsum("c,cii->i", sizes, covariances) / sizes.sum()
        total = within + sizes @ (means - centre) ** 2 / sizes.sum()
        floor = np.where(total > 0, MIN_WITHIN * total, 1.0)
        return cls(features, sizes, means, covariances + np.diag(floor))

    @property
    def within(self) -> Array:
        """Pooled covariance (m, m)."""
        return np.einsum("c,cij->ij", self.sizes, self.covariances) / self.sizes.sum()

    def separations(self, sets: Array) -> Array:
        """Return how far groups are apart along the discriminant axes of each set (p, s), squared.

        In units of the spread within groups, all of which count the same.
        """
        away = (self.means - self.means.mean(axis=0))[:, sets].transpose(1, 0, 2)
        within = self.within[sets[:, :, None], sets[:, None, :]]
        return np.linalg.svd(
            np.linalg.solve(np.linalg.cholesky(within), away.transpose(0, 2, 1)), compute_uv=False
        ) ** 2 / len(self.sizes)

    def best_sets(self) -> Iterator[tuple[int, ...]]:
        """Yield the best feature, the best pair, and the pair with the feature that adds most."""
        m = len(self.features)
        best: tuple[int, ...] = ()
        for size in range(1, min(MAX_FEATURES, m) + 1):
            sets = list(combinations(range(m), size))
            if size > 2:
                sets = [some for some in sets if {*best} <= {*some}]
            apart = self.separations(np.array(sets))
            # What an axis tells has a limit: one group far away does not hide that others overlap.
            score = (apart / (1 + apart)).sum(axis=1).round(6)
            best = sets[int(score.argmax())]
            yield best

    def told(self, X: Any, groups: Array, some: tuple[int, ...]) -> float:
        """Return the share of rows that some features put into their group.

        By Gaussians of one covariance, or of one each, whichever tells more; none is taken to be
        more frequent than another, or a large group would be told by nothing at all.
        """
        places = list(some)
        own = self.covariances[:, places][:, :, places]
        shared = np.broadcast_to(self.within[np.ix_(places, places)], own.shape)
        right = [0, 0]
        for rows, part in _blocks(X, [self.features[i] for i in places]):
            away = part[None] - self.means[:, None, places]
            for i, covariances in enumerate((shared, own)):
                roots = np.linalg.cholesky(covariances)
                spread = np.linalg.solve(roots, away.transpose(0, 2, 1))
                volume = np.log(np.einsum("cii->ci", roots)).sum(axis=1)
                distance = (spread**2).sum(axis=1) + 2 * volume[:, None]
                right[i] += int((distance.argmin(axis=0) == groups[rows]).sum())
        return max(right) / len(groups)

    def contrasts(self, some: tuple[int, ...], properties: Collection[int]) -> list[Contrast]:
        """Return features as contrasts, the one that tells most first."""
        alone = {i: round(float(self.separations(np.array([[i]])).sum()), 6) for i in some}
        order = sorted(some, key=lambda i: -alone[i])
        pairs = {(i, j): self._interplay(i, j, properties) for i, j in combinations(order, 2)}
        if max(pairs.values(), default=0.0) < INTERPLAY:
            return [Contrast(self.features[i]) for i in order]
        # The one that tells less by itself, such as size, is what the others are compared with.
        first, given = max(pairs, key=lambda pair: pairs[pair])
        found = [self._relative(first, given)]
        for i in order:
            if i == given and len(self.sizes) > 2:
                found.append(Contrast(self.features[i]))  # size may tell other groups apart
            elif i not in (first, given):
                related = self._interplay(i, given, properties) >= INTERPLAY
                found.append(self._relative(i, given) if related else Contrast(self.features[i]))
        return found

    def _relative(self, i: int, given: int) -> Contrast:
        slope = self.within[i, given] / self.within[given, given]
        return Contrast(self.features[i], self.features[given], float(slope))

    def _interplay(self, i: int, j: int, properties: Collection[int]) -> float:
        """Return how much further apart two features set groups together than one by one.

        Of those two groups of which it is true most. It is 0 unless it has to be said: not if they
        stay close, nor if levels say the same, both being off in the direction in which they count.
        """
        if {self.features[i], self.features[j]} & {*properties}:
            return 0.0
        first, second = np.triu_indices(len(self.sizes), 1)
        within = self.within[np.ix_([i, j], [i, j])]
        away = (self.means[first] - self.means[second])[:, [i, j]]
        direction = np.linalg.solve(within, away.T).T
        effects = away / np.sqrt(np.diag(within))
        levels = ((away * direction > 0) & (np.abs(effects) >= NOTICEABLE)).all(axis=1)
        both, singly = (away * direction).sum(axis=1), (effects**2).sum(axis=1)
        said = (both >= (2 * NOTICEABLE) ** 2) & ~levels
        return round(float((both / np.maximum(singly, 1e-9))[said].max(initial=0.0)), 6)


def _blocks(X: Any, features: list[int]) -> Iterator[tuple[slice, Array]]:
    """Yield rows, and some of their features, never many at once."""
    for start in range(0, X.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        yield rows, _columns(X[rows], features)


def _columns(X: Any, features: list[int]) -> Array:
    part = X[:, features]
    return np.asarray(part.toarray() if issparse(part) else part, dtype=float)
