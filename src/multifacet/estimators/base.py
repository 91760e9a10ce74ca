"""What all estimators share: validation, settings, the subspace and its reading."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..alternate import (
    STATIONARY,
    Alternation,
    Callback,
    Keep,
    Solution,
    Start,
    alternate,
    cluster_embedding,
    nearest_centres,
    unit_rows,
)
from ..certificate import certify
from ..engines import PairSums, as_engine
from ..engines.base import Extension, LazyRows, is_dask
from ..engines.threads import single_threaded_blas, thread_count
from ..kernels import (
    Kernel,
    as_kernel,
    needs_bandwidth,
    typical_distance,
    with_bandwidth,
)
from ..linalg import Array, column_moments, orthonormalise
from ..problems import Problem
from ..search.starts import pair_starts, random_start, spectral_start
from ..solvers import as_solver
from ..solvers.base import SolverResult
from .validation import (
    check_choice,
    check_count,
    check_data,
    check_finite,
    check_real,
    say_constant,
)

#: Rows beyond which a sample of that size is solved first, and steps on all rows after that.
COARSE_ROWS, REFINE_STEPS = 20_000, 5
#: Rows beyond which the sample is not refined on all rows.
REFINED_ROWS = 2_000_000

StartMaker = Callable[[Any, PairSums, Problem, "Array | None"], Sequence[Start]]


class KernelEstimator(BaseEstimator):
    """Base of all estimators: data, kernel, bandwidth and engine."""

    kernel: Any
    bandwidth: Any
    engine: Any
    n_jobs: int | None
    mean_: Array
    n_features_in_: int
    _varying: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _set_mean(self, X: Any) -> Any:
        """Set ``mean_`` and return X (n, d') without constant features, which are said once.

        A direction of zero variance would shrink all distances and thereby please every kernel.
        """
        mean, spread = column_moments(X)
        self.mean_ = mean.astype(X.dtype)
        if not spread.max() > 0:
            raise ValueError("all rows of X are identical: there is nothing to separate")
        self._check_engine(X)
        self._varying = spread > 1e-12 * spread.max()
        say_constant(self, self._varying)
        return X if self._varying.all() else X[:, self._varying]

    def _resolve_kernel(self, X: Any) -> Kernel:
        """Fill in the bandwidth; sets ``bandwidth_`` (None for kernels that have none).

        "auto" and "median" are the median distance.
        """
        kernel = as_kernel(self.kernel)
        automatic = isinstance(self.bandwidth, str)
        if automatic:
            check_choice("bandwidth", self.bandwidth, ["auto", "median"])
        self._refuse_idle_bandwidth(kernel)
        if not needs_bandwidth(kernel):
            self.bandwidth_ = None
            return kernel
        if not automatic:
            self.bandwidth_ = check_real("bandwidth", self.bandwidth)
        else:
            self.bandwidth_ = typical_distance(X)
        return with_bandwidth(kernel, self.bandwidth_)

    def _refuse_idle_bandwidth(self, kernel: Kernel) -> None:
        if not needs_bandwidth(kernel) and self.bandwidth != "auto":
            raise ValueError(
                f"bandwidth={self.bandwidth!r} has no effect on kernel={self.kernel!r}: "
                "leave it at 'auto'"
            )

    def _check_engine(self, X: Any) -> None:
        """Raise if the engine cannot read rows in chunks."""
        if isinstance(X, LazyRows) and self.engine not in ("auto", "dask"):
            engine = as_engine(self.engine)
            if type(engine).__name__ != "Dask":
                raise ValueError(
                    f"engine={self.engine!r} needs rows in memory, but X comes in chunks: use "
                    "engine='auto' or 'dask', or pass X.compute()"
                )

    def _attach(self, X: Any, kernel: Kernel) -> PairSums:
        mean = self.mean_[self._varying]
        return as_engine(self.engine).attach(X, kernel, mean=mean, n_jobs=self.n_jobs)


class SubspaceEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base of estimators that project rows on a learned subspace."""

    n_components: Any
    init: Any
    verbose: Any
    components_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: Any) -> Any:
        """Project rows on the subspace.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (m, d)
            Rows, old or new.

        Returns
        -------
        array of shape (m, q)
            Coordinates in the subspace: ``(X - mean_) @ components_.T``; a dask array, not yet
            computed, for dask input.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False, lazy=True)
        task = partial(_project, mean=self.mean_, W=self.components_.T)
        return on_rows(self, task, X, self.components_.shape[0], self.components_.dtype)

    def _project(self, X: Any) -> Array:
        return _project(X, self.mean_, self.components_.T)

    def _dimension(self, automatic: int) -> int:
        d = int(self._varying.sum())
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ["auto"])
            return max(1, min(automatic, d))
        kind = "features" if d == self.n_features_in_ else "features that vary"
        return check_count(
            "n_components", self.n_components, low=1, high=d, why=f": X has {d} {kind}"
        )

    def _given_start(self, q: int) -> Array | None:
        """Return the start W passed as ``init``, checked; None if ``init`` is a word."""
        if isinstance(self.init, str):
            return None
        W = np.asarray(self.init, dtype=float)
        shape = (self.n_features_in_, q)
        if W.shape != shape:
            raise ValueError(f"init has shape {W.shape}, expected {shape}: features x components")
        W = W[self._varying]
        if np.linalg.matrix_rank(W) < q:
            raise ValueError(f"init has rank {np.linalg.matrix_rank(W)}: its columns must differ")
        return orthonormalise(W)

    def _store_subspace(self, W: Array, dtype: Any) -> None:
        self.n_components_ = W.shape[1]
        self.components_ = np.zeros((W.shape[1], self.n_features_in_), dtype=dtype)
        self.components_[:, self._varying] = W.T
        self.feature_weights_ = np.zeros(self.n_features_in_)
        self.feature_weights_[self._varying] = (W**2).sum(axis=1) / W.shape[1]

    def _callback(self) -> Callback | None:
        return as_callback(self.verbose)

    def _warn_unless(self, converged: bool, reason: str) -> None:
        if not converged:
            warnings.warn(
                f"{type(self).__name__} did not converge to a stationary point: {reason}; the "
                "result is usable, see result_ and certificate_",
                ConvergenceWarning,
                stacklevel=4,
            )


class EmbeddingPredictor:
    """Assigns new rows to clusters found in a spectral embedding."""

    _embedder: Embedder
    _varying: Array

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
        task = partial(_assign, embedder=self._embedder, varying=self._varying)
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

    def _alternate(self, X: Any, problem: Problem, q: int, labelings: Sequence[Array]) -> None:
        """Solve the problem at fixed settings and set every attribute that follows."""
        seed = self._check_effort()
        with single_threaded_blas():
            kernel = self._resolve_kernel(X)
            make_starts = self._start_maker(q, labelings, seed)
            keep: Keep = "settled" if self._papers_start() else "best"
            result = self._solve(X, kernel, problem, make_starts, keep, self.max_iter, seed)
        self._warn_unless(result.converged, result.reason)

    def _check_effort(self) -> int:
        """Check what bounds the work, and return a seed drawn from ``random_state``."""
        check_count("max_iter", self.max_iter, low=1)
        check_count("n_init", self.n_init, low=1)
        check_count("n_starts", self.n_starts, low=1)
        check_real("tol", self.tol)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _solve(
        self,
        X: Any,
        kernel: Kernel,
        problem: Problem,
        make_starts: StartMaker,
        keep: Keep,
        max_iter: int,
        seed: int,
    ) -> SolverResult:
        """Alternate from the starts and set every attribute that follows from the solution.

        On many rows everything happens on a sample first. Its W is then refined on all rows, which
        takes a few steps, since both have nearly the same optimum; on very many rows it is final,
        and one pass gives every row its place.
        """
        n = X.shape[0]
        problem = replace(problem, columns=beside(X, problem.columns))
        rows = None
        if n > COARSE_ROWS:
            rows = np.sort(np.random.default_rng(seed).permutation(n)[:COARSE_ROWS])
        limits = {"keep": keep, "max_iter": max_iter, "max_climb": 5 * self.max_iter}
        sums, found = self._run(X, kernel, problem, make_starts, rows, seed, **limits)
        self.explorations_ = found.explorations
        if rows is not None and n <= REFINED_ROWS:
            start, rows = Start("sample", found.solution.W), None
            limits = {"keep": "best", "max_iter": 1, "max_climb": REFINE_STEPS}
            sums, found = self._run(X, kernel, problem, lambda *_: [start], None, seed, **limits)
            self.explorations_ = self.explorations_ + found.explorations
        if rows is None:
            self._store(X, problem, sums, found, seed)
        else:
            self._store(X[rows], problem.take(rows), sums, found, seed)
            k = self.n_clusters_
            self.embedding_ = on_rows(self, self._embedder.embed, X, k, float)
            self.labels_ = self._embedder.nearest(self.embedding_)
        return found.result

    def _run(
        self,
        X: Any,
        kernel: Kernel,
        problem: Problem,
        make_starts: StartMaker,
        rows: Array | None,
        seed: int,
        **limits: Any,
    ) -> tuple[PairSums, Alternation]:
        """Alternate on some rows, or on all (None)."""
        part = X if rows is None else X[rows]
        task = problem if rows is None else problem.take(rows)
        sums = self._attach(part, kernel)
        found = alternate(
            sums,
            task,
            as_solver(self.solver),
            make_starts(part, sums, task, rows),
            tol=self.tol,
            seed=seed,
            n_threads=thread_count(self.n_jobs),
            callback=self._callback(),
            **limits,
        )
        return sums, found

    def _store(
        self, X: Any, problem: Problem, sums: PairSums, found: Alternation, seed: int
    ) -> None:
        """Set every attribute that follows from a solution."""
        solution = found.solution
        self._refuse_isolation(solution.degrees, sums.kernel)
        labels, centres = cluster_embedding(solution.embedding, n_init=self.n_init, seed=seed)
        self._store_subspace(solution.W, X.dtype)
        self.labels_ = _as_came(X, labels.astype(np.intp))
        self.n_clusters_ = len(centres)
        self.embedding_ = _as_came(X, solution.embedding)
        self.quality_ = solution.quality
        self.objective_ = solution.objective
        self.result_ = found.result
        self.n_iter_ = max(len(run.objectives) for run in self.explorations_)
        self.certificate_ = certify(sums, solution.W, found.gamma, STATIONARY)
        self._embedder = make_embedder(sums, X, solution, centres)
        self.dependence_ = self._dependence(sums, problem, solution.W, solution.degrees)

    def _start_maker(self, q: int, labelings: Sequence[Array], seed: int) -> StartMaker:
        """Return what makes the starts that ``init`` asks for, on all rows or on some."""

        def make(X: Any, sums: PairSums, problem: Problem, rows: Array | None) -> list[Start]:
            known = [labels if rows is None else labels[rows] for labels in labelings]
            return self._starts(X, sums, problem, q, known, np.random.default_rng(seed))

        return make

    def _papers_start(self) -> bool:
        return isinstance(self.init, str) and self.init == "spectral"

    def _dependence(
        self, sums: PairSums, problem: Problem, W: Array, degrees: Array | None
    ) -> float:
        """HSIC of the projected data with what is known, in the units of ``problem``'s columns."""
        if not len(problem.weights):
            return 0.0
        known = Problem(problem.columns, np.ones_like(problem.weights))
        return sums.objective(W, known.gamma(None, degrees))

    def _starts(
        self,
        X: Any,
        sums: PairSums,
        problem: Problem,
        q: int,
        labelings: Sequence[Array],
        rng: np.random.Generator,
    ) -> list[Start]:
        W = self._given_start(q)
        if W is not None:
            return [Start("given", W)]
        init = check_choice("init", self.init, ["auto", "spectral", "random"])
        if init == "random":
            return [random_start(X.shape[1], q, rng) for _ in range(self.n_starts)]
        starts = [spectral_start(sums, problem, q)]
        if init == "auto" and self.n_starts > 1 and q < X.shape[1]:
            # One random start for what neither expansion nor pairs can see.
            starts += pair_starts(X, labelings, q, self.n_starts - 2, rng)
            while len(starts) < self.n_starts:
                starts.append(random_start(X.shape[1], q, rng))
        return starts

    def _refuse_isolation(self, degrees: Array | None, kernel: Kernel) -> None:
        """Raise if most rows are similar to nothing but themselves."""
        if degrees is None:
            return
        alone = sum(weight * float(part.f(np.zeros(1))[0]) for weight, part in kernel.terms)
        isolated = int((degrees <= alone * (1 + 1e-9)).sum())
        if 2 * isolated > len(degrees):
            shown = (
                "the bandwidth" if self.bandwidth_ is None else f"bandwidth={self.bandwidth_:.3g}"
            )
            raise ValueError(
                f"{shown} is so small that {isolated} of {len(degrees)} rows are similar to no "
                "other row (their degree underflows): raise it or leave it at 'auto'"
            )


@dataclass(frozen=True)
class Embedder:
    """Assigns new rows to clusters through the embedding (Nystrom extension).

    With M = H D^-1/2 K D^-1/2 H, the embedding satisfies U = M U / eigenvalues; a new row takes
    its place in the left-hand side. On training rows the embedding is reproduced.
    """

    extension: Extension  # multiplies with D^-1/2 U / eigenvalues and with ones, (n, k + 1)
    offset: Array  # what the centring H subtracts, (k,)
    normalised: bool
    centres: Array  # (k, k)

    def predict(self, X: Any) -> Array:
        """Return the index (m,) of the nearest centre for each new row."""
        return self.nearest(self.embed(X))

    def embed(self, X: Any) -> Array:
        """Return the places (m, k) of rows in the embedding."""
        return self.uncentred(X) - self.offset

    def nearest(self, embedding: Array) -> Array:
        """Return the index (m,) of the nearest centre for each row of an embedding (m, k)."""
        return nearest_centres(unit_rows(embedding), self.centres)

    def uncentred(self, X: Any) -> Array:
        """Return D^-1/2 K D^-1/2 U / eigenvalues (m, k) for new rows."""
        product = self.extension.multiply(X)
        U, degrees = product[:, :-1], product[:, -1:]
        # A row without any neighbour has degree zero; it keeps the neutral position U = 0.
        return U / np.sqrt(np.where(degrees > 0, degrees, np.inf)) if self.normalised else U


def make_embedder(sums: PairSums, X: Any, solution: Solution, centres: Array) -> Embedder:
    """Return the embedder of a solution found on the rows of X, with k-means centres (k, k)."""
    U, degrees = solution.embedding, solution.degrees
    columns = U if degrees is None else U / np.sqrt(degrees)[:, None]
    columns = columns / np.maximum(solution.eigenvalues, 1e-12)
    extension = sums.extension(solution.W, with_ones(columns))
    embedder = Embedder(extension, np.zeros(U.shape[1]), degrees is not None, centres)
    # Centring subtracts the same vector from every row, so one training row tells what it is.
    return replace(embedder, offset=(embedder.uncentred(X[:1]) - np.asarray(U[:1]))[0])


def with_ones(columns: Array) -> Array:
    """Return columns (n, k) and a column of ones."""
    return np.hstack([columns, np.ones_like(columns[:, :1])])


def beside(X: Any, values: Array) -> Any:
    """Return values of rows, (n,) or (n, r), where the rows of X are."""
    if not isinstance(X, LazyRows) or not values.size:
        return values
    whole = values.dtype.kind == "i"
    return X.beside(values.astype(np.min_scalar_type(values.max())) if whole else values)


def _as_came(X: Any, values: Any) -> Any:
    """Return values of rows as X came: in its chunks, or as an array."""
    return X.like(values) if isinstance(X, LazyRows) else np.asarray(values)


def on_rows(
    estimator: Any, task: Callable[[Any], Array], X: Any, width: int | None, dtype: Any
) -> Any:
    """Return what a task makes of rows, (m,) or (m, width); later, if they are yet to be read."""
    if isinstance(X, LazyRows):
        return X.map(task, width, dtype)
    if not is_dask(X):
        return task(X)
    from ..engines.chunked import lazily

    names = getattr(estimator, "feature_names_in_", None)
    return lazily(partial(_checked, task=task, names=names), X, width, dtype)


def _checked(X: Array, task: Callable[[Any], Array], names: Any) -> Array:
    check_finite(X, names)
    return task(X)


def _project(X: Any, mean: Array, W: Array) -> Array:
    return np.asarray(X @ W) - mean @ W if issparse(X) else (X - mean) @ W


def _assign(X: Any, embedder: Embedder, varying: Array) -> Array:
    return embedder.predict(X if varying.all() else X[:, varying])


def as_callback(verbose: Any) -> Callback | None:
    """Return what receives progress: a callable itself, standard error, or nobody."""
    if callable(verbose):
        return verbose
    return _report_to_stderr if verbose else None


def announce(verbose: Any, stage: str, **details: Any) -> None:
    """Tell whoever listens what comes next."""
    callback = as_callback(verbose)
    if callback is not None:
        callback({"stage": stage, **details})


def _report_to_stderr(event: dict) -> None:
    # Of a candidate its separation, of arrays nothing.
    plain = {name: getattr(value, "separation", value) for name, value in event.items()}
    fields = [
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in plain.items()
        if isinstance(value, str | int | float)
    ]
    sys.stderr.write(f"multifacet: {', '.join(fields)}\n")
