"""Interpretable kernel dimension reduction with a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..certificate import certify
from ..engines import PairSums
from ..engines.choose import Auto
from ..engines.metric import Metric, MetricSums
from ..engines.threads import single_threaded_blas, thread_count
from ..fitting.choosing import HeldOutChoice
from ..fitting.climbing import climbed, natural_starts
from ..fitting.held_out import PLAN
from ..fitting.rows import beside
from ..fitting.sampled import Rows, Target
from ..fitting.sparse import Sparsifier, sparse_axes
from ..fitting.sparsity import SparsityPath, fewest
from ..kernels import Kernel, as_kernel, needs_bandwidth, with_bandwidth
from ..linalg import Array, orthonormalise
from ..problems import Problem, one_hot, supervised, target_factor
from ..progress import as_callback
from ..search.starts import random_start, spectral_start
from ..solvers import ISM, Solver, as_solver
from ..solvers.base import solve
from ..solvers.ism import SHORT_CLIMB
from ..validation import (
    are_classes,
    as_numbers,
    check_choice,
    check_count,
    check_data,
    check_real,
    draw_seed,
)
from ..wording import Argument, ArgumentError
from .base import SubspaceEstimator, Targeted

#: Rows up to which all pairs cost less than landmarks do, without an embedding to be computed.
EXACT_ROWS = 2500
#: Rows from which the spread within classes is estimated.
METRIC_ROWS = 20_000
#: Rows that can be held out in folds.
LEAST_ROWS = 12


class SupervisedKDR(Targeted, SubspaceEstimator):
    """Supervised dimension reduction: the subspace that depends most on the target.

    Maximises HSIC(XW, y) over W'W = I (IKDR 2019, section 2). Works for classes and for one or
    several real targets. Scale the features first.

    What is "auto" is chosen by how well held-out rows are predicted from their neighbours in the
    subspace: in folds of a sample of the rows, and along a path from wide to narrow bandwidths on
    which every W begins where the last one ended; ``selection_`` shows it. W is then found on all
    rows from where the path leads.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension q of the subspace; "auto" takes more dimensions, at most 16, as long as held-out
        rows are predicted better.
    kernel : str or Kernel, default="gaussian"
        Similarity of projected rows; a name or an object of :mod:`multifacet.kernels`.
    bandwidth : float, "auto" or "median", default="auto"
        Bandwidth of the Gaussian kernel. "auto" is the one that predicts held-out rows best;
        "median" is the median distance and begins at that bandwidth, as the papers do.
    whitening : float or "auto", default="auto"
        Share of the spread within classes, from 0 to 1, that is divided out of the features before
        W is looked for: 0 leaves them as they are (the papers), and 1 makes classes as wide in all
        directions, as linear discriminant analysis does. For real targets it is the spread that a
        regression on them leaves. "auto" is chosen together with the bandwidth, and 0 with a
        bandwidth that is given and for kernels without one.
    sparsity : "auto", float, int or None, default=None
        Makes axes of few features each; all others are exactly zero. "auto" takes the fewest
        loadings with which held-out rows are predicted as well as can be, but for one standard
        error or 0.01. A real number is the price that may be paid: how much lower the held-out
        score may be than with all features. A whole number asks for so many features per axis, on
        average.
    target_kernel : {"auto", "linear", "gaussian"}, default="auto"
        Similarity of targets. "auto" is linear for classes (same class or not) and Gaussian for
        real targets; a Gaussian is not defined for classes.
    init : {"spectral", "random"} or array of shape (d, q), default="spectral"
        Where W begins. "spectral" follows W from a wide bandwidth, on a sample of the rows, to the
        bandwidth used; for kernels without a bandwidth, and with "median", it is the papers' start.
    n_starts : int, default=8
        Number of random starts; the best one wins.
    solver : str or Solver, default="ism"
        How W is found.
    engine : str or Engine, default="auto"
        How sums over pairs of rows are computed.
    random_state : int, RandomState or None, default=None
        Seed of random starts.
    n_jobs : int or None, default=None
        Threads; None uses all cores.
    verbose : int or callable, default=0
        Positive: progress on standard error. A callable receives progress as dicts.

    Attributes
    ----------
    components_ : array of shape (q, d)
        Orthonormal basis of the subspace; with ``sparsity`` axes of unit length, which need not be
        orthogonal.
    mean_ : array of shape (d,)
        Mean of the training rows.
    feature_weights_ : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    bandwidth_ : float or None
        Bandwidth used, in units of the whitened features; None for kernels without one.
    whitening_ : float
        Whitening used.
    n_components_ : int
        Dimension used.
    selection_ : HeldOutSelection or None
        The path of the choice; print it for a sentence, or call ``plot``. None if there was nothing
        to be chosen, or with too few rows to hold some of them out.
    sparsity_ : SparsityPath or None
        What fewer features cost; print it for a sentence, or call ``plot``. None without
        ``sparsity``.
    objective_ : float
        Tr(H K_Y H K) at the solution, with whitened features. It is of the subspace before
        ``sparsity`` drops loadings, as are the certificate and the result.
    certificate_ : Certificate
        Optimality conditions at the solution; print it for a sentence.
    result_ : SolverResult
        Reason for stopping, history and timings.
    n_iter_ : int
        Number of W evaluated.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from multifacet import SupervisedKDR
    >>> X, y = load_wine(return_X_y=True)
    >>> SupervisedKDR(n_components=2).fit(scale(X), y).transform(scale(X)).shape
    (178, 2)
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        whitening: float | str = "auto",
        sparsity: float | str | None = None,
        target_kernel: str = "auto",
        init: Any = "spectral",
        n_starts: int = 8,
        solver: Any = "ism",
        engine: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.whitening = whitening
        self.sparsity = sparsity
        self.target_kernel = target_kernel
        self.init = init
        self.n_starts = n_starts
        self.solver = solver
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> SupervisedKDR:
        """Find the subspace that depends most on the target.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (n, d)
            Data, scaled as distances should count.
        y : array-like of shape (n,) or (n, m)
            Classes, or one or several real targets. One column of whole numbers with at most 20
            different values counts as classes unless ``target_kernel="gaussian"``.

        Returns
        -------
        SupervisedKDR
            Itself.
        """
        X = check_data(self, X, lazy=True)
        target = self._target(y, X.shape[0])
        X = self._set_mean(X)
        sparsity = self._allowed(target)
        problem = supervised(beside(X, target.columns))
        callback = as_callback(self.verbose)
        with single_threaded_blas():
            led = self._choose(X, target)
            sums = self._sums(X, led.kernel, led.metric)
            starts = self._starts(sums, problem, led.metric) if led.W is None else [led.W]
            for wider in led.approach:
                near = self._sums(X, with_bandwidth(as_kernel(self.kernel), wider), led.metric)
                starts = [climbed(near, problem.gamma(), W, PLAN.steps, PLAN.tol).W for W in starts]
            solver = self._final_solver(X.shape[0], explored=led.W is not None)
            results = []
            for start in starts:
                results.append(solve(solver, sums, problem.gamma(), start))
                if callback is not None:
                    callback({"stage": "solve", "objective": results[-1].objective})
            best = max(results, key=lambda result: result.objective)
            self.certificate_ = certify(sums, best.W, problem.gamma())
            W = best.W if led.metric is None else orthonormalise(led.metric @ best.W)
            self.sparsity_: SparsityPath | None = None
            if sparsity is not None:
                W = self._sparse(X, target, led, W, sparsity)
        self._store_subspace(W, X.dtype)
        self.objective_, self.result_, self.n_iter_ = best.objective, best, best.n_iter
        self._warn_unless(best.converged, best.reason)
        return self

    def _target(self, y: Any, n_rows: int) -> Target:
        kernel = check_choice("target_kernel", self.target_kernel, ["auto", "linear", "gaussian"])
        values = self._required(y, n_rows)
        if are_classes(values, kernel):
            if kernel == "gaussian":
                raise ValueError("target_kernel='gaussian' is for real targets, but y has classes")
            classes = np.unique(values, return_inverse=True)[1]
            columns = one_hot(classes)
            if columns.shape[1] < 2:
                raise ValueError("y has a single class: there is nothing to depend on")
            return Target(columns, columns, classes)
        real = as_numbers(values).reshape(n_rows, -1)
        if not np.ptp(real, axis=0).any():
            raise ValueError("y is constant: there is nothing to depend on")
        factor = target_factor(real, "linear" if kernel == "linear" else "gaussian")
        return Target(factor, target_factor(real, "linear"))

    def _choose(self, X: Any, target: Target) -> _Led:
        """Set whatever is automatic, and go along the path on a sample of the rows.

        Sets ``selection_``, ``n_components_``, ``bandwidth_`` and ``whitening_``.
        """
        kernel = as_kernel(self.kernel)
        resolved = self._resolve_kernel(X)
        automatic = needs_bandwidth(kernel) and self.bandwidth == "auto"
        dimensions, shares = self._dimensions(), self._shares(automatic)
        undecided = automatic or len(dimensions) > 1
        self.selection_ = None
        self.n_components_, self.whitening_ = dimensions[0], shares[0]
        if len(dimensions) > 1:
            self.n_components_ = self._dimension(_papers_dimension(target))
        # The papers begin elsewhere, at the median distance itself.
        followed = needs_bandwidth(kernel) and self.bandwidth != "median"
        followed = followed and isinstance(self.init, str) and self.init == "spectral"
        if not (undecided or followed or self.whitening_ or self.sparsity is not None):
            return _Led(resolved)
        size = PLAN.rows if X.shape[1] <= PLAN.rows else PLAN.wide_rows
        least = PLAN.rows_of_each(size, target.values.shape[1])
        rows = Rows.draw(X, target, size, least)
        choice = HeldOutChoice(rows, kernel, natural_starts, thread_count(self.n_jobs))
        possible = [q for q in dimensions if q <= rows.Z.shape[1]]
        if undecided and possible and _can_be_held_out(target):
            bandwidth = "auto" if automatic else self.bandwidth_
            self.selection_ = choice.select(X.shape[0], possible, shares, bandwidth)
            chosen = self.selection_.chosen
            self.n_components_, self.whitening_ = chosen.n_components, chosen.whitening
            self.bandwidth_ = self.selection_.bandwidth
        followed = followed and self.n_components_ <= rows.Z.shape[1]
        return self._led(X, target, choice, followed)

    def _led(self, X: Any, target: Target, choice: HeldOutChoice, followed: bool) -> _Led:
        """Return the metric of all features, and where the path leads on the sample."""
        rows, share = choice.rows, self.whitening_
        metric = full = rows.whitening(share)
        complete = len(rows.Z) == X.shape[0]
        if share and not complete and rows.Z.shape[1] == X.shape[1]:
            full = Rows.draw(X, target, METRIC_ROWS).whitening(share)
        W, approach = None, list[float | None]()
        if followed:
            widths = choice.descent(metric, self.n_components_, self.bandwidth_)
            if not complete:  # local optima of the sample are not those of all rows
                widths, approach = _parted(widths, PLAN.approach)
            W = choice.start(metric, self.n_components_, widths)
            W = rows.lift(W if full is metric else full.divided(orthonormalise(metric @ W)))
        kernel = with_bandwidth(choice.kernel, self.bandwidth_)
        return _Led(kernel, rows.lifted(full) if share else None, W, approach, choice)

    def _allowed(self, target: Target) -> float | str | int | None:
        """Return what ``sparsity`` allows, checked: a price, features per axis or "auto"."""
        if self.sparsity is None:
            return None
        if not _can_be_held_out(target):
            raise ArgumentError(
                Argument.of("sparsity", self.sparsity),
                f" holds rows out, for which {len(target.values)} rows are too few: leave it at "
                "None",
            )
        if isinstance(self.sparsity, str):
            return check_choice("sparsity", self.sparsity, ["auto"])
        if isinstance(self.sparsity, Integral):
            return check_count("sparsity", self.sparsity, low=1)
        return check_real("sparsity", self.sparsity, positive=False)

    def _sparse(
        self, X: Any, target: Target, led: _Led, W: Array, allowed: float | str | int
    ) -> Array:
        """Return axes (d, q) of few features in the place of W; sets ``sparsity_``."""
        assert led.choice is not None
        sample = X[led.choice.rows.positions]
        sample = sample if issparse(sample) else np.asarray(sample, dtype=float)
        sparsifier = Sparsifier(led.choice, sample, self.bandwidth_, self.whitening_)
        last = W.shape[1] * allowed if isinstance(allowed, int) else None
        path, places = sparsifier.path(np.asarray(W, dtype=float), last)
        chosen = fewest(path, allowed)
        self.sparsity_ = SparsityPath(path, path[chosen], W.shape[1])
        features, axes = places[chosen]
        if chosen and sample.shape[0] < X.shape[0]:
            axes = self._on_all_rows(X, target, led.kernel, features, axes)
        found = np.zeros(W.shape)
        found[features] = axes
        return found

    def _on_all_rows(
        self, X: Any, target: Target, kernel: Kernel, features: Array, axes: Array
    ) -> Array:
        """Return axes (s, q) of the features kept, with as many loadings, found on all rows."""
        X, mean = X[:, features], self.mean_[self.varying_][features]
        rows = Rows.draw(X, target, METRIC_ROWS)
        metric = rows.whitening(self.whitening_)
        sums = self._sums(X, kernel, rows.lifted(metric) if self.whitening_ else None, mean)
        start = metric.divided(orthonormalise(axes))
        gamma = supervised(beside(X, target.columns)).gamma()
        W = climbed(sums, gamma, start, PLAN.steps, PLAN.tol).W
        return sparse_axes(orthonormalise(metric @ W), rows.Z, int(np.count_nonzero(axes)))

    def _final_solver(self, n_rows: int, *, explored: bool) -> Solver:
        """Return what finds W on all rows.

        From the end of a path the objective is only climbed, and on many rows not to the last
        digits: sums over landmarks are not that exact. A solver object is used as it is.
        """
        if not explored or self.solver != "ism":
            return as_solver(self.solver)
        return ISM(0) if n_rows <= EXACT_ROWS else ISM(0, max_polish=SHORT_CLIMB)

    def _sums(
        self, X: Any, kernel: Kernel, metric: Metric | None, mean: Array | None = None
    ) -> Any:
        sums = self._attach(X, kernel, mean)
        return sums if metric is None else MetricSums(sums, metric)

    def _dimensions(self) -> list[int]:
        """Return the dimensions to compare, or the one that was asked for."""
        d = self._dimension(int(self.varying_.sum()))
        if self.n_components != "auto":
            return [d]
        return [q for q in PLAN.dimensions if q <= d]

    def _shares(self, automatic: bool) -> tuple[float, ...]:
        """Return the shares of whitening to compare, or the one that was asked for."""
        if isinstance(self.whitening, str):
            check_choice("whitening", self.whitening, ["auto"])
            return PLAN.whitening if automatic else (0.0,)
        share = check_real("whitening", self.whitening, positive=False)
        if share > 1:
            raise ArgumentError(Argument.of("whitening", share), " must be at most 1")
        return (share,)

    def _attach(self, X: Any, kernel: Kernel, mean: Array | None = None) -> PairSums:
        if self.engine != "auto":
            return super()._attach(X, kernel, mean)
        mean = self.mean_[self.varying_] if mean is None else mean
        return Auto(EXACT_ROWS).attach(X, kernel, mean=mean, n_jobs=self.n_jobs)

    def _starts(self, sums: PairSums, problem: Problem, metric: Metric | None) -> list[Array]:
        q = self.n_components_
        W = self._given_start(q)
        if W is not None:
            return [W if metric is None else metric.divided(W)]
        if check_choice("init", self.init, ["spectral", "random"]) == "spectral":
            return [spectral_start(sums, problem, q).W]
        rng = np.random.default_rng(draw_seed(self.random_state))
        n_starts = check_count("n_starts", self.n_starts, low=1)
        return [random_start(sums.n_features, q, rng).W for _ in range(n_starts)]


@dataclass(frozen=True)
class _Led:
    """Kernel and metric, and where a path led: W, and the bandwidths still before the last one.

    ``choice`` has the sample of rows on which that was.
    """

    kernel: Kernel
    metric: Metric | None = None
    W: Array | None = None
    approach: Sequence[float | None] = ()
    choice: HeldOutChoice | None = None


def _parted(
    widths: list[float | None], n_last: int
) -> tuple[list[float | None], list[float | None]]:
    """Return a path without its end, and the end without its last bandwidth."""
    end = max(1, len(widths) - n_last)
    return widths[:end], widths[end - 1 : -1]


def _can_be_held_out(target: Target) -> bool:
    """Whether every part of the rows can tell something about the others."""
    if len(target.values) < LEAST_ROWS:
        return False
    return target.classes is None or np.sort(np.bincount(target.classes))[-2] > 1


def _papers_dimension(target: Target) -> int:
    """Return the number of classes, or one more than the number of real targets."""
    return target.values.shape[1] + (target.classes is None)
