"""Time of Phi and ISM, and what users wait for, as ratios within one run: machines are noisy."""

from __future__ import annotations

import time
from multiprocessing import Pool

import numpy as np
from threadpoolctl import threadpool_limits

from multifacet.engines import Exact
from multifacet.kernels import Gaussian
from multifacet.linalg import leading_eigenpairs
from multifacet.problems import Gamma
from multifacet.solvers import ISM

from .table import Table, figure
from .waiting import waiting

N, QUICK_N, D, Q, R, SIGMA = 4000, 500, 50, 3, 4, 2.0
TILE = 256


def best_of(call, repeat: int = 5) -> float:
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def unavoidable_work(X, P, F) -> float:
    """One exponential per pair and the matrix products, on tiles above the diagonal only."""
    tiles = [slice(a, a + TILE) for a in range(0, len(X), TILE)]
    left, right = np.hstack([P, P[:, :2]]), np.ascontiguousarray(np.hstack([P, P[:, :2]]).T)

    def work():
        for i, rows in enumerate(tiles):
            for cols in tiles[i:]:
                beta = left[rows] @ right[:, cols]
                F[rows] @ F[cols].T
                np.exp(beta, out=beta)
                beta @ X[cols]

    with threadpool_limits(1):
        return best_of(work)


def problem(n: int):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    W = np.linalg.qr(rng.standard_normal((D, Q)))[0]
    return X, W, Gamma(rng.standard_normal((n, R)), np.array([1.0, 1.0, -1.0, -1.0]))


def phi_in_one_thread(n: int, repeat: int) -> float:
    X, W, gamma = problem(n)
    sums = Exact().attach(X, Gaussian(SIGMA), n_jobs=1)
    return best_of(lambda: [sums.phi_and_objective(W, gamma) for _ in range(repeat)], 1)


def attainable_scaling(n: int) -> float:
    """Throughput of two processes over one: nothing is shared, so it is the machine's limit."""
    with Pool(2) as pool:
        pool.starmap(phi_in_one_thread, [(n, 1)] * 2)
        alone = min(pool.apply(phi_in_one_thread, (n, 5)) for _ in range(3))
        together = min(max(pool.starmap(phi_in_one_thread, [(n, 5)] * 2)) for _ in range(3))
    return 2 * alone / together


def plain_phi(X, W, gamma) -> tuple[np.ndarray, float]:
    """What one writes first: n x n arrays and nothing else."""
    P = X @ W
    norms = (P**2).sum(axis=1)
    K = np.exp(-(norms[:, None] + norms - 2 * P @ P.T) / (2 * SIGMA**2))
    G = (gamma.factors * gamma.weights) @ gamma.factors.T
    psi = G * K
    laplacian = np.diag(psi.sum(axis=1)) - psi
    return -X.T @ laplacian @ X / SIGMA**2, float(psi.sum())


def double_loop_phi(X, W, gamma) -> np.ndarray:
    """The original formulation: a sum of d x d matrices A_ij over pairs."""
    G = (gamma.factors * gamma.weights) @ gamma.factors.T
    phi = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(X)):
        for j in range(len(X)):
            A = np.outer(X[i] - X[j], X[i] - X[j])
            k = np.exp(-np.trace(W.T @ A @ W) / (2 * SIGMA**2))
            phi -= G[i, j] * k / (2 * SIGMA**2) * A
    return phi


def plain_ism(X, gamma, W, steps: int):
    for _ in range(steps):
        W = leading_eigenpairs(plain_phi(X, W, gamma)[0], Q)[1]
    return W


def run(quick: bool = False) -> list[Table]:
    n = QUICK_N if quick else N
    X, W, gamma = problem(n)
    one, two = (Exact().attach(X, Gaussian(SIGMA), n_jobs=jobs) for jobs in (1, 2))
    phi = best_of(lambda: one.phi_and_objective(W, gamma))
    both = best_of(lambda: two.phi_and_objective(W, gamma))
    bound = unavoidable_work(X, X @ W, gamma.factors)

    table = Table(
        f"Phi by the exact engine (n = {n}, d = {D}, q = {Q})",
        ["what", "seconds", "ratio", "bar"],
        note="Ratios are within one run. The unavoidable work is one exponential per pair of rows "
        "and the matrix products, above the diagonal, in one thread.",
    )
    table.add("unavoidable work", bound, 1, "")
    table.add(
        "engine, 1 thread", phi, figure(phi / bound, ".2f", " x the unavoidable work"), "<= 2"
    )
    table.add(
        "engine, 2 threads", both, figure(phi / both, ".2f", " x faster than 1 thread"), ">= 1.6"
    )
    throughput = " x the throughput of one: this machine's limit"
    limit = figure(attainable_scaling(n), ".2f", throughput)
    table.add("two separate processes, 1 thread each", "", limit, "")

    steps = 5
    solver = ISM(max_iter=steps, tol=1e-300)
    ours = best_of(lambda: solver.solve(two, gamma, W, polish=False), 3) * steps / (steps + 1)
    plain = best_of(lambda: plain_ism(X, gamma, W, steps), 2)
    small = 60
    tiny = Gamma(gamma.factors[:small], gamma.weights)
    loop = best_of(lambda: double_loop_phi(X[:small], W, tiny), 1) * (n / small) ** 2 * steps
    rivals = Table(
        f"ISM alone, {steps} steps (n = {n}, d = {D}, q = {Q}, 2 threads)",
        ["what", "seconds", "ours is faster by", "bar"],
        note=f"The double loop was timed at n = {small} and scaled by n^2.",
    )
    rivals.add("this engine", ours, 1, "")
    rivals.add(
        "plain numpy with n x n arrays, BLAS threads",
        plain,
        figure(plain / ours, ".1f", " x"),
        ">= 2",
    )
    rivals.add("double loop over pairs", loop, figure(loop / ours, ",.0f", " x"), "reported")
    return [waiting(quick), table, rivals]
