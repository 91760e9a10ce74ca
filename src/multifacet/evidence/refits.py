"""Whether other rows would have told the same: the search is repeated on subsamples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..engines.threads import single_threaded_blas
from ..kernels import Kernel, as_kernel
from ..linalg import Array
from ..metrics import nmi
from ..search import (
    PLAN,
    Bank,
    Candidate,
    KernelSource,
    Sample,
    SearchPlan,
    Selection,
    Settings,
    Source,
    select,
)
from ..search.bank import proposed
from ..search.judge import corrected_nmi
from ..search.starts import PairStarts
from ..solvers import as_solver
from ..solvers.base import Solver


def stability(
    X: Any,
    labels: Any,
    settings: Settings,
    *,
    given: Sequence[Array] = (),
    kernel: Kernel | str = "gaussian",
    solver: Solver | str = "ism",
    n_refits: int = 3,
    random_state: int = 0,
    plan: SearchPlan = PLAN,
) -> float:
    """Return the agreement of a grouping with those found again on subsamples.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    labels : array of shape (n,)
        The grouping.
    settings : Settings
        Settings at which it was found. The subspace is searched for anew every time.
    given : sequence of arrays of shape (n,)
        What was given.
    kernel : Kernel or str
        Similarity.
    solver : Solver or str
        How subspaces are found.
    n_refits : int, default=3
        Number of subsamples, of two thirds of the rows (of which at most 400 are searched).
    random_state : int, default=0
        Seed.
    plan : SearchPlan
        Constants of the search.

    Returns
    -------
    float
        Mean NMI on the rows of each subsample, corrected for chance: 1 is the same every time, 0
        no more than by chance.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.evidence import stability
    >>> X, labelings = make_gaussian_views(90, [2, 2], rotate=False, random_state=0)
    >>> known = labelings[:, 0]
    >>> model = KDAC(2, random_state=0).fit(X, given=known)
    >>> settings = model.selection_.settings
    >>> stability(X, model.labels_, settings, given=[known], n_refits=1) > 0.9
    True
    """
    rng = np.random.default_rng(random_state)
    starts = PairStarts(plan.refit_starts, random_state, plan)
    source = KernelSource(as_kernel(kernel), as_solver(solver), starts)
    agreement = [
        _agreement(_as_good_as_the_best(select(sample, [source])), here)
        for sample, here in _subsamples(X, labels, given, settings, n_refits, rng, plan)
    ]
    return float(np.mean(agreement))


def found_again(
    X: Any,
    labels: Any,
    sources: Sequence[Source],
    *,
    given: Sequence[Array] = (),
    first: Source | None = None,
    n_refits: int = 3,
    random_state: int = 0,
    plan: SearchPlan = PLAN,
) -> float:
    """Return the agreement of a grouping with what sources propose on subsamples.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    labels : array of shape (n,)
        The grouping.
    sources : sequence of Source
        What to ask for as many groups.
    given : sequence of arrays of shape (n,)
        What was given.
    first : Source, optional
        The one that proposed it: where it finds the grouping again and leaves no doubt on a
        subsample, no other is asked.
    n_refits : int, default=3
        Number of subsamples, of two thirds of the rows (of which at most 400 are searched).
    random_state : int, default=0
        Seed.
    plan : SearchPlan
        Constants of the search.

    Returns
    -------
    float
        Mean NMI, corrected for chance, with the best counterpart among the proposals that are
        clear or nearly as good as the best.

    Examples
    --------
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.evidence import found_again
    >>> from multifacet.search import MixtureSource
    >>> X, labelings = make_gaussian_views(90, [2, 2], rotate=False, random_state=0)
    >>> known, other = labelings.T
    >>> found_again(X, other, [MixtureSource()], given=[known], n_refits=1) > 0.9
    True
    """
    rng = np.random.default_rng(random_state)
    settings = Settings(len(np.unique(labels)))
    agreement = []
    for sample, here in _subsamples(X, labels, given, settings, n_refits, rng, plan):
        found = _best_counterpart(Bank.collect(sample, sources, first=first), here)
        if found < plan.again:  # of two groupings that are as good, a source may propose one
            bank = Bank.of(sample, proposed(sample, sources)[0], sources)
            found = max(found, _best_counterpart(bank, here))
        agreement.append(found)
    return float(np.mean(agreement))


def _best_counterpart(bank: Bank, here: Array) -> float:
    """Return the agreement of groups (m,) with what is clear or nearly as good as the best."""
    candidates, plan = bank.best(1), bank.sample.plan
    bar = plan.as_good * candidates[0].score
    there = [
        one
        for one in candidates
        if one.score >= bar or (not one.rejected and one.separation >= plan.clear)
    ]
    return _agreement(there, here)


def _subsamples(
    X: Any,
    labels: Any,
    given: Sequence[Array],
    settings: Settings,
    count: int,
    rng: np.random.Generator,
    plan: SearchPlan,
) -> Iterator[tuple[Sample, Array]]:
    """Yield parts of the rows to be searched, and the groups of a labeling (n,) in them."""
    n, labels = X.shape[0], np.asarray(labels)
    size = min(int(plan.subsample_share * n), plan.start_rows)
    groups = settings.n_clusters or 0
    if size <= groups:
        raise ValueError(f"subsamples of {size} rows are too small for {groups} groups")
    for _ in range(count):
        # Starts look at more rows than are searched, as they did the first time.
        rows = rng.permutation(n)[:size]
        known = [np.asarray(one)[rows] for one in given]
        with single_threaded_blas():
            sample = Sample.draw(X[rows], known, settings, int(rng.integers(2**31 - 1)), plan)
            yield sample, labels[rows[sample.rows]]


def _agreement(candidates: Sequence[Candidate], here: Array) -> float:
    """Return the NMI of groups (m,) with their best counterpart, 0 for what chance gives."""
    return corrected_nmi(max(candidates, key=lambda one: nmi(one.labels, here)).labels, here)


def _as_good_as_the_best(selection: Selection) -> list[Candidate]:
    """Return the winner, and what is clear and nearly as separated.

    Where the data hold several views, a refit may prefer another one; the view is still there.
    """
    bar = max(selection.plan.clear, selection.plan.as_good * selection.chosen.separation)
    clear = [c for c in selection.candidates if not c.rejected and c.separation >= bar]
    return [selection.chosen, *clear]
