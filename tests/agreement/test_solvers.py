"""Every solver on every engine and kernel: one optimum of an easy problem."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from multifacet.linalg import leading_eigenpairs
from multifacet.problems import one_hot, supervised
from multifacet.solvers import NAMES, as_solver

from ..reference import KERNELS, dense_kernel
from .ways import ENGINES, ROWS


@cache
def easy_problem():
    """Two classes far apart along one direction of four."""
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 2
    X = rng.standard_normal((ROWS, 4)) * 0.5
    X += np.outer(y, [2.0, 1.0, 0.0, 0.0])
    return X - X.mean(axis=0), supervised(one_hot(y)).gamma()


def solve(name, kernel, engine):
    """Return what a solver finds from the start that the kernel suggests."""
    X, gamma = easy_problem()
    sums = ENGINES[engine].attach(X, KERNELS[kernel])
    start = leading_eigenpairs(sums.initial_phi(gamma), 1)[1]
    return as_solver(name).solve(sums, gamma, start)


@cache
def optimum(kernel):
    """What the first solver finds on the exact engine."""
    return solve("ism", kernel, "exact").objective


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", NAMES)
def test_one_optimum(solver, engine, kernel):
    if solver == "grassmann":
        pytest.importorskip("pymanopt", reason="pymanopt is optional")
    X, gamma = easy_problem()
    result = solve(solver, kernel, engine)
    assert result.converged, result.reason
    assert result.objective == pytest.approx(optimum(kernel), rel=1e-6)
    K = dense_kernel(KERNELS[kernel], X, result.W)
    direct = float(np.einsum("ic,c,jc,ij->", gamma.factors, gamma.weights, gamma.factors, K))
    assert result.objective == pytest.approx(direct, rel=1e-6)
