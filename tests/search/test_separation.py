"""The measure that compares settings: known values, invariances, and what it must tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from multifacet.search import PLAN
from multifacet.search.separation import NeighbourGraph, nearest


def cliques(*sizes: int, bridge: float = 0.0) -> tuple[NeighbourGraph, np.ndarray]:
    """Complete graphs, neighbours in the row joined by one edge of the given weight."""
    n = sum(sizes)
    graph, labels, first = np.zeros((n, n)), np.repeat(np.arange(len(sizes)), sizes), 0
    for size in sizes:
        graph[first : first + size, first : first + size] = 1.0
        if first:
            graph[first, first - 1] = graph[first - 1, first] = bridge
        first += size
    np.fill_diagonal(graph, 0.0)
    return NeighbourGraph(graph), labels


def test_two_cliques_have_known_conductances():
    graph, labels = cliques(10, 10, bridge=2.0)
    found = graph.separation(labels)
    # Volume of a clique of ten: 10 * 9 inside and the bridge.
    np.testing.assert_allclose(found.external, [2 / 92, 2 / 92])
    # Any half of a clique of ten: 25 edges across, volume 5 * 9; unequal cuts cost more.
    np.testing.assert_allclose(found.internal, [25 / 45, 25 / 45])
    ratio = (25 / 45 + PLAN.resolution) / (2 / 92 + PLAN.resolution)
    assert found.score == pytest.approx(np.log(ratio))


def test_too_few_and_too_many_clusters_score_worse():
    graph, labels = cliques(12, 12, 12)
    right = graph.separation(labels).score
    merged = graph.separation(np.minimum(labels, 1))
    split = graph.separation(np.where(np.arange(36) < 6, 3, labels))
    assert merged.internal[1] == pytest.approx(0.0)
    assert right > 5 > split.score
    assert right > merged.score


@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_half_a_cloud_is_no_cluster_in_any_dimension(q):
    rng = np.random.default_rng(q)
    scores = []
    for _ in range(5):
        points = rng.standard_normal((300, q))
        scores.append(NeighbourGraph.of(points).separation((points[:, 0] > 0).astype(int)).score)
    assert abs(np.mean(scores)) < 0.5


def test_curved_clusters_count_as_much_as_compact_ones():
    rng = np.random.default_rng(0)
    angle, labels = rng.uniform(0, 2 * np.pi, 400), np.repeat([0, 1], 200)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + labels)[:, None]
    blobs = rng.standard_normal((400, 2)) + 8 * labels[:, None]
    for points in (ring, blobs):
        assert NeighbourGraph.of(points).separation(labels).score > 2


def test_scale_and_names_of_clusters_do_not_matter():
    rng = np.random.default_rng(1)
    points = rng.standard_normal((200, 2)) + 3 * np.repeat([0, 1], 100)[:, None]
    labels = np.repeat([0, 1], 100)
    score = NeighbourGraph.of(points).separation(labels).score
    assert NeighbourGraph.of(1e3 * points).separation(labels).score == pytest.approx(score)
    assert NeighbourGraph.of(points).separation(1 - labels).score == pytest.approx(score)


def test_tiny_clusters_and_few_rows_are_no_error():
    points = np.arange(5.0)[:, None]
    found = NeighbourGraph.of(points).separation(np.array([0, 1, 1, 1, 1]))
    assert found.internal[0] == 0.0
    assert np.isfinite(found.score)


@pytest.mark.parametrize("q", [1, 3, 12])
def test_neighbours_are_those_of_scikit_learn(q):
    points = np.random.default_rng(q).standard_normal((120, q))
    theirs = NearestNeighbors(n_neighbors=7).fit(points).kneighbors()
    for ours, expected in zip(nearest(points, 7), theirs, strict=True):
        np.testing.assert_allclose(ours, expected)


def test_no_row_is_its_own_neighbour_among_many_equals():
    found = nearest(np.zeros((30, 2)), 5)[1]
    assert (found != np.arange(30)[:, None]).all()
