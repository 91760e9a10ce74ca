"""A search that goes on finds what a longer one would have found."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import ViewFinder
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import nmi
from multifacet.wording import ArgumentError


@pytest.mark.parametrize("method", ["auto", "kdac", "linear"])
def test_views_one_by_one_are_those_of_one_search(method):
    X, _ = make_gaussian_views(80, [2, 2], rotate=False, random_state=0)
    options = {"n_clusters": 2, "method": method, "random_state": 0}
    options |= {} if method == "linear" else {"n_refits": 0}
    fitted = ViewFinder(2, **options).fit(X).views_
    ongoing = ViewFinder(1, **options).begin(X)
    first = ongoing.next()
    second = ongoing.next([first.labels])
    for view, expected in zip((first, second), fitted, strict=True):
        assert view.name == expected.name
        np.testing.assert_array_equal(view.labels, expected.labels)
        np.testing.assert_array_equal(view.components, expected.components)
        assert view.p_value == expected.p_value


def test_what_is_given_and_what_is_named_are_avoided():
    X, labelings = make_gaussian_views(80, [2, 2], rotate=False, random_state=1)
    ongoing = ViewFinder(n_clusters=2, n_refits=0, random_state=0).begin(X, given=labelings[:, 0])
    view = ongoing.next()
    assert nmi(view.labels, labelings[:, 1]) > 0.8
    further = ongoing.next([view.labels])
    assert further is None or nmi(further.labels, view.labels) < 0.5


def test_what_listens_hears_of_the_rows_and_columns_of_the_table():
    """The search has an order of its own, in which nobody could draw the best groups so far."""
    X, labelings = make_gaussian_views(90, [3], rotate=False, random_state=0)
    heard = []
    finder = ViewFinder(n_clusters=3, verbose=heard.append)
    view = finder.begin(X).next()
    last = [event for event in heard if "best" in event][-1]
    best, rows = last["best"], last["rows"]
    assert nmi(best.labels, labelings[rows, 0]) == pytest.approx(1.0)
    places = X[rows] @ best.W
    own = np.stack([places[best.labels == c].mean(axis=0) for c in range(3)])[best.labels]
    assert (places - own).var() < 0.2 * places.var()
    assert nmi(view.labels, labelings[:, 0]) == pytest.approx(1.0)


def test_wrong_options_are_refused_before_the_work():
    X, _ = make_gaussian_views(40, [2, 2], random_state=0)
    with pytest.raises((ArgumentError, ValueError), match="n_clusters"):
        ViewFinder(n_clusters="many").begin(X)
