"""Edges of overlapping groups, and which groups keep the edges they have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multifacet import find_views
from multifacet.datasets import load_penguins
from multifacet.metrics import nmi
from multifacet.search import PLAN, Sample, Settings, judge
from multifacet.search.edges import with_likely_edges
from multifacet.search.sources import MixtureSource


def rough_and_truth(distance=3.0, seed=0):
    """Return a sample, a candidate told by two features of three, and the true groups."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3)) + distance / np.sqrt(3) * truth[:, None]
    sample = Sample.draw(X, [], Settings(), seed=0)
    two = sample.X[:, :2].sum(axis=1)
    labels = (two > np.median(two)).astype(int)
    return sample, judge(sample, np.eye(3)[:, :2], labels, start="test"), truth[sample.rows]


def test_edges_of_overlapping_groups_are_nearly_those_of_the_best_cut():
    sample, rough, truth = rough_and_truth()
    best = (sample.X.sum(axis=1) > 3.0 / np.sqrt(3) * 1.5).astype(int)
    found = with_likely_edges(sample, rough)
    assert nmi(found.labels, truth) > max(nmi(rough.labels, truth) + 0.05, 0.9 * nmi(best, truth))
    assert found.source == "mixture"
    assert np.abs(found.W.ravel()) == pytest.approx(np.full(3, 1 / np.sqrt(3)), abs=0.15)


def test_what_is_known_of_the_groups_stays():
    sample, rough, _ = rough_and_truth()
    rough = replace(rough, surprise=1.5, score=2.5)
    found = with_likely_edges(sample, rough)
    assert (found.surprise, found.score, found.believed) == (1.5, 2.5, False)
    assert found.separation == rough.separation


@pytest.mark.parametrize(
    "change",
    [
        {"believed": True, "separation": 3.0},  # gaps beyond chance
        {"believed": True, "source": "step"},  # few rows have the values there
        {"source": "mixture"},
        {"own_surprise": 5.0},  # seen by a measure that knows no ellipses
        {"rejected": "fragment"},
    ],
)
def test_groups_with_edges_of_their_own_keep_them(change):
    sample, rough, _ = rough_and_truth()
    one = replace(rough, **change)
    assert with_likely_edges(sample, one) is one


def test_stray_rows_beside_a_gap_go_where_they_are_likely():
    rng = np.random.default_rng(0)
    truth = (np.arange(400) < 40).astype(int)
    X = rng.normal(size=(400, 4)) + 2.5 * truth[:, None]
    sample = Sample.draw(X, [], Settings(), seed=0)
    here = truth[sample.rows]
    core = here * (rng.random(400) < 0.6)  # the others of the small group are stray
    gap = judge(sample, np.ones((4, 1)) / 2, core, start="test", smallest=PLAN.small_group)
    gap = replace(gap, believed=True, separation=2.0)
    found = with_likely_edges(sample, gap)
    assert nmi(found.labels, here) > 0.9 > 0.7 > nmi(core, here)


def test_curves_with_a_gap_between_them_keep_their_edges():
    """Ellipses would move a tenth of the rows of these two parabolas."""
    rng = np.random.default_rng(0)
    along, truth = rng.uniform(-1, 1, 400), np.repeat([0, 1], 200)
    across = along**2 + 0.9 * truth
    X = np.column_stack([along, across]) + 0.04 * rng.normal(size=(400, 2))
    sample = Sample.draw(X, [], Settings(), seed=0)
    one = judge(sample, np.eye(2), truth[sample.rows], start="test", source="chain")
    seen = replace(one, believed=True, own_surprise=12.0)
    assert with_likely_edges(sample, seen) is seen
    assert nmi(with_likely_edges(sample, one).labels, one.labels) < 0.7


def test_groups_that_would_become_others_stay():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    rings = rng.integers(0, 2, 400)
    X = (1.0 + rings)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    sample = Sample.draw(X, [], Settings(), seed=0)
    found = judge(sample, np.eye(2), rings[sample.rows], start="test")
    assert with_likely_edges(sample, found) is found


def test_the_sex_of_penguins_is_told_by_ellipses_that_overlap():
    """It was 0.52 with the edges of the kernel's search."""
    penguins = load_penguins(as_dict=True)
    sex = penguins.pop("sex")
    view = find_views(penguins, given="species", n_views=1, n_refits=0, n_twins=0)[0]
    assert nmi(view.labels, sex) > 0.55
    assert view.kind == MixtureSource.kind
