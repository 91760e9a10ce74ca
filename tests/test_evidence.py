"""Stability, significance, independence and the frontier."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import KDAC
from multifacet.datasets import make_moons_views
from multifacet.evidence import (
    found_again,
    frontier,
    independence_test,
    significance,
    stability,
)
from multifacet.metrics import hsic, nmi
from multifacet.search import CompactSource, MixtureSource, Settings


def settings_of(model: KDAC) -> Settings:
    return Settings(model.n_clusters_, model.n_components_, model.bandwidth_, model.novelty_weight_)


def test_the_permutation_test_has_the_right_size():
    rng = np.random.default_rng(0)
    rejected = 0
    for i in range(400):
        n = int(rng.integers(30, 80))
        labels = rng.integers(0, 2 + i % 3, n)
        # Half heavy-tailed data, half labelings: the size must not depend on the distribution.
        data = rng.standard_t(2, (n, 2)) if i % 2 else rng.integers(0, 3, n)
        rejected += (
            independence_test(data, labels, n_permutations=99, random_state=i).p_value < 0.05
        )
    assert 0.03 <= rejected / 400 <= 0.07


def test_the_permutation_test_sees_dependence_that_is_not_linear():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    angle = rng.uniform(0, 2 * np.pi, 200)
    rings = (1 + labels)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    assert independence_test(rings, labels, random_state=0).p_value == pytest.approx(1 / 500)
    assert independence_test(labels, 1 - labels, random_state=0).p_value == pytest.approx(1 / 500)


def test_the_statistic_is_hsic():
    rng = np.random.default_rng(1)
    X, labels = rng.standard_normal((60, 3)), rng.integers(0, 3, 60)
    found = independence_test(X, labels, n_permutations=1, random_state=0).statistic
    assert found == pytest.approx(hsic(X, labels), rel=1e-4)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match=r"X has shape \(5, 2\) for 4 labels"):
        independence_test(np.zeros((5, 2)), [0, 1, 0, 1])


def test_of_two_groupings_that_are_as_good_both_are_found_again():
    """Asked for two groups, k-means proposes one of them, and not always the same."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (400, 2))
    X = rng.standard_normal((400, 4))
    X[:, [0, 2]] += 7 * truth
    sources = [CompactSource(), MixtureSource()]
    for labels in truth.T:
        assert found_again(X, labels, sources, first=sources[0], n_refits=3) > 0.95


def test_a_real_view_is_stable_and_a_view_of_noise_is_not():
    X, labelings = make_moons_views(300, n_noise=2, random_state=0)
    given = labelings[:, 0]
    model = KDAC(random_state=0).fit(X, given=given)
    assert stability(X, model.labels_, settings_of(model), given=[given], n_refits=3) >= 0.9
    noise = np.random.default_rng(0).standard_normal((300, 6))
    model = KDAC(random_state=0, n_starts=4).fit(noise, given=given)
    assert stability(noise, model.labels_, settings_of(model), given=[given], n_refits=3) <= 0.5


def test_significance_falls_with_evidence():
    for stable in (None, 0.5):
        values = [significance(s, 400, 6, 2, stability=stable) for s in (-0.5, 0.5, 1.0, 2.0, 4.0)]
        assert values == sorted(values, reverse=True)
        assert values[0] > 0.5
        assert values[-1] < 1e-3
    assert significance(1.0, 400, 6, 2, stability=1.0) < significance(1.0, 400, 6, 2, stability=0.2)
    # Few rows and many features look separated more easily.
    assert significance(1.0, 100, 6, 2) > significance(1.0, 400, 6, 2)
    assert significance(1.0, 400, 24, 2) > significance(1.0, 400, 4, 2)


def test_the_frontier_trades_quality_for_independence():
    X, labelings = make_moons_views(250, random_state=0)
    given = labelings[:, 0]
    model = KDAC(random_state=0).fit(X, given=given)
    path = frontier(X, [given], settings_of(model), model.components_.T)
    assert len(path.weights) == len(path.quality) == len(path.dependence) == len(path.labels)
    assert path.weights[0] == 0
    assert path.weights[path.chosen] == pytest.approx(model.novelty_weight_)
    # A larger weight cannot end up both worse and more dependent.
    assert path.dependence[-1] <= path.dependence[0] + 1e-9
    assert path.quality[-1] <= path.quality[0] + 1e-6
    assert nmi(path.labels[path.chosen], model.labels_[path.rows]) > 0.9
    assert (path.novelty < 0.05).all()
    with pytest.raises(ValueError, match="given is empty"):
        frontier(X, [], settings_of(model), model.components_.T)
