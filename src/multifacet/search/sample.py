"""The rows on which a grouping is looked for, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..linalg import Array
from .candidate import Settings
from .plan import PLAN, SearchPlan


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
    ) -> Sample:
        """Draw the sample: more rows where there are many groups."""
        groups = max((len(np.unique(labels)) for labels in given), default=0)
        size = max(plan.rows, plan.rows_per_group * max(groups, settings.n_clusters or 0))
        rows = np.sort(np.random.default_rng(seed).permutation(table.shape[0])[:size])
        X = table[rows]
        codes = [np.unique(labels[rows], return_inverse=True)[1] for labels in given]
        mean = np.asarray(X.mean(axis=0)).ravel()
        known = [one for one in codes if one.any()]
        return cls(X, rows, mean, known, settings, plan, seed, table, given)

    def numbers_of_groups(self, most: int) -> list[int]:
        """Return the number of groups asked for, or else 2 to ``most`` if rows suffice."""
        if self.settings.n_clusters is not None:
            return [self.settings.n_clusters]
        return list(range(2, min(most, len(self.rows) // self.plan.fewest_rows) + 1))

    def project(self, W: Array) -> Array:
        """Return the rows in the subspace of W (d, q), centred, shape (m, q)."""
        return np.asarray(self.X @ W) - self.mean @ W
