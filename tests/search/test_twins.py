"""Twins of a table: like it in everything but groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, skew, spearmanr

from multifacet import ViewFinder
from multifacet.metrics import nmi
from multifacet.search import MixtureSource, Sample, Settings
from multifacet.search.distinct import UnimodalLaw
from multifacet.search.twins import ENOUGH, Twins, chance_among, surprise_of_twins


def sample_of(X, given=()):
    return Sample.draw(X, list(given), Settings(), seed=0)


def test_twins_have_the_margins_and_correlations_of_a_table_without_groups():
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal([0, 0, 0], [[1, 0.7, 0], [0.7, 1, 0], [0, 0, 1]], 400)
    X = np.column_stack([normal[:, 0], np.exp(normal[:, 1]), np.round(2 * normal[:, 2])])
    twin = Twins(sample_of(X)).draw(rng).X
    assert kstest(twin[:, 0], X[:, 0]).pvalue > 0.01
    assert skew(twin[:, 1]) > 1
    assert set(twin[:, 2]) <= set(X[:, 2])
    assert spearmanr(twin[:, 0], twin[:, 1])[0] == pytest.approx(0.7, abs=0.12)


def test_twins_keep_what_is_given_and_nothing_else():
    rng = np.random.default_rng(1)
    given, hidden = rng.integers(0, 2, (2, 400))
    X = rng.normal(size=(400, 3))
    X[:, 0] += 8 * given
    X[:, 1] += 8 * hidden
    twin = Twins(sample_of(X, [given])).draw(rng).X
    assert nmi((twin[:, 0] > 4).astype(int), given) > 0.8
    middle = np.abs(twin[:, 1] - twin[:, 1].mean()) < 1
    assert middle.mean() > 0.1  # where the table has next to no rows


def test_the_quantiles_of_a_law_are_those_of_what_it_describes():
    rng = np.random.default_rng(2)
    for x in (rng.normal(size=4000), rng.uniform(size=4000), rng.laplace(size=4000)):
        law = UnimodalLaw.of(x)
        assert kstest(law.quantile(rng.random(4000)), x).statistic < 0.05


def test_twins_are_asked_until_chance_has_answered():
    sample = sample_of(np.random.default_rng(3).normal(size=(80, 3)))
    assert len(surprise_of_twins(sample, [MixtureSource()], 0.0, 19)) == ENOUGH
    told = []
    found = surprise_of_twins(sample, [MixtureSource()], 1e9, 5, told.append)
    assert len(found) == 5
    assert told[-1] == {"stage": "twins", "done": 5, "total": 5}


def test_p_values_among_twins_are_uniform_where_there_is_nothing():
    rng = np.random.default_rng(4)
    drawn = rng.gumbel(3, 2, (2000, 20))
    p_values = np.array([chance_among(row[0], row[1:]) for row in drawn])
    assert 0.02 < (p_values < 0.05).mean() < 0.06


@pytest.mark.parametrize("n_twins", [0, 9])
def test_overlapping_groups_are_believed_beside_their_twins(n_twins):
    rng = np.random.default_rng(5)
    hidden = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    X = np.column_stack([X, rng.normal(size=300) + 4.5 * hidden])
    finder = ViewFinder(1, 2, n_starts=2, n_refits=1, n_twins=n_twins, random_state=0).fit(X)
    assert finder.views_[0].p_value < 0.05


def test_too_few_twins_are_refused():
    with pytest.raises(ValueError, match="n_twins"):
        ViewFinder(n_twins=2).fit(np.random.default_rng(0).normal(size=(30, 3)))
