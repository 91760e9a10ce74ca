"""k-means of several runs at once, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from multifacet.kmeans import best_kmeans, kmeans_runs
from multifacet.metrics import nmi


def test_the_best_run_is_as_tight_as_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3)) + 6 * rng.normal(size=(4, 3))[np.arange(300) % 4]
    _, spread = kmeans_runs(points, 4, 10, steps=50, seed=0)
    theirs = KMeans(4, n_init=10, random_state=0).fit(points)
    assert spread.min() == pytest.approx(theirs.inertia_, rel=1e-6)
    assert nmi(best_kmeans(points, 4, 10, steps=50, seed=0), theirs.labels_) > 0.99


def test_every_run_ends_where_no_row_has_a_nearer_centre():
    points = np.random.default_rng(1).normal(size=(200, 2))
    labels, _ = kmeans_runs(points, 3, 5, steps=200, seed=1)
    for groups in labels:
        means = np.stack([points[groups == c].mean(axis=0) for c in range(3)])
        distances = ((points[:, None] - means) ** 2).sum(axis=2)
        np.testing.assert_array_equal(distances.argmin(axis=1), groups)


def test_equal_rows_are_no_error():
    labels, spread = kmeans_runs(np.ones((20, 2)), 3, 2, steps=10, seed=0)
    assert labels.shape == (2, 20)
    np.testing.assert_array_equal(spread, 0.0)
