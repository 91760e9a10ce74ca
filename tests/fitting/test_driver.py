"""Many rows: a sample first, all rows afterwards, and nothing read as a whole."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import KDAC, ViewFinder, find_views
from multifacet.alternate import cluster_embedding
from multifacet.datasets import make_moons_views
from multifacet.engines import Exact, LowRank
from multifacet.engines.choose import EXACT_ROWS, Auto
from multifacet.fitting.driver import ManyRows
from multifacet.kernels import Linear
from multifacet.linalg import column_moments
from multifacet.metrics import nmi
from multifacet.problems import alternative

SETTINGS = {"n_components": 2, "bandwidth": 0.3, "novelty_weight": 3.0, "random_state": 0}


class Sampled(KDAC):
    """Takes 400 rows for many."""

    many_rows = ManyRows(sampled=400)


class SampledOnly(KDAC):
    """Takes 400 rows for many, and 1000 for very many."""

    many_rows = ManyRows(sampled=400, refined=1000)


@pytest.fixture(scope="module")
def moons():
    X, labelings = make_moons_views(1200, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), labelings


@pytest.mark.parametrize("refined", [True, False])
def test_a_sample_leads_to_the_same_grouping(moons, refined):
    X, labelings = moons
    whole = KDAC(2, **SETTINGS).fit(X, given=labelings[:, 0])
    model = (Sampled if refined else SampledOnly)(2, **SETTINGS).fit(X, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) >= 0.95
    assert nmi(model.labels_, whole.labels_) >= 0.98
    assert model.labels_.shape == (1200,)
    assert model.embedding_.shape == (1200, 2)
    assert [run.start for run in model.explorations_][1:] == (["sample"] if refined else [])
    assert (model.predict(X) == model.labels_).mean() >= 0.999
    assert model.dependence_ == pytest.approx(whole.dependence_, abs=0.05)


def test_data_on_disk(moons, tmp_path):
    X, labelings = moons
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = SampledOnly(2, **SETTINGS).fit(on_disk, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) >= 0.95
    assert model.components_.dtype == np.float32


def test_a_problem_on_some_rows_keeps_its_scale():
    labels = np.repeat([0, 1], 500)
    whole = alternative([labels], 3.0, 2)
    part = whole.take(np.arange(0, 1000, 10))
    assert np.allclose((part.columns**2).sum(axis=0), 10 * (whole.columns[::10] ** 2).sum(axis=0))
    assert np.allclose((part.columns**2).sum(axis=0), (whole.columns**2).sum(axis=0))
    assert np.allclose(part.columns.sum(axis=0), 0)


def test_clusters_of_many_rows(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    U = np.eye(2)[truth] + 0.1 * rng.standard_normal((3000, 2))
    monkeypatch.setattr("multifacet.alternate.KMEANS_ROWS", 200)
    labels, centres = cluster_embedding(U, n_init=2, seed=0)
    assert nmi(labels, truth) == pytest.approx(1.0)
    assert centres.shape == (2, 2)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments_are_those_of_numpy(offset):
    X = offset + np.random.default_rng(0).standard_normal((10_000, 3))
    mean, spread = column_moments(X)
    assert np.allclose(mean, X.mean(axis=0), rtol=1e-12)
    assert np.allclose(spread, X.std(axis=0), rtol=1e-6)
    sparse = csr_matrix(np.where(np.abs(X - offset) > 1, X, 0.0))
    if offset == 0:
        assert np.allclose(column_moments(sparse)[1], sparse.toarray().std(axis=0))


def test_auto_chooses_by_the_number_of_rows_and_says_so(caplog):
    assert isinstance(Auto().choose(EXACT_ROWS, 10)[0], Exact)
    assert isinstance(Auto().choose(EXACT_ROWS + 1, 10)[0], LowRank)
    X = np.random.default_rng(0).standard_normal((50, 3))
    with caplog.at_level(logging.INFO, logger="multifacet"):
        Auto().attach(X, Linear())
    assert "exact engine: 50 rows are few enough" in caplog.text


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (4, {}, "n_samples=4.: ViewFinder needs at least 5"),
        (40, {"n_clusters": [2, 1], "n_views": 2}, "n_clusters=1 must be at least 2"),
        (40, {"n_jobs": 0}, "n_jobs=0 is no number of threads"),
    ],
)
def test_too_little_to_look_for_views(rows, options, message):
    X = np.random.default_rng(0).standard_normal((rows, 3))
    with pytest.raises(ValueError, match=message):
        ViewFinder(**{"n_views": 1, **options}).fit(X)


def test_one_group_is_no_view():
    X = np.random.default_rng(0).standard_normal((40, 3))
    finder = ViewFinder(n_clusters=1, random_state=0).fit(X)
    assert finder.views_ == []
    assert finder.rejected_.p_value == 1


def test_a_table_is_not_searched_for_one_group():
    with pytest.raises(ValueError, match="n_clusters=1 must be at least 2"):
        find_views(np.eye(20), n_views=1, n_clusters=1)
