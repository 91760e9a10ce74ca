"""Interpretable kernel dimension reduction with a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate import certify
from ..engines.threads import single_threaded_blas
from ..fitting.rows import beside
from ..linalg import Array
from ..problems import one_hot, supervised, target_factor
from ..progress import as_callback
from ..search.starts import random_start, spectral_start
from ..solvers import as_solver
from ..solvers.base import solve
from ..validation import (
    are_classes,
    as_numbers,
    check_choice,
    check_count,
    check_data,
    draw_seed,
)
from .base import SubspaceEstimator, Targeted


class SupervisedKDR(Targeted, SubspaceEstimator):
    """Supervised dimension reduction: the subspace that depends most on the target.

    Maximises HSIC(XW, y) over W'W = I (IKDR 2019, section 2). Works for classes and for one or
    several real targets. Scale the features first.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimension q of the subspace; "auto" takes the number of classes, or one more than the
        number of real targets, at most d.
    kernel : str or Kernel, default="gaussian"
        Similarity of projected rows; a name or an object of :mod:`multifacet.kernels`.
    bandwidth : float, "auto" or "median", default="auto"
        Bandwidth of the Gaussian kernel; "auto" and "median" take the median distance.
    target_kernel : {"auto", "linear", "gaussian"}, default="auto"
        Similarity of targets. "auto" is linear for classes (same class or not) and Gaussian for
        real targets; a Gaussian is not defined for classes.
    init : {"spectral", "random"} or array of shape (d, q), default="spectral"
        Where W begins.
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
        Orthonormal basis of the subspace.
    mean_ : array of shape (d,)
        Mean of the training rows.
    feature_weights_ : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    bandwidth_ : float or None
        Bandwidth used; None for kernels without one.
    n_components_ : int
        Dimension used.
    objective_ : float
        Tr(H K_Y H K) at the solution.
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
        targets, automatic = self._targets(y, X)
        X = self._set_mean(X)
        q = self._dimension(automatic)
        problem = supervised(beside(X, targets))
        gamma = problem.gamma()
        solver, callback = as_solver(self.solver), as_callback(self.verbose)
        with single_threaded_blas():
            sums = self._attach(X, self._resolve_kernel(X))
            results = []
            for start in self._starts(sums, problem, q):
                results.append(solve(solver, sums, gamma, start))
                if callback is not None:
                    callback({"stage": "solve", "objective": results[-1].objective})
            best = max(results, key=lambda result: result.objective)
            self.certificate_ = certify(sums, best.W, gamma)
        self._store_subspace(best.W, X.dtype)
        self.objective_, self.result_, self.n_iter_ = best.objective, best, best.n_iter
        self._warn_unless(best.converged, best.reason)
        return self

    def _targets(self, y: Any, X: Any) -> tuple[Array, int]:
        """Return F with K_Y = FF' and the automatic dimension."""
        kernel = check_choice("target_kernel", self.target_kernel, ["auto", "linear", "gaussian"])
        n_rows = X.shape[0]
        values = self._required(y, n_rows)
        if are_classes(values, kernel):
            if kernel == "gaussian":
                raise ValueError("target_kernel='gaussian' is for real targets, but y has classes")
            columns = one_hot(beside(X, np.unique(values, return_inverse=True)[1]))
            if columns.shape[1] < 2:
                raise ValueError("y has a single class: there is nothing to depend on")
            return columns, columns.shape[1]
        real = as_numbers(values).reshape(n_rows, -1)
        if not np.ptp(real, axis=0).any():
            raise ValueError("y is constant: there is nothing to depend on")
        factor = target_factor(real, "linear" if kernel == "linear" else "gaussian")
        return factor, real.shape[1] + 1

    def _starts(self, sums: Any, problem: Any, q: int) -> list[Array]:
        W = self._given_start(q)
        if W is not None:
            return [W]
        if check_choice("init", self.init, ["spectral", "random"]) == "spectral":
            return [spectral_start(sums, problem, q).W]
        rng = np.random.default_rng(draw_seed(self.random_state))
        n_starts = check_count("n_starts", self.n_starts, low=1)
        return [random_start(sums.n_features, q, rng).W for _ in range(n_starts)]
