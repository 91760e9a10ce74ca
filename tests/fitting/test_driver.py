"""Many rows: a sample first, all rows afterwards, and nothing read as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import KDAC
from multifacet.alternate import KMEANS_ROWS, cluster_embedding
from multifacet.datasets import make_moons_views
from multifacet.fitting.driver import ManyRows
from multifacet.metrics import nmi

#: All rows are refined by few steps.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SETTINGS = {"n_components": 2, "bandwidth": 0.2, "novelty_weight": 3.0, "random_state": 0}


class Sampled(KDAC):
    """Takes 400 rows for many, and refines on all rows unless others tell the same."""

    many_rows = ManyRows(sampled=400)


class Refined(KDAC):
    """Takes 400 rows for many, and refines on all rows in any case."""

    many_rows = ManyRows(sampled=400, same=2.0)


class SampledOnly(KDAC):
    """Takes 400 rows for many, and 1000 for very many."""

    many_rows = ManyRows(sampled=400, refined=1000)


@pytest.fixture(scope="module")
def moons():
    X, labelings = make_moons_views(1200, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), labelings


@pytest.mark.parametrize("kind", [Refined, Sampled, SampledOnly])
def test_a_sample_leads_to_the_same_grouping(moons, kind):
    X, labelings = moons
    whole = KDAC(2, **SETTINGS).fit(X, given=labelings[:, 0])
    model = kind(2, **SETTINGS).fit(X, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) >= 0.95
    assert nmi(model.labels_, whole.labels_) >= 0.98
    assert model.labels_.shape == (1200,)
    assert model.embedding_.shape == (1200, 2)
    refined = ["sample"] if kind is Refined else []
    assert [run.start for run in model.explorations_][1:] == refined
    assert (model.predict(X) == model.labels_).mean() >= 0.999
    assert model.dependence_ == pytest.approx(whole.dependence_, abs=0.05)


def test_rows_that_two_samples_tell_apart_differently_are_all_looked_at():
    """One long cloud, where two samples cut at different places."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 3)) * [3.0, 2.9, 0.1]
    model = Sampled(3, **SETTINGS | {"bandwidth": 1.0}).fit(X)
    assert [run.start for run in model.explorations_][1:] == ["sample"]
    assert model.labels_.shape == (1500,)


def test_data_on_disk(moons, tmp_path):
    X, labelings = moons
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = SampledOnly(2, **SETTINGS).fit(on_disk, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) >= 0.95
    assert model.components_.dtype == np.float32


def test_clusters_of_many_rows():
    rng = np.random.default_rng(0)
    n = KMEANS_ROWS + 3000
    truth = rng.integers(0, 2, n)
    U = np.eye(2)[truth] + 0.1 * rng.standard_normal((n, 2))
    labels, centres = cluster_embedding(U, n_init=2, seed=0)
    assert nmi(labels, truth) == pytest.approx(1.0)
    assert centres.shape == (2, 2)
