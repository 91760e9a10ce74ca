"""One scale: overlapping, curved and rounded data, and what undoing the rounding does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multifacet.metrics import nmi
from multifacet.search import Appraisal, Sample, Settings, Source, StepSource, judge
from multifacet.search.appraisal import gumbel_surprise
from multifacet.search.distinct import best_unimodal, best_unimodals, distinctness, distinctnesses
from multifacet.search.rounding import evened
from multifacet.search.support import pairwise_nmi, support


class Kernels(Source):
    """Stands for what proposed a candidate."""

    name = "kernel"

    def propose(self, sample):
        return iter(())


def appraised(X, labels, W=None, given=()):
    sample = Sample.draw(X, list(given), Settings(), seed=0)
    W = np.eye(X.shape[1]) if W is None else W
    found = judge(sample, W, labels[sample.rows], start="test")
    return Appraisal(sample, [found], [Kernels()]).answered()[0]


def test_surprise_is_minus_the_logarithm_of_the_tail():
    for deviation in (-3.0, 0.0, 2.0, 20.0):
        tail = -np.expm1(-np.exp(-(deviation + np.euler_gamma)))
        assert gumbel_surprise(deviation) == pytest.approx(-np.log(tail), rel=1e-9)
    assert gumbel_surprise(100.0) == pytest.approx(100.0 + np.euler_gamma)


def test_overlapping_groups_are_believed_and_a_division_of_noise_is_not():
    rng = np.random.default_rng(0)
    halves = np.repeat([0, 1], 150)
    noise = rng.normal(size=(300, 3))
    groups = noise + 4 * halves[:, None] * np.array([1.0, 0.0, 0.0])
    direction = np.eye(3)[:, :1]
    assert appraised(groups, halves, direction).believed
    assert not appraised(noise, (noise[:, 0] > 0).astype(int), direction).believed


def test_what_other_sources_propose_too_comes_first():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 4))
    one, other = np.arange(240) % 2, np.arange(240) // 120
    X[:, 0] += 5 * one
    X[:, 1] = X[np.argsort(one, kind="stable"), 0]  # the same values, so that `other` shows as well
    sample = Sample.draw(X, [], Settings(), seed=0)

    def proposed(source, labels, axis):
        W = np.eye(4)[:, [axis]]
        return judge(sample, W, labels[sample.rows], start="test", source=source)

    candidates = [
        proposed("kernel", one, 0), proposed("kernel", other, 1), proposed("step", other, 1),
    ]  # fmt: skip
    alone, shared, _ = Appraisal(sample, candidates, [Kernels(), StepSource()]).answered()
    assert shared.score - alone.score == pytest.approx(sample.plan.support_weight, abs=1e-6)
    np.testing.assert_allclose(support(candidates, ["kernel", "step"]), [0, 1, 1], atol=0.01)
    np.testing.assert_array_equal(support(candidates[:2], ["kernel"]), 0.0)


def told(candidates):
    """Return candidates without their arrays, which are not compared as a whole."""
    return [replace(one, W=None, labels=None) for one in candidates]


def test_no_more_is_asked_than_what_is_enough_and_later_questions_get_the_same_answers():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 3))
    halves = [(np.argsort(np.argsort(X[:, axis])) >= 100).astype(int) for axis in range(3)]
    X += np.stack([(6 + axis) * one for axis, one in enumerate(halves)], axis=1)
    sample = Sample.draw(X, [], Settings(), seed=0)
    found = [
        judge(sample, np.eye(3)[:, [axis]], one[sample.rows], start="test")
        for axis, one in enumerate(halves)
    ]
    appraisal = Appraisal(sample, found, [Kernels()])
    first = appraisal.answered(enough=1)
    best = int(np.argmax([one.score for one in first]))
    assert [one.believed for one in first] == [axis == best for axis in range(3)]
    gone = [replace(one, rejected="known") if at == best else one for at, one in enumerate(found)]
    assert sum(one.believed for one in appraisal.answered(gone, enough=1)) == 1
    assert told(appraisal.answered()) == told(Appraisal(sample, found, [Kernels()]).answered())
    assert all(one.believed for one in appraisal.answered())


def test_all_agreements_at_once_are_those_of_each_pair():
    rng = np.random.default_rng(5)
    labelings = [rng.integers(0, k, 90) for k in (2, 5, 3)] + [np.zeros(90, int)]
    expected = [[nmi(a, b) for b in labelings] for a in labelings]
    np.testing.assert_allclose(pairwise_nmi(labelings), expected, atol=2e-5)


@pytest.mark.parametrize("values", [2, 3])
def test_heaps_of_an_even_scale_are_no_groups(values):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    X[:, 0] = rng.integers(0, values, 300)
    labels = X[:, 0].astype(int)
    found = appraised(X, labels, np.eye(3)[:, :1])
    assert found.separation > 1.5
    assert not found.believed


def test_undoing_the_rounding_keeps_a_heap_and_what_was_not_rounded():
    rng = np.random.default_rng(3)
    hours = np.where(rng.random(400) < 0.4, 0.0, np.round(rng.normal(1500, 300, 400)))
    exact = rng.normal(size=400)
    table = np.column_stack([hours, exact])
    even = evened(table)
    np.testing.assert_array_equal(even[:, 1], exact)
    assert ((even[:, 0] < 700) == (hours == 0)).mean() > 0.97
    np.testing.assert_array_equal(even, evened(table))


def test_whole_numbers_among_measurements_are_spread_out_between_each_other():
    rng = np.random.default_rng(6)
    ratio = rng.normal(4, 1, 400)
    whole = rng.random(400) < 0.7
    ratio = np.where(whole, np.round(ratio), np.round(ratio, 2))
    even = evened(ratio[:, None]).ravel()
    assert np.abs(even - ratio).max() < 0.6
    assert len(np.unique(even)) > 380
    X = np.column_stack([ratio, rng.normal(size=400)])
    assert not appraised(X, (ratio > 3.5).astype(int), np.eye(2, 1)).believed


def test_zeros_that_most_columns_have_are_spread_out_beyond_the_others():
    """Small amounts of words or genes were not seen; one column with zeros has a state of rows."""
    rng = np.random.default_rng(0)
    amounts = np.exp(rng.normal(size=(300, 6)))
    unseen = np.where(amounts < 0.6, 0.0, amounts)

    def gap(table):
        low = unseen[:, 0] == 0
        column = evened(table)[:, 0]
        return column[~low].min() - column[low].max()

    alone = np.column_stack([unseen[:, 0], amounts[:, 1:]])
    assert 0 < gap(unseen) < 0.05 < 0.2 < gap(alone)


def test_unimodal_laws_describe_skewed_and_heavy_tails_as_well_as_two_gaussians():
    rng = np.random.default_rng(4)
    for x in (rng.exponential(size=400), rng.standard_t(3, 400), rng.uniform(size=400)):
        labels = (x > np.quantile(x, 0.8)).astype(int)
        assert distinctness(x[:, None], labels) < 5
    x = np.r_[rng.normal(0, 1, 200), rng.normal(4.5, 1, 200)]
    assert distinctness(x[:, None], np.repeat([0, 1], 200)) > 20


def test_the_best_unimodal_law_is_at_least_as_likely_as_a_gaussian_and_a_laplace():
    rng = np.random.default_rng(5)
    x = rng.laplace(size=500)
    x = (x - x.mean()) / x.std()
    gauss = -0.5 * (np.log(2 * np.pi) + 1)
    width = np.abs(x - np.median(x)).mean()
    laplace = -np.log(2 * width) - 1
    assert best_unimodal(x) >= max(gauss, laplace) - 1e-3


def test_what_is_given_is_no_evidence():
    rng = np.random.default_rng(6)
    given = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 2)) + 6 * given[:, None]
    noise = rng.integers(0, 2, 300)
    assert not appraised(X, noise, given=[given]).believed


def test_groupings_of_different_lengths_are_described_at_once_as_one_by_one():
    rng = np.random.default_rng(6)
    cases = []
    for n, k in ((60, 2), (200, 4), (33, 3)):
        labels = np.arange(n) % k
        cases.append((rng.normal(size=(n, 2)) + 2 * labels[:, None], labels))
    one_by_one = [distinctness(*case) for case in cases]
    np.testing.assert_allclose(distinctnesses(cases), one_by_one, rtol=1e-4)


def test_a_box_is_described_by_its_flattest_law_wherever_its_mode_lies():
    # With mode and one width at an end the law of exponent 10 is nearly a box: log(1 / range).
    x = np.linspace(-np.sqrt(3), np.sqrt(3), 400)
    assert best_unimodal(x) == pytest.approx(-np.log(2 * np.sqrt(3)), abs=0.05)
    mirrored = best_unimodals(np.stack([x**3, -(x**3)]), np.ones((2, 400)))
    assert mirrored[0] == pytest.approx(mirrored[1], abs=1e-4)
