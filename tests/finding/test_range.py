"""A range of numbers of groups, and tables of hundreds of features."""

import numpy as np
import pytest

from multifacet import ViewFinder, find_views
from multifacet.datasets import make_embedding_views, make_gaussian_views
from multifacet.metrics import nmi


@pytest.fixture(scope="module")
def blobs():
    return make_gaussian_views(240, [4, 3], rotate=False, random_state=0)


@pytest.mark.parametrize("asked", [(3, 6), "3-6"])
def test_a_range_is_chosen_from(blobs, asked):
    X, labelings = blobs
    finder = ViewFinder(1, asked, n_refits=0).fit(X, given=labelings[:, 1])
    assert finder.views_[0].n_clusters == 4
    few = ViewFinder(1, (2, 3), n_refits=0).fit(X, given=labelings[:, 1])
    assert few.views_[0].n_clusters <= 3


def test_a_range_is_chosen_from_by_closed_forms(blobs):
    X, labelings = blobs
    finder = ViewFinder(1, (3, 5), method="linear", random_state=0).fit(X, given=labelings[:, 1])
    assert 3 <= finder.views_[0].n_clusters <= 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_clusters": (5, 3)}, r"n_clusters=\(5, 3\) ends before it begins"),
        ({"n_clusters": (2, 4), "method": "kdac"}, "is a range, from which method='kdac'"),
        ({"n_clusters": (2, 4), "kernel": "polynomial"}, "is a range, from which method='kdac'"),
        ({"n_clusters": "2-"}, "n_clusters='2-'"),
    ],
)
def test_what_is_no_range_is_refused(blobs, options, said):
    with pytest.raises((ValueError, TypeError), match=said):
        ViewFinder(1, **options).fit(blobs[0])


@pytest.mark.filterwarnings("ignore:features keep their scales")
def test_embeddings_tell_their_other_grouping():
    X, labelings = make_embedding_views(1200, (8, 4), n_features=300, random_state=1)
    views = find_views(X, given=labelings[:, 0], n_views=1)
    (view,) = views.believed
    assert view.n_clusters == 4
    assert nmi(view.labels, labelings[:, 1]) > 0.95
    assert view.components.shape[1] == 300


def test_embeddings_without_anything_given_are_no_product():
    X, labelings = make_embedding_views(1000, (4, 3), n_features=150, random_state=2)
    views = find_views(X, n_views=2, n_refits=0, standardize=False)
    for truth in labelings.T:
        assert max(nmi(view.labels, truth) for view in views) > 0.9


def test_structureless_embeddings_are_silent():
    X = np.random.default_rng(0).normal(size=(600, 200))
    assert len(find_views(X)) == 0
