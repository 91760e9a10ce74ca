"""Pieces of a curve that was found before are not believed; what is separated stays."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from multifacet import ViewFinder
from multifacet.datasets import make_moons_views
from multifacet.metrics import nmi
from multifacet.search import Sample, Settings, judge
from multifacet.search.pieces import Earlier, doubted


def arcs(gap: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two arcs and a further feature, which arc it is, and which end of it."""
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 400)
    angle = rng.uniform(0, np.pi, 400)
    angle += np.where(angle > np.pi / 2, gap, -gap)
    upper = np.repeat([0, 1], 200)
    X = np.column_stack([np.cos(angle), np.sin(angle) + 4 * upper, side])
    return X + 0.05 * rng.standard_normal(X.shape), upper, (angle > np.pi / 2).astype(int)


def believed(X, labels, W) -> tuple[Sample, object]:
    sample = Sample.draw(X, [], Settings(), seed=0)
    found = judge(sample, W, labels[sample.rows], start="by hand")
    return sample, replace(found, surprise=6.0, believed=True)


@pytest.mark.parametrize(("gap", "stays"), [(0.0, False), (0.6, True)])
def test_ends_of_an_arc_are_groups_only_if_the_arc_is_broken(gap, stays):
    X, upper, end = arcs(gap)
    sample, candidate = believed(X, end, np.eye(3)[:, [0]])
    seen = [Earlier(upper[sample.rows], np.eye(3)[:, :2])]
    asked = doubted(sample, candidate, seen)
    assert asked.believed == stays
    assert asked.surprise <= candidate.surprise
    alone = doubted(sample, candidate, [])
    assert all(getattr(alone, f.name) is getattr(candidate, f.name) for f in fields(candidate))


def test_other_features_and_measures_of_their_own_are_not_asked():
    X, upper, end = arcs(0.0)
    sample, candidate = believed(X, end, np.eye(3)[:, [2]])
    seen = [Earlier(upper[sample.rows], np.eye(3)[:, :2])]
    assert doubted(sample, candidate, seen).surprise == candidate.surprise
    own = replace(candidate, own_surprise=20.0, W=np.eye(3)[:, [0]])
    assert doubted(sample, own, seen) == own


def test_two_moons_and_two_blobs_are_two_views():
    X, labelings = make_moons_views(400, random_state=0)
    views = ViewFinder(random_state=0).fit((X - X.mean(axis=0)) / X.std(axis=0)).views_
    assert len(views) == 2
    for truth in labelings.T:
        assert max(nmi(view.labels, truth) for view in views) > 0.95
