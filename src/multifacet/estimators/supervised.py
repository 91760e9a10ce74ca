"""Interpretable kernel dimension reduction with a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..content import DRAWN
from ..engines import PairSums, as_engine
from ..engines.choose import Auto
from ..engines.threads import single_threaded_blas, thread_count
from ..fitting.held_out import PLAN
from ..fitting.leading import Asked, lead, whitening_shares
from ..fitting.rows import better_at_hand
from ..fitting.sampled import Target
from ..fitting.sparsity import SparsityPath, check_sparsity
from ..fitting.whole import EXACT_ROWS, WholeTable
from ..kernels import Kernel, as_kernel, needs_bandwidth
from ..linalg import Array, orthonormalise
from ..progress import as_callback
from ..search.starts import random_start, spectral_start
from ..solvers import Solver, as_solver
from ..validation import check_choice, check_count, check_data, draw_seed, say_codes
from .base import SubspaceEstimator, Targeted


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
            different values counts as classes unless ``target_kernel="gaussian"``; codes of more
            classes do as words, ``y.astype(str)``.

        Returns
        -------
        SupervisedKDR
            Itself.
        """
        X = check_data(self, X, lazy=True)
        kernel = check_choice("target_kernel", self.target_kernel, ["auto", "linear", "gaussian"])
        values = self._required(y, X.shape[0])
        if kernel == "auto":
            say_codes(values)
        target = Target.of(values, kernel, X.shape[1])
        X = self._set_mean(X)
        X = X[:] if better_at_hand(X, DRAWN) else X
        sparsity = check_sparsity(self.sparsity, target)
        self.sparsity_: SparsityPath | None = None
        with single_threaded_blas():
            led = lead(X, target, self._asked(X))
            self.selection_, self.bandwidth_ = led.selection, led.bandwidth
            self.n_components_, self.whitening_ = led.n_components, led.whitening
            whole = WholeTable(X, target, as_kernel(self.kernel), led, self._attached)
            starts = self._starts(whole) if led.W is None else [whole.approached(led.W)]
            best = whole.solved(self._solver(whole), starts, as_callback(self.verbose))
            self.certificate_ = whole.certificate(best.W)
            W = best.W if led.metric is None else orthonormalise(led.metric @ best.W)
            if sparsity is not None:
                W, self.sparsity_ = whole.sparse(W, sparsity)
        self._store_subspace(W, X.dtype)
        self.objective_, self.result_, self.n_iter_ = best.objective, best, best.n_iter
        self._warn_unless(best.converged, best.reason)
        return self

    def _asked(self, X: Any) -> Asked:
        """Return what was asked for, checked."""
        kernel = as_kernel(self.kernel)
        if isinstance(self.init, str):  # before the choice, which takes long
            check_choice("init", self.init, ["spectral", "random"])
        self._resolve_kernel(X)
        automatic = needs_bandwidth(kernel) and self.bandwidth == "auto"
        # The papers begin elsewhere, at the median distance itself.
        followed = needs_bandwidth(kernel) and self.bandwidth != "median"
        most = self._dimension(int(self.varying_.sum()))
        compared = [q for q in PLAN.dimensions if q <= most]
        return Asked(
            kernel,
            self.bandwidth_,
            automatic,
            compared if self.n_components == "auto" else [most],
            whitening_shares(self.whitening, automatic),
            followed=followed and isinstance(self.init, str) and self.init == "spectral",
            sampled=self.sparsity is not None,
            n_threads=thread_count(self.n_jobs),
        )

    def _solver(self, whole: WholeTable) -> Solver:
        """Return what finds W on all rows: from the end of a path ISM only climbs."""
        led_there = whole.led.W is not None and self.solver == "ism"
        return whole.climber if led_there else as_solver(self.solver)

    def _attached(self, X: Any, kernel: Kernel, features: Any) -> PairSums:
        """Return the pair sums of rows (m, s) with some of the features that vary."""
        engine = Auto(EXACT_ROWS) if self.engine == "auto" else as_engine(self.engine)
        mean = self.mean_[self.varying_][features]
        return engine.attach(X, kernel, mean=mean, n_jobs=self.n_jobs)

    def _starts(self, whole: WholeTable) -> list[Array]:
        """Return where W begins without a path, in the metric of the whitened features."""
        q, metric = self.n_components_, whole.led.metric
        W = self._given_start(q)
        if W is not None:
            return [W if metric is None else metric.divided(W)]
        if self.init == "spectral":
            return [spectral_start(whole.sums, whole.problem, q).W]
        rng = np.random.default_rng(draw_seed(self.random_state))
        n_starts = check_count("n_starts", self.n_starts, low=1)
        return [random_start(whole.X.shape[1], q, rng).W for _ in range(n_starts)]
