"""All sources at once: kinds of groups, views from one bank, options of the kernel objective."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import scale

from multifacet import ViewFinder, find_views
from multifacet.datasets import make_independent_views, make_moons_views
from multifacet.metrics import match_labelings, nmi
from multifacet.search import PLAN, chance

QUICK = {"n_starts": 2, "n_refits": 0, "random_state": 0}


def searched(events):
    """How often a search began."""
    return sum(event["stage"] == "select" and event["done"] == 1 for event in events)


def test_curved_groups_are_told_by_the_kernel_objective():
    # So noisy that there is hardly empty space between them.
    X, labelings = make_independent_views(300, ["blobs", "moons"], noise=0.1, random_state=1)
    view = ViewFinder(1, 2, **QUICK).fit(X, given=labelings[:, 0]).views_[0]
    assert nmi(view.labels, labelings[:, 1]) > 0.95
    assert view.kind == "groups of any shape"
    assert view.settings.bandwidth is not None
    assert view.surprise > PLAN.believable


def test_the_kernel_objective_is_not_asked_where_others_leave_no_doubt():
    X, labelings = make_moons_views(300, random_state=1)
    best = []
    options = QUICK | {"verbose": lambda event: best.append(event.get("best"))}
    view = ViewFinder(1, 2, **options).fit(X, given=labelings[:, 0]).views_[0]
    assert nmi(view.labels, labelings[:, 1]) > 0.95
    assert view.kind == "groups with empty space between them"
    assert view.surprise >= PLAN.settled
    assert best
    assert not any(one is not None and one.source == "kernel" for one in best)


@pytest.mark.parametrize("share", [0.05, 0.15])
def test_a_small_group_is_found_and_believed(share):
    rng = np.random.default_rng(0)
    small = (rng.permutation(300) < share * 300).astype(int)
    given = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4))
    X[:, 0] += 7 * small
    X[:, 1] += 5 * given
    X = X @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    finder = ViewFinder(1, **QUICK).fit(X, given=given)
    view = finder.views_[0]
    assert nmi(view.labels, small) > 0.9
    assert view.p_value < 0.05


def test_further_views_come_from_the_candidates_of_the_first_search():
    X, labelings = make_independent_views(
        300, ["blobs", "blobs"], n_clusters=[2, 3], rotate=True, random_state=0
    )
    events = []
    finder = ViewFinder(2, verbose=events.append, **QUICK).fit(X)
    assert match_labelings(labelings, finder.labelings_).score > 0.9
    assert searched(events) == 1


def test_an_option_of_the_kernel_objective_asks_for_it_alone():
    X, labelings = make_moons_views(120, random_state=0)
    view = ViewFinder(1, 2, bandwidth=0.5, **QUICK).fit(X, given=labelings[:, 0]).views_[0]
    assert (view.kind, view.surprise, view.settings.bandwidth) == ("", None, 0.5)


def test_rows_beyond_the_sample_are_labelled():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 1500)
    X = rng.normal(size=(1500, 3))
    X[:, 0] += 6 * truth
    view = find_views(X, n_views=1, n_clusters=2, n_starts=2, n_refits=0)[0]
    assert nmi(view.labels, truth) > 0.95


def test_counts_and_columns_of_two_values_are_no_groups():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=(200, 2)), rng.random((200, 2)) < 0.5]).astype(float)
    assert ViewFinder(n_starts=2, random_state=0).fit(X).n_views_ == 0
    counts = rng.poisson(3, (200, 4)).astype(float)
    assert ViewFinder(n_starts=2, random_state=0).fit(counts).n_views_ == 0


def test_a_later_view_is_a_further_try():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    first, second = ViewFinder(2, 2, n_starts=2, n_refits=0, n_twins=0).fit(X).views_
    once = chance(second.surprise, 120, 3, 2, given=False)
    assert second.p_value == pytest.approx(min(1.0, 2 * once))
    assert first.p_value == pytest.approx(chance(first.surprise, 120, 3, 2, given=False))


def turned_among_noise(n, shape, n_noise, weights=None):
    rng = np.random.default_rng(1000)
    X, labelings = make_independent_views(
        n, ["blobs", shape], n_clusters=[2, 2], weights=[None, weights], random_state=rng
    )
    X = np.hstack([X, rng.standard_normal((n, n_noise))])
    X = X @ np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    return (X - X.mean(axis=0)) / X.std(axis=0), *labelings.T


def test_what_was_judged_is_not_lost_when_all_rows_are_fitted():
    X, given, hidden = turned_among_noise(500, "moons", 0, (0.75, 0.25))
    view = ViewFinder(1, n_refits=0, random_state=0).fit(X, given=given).views_[0]
    assert nmi(view.labels, hidden) > 0.95


def test_other_rows_tell_the_same_where_it_takes_many_to_see_it():
    X, given, hidden = turned_among_noise(1000, "rings", 8)
    view = ViewFinder(1, random_state=0).fit(X, given=given).views_[0]
    assert nmi(view.labels, hidden) > 0.95
    assert view.stability > 0.8
    assert view.p_value < 0.01


@pytest.mark.parametrize("k", [4, 6, 7])
def test_clear_groups_in_a_plane_are_all_told_once(k):
    rng = np.random.default_rng(k)
    truth = rng.integers(0, k, 400)
    angles = 2 * np.pi * np.arange(k) / k
    centres = 3.2 / np.sin(np.pi / k) * np.column_stack([np.cos(angles), np.sin(angles)])
    centres[0] *= 1.6  # four are no square
    X = np.hstack([centres[truth] + rng.normal(size=(400, 2)), rng.normal(size=(400, 2))])
    views = ViewFinder(random_state=0).fit(scale(X)).views_
    assert [view.n_clusters for view in views] == [k]
    assert nmi(views[0].labels, truth) > 0.9


def test_two_groupings_of_several_groups_are_told_whole():
    rng = np.random.default_rng(0)
    X, truths = make_independent_views(400, ["blobs", "blobs"], n_clusters=[3, 5], random_state=rng)
    X = np.hstack([X, rng.normal(size=(400, 4))])
    X = X @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    views = ViewFinder(random_state=0).fit(scale(X)).views_
    assert sorted(view.n_clusters for view in views) == [3, 5]
    for truth in truths.T:
        assert max(nmi(view.labels, truth) for view in views) > 0.95


@pytest.mark.parametrize("rows", [5, 6, 8, 10, 11, 12, 14])
def test_a_handful_of_rows_has_no_view_beyond_chance(rows):
    X = np.random.default_rng(rows).normal(size=(rows, 3))
    assert ViewFinder(random_state=0).fit(X).n_views_ == 0
