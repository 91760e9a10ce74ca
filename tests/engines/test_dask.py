"""The Dask engine: equal to the low-rank engine, whatever the chunks, the workers, their fate."""

from __future__ import annotations

import logging
import os
import signal

import numpy as np
import pytest

pytest.importorskip("dask.array", reason="the extra 'dask' is not installed")
pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

import dask.array as da
import pandas as pd
from scipy.sparse import csr_matrix

from multifacet import KDAC, SemiSupervisedKDR, SupervisedKDR, UnsupervisedKDR
from multifacet.datasets import make_gaussian_views, make_moons_views
from multifacet.engines import Dask, LowRank, as_engine
from multifacet.engines import dask as engine_module
from multifacet.engines.blocks import CHUNK_BYTES, FOLD, SINGLE_ROWS, chunk_rows, fold
from multifacet.engines.choose import Auto
from multifacet.engines.dask import DaskSums
from multifacet.engines.lowrank import LowRankSums
from multifacet.fitting.driver import ManyRows
from multifacet.kernels import Gaussian
from multifacet.linalg import column_moments
from multifacet.metrics import nmi
from multifacet.problems import Gamma

from ..reference import KERNELS

#: Fits take few steps here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

UNEVEN = ((1, 2, 500, 397), (5,))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 5))
    X[:450, 0] += 4
    W = np.linalg.qr(np.eye(5)[:, :2] + 0.1 * rng.standard_normal((5, 2)))[0]
    return X, W, Gamma(rng.standard_normal((900, 3)), np.array([1.0, -0.7, 0.4]))


def close(one, other):
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * max(np.abs(one).max(), 1e-300))


@pytest.mark.parametrize(
    ("name", "chunks"),
    [("gaussian", UNEVEN), ("sum", UNEVEN), ("gaussian", (900, 5)), ("gaussian", (250, 2))],
)
def test_every_sum_is_that_of_the_low_rank_engine(problem, name, chunks):
    """Below full rank; at full rank agreement/ has every kernel."""
    kernel = KERNELS[name]
    X, W, gamma = problem
    mean = X.mean(axis=0)
    low = LowRank(max_rank=64).attach(X, kernel, mean=mean)
    sums = Dask(max_rank=64).attach(da.from_array(X, chunks=chunks), kernel, mean=mean)
    close(low.row_objectives(W, gamma), sums.row_objectives(W, gamma))
    assert (sums.rank, sums.error) == (low.rank, low.error)
    close(low.objective(W, gamma), sums.objective(W, gamma))
    degrees = far = None
    if kernel.nonnegative:
        degrees, far = low.degrees(W), sums.degrees(W)
        assert isinstance(far, da.Array)
        close(degrees, far)
    values, U = low.embedding(W, 2, degrees=degrees)
    found, V = sums.embedding(W, 2, degrees=far)
    close(values, found)
    close(U, V)
    phi, objective = low.phi_and_objective(W, gamma)
    placed = Gamma(da.from_array(gamma.factors, chunks=(400, 1)), gamma.weights)
    far_phi, far_objective = sums.phi_and_objective(W, placed)
    close(phi, far_phi)
    close(objective, far_objective)
    close(low.initial_phi(gamma), sums.initial_phi(gamma))
    close(low.extension(W, U).multiply(X[:5]), sums.extension(W, V).multiply(X[:5]))
    directions = np.eye(10).reshape(10, 5, 2)[:2]
    close(low.hessian(W, gamma, directions), sums.hessian(W, gamma, directions))
    close(low.curvature_bound(W, gamma), sums.curvature_bound(W, gamma))
    extra = sums.embedding(W, 2, degrees=None, extra=gamma)[0]
    close(low.embedding(W, 2, degrees=None, extra=gamma)[0], extra)


def test_equal_to_the_last_bit_in_single_precision():
    """Beyond 10,000 rows C is single; its sums have the same parts in both engines."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 4))
    X[::2, 0] += 4
    W, gamma = np.eye(4)[:, :2], Gamma(rng.standard_normal((40_000, 2)), np.array([1.0, -1.0]))
    low = LowRank().attach(X, Gaussian(1.0))
    phi = low.phi_and_objective(W, gamma)[0]
    for rows in (40_000, 7_001):
        sums = Dask().attach(da.from_array(X, chunks=(rows, -1)), Gaussian(1.0))
        assert (sums.phi_and_objective(W, gamma)[0] == phi).all()
        assert (low.degrees(W) == sums.degrees(W).compute()).all()


def test_relative_scales_beyond_the_sample(problem):
    X, W, _ = problem
    low = LowRank(max_rank=50, sample=300).attach(X, KERNELS["relative"])
    sums = Dask(max_rank=50, sample=300).attach(
        da.from_array(X, chunks=(200, -1)), KERNELS["relative"]
    )
    close(low.degrees(W), sums.degrees(W))


@pytest.mark.parametrize(("n", "d"), [(100, 3), (5000, 10), (10**6, 20), (10**8, 20), (10**6, 900)])
def test_chunks_depend_on_the_shape_only(n, d):
    rows = chunk_rows(n, d)
    assert rows & (rows - 1) == 0
    assert 8 * rows * d <= CHUNK_BYTES
    assert n <= 300 or rows < n


@pytest.mark.parametrize("count", [1, FOLD - 1, FOLD, FOLD + 1, FOLD**2, 3 * FOLD**2 + FOLD + 2])
def test_sums_of_chunks_are_added_up_in_groups(count):
    parts = [(x,) for x in np.random.default_rng(count).standard_normal((count, 4))]
    expected = parts
    while len(expected) > 1:
        groups = [expected[i : i + FOLD] for i in range(0, len(expected), FOLD)]
        expected = [(sum(part[0] for part in group),) for group in groups]
    assert (fold(parts)[0] == expected[0][0]).all()


@pytest.fixture(scope="module")
def moons():
    X, labelings = make_moons_views(1200, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), labelings


class Sampled(KDAC):
    """All rows are refined after a sample of 300."""

    many_rows = ManyRows(sampled=300, steps=1, same=2.0)


class SampledOnly(KDAC):
    """1200 rows are very many."""

    many_rows = ManyRows(sampled=300, refined=1000)


def fitted(X, given, cls=Sampled, **options):
    settings = {"n_components": 2, "bandwidth": 0.3, "novelty_weight": 3.0, "random_state": 0}
    settings |= {"init": np.eye(4)[:, 2:] + 0.02, "max_iter": 4, "engine": "dask"}
    return cls(2, **(settings | options)).fit(X, given=given)


@pytest.fixture(scope="module")
def expected(moons):
    """The low-rank engine's result, refined on all rows."""
    return fitted(moons[0], moons[1][:, 0], engine="lowrank")


def same(model, expected):
    close(expected.components_, model.components_)
    close(expected.quality_, model.quality_)
    close(expected.dependence_, model.dependence_)
    assert isinstance(model.labels_, da.Array)
    assert isinstance(model.embedding_, da.Array)
    assert (model.labels_.compute() == expected.labels_).all()
    close(expected.embedding_, model.embedding_)


@pytest.mark.parametrize("chunks", [(1200, 4), (500, 2), ((1, 1000, 199), (4,))])
def test_kdac_is_the_same_in_any_chunks(moons, expected, chunks):
    X, labelings = moons
    lazy = da.from_array(X, chunks=chunks)
    model = fitted(lazy, da.from_array(labelings[:, 0], chunks=100))
    same(model, expected)
    assert model.labels_.chunks[0] == lazy.chunks[0]
    assert nmi(model.labels_.compute(), labelings[:, 1]) >= 0.9
    new = model.predict(lazy[:50])
    assert isinstance(new, da.Array)
    assert (new.compute() == expected.predict(X[:50])).all()
    close(expected.transform(X), model.transform(lazy))
    assert (model.predict(X[:50]) == new.compute()).all()  # arrays in, arrays out


def test_a_fit_in_single_precision_is_equal_to_the_last_bit():
    X, labelings = make_moons_views(SINGLE_ROWS + 500, random_state=0)
    options = {"max_rank": 40, "sample": 1000}
    low = fitted(X, labelings[:, 0], engine=LowRank(**options))
    model = fitted(da.from_array(X, chunks=(3000, 4)), labelings[:, 0], engine=Dask(**options))
    assert model.embedding_.compute().dtype == float
    assert (model.components_ == low.components_).all()
    assert (model.embedding_.compute() == low.embedding_).all()


def test_very_many_rows_are_labelled_when_asked_for(moons):
    X, labelings = moons
    low = fitted(X, labelings[:, 0], SampledOnly, engine="lowrank")
    model = fitted(da.from_array(X, chunks=(500, 4)), labelings[:, 0], SampledOnly)
    assert (model.labels_.compute() == low.labels_).all()
    close(low.embedding_, model.embedding_)


def test_the_search_sees_the_same_sample(moons):
    X, labelings = moons
    options = {"init": "auto", "n_starts": 1, "bandwidth": "median"}
    low = fitted(X, labelings[:, 0], engine="lowrank", **options)
    model = fitted(da.from_array(X, chunks=(500, 4)), labelings[:, 0], **options)
    assert model.bandwidth_ == low.bandwidth_
    assert model.selection_.chosen.separation == low.selection_.chosen.separation
    close(low.components_, model.components_)


@pytest.mark.parametrize("kind", [SupervisedKDR, UnsupervisedKDR, SemiSupervisedKDR])
def test_reduction(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = rng.integers(0, 2, 600)
    X[:, 0] += 5 * y
    options = {} if kind is SupervisedKDR else {"n_clusters": 2, "random_state": 0}
    targets = () if kind is UnsupervisedKDR else (y,)
    options["kernel"] = "linear" if kind is SupervisedKDR else "gaussian"
    low = kind(n_components=1, engine="lowrank", **options).fit(X, *targets)
    lazy = da.from_array(X, chunks=(250, 3))
    model = kind(n_components=1, **options).fit(
        lazy, *[da.from_array(t, chunks=99) for t in targets]
    )
    close(low.components_, model.components_)
    close(low.objective_, model.objective_)
    close(low.transform(X), model.transform(lazy))


def test_real_targets():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = X[:, 1] ** 2
    low, model = (
        SupervisedKDR(1, kernel="squared", engine=engine).fit(data, y)
        for engine, data in (("lowrank", X), ("auto", da.from_array(X, chunks=(200, 3))))
    )
    close(low.components_, model.components_)


def test_data_frames_keep_their_names(moons, expected):
    dd = pytest.importorskip("dask.dataframe", reason="dask has no data frames here")
    X, labelings = moons
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["given"] = labelings[:, 0]
    lazy = dd.from_pandas(frame, npartitions=3)
    lazy = lazy[lazy["a"] > -np.inf]  # nobody knows the sizes of these partitions
    model = fitted(lazy[["a", "b", "c", "d"]], lazy["given"])
    same(model, expected)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    labels = model.predict(lazy[["a", "b", "c", "d"]])
    assert (labels.compute() == expected.predict(X)).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy[["b", "a", "c", "d"]])
    frame["a"] = "word"
    with pytest.raises(ValueError, match="column 'a' of X is not numeric"):
        fitted(dd.from_pandas(frame, npartitions=2), labelings[:, 0])


def test_float32_and_whole_numbers(moons):
    X, labelings = moons
    single = fitted(da.from_array(X.astype(np.float32), chunks=(700, 4)), labelings[:, 0])
    assert single.components_.dtype == np.float32
    assert single.transform(da.from_array(X.astype(np.float32))).dtype == np.float32
    whole = np.round(100 * X).astype(int)
    model = fitted(da.from_array(whole, chunks=(700, 4)), labelings[:, 0], bandwidth=30.0)
    low = fitted(whole, labelings[:, 0], bandwidth=30.0, engine="lowrank")
    close(low.components_, model.components_)


def test_constant_features_are_left_out(moons, expected):
    X, labelings = moons
    wide, init = np.insert(X, 1, 7.0, axis=1), np.insert(expected.init, 1, 0.0, axis=0)
    with pytest.warns(UserWarning, match="left out 1 constant feature: 1"):
        model = fitted(da.from_array(wide, chunks=(500, 5)), labelings[:, 0], init=init)
    close(expected.components_, np.delete(model.components_, 1, axis=1))
    assert (
        model.predict(da.from_array(wide, chunks=(99, 5))).compute() == expected.labels_
    ).mean() > 0.99


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments(offset):
    X = offset + np.random.default_rng(0).standard_normal((3000, 3))
    mean, spread = column_moments(engine_module.Chunked(da.from_array(X, chunks=(700, -1))))
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(spread, X.std(axis=0), rtol=1e-6)


def test_arrays_in_memory_are_cut_if_they_are_large(moons, expected):
    X, labelings = moons
    assert isinstance(as_engine("dask"), Dask)
    assert type(Dask().attach(X, Gaussian(1.0))) is LowRankSums
    cut = Dask(local_rows=500)
    assert isinstance(cut.attach(X, Gaussian(1.0)), DaskSums)
    model = fitted(X, labelings[:, 0], engine=cut)
    close(expected.components_, model.components_)
    assert isinstance(model.labels_, np.ndarray)
    assert (model.labels_ == expected.labels_).all()


def test_auto_takes_it_for_chunks_and_says_so(moons, caplog):
    with caplog.at_level(logging.INFO, logger="multifacet"):
        sums = Auto().attach(da.from_array(moons[0]), Gaussian(1.0))
    assert isinstance(sums, DaskSums)
    assert "Dask engine: X comes in chunks" in caplog.text


def with_cell(X, value):
    X = X.copy()
    X[700, 2] = X[1100, 2] = value
    return X


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            lambda X: with_cell(X, np.nan),
            {},
            "contains NaN: column 2 in rows 700, 1100; drop",
        ),
        (
            lambda X: with_cell(X, np.inf),
            {},
            "contains infinity: column 2 in rows 700, 1100",
        ),
        (lambda X: X[:, 0], {}, "Expected 2D array, got 1D array instead"),
        (lambda X: X[:2], {}, r"n_samples=2.: at least 3 are needed"),
        (lambda X: X[:1] + 0 * X, {}, "all rows of X are identical|only 1 different rows"),
        (lambda X: X.astype(complex), {}, "X is a dask array of type complex128: pass numbers"),
        (lambda X: X[:500], {}, "given has 1200 labels for 500 rows"),
        (
            lambda X: X,
            {"engine": "exact"},
            "engine='exact' cannot read X: Exact needs rows in memory",
        ),
        (lambda X: X, {"engine": LowRank()}, "LowRank needs rows in memory, but X comes in chunks"),
    ],
)
def test_wrong_data(moons, change, options, message):
    X, labelings = moons
    with pytest.raises(ValueError, match=message):
        fitted(da.from_array(change(X), chunks="auto").rechunk(256), labelings[:, 0], **options)


def test_sparse_rows_are_those_of_the_same_values(moons):
    X, labelings = moons
    dense = fitted(da.from_array(X, chunks=(500, 4)), labelings[:, 0])
    chunks = da.from_array(X, chunks=(500, 4)).map_blocks(csr_matrix)
    model = fitted(chunks, labelings[:, 0])
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-8)
    assert (model.labels_.compute() == dense.labels_.compute()).all()
    W, kernel = np.eye(4)[:, :2], Gaussian(1.0)
    for engine in (Dask(local_rows=0), Dask()):  # rows in memory, cut into chunks or not
        degrees = engine.attach(csr_matrix(X), kernel).degrees(W)
        close(LowRank().attach(X, kernel).degrees(W), np.asarray(degrees))


class Narrow(Dask):
    """Takes few features only."""

    def accepts(self, X):
        return None if X.shape[1] <= 4 else f"up to 4 features, X has {X.shape[1]}"


def test_features_that_do_not_vary_do_not_count(moons):
    """A reason to refuse X is asked for when constant features are gone."""
    X, labelings = moons
    wide, init = np.insert(X, 1, 7.0, axis=1), np.insert(np.eye(4)[:, 2:], 1, 0.0, axis=0)
    narrow = Narrow()
    assert "up to 4 features, X has 5" in narrow.accepts(wide)
    with pytest.warns(UserWarning, match="left out 1 constant feature"):
        model = fitted(da.from_array(wide), labelings[:, 0], init=init, engine=narrow)
    assert model.components_.shape == (2, 5)


def test_new_rows_are_checked_when_they_are_read(moons):
    X, labelings = moons
    model = fitted(da.from_array(X, chunks=(500, 4)), labelings[:, 0])
    labels = model.predict(da.from_array(with_cell(X, np.nan), chunks=(600, 4)))
    with pytest.raises(ValueError, match="Input X contains NaN: column 2 in rows 100, 500"):
        labels.compute()
    with pytest.raises(ValueError, match="features"):
        model.predict(da.from_array(X[:, :3], chunks=(500, 3)))


def test_memory_is_refused_before_it_is_used(problem):
    with pytest.raises(MemoryError, match=r"raise Dask\(memory=...\)"):
        Dask(memory="10 KiB").attach(da.from_array(problem[0]), Gaussian(1.0))
    with pytest.raises(ValueError, match="memory='much' is not a size"):
        Dask(memory="much")


def test_the_same_with_and_without_what_workers_keep(problem):
    X, W, gamma = problem
    lazy = da.from_array(X, chunks=(200, -1))
    kept = Dask(rank=60).attach(lazy, Gaussian(1.0))
    unkept = engine_module.Chunked(lazy, most=0)
    fresh = Dask(rank=60, memory="300 KiB").attach(unkept, Gaussian(1.0))
    close(kept.phi_and_objective(W, gamma)[0], fresh.phi_and_objective(W, gamma)[0])
    assert kept._rows.kept is not None
    assert fresh._rows.kept is None


@pytest.fixture(scope="module")
def address():
    """Two worker processes behind the address of a scheduler."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as cluster:
        yield cluster.scheduler_address


def test_worker_processes_behind_an_address(moons, expected, address):
    from distributed import Client

    X, labelings = moons
    with Client(address) as client:
        same(fitted(da.from_array(X, chunks=(500, 4)), labelings[:, 0]), expected)
        pids = client.run(os.getpid)
        assert len(set(pids.values()) | {os.getpid()}) == 3


def test_a_worker_that_dies_is_recomputed(moons, expected, address):
    from distributed import Client

    X, labelings = moons
    with Client(address) as client:
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def kill(event):
            # The sample is done; everything on all rows is still to come or under way.
            if event["stage"] == "explore" and event["start"] == "sample" and not killed:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        model = fitted(da.from_array(X, chunks=(500, 4)), labelings[:, 0], verbose=kill)
        assert killed == [victim]
        same(model, expected)
        assert victim not in client.run(os.getpid).values()


def test_more_clusters_than_given_groups():
    """So columns of different numbers lie beside each other."""
    X, labelings = make_gaussian_views(900, [2, 3], rotate=False, random_state=0)
    lazy = da.from_array(X, chunks=(400, 4))
    settings = {"n_components": 2, "bandwidth": 1.0, "novelty_weight": 3.0, "max_iter": 2}
    settings |= {"init": np.eye(4)[:, 2:], "random_state": 0}
    for given in (labelings[:, 0], np.column_stack([labelings[:, 0], np.arange(900) % 3])):
        low = Sampled(3, engine="lowrank", **settings).fit(X, given=given)
        model = Sampled(3, engine="dask", **settings).fit(lazy, given=given)
        close(low.components_, model.components_)
        assert (model.labels_.compute() == low.labels_).all()
