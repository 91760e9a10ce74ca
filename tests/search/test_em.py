"""Batched EM against scikit-learn's mixtures, run by run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from multifacet.metrics import nmi
from multifacet.search.em import fit_mixtures


def whitened(rng, n, d):
    X = rng.normal(size=(n, d))
    X[: n // 3] += 3 * rng.normal(size=d)
    X -= X.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X / n)
    return X @ vectors / np.sqrt(values)


@pytest.mark.parametrize("shared", [True, False])
def test_every_run_ends_where_scikit_learn_ends_from_the_same_groups(shared):
    rng = np.random.default_rng(0)
    Z = whitened(rng, 300, 3)
    starts = rng.integers(0, 2, (5, 300))
    starts[0] = np.arange(300) < 100
    ridge = 1e-3
    found = fit_mixtures(Z, starts, 2, shared=shared, ridge=ridge, max_iter=5000, tol=1e-12)
    for labels, gain, groups in zip(starts, found.gains, found.labels, strict=True):
        codes = np.eye(2)[labels]
        means = codes.T @ Z / codes.sum(axis=0)[:, None]
        scatter = (Z - means[labels]).T @ (Z - means[labels]) / 300
        precision = np.linalg.inv(scatter + ridge * np.eye(3))
        # The separate covariances here borrow from the pooled one, so they are compared loosely.
        model = GaussianMixture(
            2,
            covariance_type="tied" if shared else "full",
            reg_covar=ridge,
            weights_init=codes.mean(axis=0),
            means_init=means,
            precisions_init=precision if shared else np.stack([precision] * 2),
            max_iter=5000,
            tol=1e-12,
        ).fit(Z)
        one = -0.5 * (3 * np.log(2 * np.pi) + (Z**2).sum() / 300)
        assert gain == pytest.approx(model.score(Z) - one, abs=1e-3 if shared else 0.03)
        if shared:
            assert nmi(groups, model.predict(Z)) > 0.9


def test_a_component_of_two_rows_does_not_shrink_to_them():
    rng = np.random.default_rng(1)
    Z = whitened(rng, 100, 4)
    starts = (np.arange(100) < 2).astype(int)[None]
    found = fit_mixtures(Z, starts, 2, shared=False, ridge=1e-3)
    assert np.isfinite(found.gains).all()
    assert found.gains[0] < 1.0
