"""What a long cloud gains by its length, and what three groups in a row do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multifacet.search import Appraisal, Sample, Settings, Source, judge
from multifacet.search.clouds import LongClouds


class Planes(Source):
    """Stands for what proposed a candidate."""

    name = "kernel"

    def propose(self, sample):
        return iter(())


def surprise(X, labels):
    sample = Sample.draw(X, [], Settings(), seed=0)
    found = judge(sample, np.eye(X.shape[1]), labels[sample.rows], start="test")
    return Appraisal(sample, [found], [Planes()]).answered()[0].surprise


@pytest.fixture
def long():
    """A cloud of 300 rows, four times as long as wide."""
    return np.random.default_rng(1).normal(size=(300, 2)) * [4, 1]


def test_a_cut_across_a_long_cloud_gains_and_one_along_it_does_not(long):
    clouds = LongClouds(Sample.draw(long, [], Settings(), seed=0))
    across, along = ((long[:, axis] > 0).astype(int) for axis in (0, 1))
    assert clouds.separation(long, across) > 0.3
    assert clouds.separation(long, along) < 0.1


def test_no_cut_through_a_round_cloud_gains(long):
    round_ = long / long.std(axis=0)
    clouds = LongClouds(Sample.draw(round_, [], Settings(), seed=0))
    assert clouds.separation(round_, (round_[:, 0] > 0).astype(int)) == 0.0


def test_turning_a_cloud_changes_nothing_but_for_chance(long):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    labels = (long[:, 0] > 0).astype(int)
    found = [
        LongClouds(Sample.draw(X, [], Settings(), seed=0)).separation(X, labels)
        for X in (long, long @ turn)
    ]
    assert found[0] == pytest.approx(found[1], abs=0.1)


def test_thirds_of_a_long_cloud_are_not_believed_and_three_groups_in_a_row_are(long):
    """Both are as long; in a subspace made round the three groups would hardly be apart."""
    thirds = np.searchsorted(np.quantile(long[:, 0], [1 / 3, 2 / 3]), long[:, 0])
    groups = np.repeat([0, 1, 2], 100)
    row = np.random.default_rng(2).normal(size=(300, 2)) + 5.0 * np.outer(groups, [1, 0])
    assert surprise(long, thirds) < 3 < surprise(row, groups)


def test_the_best_candidate_is_asked_although_it_is_not_believed(long):
    """Where nothing is believed its surprise is what the p-value rests on."""
    halves = (long[:, 0] > 0).astype(int)
    sample = Sample.draw(long, [], Settings(), seed=0)
    found = judge(sample, np.eye(2), halves[sample.rows], start="test")
    unasked = replace(sample, plan=replace(sample.plan, long=np.inf))
    once, asked = (Appraisal(one, [found], [Planes()]).answered()[0] for one in (unasked, sample))
    assert once.surprise < sample.plan.believable
    assert asked.surprise < once.surprise


def test_nothing_is_asked_where_all_candidates_are_rejected(long):
    sample = Sample.draw(long, [], Settings(), seed=0)
    halves = (sample.X[:, 0] > 0).astype(int)
    found = replace(judge(sample, np.eye(2), halves, start="test"), rejected="fragment")
    [one] = Appraisal(sample, [found], [Planes()]).answered()
    assert one.rejected == "fragment"
    assert not one.believed
