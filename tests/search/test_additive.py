"""Two overlapping groupings whose effects add up, fitted together."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet.metrics import nmi
from multifacet.search import PLAN, Bank, MixtureSource, Sample, Settings
from multifacet.search.additive import bayesian_evidence, likeliest_pair
from multifacet.search.em import fit_mixtures


def whitened(X):
    X = X - X.mean(axis=0)
    return X @ np.linalg.inv(np.linalg.cholesky(X.T @ X / len(X))).T


def two_groupings(p, q, distance, seed=0, n=500):
    """Return whitened rows (n, 5) and two independent labelings that move them, in ways of each."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, p, n), rng.integers(0, q, n)
    ways = np.linalg.qr(rng.normal(size=(5, 5)))[0] + 0.4  # not at right angles
    X = rng.normal(size=(n, 5)) + distance * (np.eye(p, 5) @ ways)[one]
    return whitened(X + distance * (np.eye(q, 5)[:, ::-1] @ ways)[other]), one, other


def rough(labels, rng, share=0.25):
    return np.where(rng.random(len(labels)) < share, rng.permutation(labels), labels)


@pytest.mark.parametrize(("p", "q"), [(2, 2), (2, 3), (3, 3)])
def test_a_pair_is_told_as_well_as_by_mixtures_that_start_at_the_truth(p, q):
    Z, *truth = two_groupings(p, q, 3.0)
    rng = np.random.default_rng(1)
    found = likeliest_pair(Z, [rough(one, rng) for one in truth], PLAN)
    alone = [fit_mixtures(Z, one[None], one.max() + 1, shared=True, ridge=1e-3) for one in truth]
    for labels, one, mixture in zip(found.groupings, truth, alone, strict=True):
        assert nmi(labels, one) > nmi(mixture.labels[0], one) - 0.02
        assert nmi(labels, one) > 0.75


def test_the_pair_is_likelier_than_any_one_grouping_where_there_are_two():
    Z, one, other = two_groupings(2, 3, 3.0)
    pair = likeliest_pair(Z, [one, other], PLAN)
    single = max(
        bayesian_evidence(
            fit_mixtures(Z, labels[None], k, shared=True, ridge=1e-3).gains[0], k - 1, Z
        )
        for labels, k in ((one, 2), (other, 3), (3 * one + other, 6))
    )
    assert bayesian_evidence(pair.gain, pair.effects, Z) > single


def test_groupings_that_repeat_each_other_are_no_pair():
    Z, one, _ = two_groupings(2, 2, 3.0)
    assert likeliest_pair(Z, [one, rough(one, np.random.default_rng(0), 0.1)], PLAN) is None


def test_mixtures_propose_both_only_where_there_are_two_and_nothing_is_given():
    X, one, other = two_groupings(2, 2, 3.5)

    def pairs(rows, given):
        sample = Sample.draw(rows, given, Settings(), seed=0)
        bank = Bank.collect(sample, [MixtureSource()])
        return [(c, sample.rows) for c in bank.candidates if c.start == "one of two"]

    found = pairs(X, [])
    assert len(found) == 2
    for truth in (one, other):
        assert max(nmi(c.labels, truth[rows]) for c, rows in found) > 0.85
    assert not pairs(X, [one])
    rng = np.random.default_rng(0)
    assert not pairs(rng.normal(size=(500, 5)) + 4 * np.eye(2, 5)[rng.integers(0, 2, 500)], [])
