"""What a source of candidates is: it proposes groupings, and knows how to label further rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ...alternate import Start
from ...linalg import Array, projected
from ..candidate import Candidate
from ..residual import GroupResidual
from ..sample import Sample
from ..separation import nearest_groups

#: Makes starts of a dimension q from a table (n, d) and what is given.
StartMaker = Callable[[Any, Sequence[Array], int], Iterable[Start]]


@dataclass(frozen=True)
class Proposal:
    """A step of a source.

    Attributes
    ----------
    candidates : list of Candidate
        What it led to, at least one.
    total : int
        Steps that the source expects to take.
    optional : bool
        Whether the source may be stopped here if the best so far is clear.
    """

    candidates: list[Candidate]
    total: int = 1
    optional: bool = True


class Source(ABC):
    """Proposes groupings of a sample.

    A subclass has a ``name`` and yields :class:`Proposal` objects, whose candidates come from
    :func:`multifacet.search.judge`. Whoever runs it may stop after any proposal that is optional.
    """

    name: str
    #: What its groups are like, in words.
    kind: str = "groups"
    #: Whether its subspaces are those in which its groups differ most: then part of their
    #: separation is made, not found.
    discriminant: ClassVar[bool] = False
    #: Whether its candidates come with a surprise of their own, instead of that of the judge.
    own_measure: ClassVar[bool] = False

    @abstractmethod
    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield candidates, the most promising first where the order is free."""

    def freedom(self, sample: Sample) -> float:
        """Return in how many dimensions it looks for a direction: more find more by chance."""
        return float(min(sample.directions, sample.X.shape[1]))

    def turn(self, sample: Sample) -> int:
        """Return when it is asked, by what it takes: 0 at once, 1 or 2 if others leave doubt."""
        return 0

    def confirm(self, sample: Sample, candidate: Candidate) -> Candidate:
        """Return a finalist with its stability, if the source can tell it."""
        return candidate

    def label(self, sample: Sample, candidate: Candidate, X: Any) -> Array:
        """Return the groups (n,) of rows X (n, d): by default those of their nearest neighbours."""
        places = np.asarray(X @ candidate.W - sample.mean @ candidate.W)
        return nearest_groups(sample.project(candidate.W), candidate.labels, places)

    def label_table(self, sample: Sample, candidate: Candidate) -> Array:
        """Return the groups (n,) of all rows of the table, of which it is known what is given."""
        return self.label(sample, candidate, sample.table)


@dataclass(frozen=True)
class OnCore(Source):
    """A source that looks at the core of a sample only.

    Parameters
    ----------
    source : Source
        What proposes.
    """

    source: Source

    def __post_init__(self) -> None:
        for name in ("name", "kind", "discriminant", "own_measure"):
            object.__setattr__(self, name, getattr(self.source, name))

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield what the source proposes for the core, with groups of all rows."""
        core = sample.core
        for proposal in self.source.propose(core.sample) or ():
            yield replace(proposal, candidates=[core.lifted(c) for c in proposal.candidates])

    def turn(self, sample: Sample) -> int:
        """Return when it is asked: not at once if the sample is large."""
        return max(self.source.turn(sample), int(sample.core.sample is not sample))

    def freedom(self, sample: Sample) -> float:
        """Return in how many dimensions it looks for a direction."""
        return self.source.freedom(sample.core.sample)

    def label(self, sample: Sample, candidate: Candidate, X: Any) -> Array:
        """Return the groups (n,) of rows X (n, d), as the source does."""
        return self.source.label(sample, candidate, X)

    def label_table(self, sample: Sample, candidate: Candidate) -> Array:
        """Return the groups (n,) of all rows of the table, as the source does."""
        return self.source.label_table(sample, candidate)


class LinearSource(Source):
    """A source whose groups lie on different sides of planes in their subspace."""

    discriminant = True

    def label(self, sample: Sample, candidate: Candidate, X: Any) -> Array:
        """Return the groups (n,) of rows X (n, d): by the planes between those of the sample."""
        rule = LinearDiscriminantAnalysis().fit(sample.project(candidate.W), candidate.labels)
        return rule.predict(projected(X, candidate.W) - sample.mean @ candidate.W)

    def label_table(self, sample: Sample, candidate: Candidate) -> Array:
        """Return the groups (n,) of all rows, without the means of what is given if need be.

        Groups are found without these means. Where given groups lie far apart, hardly any direction
        of the rows as they are shows the others, and planes there tell them badly.
        """
        labels, here = candidate.labels, sample.project(candidate.W)
        if not sample.labelings or issparse(sample.X) or sample.wide:
            return self.label(sample, candidate, sample.table)
        left = GroupResidual(sample.X, sample.labelings).columns(np.arange(sample.X.shape[1]))
        inside, outside = (LinearDiscriminantAnalysis().fit(X, labels) for X in (left, here))
        if inside.score(left, labels) <= outside.score(here, labels):
            return self.label(sample, candidate, sample.table)
        means = (np.asarray(sample.X) - left) @ inside.coef_.T
        scores = projected(sample.table, inside.coef_.T) + inside.intercept_
        scores -= _means_given(means, sample)
        return (scores > 0).ravel().astype(np.intp) if scores.shape[1] == 1 else scores.argmax(1)


def _means_given(means: Array, sample: Sample) -> Array:
    """Return the means (n, q) of given groups for all rows of a table, from those of its sample.

    Combinations of groups that no row of the sample has get the mean of all.
    """
    groups = np.column_stack([np.asarray(one) for one in sample.given])
    kinds, kind = np.unique(groups, axis=0, return_inverse=True)
    kind = kind.ravel()
    each = np.tile(means.mean(axis=0), (len(kinds), 1))
    each[kind[sample.rows]] = means
    return each[kind]
