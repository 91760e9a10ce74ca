"""The plan of the search, and what belongs to it."""

from dataclasses import fields, replace

from multifacet import ViewFinder
from multifacet.datasets import make_gaussian_views
from multifacet.search import PLAN
from multifacet.search.null import null_laws


def test_the_null_laws_belong_to_the_plan():
    """Whoever changes the search has to ask again what structureless data reach."""
    assert null_laws().plan == PLAN.key, (
        "the null laws were simulated under another plan: make new ones by "
        "`python -m benchmarks calibration`"
    )


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
