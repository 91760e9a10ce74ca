"""Compact groups: dozens of them, products of groupings, and tables of hundreds of features."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from multifacet.datasets import make_embedding_views
from multifacet.metrics import nmi
from multifacet.search import (
    PLAN,
    Appraisal,
    Bank,
    Candidate,
    CompactSource,
    MixtureSource,
    Sample,
    Settings,
)
from multifacet.search.factors import are_independent, factors, interaction_of
from multifacet.search.nested import nested_groups
from multifacet.search.path import path_of, plateau_of
from multifacet.search.precedence import (
    clear_division_first,
    factors_first,
    finest_first,
    one_of_two_first,
)
from multifacet.search.sample import leading_directions
from multifacet.search.separation import _nearest_of_all, nearest
from multifacet.search.sources import OnCore
from multifacet.search.turns import ONE_OF_TWO, in_turns


@pytest.fixture(scope="module")
def embeddings():
    return make_embedding_views(1000, (10, 5), n_features=200, random_state=0)


def test_many_groups_are_all_on_the_path():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(20), 30)
    points = 6 * rng.normal(size=(20, 10))[truth] + rng.normal(size=(600, 10))
    path = {
        int(labels.max()) + 1: labels for labels in nested_groups(points, 40, 4, steps=15, seed=0)
    }
    assert sorted(path) == list(range(2, 41))
    assert nmi(path[20], truth) == pytest.approx(1.0)


@pytest.mark.parametrize(("p", "q"), [(2, 2), (5, 3), (10, 5)])
def test_the_means_of_a_product_tell_both_groupings(p, q):
    rng = np.random.default_rng(p)
    one, other = np.repeat(np.arange(p), q), np.tile(np.arange(q), p)
    means = rng.normal(size=(p, 12))[one] + 0.7 * rng.normal(size=(q, 12))[other]
    found = factors(means + 0.02 * rng.normal(size=means.shape), np.ones(p * q), 0.1)
    assert found is not None
    for truth in (one, other):
        assert max(nmi(truth, labels) for labels in found) == pytest.approx(1.0)


def test_groups_anywhere_are_no_product():
    means = np.random.default_rng(0).normal(size=(12, 10))
    assert factors(means, np.ones(12), 0.1) is None


def test_small_groups_that_never_meet_are_not_independent():
    here, there = (np.isin(np.arange(400), rows).astype(int) for rows in (range(30), range(30, 60)))
    assert nmi(here, there) < PLAN.independent
    assert not are_independent(here, there, PLAN)
    rng = np.random.default_rng(0)
    assert are_independent(here, rng.integers(0, 2, 400), PLAN)


def groups_of(labels, **changes):
    """Return a believed candidate that tells groups (n,) where their means lie."""
    k = int(labels.max()) + 1
    one = Candidate(
        n_clusters=k, n_components=2, bandwidth=None, novelty_weight=1.0, start="test",
        separation=3.0, novelty=0.0, balance=1.0, rejected="", W=np.eye(2), labels=labels,
        believed=True, surprise=20.0,
    )  # fmt: skip
    return replace(one, **changes)


def test_three_groups_of_a_product_are_taken_apart_and_uneven_ones_are_not():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    X = 8.0 * np.column_stack([a, b]) + rng.normal(size=(400, 2))
    sample = Sample.draw(X, [], Settings(), seed=0)
    a, b = a[sample.rows], b[sample.rows]
    merged, corners = groups_of(np.where(a == 1, 2, b)), groups_of(2 * a + b)
    factors = [groups_of(a), groups_of(b)]
    assert factors_first([merged, corners, *factors], sample)[0] is factors[0]
    # A half of a small group is not its factor, however independent it is.
    uneven = np.repeat([0, 1, 2], [40, 180, 180])
    halves = np.where(uneven == 0, np.arange(400) % 2, uneven == 2).astype(int)
    found = [groups_of(uneven), groups_of((uneven == 0).astype(int)), groups_of(halves)]
    four = groups_of(np.where(np.arange(400) < 20, 3, uneven))
    assert factors_first([four, *found], sample)[0] is four


def divided(centres, *labelings):
    """Return an appraisal of rows around centres (k, 2), and groupings of these as candidates."""
    owner = np.repeat(np.arange(len(centres)), 60)
    X = np.asarray(centres)[owner] + np.random.default_rng(0).normal(size=(len(owner), 2))
    sample = Sample.draw(X, [], Settings(), seed=0)
    found = [groups_of(np.array(one)[owner[sample.rows]], source="compact") for one in labelings]
    return Appraisal(sample, found, [CompactSource()]), found


def test_what_divides_the_winner_rightly_comes_first():
    appraisal, (two, three) = divided([[0, 0], [30, 0], [30, 5]], [0, 1, 1], [0, 1, 2])
    assert clear_division_first([two, three], appraisal)[0].labels is three.labels
    less_clear = replace(three, separation=2.0, surprise=5.0)
    first = clear_division_first([two, less_clear], appraisal)[0]
    assert first.labels is three.labels
    assert 5 < first.surprise <= two.surprise  # as the weaker of the winner and its division
    assert clear_division_first([two, replace(three, believed=False)], appraisal)[0] is two
    across = replace(three, labels=np.arange(len(three.labels)) % 3)
    assert clear_division_first([two, across], appraisal)[0] is two


def test_half_a_group_is_no_division_however_far_the_others_are():
    appraisal, (two, three) = divided([[0, 0], [30, 0], [30, 0]], [0, 1, 1], [0, 1, 2])
    assert clear_division_first([two, three], appraisal)[0] is two


def test_the_finest_clear_division_comes_first():
    appraisal, found = divided(
        [[0, 0], [30, 0], [33, 8], [33, -9]], [0, 1, 1, 1], [0, 1, 2, 1], [0, 1, 2, 3]
    )
    assert clear_division_first(found, appraisal)[0].labels is found[2].labels


def test_four_groups_near_a_square_are_no_product_unless_they_are_as_near_as_chance_rarely_gets():
    a, b = np.divmod(np.arange(400) % 4, 2)
    noise = np.random.default_rng(0).normal(size=(400, 2))
    square = 8.0 * np.column_stack([a, b])
    near = square + np.where((a & b)[:, None], [0.0, -3.5], 0.0)
    for points, product in ((square, True), (near, False)):
        sample = Sample.draw(points + noise, [], Settings(), seed=0)
        one, other = (part[sample.rows] for part in (a, b))
        four, halves = groups_of(2 * one + other), [groups_of(one), groups_of(other)]
        assert interaction_of(sample.X, one, other) <= PLAN.interaction
        first = factors_first([four, *halves], sample)[0]
        assert (first is four) != product


def test_all_distances_and_a_tree_find_the_same_neighbours():
    points = np.random.default_rng(0).normal(size=(120, 8))
    (by_tree, rows), (by_all, same) = nearest(points, 6), _nearest_of_all(points, 6)
    np.testing.assert_array_equal(rows, same)
    np.testing.assert_allclose(by_tree, by_all)


def test_directions_are_those_that_stand_out_of_noise():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(600, 25)) @ rng.normal(size=(25, 300))
    sample = Sample.draw(signal + 0.1 * rng.normal(size=(600, 300)), [], Settings(), 0)
    found = leading_directions(sample)
    assert 25 <= found.shape[1] < sample.plan.most_directions
    held = np.linalg.norm(signal @ found) / np.linalg.norm(signal)
    assert held == pytest.approx(1.0, abs=1e-3)
    noise = Sample.draw(rng.normal(size=(600, 300)), [], Settings(), 0)
    assert leading_directions(noise).shape[1] < 30  # of 50 that may be taken


def test_costly_sources_look_at_the_core_and_propose_groups_of_all_rows(embeddings):
    X, labelings = embeddings
    sample = Sample.draw(X, [labelings[:, 0]], Settings(5), 0, wide=True)
    core = sample.core
    assert len(sample.rows) == 1000
    assert core.sample.X.shape[0] == sample.plan.rows
    assert core.sample.X.shape[1] <= sample.plan.most_directions < X.shape[1]
    (proposal,) = OnCore(MixtureSource()).propose(sample)
    best = max(proposal.candidates, key=lambda one: nmi(one.labels, labelings[sample.rows, 1]))
    assert best.labels.shape == (1000,)
    assert best.W.shape[0] == X.shape[1]
    assert nmi(best.labels, labelings[sample.rows, 1]) > 0.95


def test_a_small_sample_is_its_own_core():
    sample = Sample.draw(np.random.default_rng(0).normal(size=(90, 4)), [], Settings(), 0)
    assert sample.core.sample is sample


def test_the_number_of_groups_of_embeddings_is_found(embeddings):
    X, labelings = embeddings
    sample = Sample.draw(X, [labelings[:, 0]], Settings(), 0, wide=True)
    best = Bank.collect(sample, [CompactSource()]).beside([]).chosen
    assert best.n_clusters == 5
    assert nmi(best.labels, labelings[sample.rows, 1]) > 0.98


def test_a_range_bounds_what_is_proposed(embeddings):
    X, labelings = embeddings
    sample = Sample.draw(X, [labelings[:, 0]], Settings(between=(7, 9)), 0, wide=True)
    found = [c for p in CompactSource().propose(sample) for c in p.candidates]
    assert {c.n_clusters for c in found} <= {7, 8, 9}


def test_one_of_two_groupings_comes_first_where_nothing_is_given():
    X, labelings = make_embedding_views(
        1000, (5, 5), strengths=(1.0, 0.6), n_features=200, random_state=0
    )
    sample = Sample.draw(X, [], Settings(), 0, wide=True)
    first = Bank.collect(sample, [CompactSource()]).beside([]).chosen
    assert first.n_clusters == 5
    assert nmi(first.labels, labelings[sample.rows, 0]) > 0.97


def test_a_rough_guess_leads_to_two_groupings_in_turns():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 6, 500), rng.integers(0, 4, 500)
    points = 5 * rng.normal(size=(6, 10))[one] + 3 * rng.normal(size=(4, 10))[other]
    points += rng.normal(size=points.shape)
    points -= points.mean(axis=0)
    roughly = np.where(rng.random(500) < 0.2, rng.integers(0, 6, 500), one)
    found = in_turns(points, [rng.integers(0, 3, 500), roughly], PLAN, seed=0)
    assert found is not None
    assert nmi(found[0], one) > 0.97
    assert nmi(found[1], other) > 0.97


def test_groups_anywhere_are_not_two_groupings_in_turns():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 500)
    points = 6 * rng.normal(size=(8, 10))[truth] + rng.normal(size=(500, 10))
    points -= points.mean(axis=0)
    assert in_turns(points, [truth // 2, truth % 2, truth], PLAN, seed=0) is None


def test_of_groupings_as_good_the_finer_comes_first_unless_it_halves_groups():
    fine = np.repeat(np.arange(5), 20)
    candidate = partial(
        Candidate, n_components=2, bandwidth=None, novelty_weight=1.0, start="", separation=3.0,
        novelty=0.0, balance=1.0, rejected="", W=np.eye(2), believed=True,
    )  # fmt: skip
    whole = candidate(n_clusters=3, labels=fine // 2, score=14.0, surprise=40.0)
    finer = candidate(n_clusters=5, labels=fine, score=13.0, surprise=30.0)
    assert finest_first([whole, finer], PLAN)[0] is finer
    mixed = replace(finer, score=15.0)  # it was turned down before
    assert finest_first([whole, mixed], PLAN)[0] is whole
    halves = replace(finer, surprise=10.0)
    assert finest_first([whole, halves], PLAN)[0] is whole
    elsewhere = replace(finer, labels=np.tile(np.arange(5), 20))
    assert finest_first([whole, elsewhere], PLAN)[0] is whole


def test_the_path_over_numbers_of_groups_is_nested_and_has_a_plateau():
    fine = np.repeat(np.arange(6), 20)
    candidate = partial(
        Candidate, n_components=2, bandwidth=None, novelty_weight=1.0, start="", novelty=0.0,
        balance=1.0, rejected="", W=np.eye(2), believed=True,
    )  # fmt: skip
    chosen = candidate(n_clusters=3, labels=fine // 2, separation=3.0)
    finer = candidate(n_clusters=6, labels=fine, separation=2.9)
    coarser = candidate(n_clusters=2, labels=(fine > 3).astype(int), separation=2.0)
    across = candidate(n_clusters=4, labels=np.tile(np.arange(4), 30), separation=5.0)
    worse = candidate(n_clusters=6, labels=fine[::-1], separation=1.0)
    path = path_of([chosen, across, finer, worse, coarser], PLAN)
    assert [one.n_clusters for one in path] == [2, 3, 6]
    assert path[2] is finer
    assert plateau_of(path, 3, PLAN) == (3, 6)
    refused = replace(chosen, rejected="fragment")
    assert path_of([refused, finer], PLAN) == []


def test_one_of_two_groupings_comes_before_what_mixes_them():
    one, other = np.repeat(np.arange(2), 60), np.tile(np.arange(3), 40)
    candidate = partial(
        Candidate, n_components=2, bandwidth=None, novelty_weight=1.0, separation=3.0,
        novelty=0.0, balance=1.0, rejected="", W=np.eye(2), believed=True,
    )  # fmt: skip
    mixed = candidate(n_clusters=6, labels=3 * one + other, start="as it is")
    two = [
        candidate(n_clusters=2, labels=one, start=ONE_OF_TWO),
        candidate(n_clusters=3, labels=other, start=ONE_OF_TWO),
    ]
    assert one_of_two_first([mixed, *two], two, PLAN)[0] is two[0]
    assert one_of_two_first([mixed, two[0]], two, PLAN)[0] is mixed
    assert one_of_two_first([mixed, *two], [], PLAN)[0] is mixed
    third = replace(mixed, labels=np.tile(np.repeat(np.arange(2), 30), 2))
    assert one_of_two_first([third, *two], two, PLAN)[0] is third
    found = replace(two[0], rejected="repeats an earlier view", novelty=1.0)
    assert one_of_two_first([third, two[1], found], two, PLAN)[0] is two[1]


def test_clear_groups_do_not_give_way_to_two_groupings_that_overlap():
    one, other = np.repeat(np.arange(2), 60), np.tile(np.arange(3), 40)
    candidate = partial(
        Candidate, n_components=2, bandwidth=None, novelty_weight=1.0, novelty=0.0, balance=1.0,
        rejected="", W=np.eye(2), believed=True,
    )  # fmt: skip
    mixed = candidate(n_clusters=6, labels=3 * one + other, start="a ring", separation=2.0)
    two = [
        candidate(n_clusters=2, labels=one, start=ONE_OF_TWO, separation=0.5),
        candidate(n_clusters=3, labels=other, start=ONE_OF_TWO, separation=0.5),
    ]
    assert one_of_two_first([mixed, *two], two, PLAN)[0] is mixed
    faint = replace(mixed, separation=1.0)
    assert one_of_two_first([faint, *two], two, PLAN)[0] is two[0]
