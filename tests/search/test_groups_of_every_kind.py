"""What each source is for, and the bank that holds what they propose."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import find_views
from multifacet.datasets import make_independent_views
from multifacet.metrics import nmi
from multifacet.search import (
    PLAN,
    Bank,
    ChainSource,
    CompactSource,
    HeapSource,
    MixtureSource,
    Sample,
    Settings,
    StepSource,
)
from multifacet.search.sources.heap import heaps
from multifacet.search.starts import PairStarts


def best(source, X, truth, given=(), k=2):
    sample = Sample.draw(X, list(given), Settings(k), seed=0)
    bank = Bank.collect(sample, [source])
    return bank.sample, bank.candidates[0], nmi(bank.candidates[0].labels, truth[sample.rows])


def turned(rng, X):
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]


@pytest.mark.parametrize("share", [0.05, 0.1, 0.15])
def test_mixtures_find_a_small_group_beside_what_is_given(share):
    rng = np.random.default_rng(0)
    small = (rng.permutation(400) < share * 400).astype(int)
    given = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 5))
    X[:, 0] += 6 * small
    X[:, 1] += 6 * given
    _, _, found = best(MixtureSource(), turned(rng, X), small, [given])
    assert found > 0.9


def test_mixtures_find_stretched_groups_that_overlap_and_label_further_rows():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 900)
    X = rng.normal(size=(900, 4)) * np.array([1, 8, 3, 1])
    X[:, 0] += 4.5 * truth
    X = turned(rng, X)
    sample, found, agreement = best(MixtureSource(), X, truth)
    assert agreement > 0.85
    assert nmi(MixtureSource().label(sample, found, X), truth) > 0.85


def test_a_single_outlier_carries_no_group():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3))
    X[:, 0] += 5 * truth
    _, _, without = best(MixtureSource(), X, truth)
    X[7] = 1e4
    _, _, agreement = best(MixtureSource(), X, truth)
    assert agreement > without - 0.15 > 0.8


@pytest.mark.parametrize("shape", ["moons", "rings", "spirals", "blobs"])
def test_chains_find_how_many_groups_there_are_and_label_further_rows(shape):
    views = make_independent_views(900, ["blobs", shape], n_noise=4, random_state=3)
    X, (given, truth) = views[0], views[1].T
    source = ChainSource(PairStarts(8, 0))
    sample, found, agreement = best(source, X, truth, [given], k=None)
    assert found.n_clusters == len(np.unique(truth))
    assert found.believed
    assert agreement > 0.95
    assert nmi(source.label(sample, found, X), truth) > 0.95


@pytest.mark.parametrize("kind", ["cloud", "counts", "0/1"])
def test_chains_propose_no_gaps_of_chance_or_rounding(kind):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    if kind == "counts":
        X = rng.poisson(3.0, (300, 4)).astype(float)
    elif kind == "0/1":
        X[:, :2] = rng.random((300, 2)) < 0.5
    sample = Sample.draw(X, [], Settings(), seed=0)
    candidates = Bank.collect(sample, [ChainSource(PairStarts(8, 0)), CompactSource()]).candidates
    chained = [one for one in candidates if one.source == "chain"]
    assert not chained


def test_compact_groups_of_several_given_labelings():
    X, labelings = make_independent_views(300, ["blobs"] * 3, n_clusters=[2, 2, 3], random_state=0)
    known = [labelings[:, 0], labelings[:, 1]]
    _, _, agreement = best(CompactSource(), X, labelings[:, 2], known, k=3)
    assert agreement > 0.9


def test_heaps_at_the_end_of_features_are_one_group_and_label_further_rows():
    rng = np.random.default_rng(4)
    idle = (rng.random(900) < 0.3).astype(int)
    X = rng.exponential(size=(900, 5))
    X[idle == 1, 1] = X[idle == 1, 3] = 0.0  # neither hours nor wage
    sample, found, agreement = best(HeapSource(), X, idle)
    assert agreement == pytest.approx(1)
    assert found.believed
    assert found.W.shape == (5, 2)
    assert nmi(HeapSource().label(sample, found, X), idle) == pytest.approx(1)


def test_rows_on_an_exact_relation_of_features_are_a_group():
    rng = np.random.default_rng(5)
    second = rng.random(60) < 0.2
    own, other = rng.lognormal(size=60), rng.lognormal(size=60)
    X = np.column_stack([own, own + second * other, rng.normal(size=60), rng.normal(size=60)])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    _, found, agreement = best(HeapSource(), X, second.astype(int))
    assert agreement == pytest.approx(1)
    assert found.believed


def test_where_most_columns_have_a_heap_none_is_a_group():
    rng = np.random.default_rng(8)
    words = rng.exponential(size=(300, 12)) * (rng.random((300, 12)) < 0.4)
    assert not list(HeapSource().propose(Sample.draw(words, [], Settings(), seed=0)))


def test_whole_numbers_that_are_often_equal_are_no_exact_relation():
    rng = np.random.default_rng(7)
    mother = rng.integers(7, 18, 400)
    father = np.where(rng.random(400) < 0.6, mother, rng.integers(7, 18, 400))
    X = np.column_stack([mother, father, rng.normal(size=400)]).astype(float)
    assert not list(HeapSource().propose(Sample.draw(X, [], Settings(), seed=0)))


@pytest.mark.parametrize(
    "column",
    [
        lambda rng: rng.poisson(1.0, 400),
        lambda rng: rng.geometric(0.3, 400),
        lambda rng: rng.random(400) < 0.5,
        lambda rng: rng.integers(0, 10, 400),
        lambda rng: np.round(rng.normal(size=400), 1),
        lambda rng: rng.lognormal(size=400),
    ],
    ids=["counts", "falling counts", "0/1", "ratings", "rounded", "skewed"],
)
def test_columns_of_few_values_are_no_heaps(column):
    rng = np.random.default_rng(6)
    X = np.column_stack([column(rng).astype(float), rng.normal(size=(400, 2))])
    sample = Sample.draw(X, [], Settings(), seed=0)
    assert not list(HeapSource().propose(sample))


def test_a_step_along_one_feature_among_many():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 12))
    truth = rng.integers(0, 3, 300)
    X[:, 7] = 6 * truth + rng.normal(size=300)
    sample, found, agreement = best(StepSource(), X, truth, k=3)
    assert agreement > 0.9
    assert np.flatnonzero(found.W.ravel()).tolist() == [7]
    assert nmi(StepSource().label(sample, found, X), truth) > 0.9


@pytest.mark.parametrize("numbers", [(2, 2), (2, 3), (3, 3)])
def test_a_product_of_two_groupings_is_two_views(numbers):
    X, labelings = make_independent_views(
        400, ["blobs", "blobs"], n_clusters=list(numbers), rotate=True, random_state=1
    )
    sample = Sample.draw(X, [], Settings(), seed=0)
    bank = Bank.collect(sample, [CompactSource(), MixtureSource()])
    first = bank.beside([]).chosen
    second = bank.beside([_spread(first.labels, sample)]).chosen
    found = [
        max(nmi(one.labels, truth[sample.rows]) for truth in labelings.T) for one in (first, second)
    ]
    assert min(found) > 0.9
    assert nmi(first.labels, second.labels) < 0.1


def test_five_clear_groups_in_a_plane_are_one_view_among_noise():
    """Their means span four directions, of which two hold nothing but noise."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 300)
    angle = 2 * np.pi * truth / 5
    plane = 6 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(300, 2))
    views = find_views(np.hstack([plane, rng.normal(size=(300, 2))]))
    assert [view.n_clusters for view in views] == [5]
    assert nmi(views[0].labels, truth) > 0.95


def test_uneven_groups_are_not_taken_apart_into_pairs():
    rng = np.random.default_rng(0)
    truth = rng.choice(4, 400, p=[0.5, 0.3, 0.15, 0.05])
    X = 6 * np.eye(4)[truth] + rng.normal(size=(400, 4))
    views = find_views(X)
    assert len(views) == 1
    assert nmi(views[0].labels, truth) > 0.95


def test_four_groups_anywhere_are_one_view():
    rng = np.random.default_rng(4)
    corners = 6 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    truth = rng.integers(0, 4, 400)
    X = corners[truth] + rng.normal(size=(400, 3))
    sample = Sample.draw(X, [], Settings(), seed=0)
    bank = Bank.collect(sample, [CompactSource(), MixtureSource()])
    assert nmi(bank.beside([]).chosen.labels, truth[sample.rows]) > 0.9


def _spread(labels, sample):
    everywhere = np.zeros(sample.table.shape[0], dtype=int)
    everywhere[sample.rows] = labels
    return everywhere


def test_whole_numbers_among_measurements_are_no_heaps_but_two_usual_values_may_be():
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(2.05, 6.95, (300, 2)), 2)
    X[:30, 0] = 2.0  # the least value, and not the most frequent of those that are whole
    rounded = X.copy()
    for whole in (3, 4, 5):
        rounded[30 * whole : 30 * whole + 40, 0] = whole
    assert [int(heap.member.sum()) for heap in heaps(X, PLAN)] == [30]
    assert heaps(rounded, PLAN) == []
    hours = X.copy()
    hours[100:160, 0] = 4.0
    assert [int(heap.member.sum()) for heap in heaps(hours, PLAN)] == [30]


def test_all_rows_are_told_where_given_groups_hide_every_direction():
    """Four given groups at the corners of a tetrahedron: no plane tells the halves of all four."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 4, 2000), rng.integers(0, 2, 2000)
    corners = 20 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    X = rng.normal(size=(2000, 3)) + 4 / np.sqrt(3) * hidden[:, None] + corners[given]
    source = MixtureSource()
    sample, found, agreement = best(source, X, hidden, [given])
    assert nmi(source.label(sample, found, X), hidden) < 0.1  # who does not know what is given
    assert nmi(source.label_table(sample, found), hidden) > 0.95 * agreement > 0.7
