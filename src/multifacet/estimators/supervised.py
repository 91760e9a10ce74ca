"""Interpretable kernel dimension reduction with a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alternate import STATIONARY
from ..certificate import certify
from ..engines import PairSums
from ..engines.choose import Auto
from ..engines.metric import Metric, MetricSums
from ..engines.threads import single_threaded_blas, thread_count
from ..fitting.climbing import climbed
from ..fitting.held_out import PLAN
from ..fitting.leading import Asked, Led, lead
from ..fitting.rows import beside
from ..fitting.sampled import Target
from ..fitting.sparse import WholeTable, check_sparsity
from ..fitting.sparsity import SparsityPath
from ..kernels import Kernel, as_kernel, needs_bandwidth, with_bandwidth
from ..linalg import Array, orthonormalise
from ..problems import Problem, supervised
from ..progress import as_callback
from ..search.starts import random_start, spectral_start
from ..solvers import ISM, Solver, as_solver
from ..solvers.base import SolverResult, solve
from ..solvers.ism import SHORT_CLIMB
from ..validation import check_choice, check_count, check_data, check_real, draw_seed
from ..wording import Argument, ArgumentError
from .base import SubspaceEstimator, Targeted

#: Rows up to which all pairs cost less than landmarks do, without an embedding to be computed.
EXACT_ROWS = 2500
#: Rows that lead near the W of all rows, if these are more.
APPROACH_ROWS = 10_000


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
        real targets, but linear if there are as many features as rows; a Gaussian is not defined
        for classes.
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
        kernel = check_choice("target_kernel", self.target_kernel, ["auto", "linear", "gaussian"])
        target = Target.of(self._required(y, X.shape[0]), kernel, X.shape[1])
        X = self._set_mean(X)
        sparsity = check_sparsity(self.sparsity, target)
        self.sparsity_: SparsityPath | None = None
        with single_threaded_blas():
            led = lead(X, target, self._asked(X))
            self.selection_, self.bandwidth_ = led.selection, led.bandwidth
            self.n_components_, self.whitening_ = led.n_components, led.whitening
            best = self._solved(X, target, led)
            W = best.W if led.metric is None else orthonormalise(led.metric @ best.W)
            if sparsity is not None:
                whole = WholeTable(X, target, self._sums)
                W, self.sparsity_ = whole.sparse(led, W, sparsity)
        self._store_subspace(W, X.dtype)
        self.objective_, self.result_, self.n_iter_ = best.objective, best, best.n_iter
        self._warn_unless(best.converged, best.reason)
        return self

    def _solved(self, X: Any, target: Target, led: Led) -> SolverResult:
        """Return the best W from where the path led, or from the starts; sets the certificate."""
        callback = as_callback(self.verbose)
        problem = supervised(beside(X, target.columns))
        gamma, sums = problem.gamma(), self._sums(X, led.kernel, led.metric)
        if led.W is None:
            starts = self._starts(sums, problem, led.metric)
        else:
            starts = [self._approached(X, target, led, led.W)]
        solver = self._final_solver(X.shape[0], explored=led.W is not None)
        results = []
        for start in starts:
            results.append(solve(solver, sums, gamma, start))
            if callback is not None:
                callback({"stage": "solve", "objective": results[-1].objective})
        best = max(results, key=lambda result: result.objective)
        tol = 1e-5 if X.shape[0] <= EXACT_ROWS else STATIONARY
        self.certificate_ = certify(sums, best.W, gamma, tol)
        return best

    def _approached(self, X: Any, target: Target, led: Led, W: Array) -> Array:
        """Return where the last bandwidths before the one used lead from W, on more rows.

        Of many rows some do, also at that bandwidth: then few steps are left for all of them.
        """
        columns, widths = target.columns, list(led.approach)
        if X.shape[0] > APPROACH_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:APPROACH_ROWS])
            X, columns, widths = X[rows], columns[rows], [*widths, led.bandwidth]
        for width in widths:
            sums = self._sums(X, with_bandwidth(as_kernel(self.kernel), width), led.metric)
            gamma = supervised(beside(X, columns)).gamma()
            W = climbed(sums, gamma, W, PLAN.steps, PLAN.tol).W
        return W

    def _asked(self, X: Any) -> Asked:
        """Return what was asked for, checked."""
        kernel = as_kernel(self.kernel)
        self._resolve_kernel(X)
        automatic = needs_bandwidth(kernel) and self.bandwidth == "auto"
        # The papers begin elsewhere, at the median distance itself.
        followed = needs_bandwidth(kernel) and self.bandwidth != "median"
        return Asked(
            kernel,
            self.bandwidth_,
            automatic,
            self._dimensions(),
            self._shares(automatic),
            followed=followed and isinstance(self.init, str) and self.init == "spectral",
            sampled=self.sparsity is not None,
            n_threads=thread_count(self.n_jobs),
        )

    def _final_solver(self, n_rows: int, *, explored: bool) -> Solver:
        """Return what finds W on all rows.

        From the end of a path the objective is only climbed, and on many rows not to the last
        digits: sums over landmarks are not that exact, and steps that cannot gain take as long.
        A solver object is used as it is.
        """
        if not explored or self.solver != "ism":
            return as_solver(self.solver)
        exact = n_rows <= EXACT_ROWS
        return ISM(0) if exact else ISM(0, max_polish=SHORT_CLIMB, tol=STATIONARY)

    def _sums(
        self, X: Any, kernel: Kernel, metric: Metric | None, features: Any = slice(None)
    ) -> Any:
        sums = self._attach(X, kernel, self.mean_[self.varying_][features])
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
