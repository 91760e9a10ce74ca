"""What estimators share that find clusters: the alternation, and new rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..alternate import AT_CLUSTER_BOUNDARY, STATIONARY, Start, cluster_embedding
from ..certificate import certify
from ..engines import as_engine
from ..engines.threads import single_threaded_blas
from ..fitting.alternation import Effort
from ..fitting.driver import (
    Beginning,
    ByName,
    Driver,
    Fixed,
    ManyRows,
    Solved,
    SolvePlan,
    best_of_starts,
    papers_alternation,
    refinement,
)
from ..fitting.embedder import Embedder, make_embedder
from ..fitting.narrowing import choose_bandwidth
from ..fitting.needs import refuse_isolation
from ..fitting.rows import as_came, as_labels, on_rows
from ..kernels import Kernel, as_kernel, with_bandwidth
from ..linalg import Array
from ..problems import Problem
from ..progress import as_callback
from ..search import Candidate, Selection
from ..solvers import as_solver
from ..solvers.base import SolverResult
from ..validation import check_choice, check_count, check_data, check_real, draw_seed
from .base import SubspaceEstimator


class EmbeddingPredictor:
    """Assigns new rows to clusters found in a spectral embedding."""

    embedder_: Embedder
    varying_: Array

    def predict(self, X: Any) -> Array:
        """Assign rows to the clusters found.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (m, d)
            Rows, old or new.

        Returns
        -------
        array of int of shape (m,)
            Index of the cluster, as in ``labels_``; a dask array, not yet computed, for dask input.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False, lazy=True)
        task = partial(_assign, embedder=self.embedder_, varying=self.varying_)
        return on_rows(self, task, X, None, np.intp)


class SubspaceClusterer(EmbeddingPredictor, SubspaceEstimator):
    """Base of estimators that find clusters and their subspace by alternation."""

    n_clusters: Any
    n_starts: int
    solver: Any
    max_iter: int
    tol: float
    n_init: int
    random_state: Any
    labels_: Array
    selection_: Selection | None

    #: How many rows are many.
    many_rows = ManyRows()

    def _alternate(self, X: Any, problem: Problem, q: int) -> None:
        """Solve the problem at fixed settings and set every attribute that follows."""
        effort = self._effort()
        with single_threaded_blas():
            kernel = self._resolve_kernel(X)
            plan, chosen = self._plan_by_init(q, effort.seed), self._chosen(X, problem, q, effort)
            if chosen is not None:
                self.bandwidth_ = chosen.bandwidth
                kernel = with_bandwidth(as_kernel(self.kernel), self.bandwidth_)
                if plan.keep == "settled":
                    plan = refinement(Start(chosen.start, chosen.W))
            result = self._solve(X, kernel, problem, plan, effort)
        self._warn_unless(self._complete(result), result.reason)

    def _chosen(self, X: Any, problem: Problem, q: int, effort: Effort) -> Candidate | None:
        """Return the clusters on a path of bandwidths that are separated best, if any is.

        Sets ``selection_``, the path.
        """
        self.selection_, kernel, widest = None, as_kernel(self.kernel), self.bandwidth_
        if self.bandwidth == "auto" and widest is not None:
            self.selection_ = choose_bandwidth(X, kernel, problem, q, widest, effort)
        found = self.selection_
        return found.chosen if found is not None and found.found else None

    def _complete(self, result: SolverResult) -> bool:
        # Selected clusters are final, so a climb that ends at their boundary is complete.
        boundary = self.selection_ is not None and result.reason.endswith(AT_CLUSTER_BOUNDARY)
        return result.converged or boundary

    def _effort(self) -> Effort:
        """Check what bounds the work, and draw a seed from ``random_state``."""
        check_count("n_init", self.n_init, low=1)
        check_count("n_starts", self.n_starts, low=1)
        return Effort(
            solver=as_solver(self.solver),
            max_iter=check_count("max_iter", self.max_iter, low=1),
            tol=check_real("tol", self.tol),
            seed=draw_seed(self.random_state),
            n_jobs=self.n_jobs,
            callback=as_callback(self.verbose),
        )

    def _beginning(self, q: int, seed: int) -> Beginning:
        """Return what makes the starts that ``init`` asks for."""
        W = self._given_start(q)
        if W is not None:
            return Fixed(Start("given", W))
        init = check_choice("init", self.init, ["auto", "spectral", "random"])
        return ByName(init, q, self.n_starts, seed)

    def _plan_by_init(self, q: int, seed: int) -> SolvePlan:
        """Return the plan that ``init`` asks for."""
        papers = isinstance(self.init, str) and self.init == "spectral"
        return (papers_alternation if papers else best_of_starts)(self._beginning(q, seed))

    def _solve(
        self,
        X: Any,
        kernel: Kernel,
        problem: Problem,
        plan: SolvePlan,
        effort: Effort,
        labelings: Sequence[Array] = (),
    ) -> SolverResult:
        """Carry out a plan and set every attribute that follows from the solution."""
        engine, mean = as_engine(self.engine), self.mean_[self.varying_]
        driver = Driver(engine, kernel, mean, effort, labelings, self.many_rows)
        solved = driver.solve(X, problem, plan)
        self.explorations_ = solved.explorations
        self._store(X if solved.rows is None else X[solved.rows], solved, effort.seed)
        if solved.rows is not None:
            place = self.embedder_.embed
            self.embedding_ = on_rows(self, place, X, self.n_clusters_, X.dtype)
            self.labels_ = as_labels(self.embedder_.nearest, self.embedding_)
        return solved.found.result

    def _store(self, X: Any, solved: Solved, seed: int) -> None:
        """Set every attribute that follows from a solution on the rows of X."""
        sums, solution = solved.sums, solved.found.solution
        refuse_isolation(solution.degrees, sums.kernel, self.bandwidth_)
        labels, centres = cluster_embedding(solution.embedding, n_init=self.n_init, seed=seed)
        self._store_subspace(solution.W, X.dtype)
        self.labels_ = as_came(X, labels.astype(np.intp))
        self.n_clusters_ = len(centres)
        self.embedding_ = as_came(X, solution.embedding)
        self.quality_ = solution.quality
        self.objective_ = solution.objective
        self.result_ = solved.found.result
        self.n_iter_ = max(len(run.objectives) for run in self.explorations_)
        self.certificate_ = certify(sums, solution.W, solved.found.gamma, STATIONARY)
        self.embedder_ = make_embedder(sums, X, solution, centres)
        self.dependence_ = solved.dependence


def _assign(X: Any, embedder: Embedder, varying: Array) -> Array:
    return embedder.predict(X if varying.all() else X[:, varying])
