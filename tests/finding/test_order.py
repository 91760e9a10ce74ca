"""The same table in another order, or in other units, gives the same views."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import find_views
from multifacet.datasets import load_penguins
from multifacet.finding.order import Order
from multifacet.metrics import nmi


@pytest.mark.parametrize("method", ["auto", "linear"])
def test_views_do_not_depend_on_the_order_of_rows_and_columns_on_units_or_on_the_seed(method):
    measurements, known = load_penguins()
    species = known[:, 0]
    options = {"n_views": 1, "n_clusters": 2, "method": method}
    options |= {"n_refits": 0} if method == "auto" else {}
    first = find_views(measurements, given=species, **options)[0]
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(species)), rng.permutation(4)
    moved = measurements[np.ix_(rows, columns)] * np.array([0.001, 1, 25.4, 10])
    second = find_views(moved, given=species[rows], random_state=7, **options)[0]
    assert nmi(first.labels[rows], second.labels) > 0.99
    np.testing.assert_allclose(first.feature_weights[columns], second.feature_weights, atol=1e-4)


def test_an_order_is_undone():
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(40, 3))
    order = Order.of(X)
    assert np.all(np.diff(order.apply(X)[:, 0]) >= 0)
    labels = rng.integers(0, 2, 40)
    assert order.labels(labels).tolist() == labels[order.rows].tolist()


def test_sparse_tables_stay_as_they_lie():
    from scipy.sparse import csr_matrix

    assert Order.of(csr_matrix(np.eye(5))) is None
