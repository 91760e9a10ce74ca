"""Rival methods keep the conventions and do what their names say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import estimator_checks_generator

from multifacet.baselines import Residual
from multifacet.datasets import make_gaussian_views, make_moons_views
from multifacet.metrics import nmi

X, LABELINGS = make_gaussian_views(120, [2, 2, 2], random_state=0)
METHODS = ["kmeans", "spectral"]


def all_checks():
    for estimator, check in estimator_checks_generator(Residual(n_init=2)):
        yield pytest.param(estimator, check, id=check.func.__name__)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(all_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_finds_the_grouping_that_is_left(method):
    # With two of three groupings given, the third is all that is left.
    for left in range(3):
        given = np.delete(LABELINGS, left, axis=1)
        model = Residual(2, method=method, n_init=2, random_state=0).fit(X, given=given)
        assert nmi(model.labels_, LABELINGS[:, left]) > 0.9
        assert model.labels_.dtype == np.intp


def test_spectral_follows_shapes():
    moons, labelings = make_moons_views(250, random_state=0)
    view = moons[:, 2:4]
    scores = {m: nmi(Residual(2, method=m, random_state=0).fit_predict(view), labelings[:, 1])
              for m in METHODS}  # fmt: skip
    assert scores["spectral"] > 0.95 > scores["kmeans"]


def test_nothing_given_is_plain_clustering():
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(Residual(3, random_state=0).fit(X).labels_, expected)


def test_unbalanced_labelings_are_removed_together():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 300)
    second = np.where(rng.random(300) < 0.3, 1 - first, first)  # leans on the first
    hidden = rng.integers(0, 2, 300)
    data = np.column_stack([8 * first + 8 * second, 3 * hidden]) + 0.3 * rng.normal(size=(300, 2))
    model = Residual(2, n_init=2, random_state=0)
    assert nmi(model.fit_predict(data, given=[first, second]), hidden) > 0.95
    # Taking out one labeling leaves what the other adds, which outweighs the hidden one.
    assert nmi(model.fit_predict(data, given=first), hidden) < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_one_result_and_arguments_left_alone(method):
    before, given = X.copy(), LABELINGS[:, 0].copy()
    model = Residual(3, method=method, random_state=5)
    first = model.fit(X, given=given).labels_
    np.testing.assert_array_equal(clone(model).fit_predict(X, given=given), first)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(given, LABELINGS[:, 0])


@pytest.mark.parametrize("method", METHODS)
def test_one_cluster(method):
    assert not Residual(1, method=method).fit(X, given=LABELINGS[:, 0]).labels_.any()


@pytest.mark.parametrize(
    ("message", "parameters", "given"),
    [
        (r"method='ward' is not known: use 'kmeans', 'spectral'", {"method": "ward"}, None),
        (r"n_clusters=121 must be between 1 and 120", {"n_clusters": 121}, None),
        (r"n_clusters=120 but method='spectral' needs more rows than clusters",
         {"n_clusters": 120, "method": "spectral"}, None),
        (r"n_init=0 must be at least 1", {"n_init": 0}, None),
        (r"given has 119 labels for 120 rows", {}, LABELINGS[1:, 0]),
        (r"given has the single value", {}, np.zeros(120, int)),
    ],
)  # fmt: skip
def test_bad_input(message, parameters, given):
    with pytest.raises(ValueError, match=message):
        Residual(**parameters).fit(X, given=given)


def test_nothing_left():
    data = np.column_stack([LABELINGS[:, 0] * 2.0, 1 - LABELINGS[:, 0]]) + 5
    with pytest.raises(ValueError, match="given explains all of X"):
        Residual().fit(data, given=LABELINGS[:, 0])


def test_sparse_is_refused_and_y_is_ignored():
    with pytest.raises(TypeError, match="X is sparse"):
        Residual().fit(csr_matrix(X))
    with pytest.warns(UserWarning, match="y is ignored: pass known labels as given="):
        Residual().fit(X, LABELINGS[:, 0])
