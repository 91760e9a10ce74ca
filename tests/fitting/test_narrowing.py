"""Bandwidth and say of scores of reductions by clusters, chosen on a sample of rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import scale

from multifacet import SemiSupervisedKDR, UnsupervisedKDR
from multifacet.datasets import make_gaussian_views
from multifacet.fitting.narrowing import SCORE_WEIGHTS, WIDTHS, ScoreWeight, least_weight
from multifacet.kernels import median_distance
from multifacet.metrics import nmi


@pytest.mark.parametrize(("load", "k"), [(load_iris, 3), (load_wine, 3), (load_breast_cancer, 2)])
def test_clusters_agree_with_classes_at_least_as_those_of_k_means(load, k):
    X, y = load(return_X_y=True)
    X = scale(X)
    model = UnsupervisedKDR(k, random_state=0).fit(X)
    rival = KMeans(k, n_init=10, random_state=0).fit_predict(X)
    assert nmi(model.labels_, y) >= nmi(rival, y)
    assert model.bandwidth_ < median_distance(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_the_path_goes_from_wide_to_narrow_and_the_clearest_clusters_win():
    X = scale(load_iris().data)
    selection = UnsupervisedKDR(3, random_state=0).fit(X).selection_
    widths = sorted((row["bandwidth"] for row in selection.table()), reverse=True)
    assert widths[0] == pytest.approx(median_distance(X))
    assert len(widths) == WIDTHS
    assert selection.chosen.separation == max(one.separation for one in selection.candidates)
    assert f"bandwidth {selection.settings.bandwidth:.3g}" in str(selection)


@pytest.mark.filterwarnings("ignore:.*rises only by changing the clusters")  # one of the papers'
def test_nothing_is_chosen_where_nothing_is_open():
    X = scale(load_iris().data)
    for options in ({"bandwidth": "median"}, {"bandwidth": 1.5}, {"kernel": "linear"}):
        assert UnsupervisedKDR(3, random_state=0, **options).fit(X).selection_ is None
    few = UnsupervisedKDR(3, random_state=0).fit(X[::8])
    assert few.selection_ is None
    assert few.bandwidth_ == median_distance(X[::8])


def test_a_start_of_ones_own_is_kept():
    X = scale(load_iris().data)
    model = UnsupervisedKDR(3, 2, init=np.eye(4)[:, :2], random_state=0).fit(X)
    assert model.explorations_[0].start == "given"
    assert model.bandwidth_ == model.selection_.settings.bandwidth


@pytest.mark.parametrize("view", [0, 1])
def test_scores_get_the_say_they_need(view):
    X, labelings = make_gaussian_views(150, [2, 2], random_state=0)
    scores = labelings[:, view] + 0.3 * np.random.default_rng(0).standard_normal(150)
    model = SemiSupervisedKDR(2, 1, "auto", random_state=0).fit(X, scores)
    assert model.score_weight_ in SCORE_WEIGHTS
    assert nmi(model.labels_, labelings[:, view]) > 0.9


def test_scores_that_say_nothing_get_the_least_say():
    X, _ = make_gaussian_views(150, [2, 2], random_state=0)
    scores = np.random.default_rng(1).standard_normal(150)
    model = SemiSupervisedKDR(2, 1, "auto", random_state=0).fit(X, scores)
    assert model.score_weight_ == SCORE_WEIGHTS[0]
    assert SemiSupervisedKDR(2, 1, 0.7, random_state=0).fit(X, scores).score_weight_ == 0.7
    few = SemiSupervisedKDR(2, 1, "auto", random_state=0).fit(X[:11], scores[:11])
    assert few.score_weight_ == 1.0


def test_the_least_say_that_is_as_good_as_the_best_is_taken():
    noise = 0.01 * np.random.default_rng(0).standard_normal((3, 50))
    low = ScoreWeight(0.1, 0.2 + noise[0])
    good = ScoreWeight(1.0, 0.8 + noise[1])
    best = ScoreWeight(10.0, 0.8005 + noise[2])
    assert least_weight([low, good, best]) == 1.0
    assert least_weight([low]) == 0.1


def test_a_word_that_is_no_weight_is_refused():
    X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    with pytest.raises(ValueError, match=r"score_weight.*'some' is not known"):
        SemiSupervisedKDR(2, score_weight="some").fit(X, labelings[:, 0] + 0.0)
