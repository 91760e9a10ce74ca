"""Rotating features, permuting rows and renaming labels change nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from multifacet import KDAC, SupervisedKDR
from multifacet.datasets import make_gaussian_views
from multifacet.engines import Exact
from multifacet.linalg import subspace_distance
from multifacet.metrics import match_labelings, nmi, pair_f1
from multifacet.problems import Gamma

from ..reference import KERNELS

seeds = st.integers(0, 2**20)
few = settings(max_examples=8, deadline=None, derandomize=True)
#: Where every example takes seconds.
fewer = settings(max_examples=3, deadline=None, derandomize=True)


def data(seed):
    X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=seed % 7)
    return X, labelings, np.random.default_rng(seed)


def orthogonal(rng, d):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def fit_kdac(X, labels):
    model = KDAC(bandwidth=0.6, novelty_weight=3.0, init="spectral", random_state=0)
    return model.fit(X, given=labels)


@few
@given(seeds)
def test_rotation_of_the_data_rotates_the_subspace(seed):
    X, labelings, rng = data(seed)
    Q = orthogonal(rng, X.shape[1])
    plain, turned = fit_kdac(X, labelings[:, 0]), fit_kdac(X @ Q, labelings[:, 0])
    np.testing.assert_allclose(turned.objective_, plain.objective_, rtol=1e-5)
    assert nmi(plain.labels_, turned.labels_) > 0.999
    assert subspace_distance(turned.components_.T, Q.T @ plain.components_.T) < 1e-2


@fewer
@given(seeds)
def test_supervised_reduction_rotates_too(seed):
    X, labelings, rng = data(seed)
    Q = orthogonal(rng, X.shape[1])
    plain = SupervisedKDR(2).fit(X, labelings[:, 0])
    turned = SupervisedKDR(2).fit(X @ Q, labelings[:, 0])
    np.testing.assert_allclose(turned.objective_, plain.objective_, rtol=1e-8)
    assert subspace_distance(turned.components_.T, Q.T @ plain.components_.T) < 1e-4


@few
@given(seeds)
def test_order_of_rows_and_names_of_labels(seed):
    X, labelings, rng = data(seed)
    order = rng.permutation(len(X))
    names = np.array(["x", "a"])[labelings[:, 0]]
    plain, shuffled = fit_kdac(X, labelings[:, 0]), fit_kdac(X[order], names[order])
    np.testing.assert_allclose(shuffled.objective_, plain.objective_, rtol=1e-5)
    assert nmi(plain.labels_[order], shuffled.labels_) > 0.999
    assert subspace_distance(plain.components_.T, shuffled.components_.T) < 1e-2


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seeds, st.sampled_from(sorted(KERNELS)))
def test_phi_is_equivariant_for_every_kernel(seed, name):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 4))
    X -= X.mean(axis=0)
    W, Q = orthogonal(rng, 4)[:, :2], orthogonal(rng, 4)
    gamma = Gamma(rng.standard_normal((25, 2)), np.array([1.0, -0.5]))
    phi, value = Exact().attach(X, KERNELS[name]).phi_and_objective(W, gamma)
    turned, same = Exact().attach(X @ Q, KERNELS[name]).phi_and_objective(Q.T @ W, gamma)
    np.testing.assert_allclose(same, value, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(turned, Q.T @ phi @ Q, rtol=0, atol=1e-8 * np.abs(phi).max())
    # Only the subspace counts, not its basis.
    spun, _ = Exact().attach(X, KERNELS[name]).phi_and_objective(W @ orthogonal(rng, 2), gamma)
    np.testing.assert_allclose(spun, phi, rtol=0, atol=1e-8 * np.abs(phi).max())


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seeds)
def test_scores_of_labelings_do_not_depend_on_names(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (30, 2)), rng.integers(0, 3, (30, 2))
    renamed = rng.permutation(10)[b]
    assert abs(pair_f1(a, b) - pair_f1(a, renamed)) < 1e-12
    assert abs(match_labelings(a, b).score - match_labelings(a, renamed).score) < 1e-12
    assert 0 <= nmi(a[:, 0], b[:, 0]) <= 1
    assert abs(nmi(a[:, 0], b[:, 0]) - nmi(b[:, 0], a[:, 0])) < 1e-12
