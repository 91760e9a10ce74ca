"""Alternative clustering by kernels: a grouping that differs from those already known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..alternate import Start
from ..engines.threads import single_threaded_blas
from ..fitting.alternation import Effort
from ..fitting.driver import ByName, papers_alternation, refinement
from ..fitting.rows import beside
from ..kernels import Kernel, as_kernel, typical_distance, with_bandwidth
from ..linalg import Array
from ..problems import strength
from ..search import (
    KernelSource,
    Sample,
    Selection,
    Settings,
    eigengap_dimension,
    papers_settings,
    select,
    select_by_quality,
)
from ..search.sources import StartMaker
from ..search.starts import PairStarts
from ..solvers import as_solver
from ..solvers.base import SolverResult
from ..validation import check_choice, check_clusters, check_data
from .alternative import NOVELTY_WEIGHT, AlternativeSubspace
from .clusterer import SubspaceClusterer


class KDAC(AlternativeSubspace, SubspaceClusterer):
    """Kernel dimension alternative clustering: a good grouping, independent of the given ones.

    Finds clusters and the subspace they live in by maximising
    HSIC(XW, U) - novelty_weight * HSIC(XW, given) over W'W = I and U'U = I (KDAC 2014; solver and
    spectral start: ISM 2018). Scale the features first: distances count.

    Settings that are "auto" are chosen together: candidates from many starts and settings are
    compared by how well their clusters are separated (:mod:`multifacet.search`), on a
    subsample; ``selection_`` keeps them all.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters k to find; "auto" chooses among 2 to 8.
    n_components : int, "auto" or "eigengap", default="auto"
        Dimension q of the subspace. "eigengap" is the papers' rule: the largest gap between the
        eigenvalues of Phi at the spectral start. With q = d there is no direction to avoid, so
        the given labels would have no effect.
    kernel : str or Kernel, default="gaussian"
        Similarity of projected rows; a name or an object of :mod:`multifacet.kernels`.
    bandwidth : float, "auto", "median" or "quality", default="auto"
        Bandwidth of the Gaussian kernel; "median" is the median distance over all features.
        "quality" is the papers' rule: the bandwidth and novelty weight of a grid with the highest
        CQ that satisfies the second-order inequality.
    novelty_weight : float, "auto" or "quality", default="auto"
        How much dependence on the given labels costs; "quality" as for the bandwidth.
    novelty_scale : {"unit", "paper"}, default="unit"
        "unit" scales the indicator of every given cluster to unit length, so that the weight means
        the same at every number of rows; "paper" uses raw indicators.
    init : {"auto", "spectral", "random"} or array of shape (d, q), default="auto"
        Where W begins. "auto" searches from dependent pairs of features and of independent
        components and from clusters of the residual, on a subsample, and keeps the best; "spectral"
        is the single start of the papers, which at fixed settings returns the solution at which
        the alternation settles; an array is a start of your own.
    n_starts : int, default=8
        Number of pairs of "auto" for each dimension, and of starts of "random".
    solver : str or Solver, default="ism"
        How W is found for fixed U: in the short alternations of the search, which hold ISM to a few
        steps, and in the final one at fixed settings. What the search has found is only climbed
        from, without a solver, so that its clusters stay.
    engine : str or Engine, default="auto"
        How sums over pairs of rows are computed.
    max_iter : int, default=20
        Most iterations of the alternation of U and W; the final climb takes at most five times as
        many steps.
    tol : float, default=1e-4
        The alternation has settled when W moves by less; the climb ends where the relative gradient
        is below ten times as much.
    n_init : int, default=10
        Runs of k-means on the embedding.
    random_state : int, RandomState or None, default=None
        Seed. One seed gives one result, whatever ``n_jobs`` is.
    n_jobs : int or None, default=None
        Threads; None uses all cores.
    verbose : int or callable, default=0
        Positive: progress on standard error. A callable receives progress as dicts.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    components_ : array of shape (q, d)
        Orthonormal basis of the subspace.
    mean_ : array of shape (d,)
        Mean of the training rows.
    feature_weights_ : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    embedding_ : array of shape (n, k)
        Spectral embedding U in the subspace.
    bandwidth_ : float or None
        Bandwidth used; None for kernels without one.
    novelty_weight_ : float
        Novelty weight used.
    n_components_, n_clusters_ : int
        Dimension and number of clusters used.
    quality_ : float
        Cluster quality CQ = HSIC(XW, U), at most k. Not comparable between bandwidths.
    dependence_ : float
        HSIC(XW, given) in the same normalisation; zero if nothing was given.
    objective_ : float
        ``quality_ - novelty_weight_ * dependence_``.
    certificate_ : Certificate
        Optimality conditions at the solution; print it for a sentence.
    result_ : SolverResult
        Reason for stopping, history and convergence of the final refinement.
    selection_ : Selection or None
        The candidates among which open settings were chosen, best first; None if all were fixed.
    explorations_ : list of Exploration
        What each start led to, at the final settings.
    n_iter_ : int
        Most outer iterations of any start.

    Examples
    --------
    >>> from multifacet import KDAC
    >>> from multifacet.datasets import make_moons_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_moons_views(250, random_state=0)
    >>> model = KDAC(n_clusters=2, random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        n_components: int | str = "auto",
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        novelty_weight: float | str = "auto",
        novelty_scale: str = "unit",
        init: Any = "auto",
        n_starts: int = 8,
        solver: Any = "ism",
        engine: Any = "auto",
        max_iter: int = 20,
        tol: float = 1e-4,
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.novelty_weight = novelty_weight
        self.novelty_scale = novelty_scale
        self.init = init
        self.n_starts = n_starts
        self.solver = solver
        self.engine = engine
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _weight_rules = ("auto", "quality")

    def fit(self, X: Any, y: Any = None, *, given: Any = None) -> KDAC:
        """Find a grouping that is independent of the given ones.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (n, d)
            Data, scaled as distances should count.
        y : ignored
            Present for the conventions of scikit-learn.
        given : array-like of shape (n,) or (n, m), list of labelings, or data frame, optional
            What is already known. Without it, plain spectral clustering with its subspace.

        Returns
        -------
        KDAC
            Itself.
        """
        X, labelings, effort = self._checked(X, given, y)
        with single_threaded_blas():
            kernel, fixed = self._fixed_settings(X, labelings)
            self.selection_ = self._select(X, labelings, kernel, fixed, effort)
            settings = fixed if self.selection_ is None else self.selection_.settings
            return self._finished(X, labelings, kernel, settings, effort)

    def fit_selected(self, X: Any, selection: Selection, *, given: Any = None) -> KDAC:
        """Solve from the winner of a search that was made elsewhere.

        Parameters
        ----------
        X, given : object
            As in :meth:`fit`.
        selection : Selection
            The search, whose winner was found by this kernel (:class:`multifacet.search.Bank`).

        Returns
        -------
        KDAC
            Itself.
        """
        X, labelings, effort = self._checked(X, given, None)
        self.selection_ = selection
        with single_threaded_blas():
            kernel = as_kernel(self.kernel)
            return self._finished(X, labelings, kernel, selection.settings, effort)

    def _checked(self, X: Any, given: Any, y: Any) -> tuple[Any, list[Array], Effort]:
        """Check data and parameters; return rows, what is known about them, and limits."""
        # Two rows have no groups to choose between.
        X = check_data(self, X, min_rows=3, lazy=True)
        if isinstance(self.n_clusters, str):
            check_choice("n_clusters", self.n_clusters, ["auto"])
            check_clusters(2, X)
        else:
            check_clusters(self.n_clusters, X)
        labelings = self._labelings(given, X.shape[0], y)
        return self._set_mean(X), labelings, self._effort()

    def _finished(
        self, X: Any, labelings: list[Array], kernel: Kernel, settings: Settings, effort: Effort
    ) -> KDAC:
        """Solve at settings that are all known, and warn if that did not converge."""
        result = self._solve_at(X, labelings, kernel, settings, effort)
        self._warn_unless(self._complete(result), result.reason)
        return self

    def _fixed_settings(self, X: Any, labelings: list[Array]) -> tuple[Kernel, Settings]:
        """Return the kernel and what the user fixed."""
        kernel = as_kernel(self.kernel)
        n, d = X.shape
        k = None if isinstance(self.n_clusters, str) else int(self.n_clusters)
        q = None
        if not isinstance(self.n_components, str):
            q = self._alternative_dimension(2, d, labelings)
        elif check_choice("n_components", self.n_components, ["auto", "eigengap"]) == "eigengap":
            q = eigengap_dimension(X, labelings, kernel, as_solver(self.solver), k or 3)
        elif not isinstance(self.init, str):
            q = np.shape(self.init)[-1]
        width = None
        if not isinstance(self.bandwidth, str) or self.bandwidth == "median":
            self._resolve_kernel(X)
            width = self.bandwidth_
        else:
            check_choice("bandwidth", self.bandwidth, ["auto", "median", "quality"])
            self._refuse_idle_bandwidth(kernel)
        weight: float | None = NOVELTY_WEIGHT if not labelings else None
        if not isinstance(self.novelty_weight, str):
            weight = float(self.novelty_weight) * strength(labelings, n, self.novelty_scale)
        return kernel, Settings(k, q, width, weight)

    def _select(
        self, X: Any, labelings: list[Array], kernel: Kernel, fixed: Settings, effort: Effort
    ) -> Selection | None:
        """Choose what is open, and the start; None if both are fixed."""
        automatic = isinstance(self.init, str) and self.init == "auto"
        by_quality = "quality" in (self.bandwidth, self.novelty_weight)
        if fixed.complete(kernel) and not automatic and not by_quality:
            return None
        sample = Sample.draw(X, labelings, fixed, effort.seed)
        if by_quality:
            return select_by_quality(sample, kernel, effort.solver)
        starts: StartMaker = PairStarts(self.n_starts, effort.seed)
        if not automatic:
            starts = partial(self._starts_before_settings, effort.seed)
        source = KernelSource(kernel, effort.solver, starts, with_residual=automatic)
        found = select(sample, [source], callback=effort.callback)
        if found.found:
            return found
        papers = papers_settings(fixed, X, kernel, found.chosen.n_clusters, found.plan)
        return replace(found, settings=papers)

    def _starts_before_settings(
        self, seed: int, X: Any, labelings: Sequence[Array], q: int
    ) -> list[Start]:
        """Return the starts of dimension q that ``init`` asks for, before settings are known."""
        kernel = with_bandwidth(as_kernel(self.kernel), typical_distance(X))
        problem = self._problem(list(labelings), X.shape[0], 2).whole()
        sums = self._attach(X, kernel)
        return self._beginning(q, seed).starts(X, sums, problem, labelings)

    def _solve_at(
        self, X: Any, labelings: list[Array], kernel: Kernel, settings: Settings, effort: Effort
    ) -> SolverResult:
        """Solve at settings that are all known."""
        k, q, weight = settings.n_clusters, settings.n_components, settings.novelty_weight
        assert k is not None
        assert q is not None
        assert weight is not None
        self.bandwidth_ = settings.bandwidth
        kernel = with_bandwidth(kernel, self.bandwidth_)
        placed = [beside(X, labels) for labels in labelings]
        problem = self._problem(placed, X.shape[0], k, weight)
        if self.selection_ is None:
            plan = self._plan_by_init(q, effort.seed)
        elif self.selection_.found:
            winner = self.selection_.chosen
            plan = refinement(Start(winner.start, winner.W))
        else:
            plan = papers_alternation(ByName("spectral", q))
        return self._solve(X, kernel, problem, plan, effort, labelings)
