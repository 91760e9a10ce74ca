"""Independent components: known sources, scikit-learn's, and rows without any."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import FastICA

from multifacet.search.components import CONTRASTS, independent_components


def whitened(values: np.ndarray) -> np.ndarray:
    left = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)[0]
    return left * np.sqrt(len(values))


def sources(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    sides = rng.integers(0, 2, 1500) + 0.2 * rng.standard_normal(1500)
    return np.column_stack([rng.uniform(size=1500), rng.laplace(size=1500), sides])


@pytest.mark.parametrize("contrast", CONTRASTS)
@pytest.mark.parametrize("seed", range(3))
def test_mixed_sources_are_told_apart(contrast, seed):
    rng = np.random.default_rng(seed)
    values = sources(seed)
    Z = whitened(values @ rng.standard_normal((3, 3)))
    found = Z @ independent_components(Z, contrast, seed).T
    agreement = np.abs(np.corrcoef(found.T, values.T)[:3, 3:])
    assert sorted(agreement.argmax(axis=1)) == [0, 1, 2]
    assert agreement.max(axis=1).min() > 0.97


def test_they_are_those_of_scikit_learn():
    Z = whitened(sources(0) @ np.random.default_rng(0).standard_normal((3, 3)))
    theirs = FastICA(whiten=False, tol=1e-6, random_state=0).fit(Z).components_
    ours = independent_components(Z, "tanh", 0)
    np.testing.assert_allclose(np.abs(ours @ theirs.T).max(axis=1), 1, atol=1e-2)


def test_of_several_starts_the_least_gaussian_components_win():
    Z = whitened(sources(1) @ np.random.default_rng(1).standard_normal((3, 3)))
    index = CONTRASTS["tanh"].index
    best = index(independent_components(Z, "tanh", 0) @ Z.T).sum()
    alone = FastICA(whiten=False, random_state=5).fit(Z).components_
    assert best >= index(alone @ Z.T).sum() * 0.999


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_gaussian_rows_and_far_outliers_give_orthonormal_directions(contrast):
    values = np.random.default_rng(0).standard_normal((300, 4))
    values[0] = 1e6
    found = independent_components(whitened(values), contrast, 0)
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-6)
