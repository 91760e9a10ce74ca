"""The rows on which a grouping is looked for, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..linalg import Array
from .candidate import Candidate, Settings
from .plan import PLAN, SearchPlan
from .residual import GroupResidual
from .separation import nearest_groups


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of a table, and everything that is the same for all candidates.

    Attributes
    ----------
    X : array or CSR matrix of shape (m, d)
        The rows.
    rows : array of int of shape (m,)
        Their positions in the table.
    mean : array of shape (d,)
        Their mean.
    labelings : list of arrays of int of shape (m,)
        What is known about them, without labelings that are constant here.
    settings : Settings
        What the user fixed.
    plan : SearchPlan
        Constants.
    seed : int
        Seed of whatever is random.
    table : array or CSR matrix of shape (n, d)
        All rows, for those who look at more of them.
    given : sequence of arrays of shape (n,)
        What is known about all rows.
    """

    X: Any = field(repr=False)
    rows: Array = field(repr=False)
    mean: Array = field(repr=False)
    labelings: list[Array] = field(repr=False)
    settings: Settings
    plan: SearchPlan = field(repr=False)
    seed: int
    table: Any = field(repr=False)
    given: Sequence[Array] = field(repr=False)

    @classmethod
    def draw(
        cls,
        table: Any,
        given: Sequence[Array],
        settings: Settings,
        seed: int,
        plan: SearchPlan = PLAN,
        *,
        wide: bool = False,
    ) -> Sample:
        """Draw the sample: more rows where there are many groups.

        With ``wide``, also where there are many features, or many groups may be found.
        """
        size = fewest_rows([len(np.unique(labels)) for labels in given], settings, plan)
        if wide:
            most = settings.between[1] if settings.between else 0
            directions = min(table.shape[1], plan.most_directions)
            if directions > plan.start_components:
                size = max(size, plan.rows_per_direction * directions)
            size = max(size, plan.rows_per_compact_group * most)
        rows = np.sort(np.random.default_rng(seed).permutation(table.shape[0])[:size])
        X = table[rows]
        codes = [np.unique(labels[rows], return_inverse=True)[1] for labels in given]
        mean = np.asarray(X.mean(axis=0)).ravel()
        known = [one for one in codes if one.any()]
        return cls(X, rows, mean, known, settings, plan, seed, table, given)

    def beside(self, found: Sequence[Array]) -> Sample:
        """Return the sample with further labelings (n,) known."""
        codes = [np.unique(labels[self.rows], return_inverse=True)[1] for labels in found]
        return replace(
            self,
            labelings=[*self.labelings, *(one for one in codes if one.any())],
            given=[*self.given, *found],
        )

    def numbers_of_groups(self, most: int, rows_each: int | None = None) -> list[int]:
        """Return the number of groups asked for, or else 2 to ``most`` if rows suffice.

        They do if there are ``rows_each`` of them a group, by default the fewest of the plan. Of a
        range that is asked for, those in it; its least if that is beyond ``most``.
        """
        if self.settings.n_clusters is not None:
            return [self.settings.n_clusters]
        most = min(most, len(self.rows) // (rows_each or self.plan.fewest_rows))
        if self.settings.between is None:
            return list(range(2, most + 1))
        low, high = self.settings.between
        return list(range(low, max(low, min(most, high)) + 1))

    @property
    def directions(self) -> int:
        """How many principal directions its rows are enough for."""
        enough = len(self.rows) // self.plan.rows_per_direction
        return max(self.plan.start_components, min(enough, self.plan.most_directions))

    @property
    def wide(self) -> bool:
        """Whether it has more features than directions are searched."""
        return bool(self.X.shape[1] > self.plan.most_directions)

    @cached_property
    def core(self) -> Core:
        """The part of it that costly sources look at."""
        return Core.of(self)

    def project(self, W: Array) -> Array:
        """Return the rows in the subspace of W (d, q), centred, shape (m, q)."""
        return np.asarray(self.X @ W) - self.mean @ W


@dataclass(frozen=True, eq=False)
class Core:
    """Fewer rows of a sample, in fewer directions: where costly sources look.

    Attributes
    ----------
    whole : Sample
        All rows and features.
    sample : Sample
        The core; ``whole`` itself if that is small.
    members : array of int of shape (m,)
        Its rows in the whole sample.
    basis : array of shape (d, r) or None
        Its directions; None for all features.
    """

    whole: Sample
    sample: Sample
    members: Array = field(repr=False)
    basis: Array | None = field(repr=False)

    @classmethod
    def of(cls, whole: Sample) -> Core:
        """Take rows enough for curved groups, and the directions that stand out of noise."""
        groups = [int(labels.max()) + 1 for labels in whole.labelings]
        size, m = fewest_rows(groups, whole.settings, whole.plan), len(whole.rows)
        narrow = not whole.wide
        if m <= size and narrow:
            return cls(whole, whole, np.arange(m), None)
        rng = np.random.default_rng(whole.seed)
        members = np.sort(rng.permutation(m)[:size])
        basis = None if narrow else leading_directions(whole)
        # Starts look at more rows than are clustered.
        others = rng.permutation(whole.table.shape[0])
        others = others[~np.isin(others, whole.rows[members])]
        here = np.concatenate([whole.rows[members], others])[: whole.plan.start_rows]
        table = whole.table[here] if basis is None else np.asarray(whole.table[here] @ basis)
        sample = replace(
            whole,
            X=table[: len(members)],
            rows=np.arange(len(members)),
            mean=np.asarray(table[: len(members)].mean(axis=0)).ravel(),
            labelings=[labels[members] for labels in whole.labelings],
            table=table,
            given=[np.asarray(labels)[here] for labels in whole.given],
        )
        return cls(whole, sample, members, basis)

    def lifted(self, candidate: Candidate) -> Candidate:
        """Return a candidate of the core with all features, and groups of all rows.

        Rows beside the core belong to the group of those near them.
        """
        if self.sample is self.whole:
            return candidate
        W = candidate.W if self.basis is None else self.basis @ candidate.W
        places = self.whole.project(W)
        labels = nearest_groups(places[self.members], candidate.labels, places)
        labels[self.members] = candidate.labels
        return replace(candidate, W=W, labels=labels)


def leading_directions(sample: Sample) -> Array:
    """Return orthonormal directions (d, r) that stand out of noise, without what is given.

    In rows of independent noise no direction has more than (1 + sqrt(d / m))^2 times the variance
    of a feature (Marchenko and Pastur 1967). What noise is, the directions that do not stand out
    tell: at first those beyond the most that may be taken, then ever more of them.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search import Sample, Settings
    >>> from multifacet.search.sample import leading_directions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 30)) @ rng.normal(size=(30, 200)) * 3
    >>> X += rng.normal(size=(500, 200))
    >>> leading_directions(Sample.draw(X, [], Settings(), seed=0)).shape
    (200, 30)
    """
    plan, (m, d) = sample.plan, sample.X.shape
    residual = GroupResidual(sample.X, sample.labelings)
    axes, scores = residual.principal(plan.most_directions)
    variances = (scores**2).mean(axis=0)
    edge = (1 + np.sqrt(d / m)) ** 2
    above, before = len(variances), -1
    while above != before:
        rest = max(residual.variance - variances[:above].sum(), 0.0)
        before, above = above, int((variances > edge * rest / max(d - above, 1)).sum())
    return axes[:, : max(above, plan.fewest_directions)]


def fewest_rows(groups: Sequence[int], settings: Settings, plan: SearchPlan) -> int:
    """Return how many rows show groups of any shape, beside known ones of so many groups each."""
    return max(plan.rows, plan.rows_per_group * max([settings.n_clusters or 0, *groups]))
