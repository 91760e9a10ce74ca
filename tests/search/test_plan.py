"""The plan of the search, and what belongs to it."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats import gumbel_r

from multifacet import ViewFinder
from multifacet.datasets import make_gaussian_views
from multifacet.search import PLAN
from multifacet.search.null import GUMBEL_95, NullLaw, null_laws, shape_of


def test_the_null_laws_belong_to_the_plan():
    """Whoever changes the search has to ask again what structureless data reach."""
    assert null_laws().plan == PLAN.key, (
        "the null laws were simulated under another plan: make new ones by "
        "`python -m benchmarks calibration`"
    )


def test_a_law_is_that_of_gumbel_up_to_its_95_percent_quantile_and_exponential_beyond():
    law = NullLaw(level=1.0, rows=0.2, features=0.5, splits=-0.1, scale=0.4, tail=0.9)
    shape = np.array(shape_of(200, 7, 4))
    mean = 1.0 + 0.2 * np.log(0.5) + 0.5 * np.log(7) - 0.1
    reference = gumbel_r(loc=mean - np.euler_gamma * 0.4, scale=0.4)
    assert reference.mean() == pytest.approx(mean)
    edge = mean + GUMBEL_95 * 0.4
    assert reference.sf(edge) == pytest.approx(0.05, rel=1e-3)
    below = np.linspace(mean - 1, edge, 20)
    assert law.exceeded(below, shape) == pytest.approx(reference.sf(below), rel=1e-3)
    beyond = np.linspace(0, 5, 20)
    assert law.exceeded(edge + beyond, shape) == pytest.approx(
        0.05 * np.exp(-beyond / 0.9), rel=1e-3
    )
    assert law.exceeded(edge + 2.0, shape) > reference.sf(edge + 2.0)


def test_every_constant_changes_the_key():
    for field in fields(PLAN):
        value = getattr(PLAN, field.name)
        other = (*value, value[-1]) if isinstance(value, tuple) else value + 1
        assert replace(PLAN, **{field.name: other}).key != PLAN.key, field.name
    assert replace(PLAN).key == PLAN.key


def test_results_know_the_plan_they_were_found_by():
    X, _ = make_gaussian_views(60, [2, 2], random_state=0)
    view = ViewFinder(1, 2, n_refits=0, random_state=0).fit(X).views_[0]
    assert view.selection["plan"] == PLAN.key
