"""How far to believe a grouping: stability, significance, independence, and the frontier.

*Stability* asks whether other rows would have told the same: the search is repeated on
subsamples. *Significance* asks whether data without clusters would have looked as good.
*Independence* asks whether a grouping has anything to do with what was given. The *frontier*
shows what novelty costs in quality.

All of it is optional: what cannot be measured becomes a note (:func:`attempt`), and the view stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .alternate import Start, cluster_embedding, explore
from .engines.choose import few_rows
from .engines.threads import single_threaded_blas
from .kernels import Kernel, as_kernel, needs_bandwidth, typical_distance, with_bandwidth
from .linalg import Array
from .metrics import nmi
from .problems import Problem, alternative, gaussian_factor, one_hot
from .search import (
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
    significance,
)
from .search.judge import corrected_nmi
from .search.residual import GroupResidual
from .search.starts import PairStarts
from .solvers import as_solver
from .solvers.base import Solver, shortened

#: Rows on which permutation tests and frontiers are computed.
MAX_ROWS = 2000
FRONTIER_ROWS = 300
#: Novelty weights of the frontier, in unit scale.
WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


__all__ = [
    "Frontier",
    "TestResult",
    "found_again",
    "frontier",
    "independence_test",
    "significance",
    "stability",
]

T = TypeVar("T")


def attempt(what: str, measure: Callable[[], T]) -> tuple[T | None, list[str]]:
    """Return a piece of evidence, or None and a note that says why there is none.

    Parameters
    ----------
    what : str
        What is measured, to begin a sentence with.
    measure : callable
        Measures it. Whatever it raises, the view that it is about must not be lost with it.

    Returns
    -------
    evidence : object or None
        What was measured.
    notes : list of str
        Empty, or the one sentence why it failed.

    Examples
    --------
    >>> from multifacet.evidence import attempt
    >>> attempt("The answer", lambda: 42)
    (42, [])
    >>> attempt("The answer", lambda: 1 / 0)
    (None, ['The answer could not be measured (ZeroDivisionError: division by zero).'])
    """
    try:
        return measure(), []
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return None, [f"{what} could not be measured ({reason.rstrip('. ')})."]


class TestResult(NamedTuple):
    """A test statistic and its p-value.

    Attributes
    ----------
    statistic : float
        The statistic.
    p_value : float
        How often a statistic as large occurs under the null hypothesis.

    Examples
    --------
    >>> from multifacet.evidence import independence_test
    >>> result = independence_test([0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10, random_state=0)
    >>> round(result.statistic, 6), result.p_value
    (0.0, 1.0)
    """

    statistic: float
    p_value: float


def independence_test(
    X: Any, labels: Any, *, n_permutations: int = 499, random_state: int | None = None
) -> TestResult:
    """Test whether data are independent of labels: HSIC under permutations of the rows.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, d)
        Data, such as the rows projected on a view; a labeling if it is one-dimensional and not of
        floats.
    labels : array-like of shape (n,)
        Labels.
    n_permutations : int, default=499
        Number of permutations; the smallest p-value is 1 / (n_permutations + 1).
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    TestResult
        HSIC and its p-value. Permuting rows is exact, so under independence a p-value below
        0.05 occurs in at most 5 % of data sets, whatever their distribution. For a subspace that
        was *chosen* to be independent of the labels the p-value errs towards independence.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.evidence import independence_test
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 200)
    >>> independence_test(rng.normal(size=200) + labels, labels, random_state=0).p_value < 0.01
    True
    """
    values, codes = np.asarray(X), np.unique(np.asarray(labels), return_inverse=True)[1]
    if len(values) != len(codes) or values.ndim > 2 or not len(codes):
        raise ValueError(f"X has shape {values.shape} for {len(codes)} labels")
    rng = np.random.default_rng(random_state)
    rows = rng.permutation(len(codes))[:MAX_ROWS]
    factor = _centred_factor(values[rows])
    indicator = one_hot(codes[rows])
    observed = _hsic(factor, indicator)
    # Ties must count: with few distinct arrangements equality is common, and rounding breaks it.
    bound = observed - 1e-12 * abs(observed)
    extreme = sum(
        _hsic(factor, indicator[rng.permutation(len(rows))]) >= bound for _ in range(n_permutations)
    )
    return TestResult(observed, (1 + extreme) / (1 + n_permutations))


def _centred_factor(values: Array) -> Array:
    """Return F (n, r) with HKH = FF': indicators of labels, or a Gaussian kernel of data."""
    if values.ndim == 1 and values.dtype.kind != "f":
        factor = one_hot(np.unique(values, return_inverse=True)[1])
    else:
        points = np.asarray(values, dtype=float).reshape(len(values), -1)
        factor = gaussian_factor(points, typical_distance(points))
    return factor - factor.mean(axis=0)


def _hsic(factor: Array, indicator: Array) -> float:
    return float(((factor.T @ indicator) ** 2).sum() / (len(factor) - 1) ** 2)


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
        The one that proposed it: where it leaves no doubt on a subsample, no other is asked.
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
        nearly as good as the best.

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
        again = Bank.collect(sample, sources, first=first).candidates
        bar = plan.as_good * again[0].score
        agreement.append(_agreement([one for one in again if one.score >= bar], here))
    return float(np.mean(agreement))


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


def _leading(X: Any, given: Sequence[Array], W: Array) -> tuple[Array, Array]:
    """Return rows (n, r) and a subspace (r, q) in the directions of most variance and those of W.

    Both as they are and without what is given: a path between the two goes through their span.
    """
    residuals = [GroupResidual(X, labelings) for labelings in ([], given)]
    axes = [one.principal(PLAN.most_directions)[0] for one in residuals]
    basis = np.linalg.qr(np.hstack([W, *axes]))[0]
    return np.asarray(X @ basis), basis.T @ W


@dataclass(frozen=True)
class Frontier:
    """Solutions along the novelty weight.

    Attributes
    ----------
    weights : array of shape (m,)
        Novelty weights, in unit scale.
    quality : array of shape (m,)
        Cluster quality CQ at each weight.
    dependence : array of shape (m,)
        HSIC with the given labels, in the units of CQ.
    novelty : array of shape (m,)
        Largest NMI of the clusters with a given labeling.
    labels : array of int of shape (m, rows)
        The clusters, for the rows in ``rows``.
    rows : array of int
        Rows on which the path was computed.
    chosen : int or None
        Index of the weight closest to the one that was used.

    Examples
    --------
    >>> from multifacet import find_views
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> views = find_views(X, given=labelings[:, 0], n_views=1, n_clusters=2, n_refits=0)
    >>> views.frontier.weights[:3]
    array([0. , 0.1, 0.3])
    """

    weights: Array
    quality: Array
    dependence: Array
    novelty: Array
    labels: Array = field(repr=False)
    rows: Array = field(repr=False)
    chosen: int | None = None


def frontier(
    X: Any,
    given: Sequence[Array],
    settings: Settings,
    W: Array,
    *,
    kernel: Kernel | str = "gaussian",
    solver: Solver | str = "ism",
    weights: Sequence[float] = WEIGHTS,
    random_state: int = 0,
) -> Frontier:
    """Return the path of solutions over the novelty weight (KDAC 2014, figure 9).

    It runs from the largest weight down, each solution starting from the one before, so that the
    path tells what is given up rather than what other starts would find.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Data.
    given : sequence of arrays of shape (n,)
        What is given; at least one labeling.
    settings : Settings
        Number of clusters and bandwidth; the weight marks the chosen point.
    W : array of shape (d, q)
        Subspace where the path begins.
    kernel : Kernel or str
        Similarity.
    solver : Solver or str
        How subspaces are found.
    weights : sequence of float
        Novelty weights in unit scale.
    random_state : int, default=0
        Seed of the subsample and of k-means.

    Returns
    -------
    Frontier
        The solutions, by increasing weight.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.evidence import frontier
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> known = labelings[:, 0]
    >>> model = KDAC(2, n_components=1, random_state=0).fit(X, given=known)
    >>> settings = model.selection_.settings
    >>> path = frontier(X, [known], settings, model.components_.T, weights=(0.0, 10.0))
    >>> path.quality.shape
    (2,)
    """
    if not len(given):
        raise ValueError("given is empty: without known labels there is no novelty to trade")
    rows = np.sort(np.random.default_rng(random_state).permutation(X.shape[0])[:FRONTIER_ROWS])
    X, given = X[rows], [np.unique(np.asarray(one)[rows], return_inverse=True)[1] for one in given]
    if X.shape[1] > PLAN.most_directions:
        X, W = _leading(X, given, W)
    kernel, width = as_kernel(kernel), settings.bandwidth
    if width is None and needs_bandwidth(kernel):  # the groups were not found by a kernel
        width = typical_distance(np.asarray(X @ W))
    kernel = with_bandwidth(kernel, width)
    k = settings.n_clusters or 2
    points = []
    with single_threaded_blas():
        sums = few_rows(X, kernel, mean=np.asarray(X.mean(axis=0)).ravel())
        short = shortened(as_solver(solver), PLAN.explore_solver_steps)
        for weight in sorted(weights, reverse=True):
            problem = alternative(given, weight, k, scale="unit")
            run = explore(
                sums, problem, short, Start("path", W), keep="best", max_iter=PLAN.explore_steps,
                tol=PLAN.explore_tolerance, seed=random_state,
            )  # fmt: skip
            found = run.solution
            W = found.W
            known = Problem(problem.columns, np.ones(problem.columns.shape[1]))
            dependence = sums.objective(W, known.gamma(None, found.degrees))
            labels, _ = cluster_embedding(found.embedding, n_init=3, seed=random_state)
            points.append((weight, found.quality, dependence, labels))
    points.reverse()
    values = np.array([point[:3] for point in points])
    labels = np.array([point[3] for point in points])
    used = settings.novelty_weight
    distance = np.abs(np.log1p(values[:, 0]) - np.log1p(used or 0.0))
    return Frontier(
        weights=values[:, 0],
        quality=values[:, 1],
        dependence=values[:, 2],
        novelty=np.array([max(nmi(one, known) for known in given) for one in labels]),
        labels=labels,
        rows=rows,
        chosen=None if used is None else int(np.argmin(distance)),
    )
