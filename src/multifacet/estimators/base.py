"""What all estimators share: settings, the subspace and its reading."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..engines import PairSums, as_engine
from ..fitting.linear import centred_product
from ..fitting.needs import check_engine
from ..fitting.rows import on_rows
from ..kernels import Kernel, as_kernel, needs_bandwidth, typical_distance, with_bandwidth
from ..linalg import Array, column_moments, orthonormalise
from ..validation import as_target, check_choice, check_count, check_data, check_real, say_constant
from ..wording import Argument, ArgumentError


class KernelEstimator(BaseEstimator):
    """Base of all estimators: data, kernel, bandwidth and engine."""

    kernel: Any
    bandwidth: Any
    engine: Any
    n_jobs: int | None
    mean_: Array
    n_features_in_: int
    varying_: Array

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
        self.varying_ = spread > 1e-12 * spread.max()
        X = X if self.varying_.all() else X[:, self.varying_]
        options = self.get_params(deep=False)
        if "engine" in options:  # others have a closed form without sums over pairs
            check_engine(X, self.engine, options.get("solver"))
        say_constant(self, self.varying_)
        return X

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
            raise ArgumentError(
                Argument.of("bandwidth", self.bandwidth),
                " has no effect on ",
                Argument.of("kernel", self.kernel),
                ": leave it at 'auto'",
            )

    def _attach(self, X: Any, kernel: Kernel) -> PairSums:
        mean = self.mean_[self.varying_]
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
        task = partial(centred_product, mean=self.mean_, W=self.components_.T)
        return on_rows(self, task, X, self.components_.shape[0], self.components_.dtype)

    def _project(self, X: Any) -> Array:
        return centred_product(X, self.mean_, self.components_.T)

    def _dimension(self, automatic: int) -> int:
        d = int(self.varying_.sum())
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
        W = W[self.varying_]
        if np.linalg.matrix_rank(W) < q:
            raise ValueError(f"init has rank {np.linalg.matrix_rank(W)}: its columns must differ")
        return orthonormalise(W)

    def _store_subspace(self, W: Array, dtype: Any) -> None:
        self.n_components_ = W.shape[1]
        self.components_ = np.zeros((W.shape[1], self.n_features_in_), dtype=dtype)
        self.components_[:, self.varying_] = W.T
        self.feature_weights_ = np.zeros(self.n_features_in_)
        self.feature_weights_[self.varying_] = (W**2).sum(axis=1) / W.shape[1]

    def _warn_unless(self, converged: bool, reason: str) -> None:
        if not converged:
            warnings.warn(
                f"{type(self).__name__} did not converge to a stationary point: {reason}; the "
                "result is usable, see result_ and certificate_",
                ConvergenceWarning,
                stacklevel=4,
            )


class Targeted:
    """How a target enters that an estimator cannot do without."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def _required(self, y: Any, n_rows: int) -> Array:
        """Return the target, (n,) or (n, m), checked."""
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        return as_target(y, n_rows)
