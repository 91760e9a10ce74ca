"""Eigenpairs of every kind of matrix: compared with a dense decomposition."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import ViewFinder
from multifacet.linalg import column_moments, leading_eigenpairs, projected, symmetric_operator


def low_rank(rank: int, size: int = 500) -> np.ndarray:
    factor = np.random.default_rng(rank).standard_normal((size, rank))
    return factor @ factor.T


@pytest.mark.parametrize("as_operator", [False, True])
@pytest.mark.parametrize("rank", [0, 1, 31])
@pytest.mark.parametrize("k", [1, 3])
def test_matrices_of_low_rank(k, rank, as_operator):
    """A Krylov space that is exhausted before it is full ends ARPACK with an error."""
    A = low_rank(rank)
    given = symmetric_operator(lambda V: A @ V, len(A)) if as_operator else A
    values, vectors = leading_eigenpairs(given, k)
    assert np.allclose(values, np.linalg.eigvalsh(A)[::-1][:k], atol=1e-8 * max(1.0, A.max()))
    assert np.allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    assert np.allclose(A @ vectors, vectors * values, atol=1e-5 * max(1.0, A.max()))


def test_few_rows_of_many_features():
    """32 rows of 500 features: Phi has rank 31 and both signs, on which ARPACK gives up."""
    X = np.random.default_rng(0).standard_normal((32, 500))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finder = ViewFinder(n_views=1, n_clusters=2, n_refits=0, random_state=0).fit(X)
    assert finder.views_[0].n_clusters == 2


@pytest.mark.parametrize("k", [1, 4])
def test_multiple_eigenvalues(k):
    A = np.diag(np.r_[np.full(5, 2.0), np.full(495, 1.0)])
    assert np.allclose(leading_eigenpairs(A, k)[0], 2.0)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments_are_those_of_numpy(offset):
    X = offset + np.random.default_rng(0).standard_normal((10_000, 3))
    mean, spread = column_moments(X)
    assert np.allclose(mean, X.mean(axis=0), rtol=1e-12)
    assert np.allclose(spread, X.std(axis=0), rtol=1e-6)
    sparse = csr_matrix(np.where(np.abs(X - offset) > 1, X, 0.0))
    if offset == 0:
        assert np.allclose(column_moments(sparse)[1], sparse.toarray().std(axis=0))


def test_rows_in_single_precision_are_projected_without_a_copy_of_them():
    X = np.random.default_rng(0).standard_normal((20_000, 100)).astype(np.float32)
    W = np.random.default_rng(1).standard_normal((100, 3))
    expected = X.astype(float) @ W
    tracemalloc.start()
    found = projected(X, W)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.dtype == float
    assert peak < 0.8 * X.nbytes
    np.testing.assert_array_equal(projected(csr_matrix(X), W), csr_matrix(X) @ W)
