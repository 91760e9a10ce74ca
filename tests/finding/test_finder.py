"""Several views: what ViewFinder finds, what it avoids, and when it stops."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import ViewFinder
from multifacet.datasets import (
    make_gaussian_views,
    make_independent_views,
)
from multifacet.metrics import match_labelings, nmi
from multifacet.solvers import ISM, Stiefel

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def three_views():
    return make_independent_views(
        400, ["blobs", "moons", "rings"], n_clusters=[3, 2, 2], random_state=0
    )


@pytest.fixture(scope="module")
def unguided(three_views):
    return ViewFinder(n_refits=3, random_state=0).fit(three_views[0])


def test_all_views_are_found_and_no_more(three_views, unguided):
    _, labelings = three_views
    assert unguided.n_views_ == 3
    assert match_labelings(labelings, unguided.labelings_).score > 0.95
    np.testing.assert_array_equal(unguided.labels_, unguided.labelings_[:, 0])
    assert unguided.rejected_.p_value > 0.05


def test_views_know_what_they_are(unguided):
    for view in unguided.views_:
        assert view.labels.shape == (400,)
        assert view.components.shape == (view.settings.n_components, 6)
        assert view.projection.shape == (400, view.settings.n_components)
        assert view.feature_weights.sum() == pytest.approx(1)
        assert view.stability > 0.9
        assert view.p_value < 0.05
        assert view.novelty < 0.05
        assert view.name in str(view)
    assert unguided.views_[0].independence is None
    assert unguided.views_[1].independence > 0.01


def test_given_labels_are_avoided(three_views):
    X, labelings = three_views
    finder = ViewFinder(n_views=1, n_refits=0, random_state=0).fit(X, given=labelings[:, :2])
    assert nmi(finder.labels_, labelings[:, 2]) > 0.95
    assert finder.views_[0].stability is None


def test_each_view_may_have_its_own_number_of_clusters(three_views):
    X, labelings = three_views
    finder = ViewFinder(2, [3, 2], n_refits=0, random_state=0).fit(X, given=labelings[:, 2])
    assert [view.n_clusters for view in finder.views_] == [3, 2]
    assert match_labelings(labelings[:, :2], finder.labelings_).score > 0.95


@pytest.mark.parametrize("seed", range(2))
def test_no_view_is_invented_in_noise(seed):
    X = np.random.default_rng(seed).standard_normal((200, 6))
    finder = ViewFinder(n_refits=3, n_starts=4, random_state=0).fit(X)
    assert finder.n_views_ == 0
    assert finder.labelings_.shape == (200, 0)
    assert not finder.labels_.any()


@pytest.mark.parametrize("method", ["linear", "embedding"])
def test_the_closed_forms_are_methods(method):
    X, labelings = make_gaussian_views(300, [3, 2], rotate=False, random_state=0)
    options = {"n_views": 1, "n_clusters": 2, "method": method, "random_state": 0}
    finder = ViewFinder(**options).fit(X, given=labelings[:, 0])
    view = finder.views_[0]
    assert nmi(view.labels, labelings[:, 1]) > 0.9
    assert view.components.shape[1] == 4
    assert view.feature_weights.shape == (4,)
    chosen = ViewFinder(**options | {"n_clusters": "auto"}).fit(X, given=labelings[:, 0])
    assert chosen.views_[0].n_clusters >= 2


def test_views_can_be_refined_together(three_views):
    X, labelings = three_views
    finder = ViewFinder(3, [3, 2, 2], strategy="simultaneous", n_refits=0, random_state=0).fit(X)
    assert match_labelings(labelings, finder.labelings_).score > 0.95
    for view in finder.views_:
        np.testing.assert_allclose(
            view.components @ view.components.T, np.eye(len(view.components)), atol=1e-8
        )


@pytest.mark.parametrize("strategy", ["iterative", "simultaneous"])
def test_the_solver_is_the_one_asked_for(strategy, monkeypatch):
    calls = []
    plain = Stiefel.solve

    def counted(self, *arguments, **options):
        calls.append(self)
        return plain(self, *arguments, **options)

    monkeypatch.setattr(Stiefel, "solve", counted)
    monkeypatch.setattr(ISM, "solve", None)  # nothing else may be called
    X, labelings = make_gaussian_views(90, [3, 2], rotate=False, random_state=0)
    settings = {"n_components": 2, "bandwidth": "median", "novelty_weight": 10.0, "n_starts": 2}
    finder = ViewFinder(
        2, [3, 2], strategy=strategy, solver=Stiefel(), n_refits=0, random_state=0, **settings
    ).fit(X)
    assert calls
    assert match_labelings(labelings, finder.labelings_).score > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "parallel"}, "strategy='parallel' is not known"),
        ({"method": "kmeans"}, "method='kmeans' is not known: use 'auto', 'kdac'"),
        ({"n_views": 0}, "n_views=0 must be at least 1"),
        ({"n_views": 3, "n_clusters": [2]}, "n_clusters has 1 entries for 3 views"),
        ({"n_clusters": "many"}, "n_clusters='many' is not known"),
        ({"method": "linear", "strategy": "simultaneous"}, "refines subspaces of KDAC"),
        ({"significance": 0}, "significance must be a positive number"),
        ({"solver": "newton"}, "solver='newton' is not known"),
    ],
)
def test_wrong_parameters(three_views, options, message):
    with pytest.raises(ValueError, match=message):
        ViewFinder(**options).fit(three_views[0])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (4, {}, "n_samples=4.: at least 5 are needed"),
        (40, {"n_clusters": [2, 1], "n_views": 2}, "n_clusters=1 must be at least 2"),
        (40, {"n_jobs": 0}, "n_jobs=0 is no number of threads"),
    ],
)
def test_too_little_to_look_for_views(rows, options, message):
    X = np.random.default_rng(0).standard_normal((rows, 3))
    with pytest.raises(ValueError, match=message):
        ViewFinder(**{"n_views": 1, **options}).fit(X)


def test_one_group_is_no_view():
    X = np.random.default_rng(0).standard_normal((40, 3))
    finder = ViewFinder(n_clusters=1, random_state=0).fit(X)
    assert finder.views_ == []
    assert finder.rejected_.p_value == 1
