"""Axes of few features, at a price that held-out rows tell."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.preprocessing import scale

from multifacet import SupervisedKDR
from multifacet.fitting.sparse import sparse_axes, steps_down


@pytest.fixture(scope="module")
def among_noise():
    """Two features tell the class, a third one repeats the first, and nine are noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = rng.standard_normal((240, 12))
    X[:, 4] += 3 * (y == 1)
    X[:, 7] += 3 * (y == 2)
    X[:, 9] = X[:, 4] + 0.3 * rng.standard_normal(240)
    return X, y


def test_what_does_not_matter_is_exactly_zero(among_noise):
    X, y = among_noise
    model = SupervisedKDR(2, sparsity="auto").fit(X, y)
    used = set(np.flatnonzero(model.feature_weights_))
    assert {7} < used <= {4, 7, 9}
    assert np.count_nonzero(model.components_) <= 4
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert model.feature_weights_.sum() == pytest.approx(1)
    assert model.sparsity_.price < 0.02
    path = model.sparsity_.path
    assert path[0].n_loadings == 24
    assert [one.n_loadings for one in path] == sorted({one.n_loadings for one in path})[::-1]
    assert set(model.sparsity_.chosen.features) == used
    assert f"{len(used)} of 12 features" in str(model.sparsity_)
    np.testing.assert_allclose(
        model.transform(X), (X - X.mean(axis=0)) @ model.components_.T, atol=1e-12
    )


def test_a_price_is_kept():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    prices = (0.0, 0.02, 0.1)
    found = [SupervisedKDR(2, sparsity=price).fit(X, y).sparsity_ for price in prices]
    sizes = [one.chosen.n_loadings for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 8 < sizes[0]
    for price, one in zip(prices, found, strict=True):
        assert one.price <= price
    dearer = [one for one in found[1].path if one.n_loadings < found[1].chosen.n_loadings]
    assert all(found[1].path[0].score - one.score > 0.02 for one in dearer)
    ax = found[-1].plot()
    assert (
        ax.get_legend().get_texts()[0].get_text()
        == f"chosen: {found[-1].chosen.n_features} features"
    )


def test_so_many_features_per_axis():
    X, y = load_diabetes(return_X_y=True)
    model = SupervisedKDR(2, sparsity=2).fit(scale(X), y)
    assert np.count_nonzero(model.components_) == 4
    assert model.sparsity_.table()[-1]["n_loadings"] == 4
    assert {2, 8} <= set(np.flatnonzero(model.feature_weights_))  # body mass index and s5
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.components_, model.components_)
    assert str(again.sparsity_) == str(model.sparsity_)


def test_names_of_axes_and_constant_features():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = pandas.DataFrame(scale(X), columns=X.columns).assign(constant=1.0)
    with pytest.warns(UserWarning, match="constant"):
        model = SupervisedKDR(2, sparsity=1).set_output(transform="pandas").fit(X, y)
    assert list(model.transform(X).columns) == ["supervisedkdr0", "supervisedkdr1"]
    assert set(np.flatnonzero(model.feature_weights_)) == {2, 3}
    assert (model.components_ >= 0).all()


@pytest.mark.filterwarnings("ignore:left out")
def test_sparse_rows_of_many_words():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    rate = np.full((3, 700), 0.02)
    for one in range(3):
        rate[one, 20 * one : 20 * one + 4] = 0.8
    X = csr_matrix(rng.poisson(rate[y]).astype(float))
    model = SupervisedKDR(2, bandwidth=1.0, sparsity="auto").fit(X, y)
    used = np.flatnonzero(model.feature_weights_)
    telling = {20 * one + i for one in range(3) for i in range(4)}
    assert len(set(used) & telling) >= 6
    assert len(used) < 60


def test_many_rows_are_used_after_the_sample(among_noise):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1500)
    X = rng.standard_normal((1500, 6))
    X[:, 1] += 2 * y
    X[:, 2] += y
    model = SupervisedKDR(1, bandwidth=1.0, sparsity=2).fit(X, y)
    assert set(np.flatnonzero(model.components_)) == {1, 2}
    assert model.components_[0, 1] / model.components_[0, 2] == pytest.approx(2.0, rel=0.35)


def test_steps_go_down_to_one_loading_per_axis():
    assert steps_down(4, 2) == [8, 5, 3, 2]
    assert steps_down(4, 2, 4) == [8, 5, 4]
    assert steps_down(1, 1) == [1]
    assert steps_down(10_000, 2)[1] == 512
    assert steps_down(3, 2, 100) == [6]


def test_a_feature_stands_in_for_one_that_it_resembles():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 2))
    X = np.column_stack([x[:, 0], x[:, 0] + 0.1 * rng.standard_normal(400), x[:, 1]])
    W = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).T / [np.sqrt(2), 1]
    axes = sparse_axes(W, X, 2)
    assert np.count_nonzero(axes) == 2
    assert np.count_nonzero(axes[:2]) == 1
    np.testing.assert_allclose(axes.sum(axis=0), 1)


@pytest.mark.parametrize(
    ("bad", "message"),
    [(-0.1, "non-negative"), ("few", "'few' is not known"), (0, "at least 1")],
)
def test_bad_sparsify(bad, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=rf"sparsity.*{message}"):
        SupervisedKDR(2, sparsity=bad).fit(X, y)


def test_too_few_rows_to_be_held_out():
    X, y = load_iris(return_X_y=True)
    few = np.r_[0:4, 50:53, 100:104]
    with pytest.raises(ValueError, match="sparsity='auto' holds rows out, for which 11 rows"):
        SupervisedKDR(2, sparsity="auto").fit(X[few], y[few])
