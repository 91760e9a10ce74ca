"""Every estimator on dask collections: the labels are those of the same rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

da = pytest.importorskip("dask.array", reason="needs the extra dask")

from multifacet import (  # noqa: E402
    KDAC,
    EmbeddingKDAC,
    LinearKDAC,
    SupervisedKDR,
    UnsupervisedKDR,
    ViewFinder,
    find_views,
)
from multifacet.datasets import make_gaussian_views  # noqa: E402
from multifacet.engines import LowRank  # noqa: E402
from multifacet.metrics import nmi  # noqa: E402

UNEVEN = ((1, 199, 50, 150), (1, 3))


@pytest.fixture(scope="module")
def rows():
    X, labelings = make_gaussian_views(400, [2, 3], rotate=False, random_state=0)
    return X, da.from_array(X, chunks=UNEVEN), labelings


@pytest.mark.parametrize("known", [None, "one", "two"])
@pytest.mark.parametrize("kind", [LinearKDAC, EmbeddingKDAC])
def test_closed_forms_are_those_of_rows_in_memory(rows, kind, known):
    X, chunks, labelings = rows
    given = {None: None, "one": labelings[:, 0], "two": labelings}[known]
    same = {} if kind is LinearKDAC else {"engine": "lowrank"}
    local = kind(3, random_state=0, **same).fit(X, given=given)
    model = kind(3, random_state=0).fit(chunks, given=given)
    assert isinstance(model.labels_, da.Array)
    assert model.labels_.chunks[0] == chunks.chunks[0]
    assert nmi(model.labels_.compute(), local.labels_) == pytest.approx(1.0)
    for name in ("quality_", "dependence_", "objective_"):
        assert getattr(model, name) == pytest.approx(getattr(local, name), abs=1e-8)
    told = model.predict(chunks)
    assert isinstance(told, da.Array)
    # Centres of EmbeddingKDAC come from other sums, so that single rows may differ.
    assert nmi(told.compute(), local.predict(X)) > 0.95


def test_a_finder_labels_chunks_when_they_are_asked_for(rows):
    X, chunks, labelings = rows
    options = {"n_views": 1, "n_clusters": 3, "method": "linear", "random_state": 0}
    finder = ViewFinder(**options).fit(chunks, given=labelings[:, 0])
    local = ViewFinder(**options).fit(X, given=labelings[:, 0])
    assert isinstance(finder.labels_, da.Array)
    assert finder.labelings_.shape == (400, 1)
    assert nmi(finder.labels_.compute(), local.labels_) == pytest.approx(1.0)
    assert (finder.predict(chunks).compute() == finder.labels_.compute()).all()
    np.testing.assert_allclose(finder.transform(chunks).compute(), finder.transform(X))
    turned = da.from_array(X[::-1].copy(), chunks=(37, -1))
    again = ViewFinder(**options).fit(turned, given=labelings[::-1, 0])
    assert (again.labels_.compute()[::-1] == finder.labels_.compute()).all()


def test_a_finder_that_finds_nothing_in_chunks():
    noise = np.random.default_rng(0).standard_normal((120, 3))
    finder = ViewFinder(n_refits=0, random_state=0).fit(da.from_array(noise, chunks=(50, -1)))
    assert finder.labels_.compute().tolist() == [0] * 120
    assert finder.transform(da.from_array(noise, chunks=(50, -1))).compute().shape == (120, 0)


def sparse_chunks(X, size):
    return da.from_array(X, chunks=(size, -1)).map_blocks(csr_matrix)


def counts(n_features, kind):
    """Return rows in memory and in chunks, what is given and what is hidden in them."""
    rng = np.random.default_rng(0)
    hidden, given = rng.integers(0, 2, (2, 300))
    X = rng.poisson(0.05, size=(300, n_features)).astype(float)
    X[:, :6] += 4 * hidden[:, None]
    X[:, 6:9] += 3 * given[:, None]
    if kind == "sparse":
        return csr_matrix(X), sparse_chunks(X, 80), given, hidden
    return X, da.from_array(X, chunks=(80, 200)), given, hidden


@pytest.mark.parametrize(("n_features", "kind"), [(60, "sparse"), (1100, "sparse"), (1100, "wide")])
@pytest.mark.parametrize("name", ["KDAC", "LinearKDAC", "EmbeddingKDAC"])
def test_sparse_and_wide_chunks_have_the_labels_of_rows_in_memory(name, n_features, kind):
    X, chunks, given, hidden = counts(n_features, kind)
    fixed = {"n_components": 1, "bandwidth": 3.0, "novelty_weight": 3.0, "init": "spectral"}
    make = {
        "KDAC": lambda: KDAC(2, random_state=0, **fixed),
        "LinearKDAC": lambda: LinearKDAC(2, random_state=0),
        "EmbeddingKDAC": lambda: EmbeddingKDAC(2, bandwidth=6.0, random_state=0),
    }[name]
    local = make().fit(X, given=given)
    model = make().fit(chunks, given=given)
    assert isinstance(model.labels_, da.Array)
    assert nmi(model.labels_.compute(), hidden) > 0.95
    assert nmi(model.labels_.compute(), local.labels_) == pytest.approx(1.0)  # by any numbers
    assert (model.predict(chunks).compute() == model.labels_.compute()).all()
    if name != "EmbeddingKDAC":  # which has no subspace
        places = model.transform(chunks).compute()
        np.testing.assert_allclose(places, model.transform(X), atol=1e-9)


@pytest.mark.parametrize(("n_features", "kind"), [(60, "sparse"), (1100, "sparse"), (1100, "wide")])
def test_sparse_and_wide_chunks_are_reduced_as_rows_in_memory(n_features, kind):
    X, chunks, given, _ = counts(n_features, kind)
    settings = {"bandwidth": 3.0, "engine": LowRank() if n_features == 60 else "auto"}
    local = SupervisedKDR(1, **settings).fit(X, given)
    model = SupervisedKDR(1, bandwidth=3.0).fit(chunks, given)
    np.testing.assert_allclose(model.components_, local.components_, atol=1e-6)
    np.testing.assert_allclose(model.transform(chunks).compute(), local.transform(X), atol=1e-5)


def test_a_closed_form_of_sparse_chunks(rows):
    X, _, labelings = rows
    model = LinearKDAC(3, random_state=0).fit(sparse_chunks(X, 90), given=labelings[:, 0])
    local = LinearKDAC(3, random_state=0).fit(X, given=labelings[:, 0])
    assert nmi(model.labels_.compute(), local.labels_) == pytest.approx(1.0)


def test_a_closed_form_of_more_features_than_have_a_matrix():
    X = np.random.default_rng(0).normal(size=(30, 5001))
    X[:, 0] += 100 * (np.arange(30) % 3 == 0)
    given = np.arange(30) % 2
    local = LinearKDAC(2, random_state=0).fit(X, given=given)
    model = LinearKDAC(2, random_state=0).fit(da.from_array(X, chunks=(8, 999)), given=given)
    assert (model.labels_.compute() == local.labels_).all()
    np.testing.assert_allclose(model.components_, local.components_, atol=1e-6)


def test_sparse_chunks_are_checked():
    X = np.eye(40)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN: column 3 in row 7"):
        KDAC(2).fit(sparse_chunks(X, 10))


MANY = 24_000
#: Every estimator with labels, beside what is given; in memory with sums over landmarks.
LABELS = {
    "KDAC": lambda X, y, **same: (
        KDAC(
            2, n_components=1, bandwidth=1.0, novelty_weight=3.0, init="spectral",
            random_state=0, **same,
        ).fit(X, given=y)
    ),
    "LinearKDAC": lambda X, y, **same: LinearKDAC(2, random_state=0).fit(X, given=y),
    "EmbeddingKDAC": lambda X, y, **same: (
        EmbeddingKDAC(2, bandwidth=2.0, random_state=0, **same).fit(X, given=y)
    ),
    "UnsupervisedKDR": lambda X, y, **same: (
        UnsupervisedKDR(2, n_components=1, bandwidth=1.0, random_state=0, **same).fit(X)
    ),
    "ViewFinder": lambda X, y, **same: (
        ViewFinder(1, 2, method="linear", random_state=0).fit(X, given=y)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def many():
    """More rows than are searched, with two groupings in three features."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, MANY))
    X = 0.5 * rng.standard_normal((MANY, 3))
    X[:, 0] += 4 * given
    X[:, 1:] += 4 * hidden[:, None]
    return X - X.mean(axis=0), da.from_array(X - X.mean(axis=0), chunks=(5000, -1)), given


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", list(LABELS))
def test_labels_of_many_rows_are_those_in_memory(many, name):
    X, chunks, given = many
    local = LABELS[name](X, given, engine="lowrank").labels_
    model = LABELS[name](chunks, given)
    labels = model.labels_
    assert isinstance(labels, da.Array)
    assert nmi(labels.compute(), local) == pytest.approx(1.0)
    told = model.predict(chunks)
    assert isinstance(told, da.Array)
    assert told.chunks[0] == chunks.chunks[0]
    if name == "EmbeddingKDAC":  # which has no subspace
        return
    places = model.transform(chunks)
    assert isinstance(places, da.Array)
    np.testing.assert_allclose(places[:9].compute(), model.transform(X[:9]), atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, np.float32, csr_matrix])
def test_a_closed_form_of_many_rows_without_gaps(kind):
    rng = np.random.default_rng(0)
    X, given = rng.standard_normal((MANY, 3)) * [3, 2, 1], rng.integers(0, 2, MANY)
    X = kind(X)
    local = LinearKDAC(2, random_state=0).fit(X, given=given)
    chunks = da.from_array(X, chunks=(5000, -1), asarray=False)
    labels = LinearKDAC(2, random_state=0).fit(chunks, given=given).labels_.compute()
    assert (labels == local.labels_).all()
    assert (local.predict(X[:50]) == local.labels_[:50]).all()


def test_views_of_many_rows_are_those_in_memory(many):
    X, chunks, given = many
    options = {"given": given, "n_views": 1, "n_clusters": 2, "method": "linear"}
    local = find_views(X, **options)[0].labels
    labels = find_views(chunks, **options).predict(chunks).compute()[:, 0]
    assert (labels == local).all()


def test_groups_that_touch_are_told_alike_wherever_the_rows_are(many):
    """Rows between groups have the same label, for all views and by every way to ask for them."""
    X = many[0] + 0.8 * np.random.default_rng(1).standard_normal((MANY, 3))
    chunks = da.from_array(X[::-1], chunks=(7000, -1))
    options = {"n_views": 2, "n_clusters": 2, "random_state": 0, "n_refits": 0}
    finder = ViewFinder(**options).fit(X)
    assert finder.labelings_.shape == (MANY, 2)
    assert (finder.labelings_ == finder.predict_labelings(X)).all()
    there = ViewFinder(**options).fit(chunks).labelings_.compute()[::-1]
    assert (there == finder.labelings_).all()
    ongoing = ViewFinder(**options).begin(X)
    first = ongoing.next()
    second = ongoing.next([first.labels])
    assert (np.column_stack([first.labels, second.labels]) == finder.labelings_).all()


def test_a_supervised_reduction_of_many_rows(many):
    X, chunks, given = many
    local = SupervisedKDR(1, kernel="linear").fit(X, given)
    model = SupervisedKDR(1, kernel="linear").fit(chunks, da.from_array(given, chunks=7000))
    np.testing.assert_allclose(model.components_, local.components_, atol=1e-8)
    places = model.transform(chunks)
    assert isinstance(places, da.Array)
    assert places.chunks[0] == chunks.chunks[0]
    np.testing.assert_allclose(places.compute(), local.transform(X), atol=1e-6)
