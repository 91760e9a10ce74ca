"""All rows of a table, on which a supervised reduction is found after the path on a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..certificate import Certificate, certify
from ..engines.metric import Metric, MetricSums
from ..kernels import Kernel, with_bandwidth
from ..linalg import Array, orthonormalise
from ..problems import Gamma, Problem, supervised
from ..progress import Callback
from ..solvers import ISM, Solver
from ..solvers.base import SolverResult, solve
from .climbing import climbed
from .held_out import PLAN
from .leading import METRIC_ROWS, Led
from .rows import beside
from .sampled import Rows, Target
from .sparse import Sparsifier, sparse_axes
from .sparsity import SparsityPath, fewest

#: Rows up to which all pairs cost less than landmarks do, without an embedding to be computed.
EXACT_ROWS = 2500
#: Rows that lead near the W of all rows, if these are more, and the residual at which that is near
#: enough: there, W of all rows has a larger one.
APPROACH_ROWS, APPROACH_TOL = 10_000, 1e-2
#: Steps on all rows without and after that, and the residual that sums over landmarks can tell from
#: zero.
STEPS, LAST_STEPS, LANDMARK_TOL = 40, 8, 3e-3


@dataclass(frozen=True, eq=False)
class WholeTable:
    """All rows, and what leads a reduction of them.

    Attributes
    ----------
    X : array, CSR matrix or rows yet to be read of shape (n, d)
        The rows.
    target : Target
        Their target.
    kernel : Kernel
        Its bandwidth may be missing.
    led : Led
        The settings, and where the path led on a sample.
    attach : callable
        Makes pair sums of rows (m, s), for a kernel and the features that they have.
    """

    X: Any
    target: Target
    kernel: Kernel
    led: Led
    attach: Callable[[Any, Kernel, Any], Any]

    @cached_property
    def problem(self) -> Problem:
        """What W is to depend on."""
        return supervised(beside(self.X, self.target.columns))

    @cached_property
    def gamma(self) -> Gamma:
        """The same for a solver."""
        return self.problem.gamma()

    @cached_property
    def sums(self) -> Any:
        """Pair sums of all rows, at the settings chosen."""
        return self._sums(self.X, self.led.kernel, self.led.metric)

    @property
    def climber(self) -> Solver:
        """What climbs from the end of a path.

        On many rows that is not to the last digits: sums over landmarks are not that exact, and
        steps that cannot gain take as long as others.
        """
        n = self.X.shape[0]
        if n <= EXACT_ROWS:
            return ISM(0)
        return ISM(0, max_polish=LAST_STEPS if n > APPROACH_ROWS else STEPS, tol=LANDMARK_TOL)

    def approached(self, W: Array) -> Array:
        """Return where the last bandwidths before the one used lead from W, on more rows.

        Of many rows some do, also at that bandwidth: then few steps are left for all of them.
        """
        X, columns, widths = self.X, self.target.columns, list(self.led.approach)
        tol = APPROACH_TOL if X.shape[0] > APPROACH_ROWS else PLAN.tol
        if X.shape[0] > APPROACH_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:APPROACH_ROWS])
            X, columns, widths = X[rows], columns[rows], [*widths, self.led.bandwidth]
        for width in widths:
            sums = self._sums(X, with_bandwidth(self.kernel, width), self.led.metric)
            gamma = supervised(beside(X, columns)).gamma()
            W = climbed(sums, gamma, W, PLAN.steps, tol).W
        return W

    def solved(
        self, solver: Solver, starts: Sequence[Array], callback: Callback | None
    ) -> SolverResult:
        """Return the best of what a solver finds from each start."""
        results: list[SolverResult] = []
        for start in starts:
            results.append(solve(solver, self.sums, self.gamma, start))
            if callback is not None:
                callback({"stage": "solve", "objective": results[-1].objective})
        return max(results, key=lambda result: result.objective)

    def certificate(self, W: Array) -> Certificate:
        """Return the certificate of W, to as many digits as sums over the rows have."""
        tol = 1e-5 if self.X.shape[0] <= EXACT_ROWS else LANDMARK_TOL
        return certify(self.sums, W, self.gamma, tol)

    def sparse(self, W: Array, allowed: float | str | int) -> tuple[Array, SparsityPath]:
        """Return axes (d, q) of few features in the place of W, and what fewer would cost."""
        choice = self.led.choice
        assert choice is not None
        sample = self.X[choice.rows.positions]
        sample = sample if issparse(sample) else np.asarray(sample, dtype=float)
        sparsifier = Sparsifier(choice, sample, self.led.bandwidth, self.led.whitening)
        last = W.shape[1] * allowed if isinstance(allowed, int) else None
        path, places = sparsifier.path(np.asarray(W, dtype=float), last)
        chosen = fewest(path, allowed)
        features, axes = places[chosen]
        if chosen and sample.shape[0] < self.X.shape[0]:
            axes = self._refined(features, axes)
        found = np.zeros(W.shape)
        found[features] = axes
        return found, SparsityPath(path, path[chosen], W.shape[1])

    def _refined(self, features: Array, axes: Array) -> Array:
        """Return axes (s, q) of the features kept, with as many loadings, found on all rows."""
        X, share = self.X[:, features], self.led.whitening
        rows = Rows.draw(X, self.target, METRIC_ROWS)
        metric = rows.whitening(share)
        sums = self._sums(X, self.led.kernel, rows.lifted(metric) if share else None, features)
        start = metric.divided(orthonormalise(axes))
        W = climbed(sums, self.gamma, start, PLAN.steps, PLAN.tol).W
        return sparse_axes(orthonormalise(metric @ W), rows.Z, int(np.count_nonzero(axes)))

    def _sums(
        self, X: Any, kernel: Kernel, metric: Metric | None, features: Any = slice(None)
    ) -> Any:
        sums = self.attach(X, kernel, features)
        return sums if metric is None else MetricSums(sums, metric)
