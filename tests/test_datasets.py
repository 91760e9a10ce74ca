from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering

from multifacet.datasets import (
    load_penguins,
    make_gaussian_views,
    make_independent_views,
    make_moons_views,
)
from multifacet.metrics import nmi


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("shape", ["blobs", "moons", "rings", "spirals"])
def test_shapes_are_separable_in_their_plane(shape):
    k = 2 if shape == "moons" else 3
    X, labelings = make_independent_views(400, [shape], n_clusters=k, random_state=0)
    found = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=8, random_state=0)
    assert nmi(found.fit_predict(X), labelings[:, 0]) > 0.95


def test_views_are_independent_and_standardised():
    X, labelings = make_independent_views(
        2000, ["blobs", "rings", "moons"], n_clusters=[4, 3, 2], n_noise=2, random_state=1
    )
    assert X.shape == (2000, 8)
    np.testing.assert_allclose(X[:, :6].std(axis=0), 1)
    np.testing.assert_allclose(X[:, 6:].std(axis=0), 1, atol=0.05)
    assert max(nmi(labelings[:, 0], labelings[:, j]) for j in (1, 2)) < 0.02


def test_unbalanced_clusters_have_the_sizes_asked_for():
    _, labelings = make_gaussian_views(
        200, [2, 3], weights=[[0.9, 0.1], None], n_noise=1, noise_scale=0.1, random_state=0
    )
    assert np.bincount(labelings[:, 0]).tolist() == [180, 20]
    assert np.ptp(np.bincount(labelings[:, 1])) <= 1


def test_rotation_is_orthogonal_and_seeds_reproduce():
    plain, _ = make_moons_views(100, n_noise=3, random_state=5)
    rotated, _ = make_moons_views(100, n_noise=3, rotate=True, random_state=5)
    assert not np.allclose(plain, rotated)
    np.testing.assert_allclose(plain @ plain.T, rotated @ rotated.T, atol=1e-9)
    again, _ = make_moons_views(100, n_noise=3, random_state=5)
    np.testing.assert_array_equal(plain, again)


def test_a_view_may_have_one_cluster():
    X, labelings = make_gaussian_views(50, [1, 2], random_state=0)
    assert X.shape == (50, 4)
    assert set(labelings[:, 0]) == {0}


def test_penguins():
    X, labelings = load_penguins()
    assert X.shape == (333, 4)
    assert np.isfinite(X).all()
    species, counts = np.unique(labelings[:, 0], return_counts=True)
    assert species.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert counts.tolist() == [146, 68, 119]
    columns = load_penguins(as_dict=True)
    np.testing.assert_array_equal(np.column_stack(list(columns.values())[:4]), X)
    assert columns["sex"].tolist() == labelings[:, 1].tolist()
    pytest.importorskip("pandas")
    frame, labels = load_penguins(as_frame=True)
    np.testing.assert_array_equal(frame.to_numpy(), X)
    assert list(labels.columns) == ["species", "sex"]
