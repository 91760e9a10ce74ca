"""Tables in partitions: one pass learns the encoding, a sample is searched, all rows are told."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")
pd = pytest.importorskip("pandas")
import dask.array as da  # noqa: E402

from multifacet import Views, find_views  # noqa: E402
from multifacet.content import draw, join, row_keys  # noqa: E402
from multifacet.datasets import make_gaussian_views  # noqa: E402
from multifacet.engines.contents import sampled  # noqa: E402
from multifacet.frames import prepare  # noqa: E402
from multifacet.metrics import nmi  # noqa: E402
from multifacet.tables.partitions import prepare_partitions  # noqa: E402
from multifacet.tables.survey import survey  # noqa: E402

QUICK = {"n_views": 1, "n_clusters": 3, "method": "linear"}


@pytest.fixture(scope="module")
def table():
    X, labelings = make_gaussian_views(400, [2, 3], rotate=False, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    rng = np.random.default_rng(0)
    frame["habitat"] = rng.choice(["sea", "land", "air"], 400)
    frame["given"] = labelings[:, 0]
    return frame, labelings[:, 1]


def in_partitions(frame, sizes):
    """Return a dask data frame of partitions of these sizes."""
    ends = np.cumsum([0, *sizes])
    parts = [frame.iloc[a:b] for a, b in pairwise(ends)]
    return dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])


@pytest.mark.parametrize("sizes", [(400,), (1, 0, 199, 200), (100, 100, 100, 100), (0, 400)])
@pytest.mark.parametrize("standardize", [True, False, "auto"])
@pytest.mark.parametrize("latent", [False, True])
def test_the_encoding_is_that_of_the_whole_table(table, sizes, standardize, latent):
    frame, _ = table
    said = {"given": "given", "categories": "use", "standardize": standardize, "latent": latent}
    whole = prepare(frame, **said)
    assert bool(whole.encoding.columns[-1].shares) == (latent and standardize is not False)
    found = prepare_partitions(in_partitions(frame, sizes), **said)
    assert any("habitat" in name for name in whole.encoding.feature_names)
    assert found.encoding.feature_names == whole.encoding.feature_names
    assert found.encoding.columns == whole.encoding.columns
    assert found.encoding.scaling == whole.encoding.scaling
    np.testing.assert_allclose(found.encoding.mean, whole.encoding.mean, atol=1e-12)
    np.testing.assert_allclose(found.encoding.scale, whole.encoding.scale, rtol=1e-12)
    order = np.argsort(found.index)
    np.testing.assert_allclose(found.X[order], whole.X, atol=1e-12)
    assert (found.given[0][order] == whole.given[0]).all()


@pytest.mark.filterwarnings("ignore:filled in")
def test_missing_values_are_imputed_or_named_across_partitions(table):
    frame = table[0].copy()
    frame.loc[[7, 250], "b"] = np.nan
    frame.loc[300, "habitat"] = None
    parts = in_partitions(frame, (100, 0, 300))
    with pytest.raises(ValueError, match=r"column 'b' has missing values in rows 7, 250"):
        prepare_partitions(parts, given="given", exclude="habitat")
    said = {"given": "given", "categories": "use", "missing": "impute"}
    whole = prepare(frame, **said)
    found = prepare_partitions(parts, **said)
    assert found.encoding.columns == whole.encoding.columns
    np.testing.assert_allclose(found.encoding.mean, whole.encoding.mean, atol=1e-12)
    np.testing.assert_allclose(found.encoding.scale, whole.encoding.scale, rtol=1e-12)


def test_a_category_that_only_one_partition_has(table):
    frame = table[0].copy()
    frame.loc[399, "habitat"] = "cave"
    parts = in_partitions(frame, (200, 200))
    views = find_views(parts, given="given", categories="use", **QUICK)
    assert "habitat=cave" in views.encoding.feature_names
    assert views.predict(in_partitions(frame, (399, 1))).compute().shape == (400, 1)


def test_columns_are_for_the_same_as_in_a_whole_table(table):
    frame = table[0].copy()
    frame["row"] = np.arange(400)
    frame.loc[[3, 390], "habitat"] = None
    parts = in_partitions(frame, (150, 0, 250))
    roles = find_views(parts, given="given", dry_run=True)
    assert roles.table() == find_views(frame, given="given", dry_run=True).table()
    assert (roles.features, roles.references) == (list("abcd"), ["habitat"])
    named = find_views(parts, given="given", features=["a", "habitat"], dry_run=True)
    assert named.features == ["a", "habitat"]
    # What is no feature may lack what it likes, and is compared with what is found.
    views = find_views(parts, given="given", **QUICK)
    assert views.encoding.feature_names == list("abcd")
    assert views.roles.n_rows == 400
    assert "habitat" in {one.column for one in views.relations(views[0])}


def test_text_beside_numbers_is_named():
    words = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": ["1", "2", "x", "y"]})
    many = pd.concat([words.iloc[:2]] * 20 + [words.iloc[2:]], ignore_index=True)
    many["a"] = np.arange(len(many)) % 7
    found = survey(in_partitions(many, (40, 2)))
    assert not found.columns["b"].numeric
    assert found.columns["b"].counts == {"1": 20, "2": 20, "x": 1, "y": 1}


@pytest.mark.parametrize("sizes", [(150, 250), (1, 0, 399)])
def test_views_do_not_depend_on_partitions(table, sizes):
    frame, hidden = table
    local = find_views(frame, given="given", exclude="habitat", **QUICK)
    parts = in_partitions(frame, sizes)
    views = find_views(parts, given="given", exclude="habitat", **QUICK)
    labels = views.predict(parts)
    assert isinstance(labels, da.Array)
    assert nmi(labels.compute()[:, 0], local[0].labels) == pytest.approx(1.0)
    assert nmi(labels.compute()[:, 0], hidden) > 0.9
    other = find_views(in_partitions(frame, (77, 323)), given="given", exclude="habitat", **QUICK)
    assert (other[0].labels == views[0].labels).all()


def test_labels_go_back_into_the_frame_and_to_parquet(table, tmp_path):
    pytest.importorskip("pyarrow")
    frame, hidden = table
    frame.to_parquet(tmp_path / "one.parquet")
    parts = dd.concat([dd.read_parquet(tmp_path / "one.parquet")] * 2)
    views = find_views(parts, given="given", exclude="habitat", **QUICK)
    assigned = views.assign(parts)
    assert assigned.npartitions == parts.npartitions
    assert str(assigned.dtypes["view 1"]) == "Int64"
    assigned.to_parquet(tmp_path / "labelled")
    back = pd.read_parquet(tmp_path / "labelled")
    assert nmi(back["view 1"].to_numpy(dtype=int)[:400], hidden) > 0.9
    (places,) = views.transform(parts)
    np.testing.assert_allclose(places.compute()[:400], views.transform(frame)[0])
    with pytest.raises(ValueError, match="data has a column 'view 1' already"):
        views.assign(assigned)


def test_rows_with_missing_cells_have_missing_labels(table):
    frame = table[0].copy()
    frame.loc[5, "a"] = np.nan
    parts = in_partitions(frame, (200, 200))
    with pytest.warns(UserWarning, match="left out 1 of 400 rows"):
        views = find_views(parts, given="given", exclude="habitat", missing="drop", **QUICK)
    labels = views.assign(parts).compute()["view 1"]
    assert labels.isna().to_numpy().nonzero()[0].tolist() == [5]
    with pytest.raises(ValueError, match=r"in the partition that begins with row .*0.*'a'"):
        views.predict(parts).compute()


@pytest.mark.parametrize("kind", ["memory", "series", "array"])
def test_labels_may_be_given_beside_the_frame(table, kind):
    frame, hidden = table
    parts = in_partitions(frame.drop(columns=["given", "habitat"]), (150, 250))
    given = {
        "memory": frame["given"].to_numpy(),
        "series": in_partitions(frame, (150, 250))["given"],
        "array": frame["given"].tolist(),
    }[kind]
    views = find_views(parts, given=given, **QUICK)
    assert nmi(views.predict(parts).compute()[:, 0], hidden) > 0.9
    if kind == "memory":
        with pytest.raises(ValueError, match="given has 399 labels for 400 rows"):
            find_views(parts, given=given[:-1], **QUICK)


def test_arrays_in_chunks_of_rows_and_columns(table):
    frame, hidden = table
    X = frame[list("abcd")].to_numpy()
    chunks = da.from_array(X, chunks=(90, 3))
    views = find_views(chunks, given=frame["given"], **QUICK)
    assert nmi(views.predict(chunks).compute()[:, 0], hidden) > 0.9
    with pytest.raises(ValueError, match="without names of columns"):
        views.assign(chunks)


def test_a_sample_is_drawn_by_content():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    parts = [X[:10], X[10:10], X[10:]]
    drawn = join([draw(part, i, 500) for i, part in enumerate(parts)], 500)
    again = sampled([X[1000:], X[:1000]], 500)
    assert (drawn.rows == again.rows).all()
    assert abs(drawn.rows.mean()) < 0.1
    starts = np.array([0, 10, 10])
    assert (X[starts[drawn.places[:, 0]] + drawn.places[:, 1]] == drawn.rows).all()


def test_rows_that_repeat_are_drawn_in_proportion():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [6000, 3000, 1000], axis=0)
    drawn = join([draw(X[i::4], i, 1000) for i in range(4)], 1000)
    shares = [(drawn.rows == row).all(axis=1).mean() for row in np.unique(X, axis=0)]
    np.testing.assert_allclose(shares, [0.6, 0.3, 0.1], atol=0.05)


def test_keys_of_sparse_rows():
    from scipy.sparse import csr_matrix, vstack

    rng = np.random.default_rng(0)
    X = csr_matrix(rng.poisson(0.3, size=(50, 20)).astype(float))
    assert (row_keys(vstack([X[30:], X[:30]], format="csr")) == np.roll(row_keys(X), 20)).all()


def test_rows_of_a_large_table_are_chosen_alike_however_it_comes():
    rng = np.random.default_rng(0)
    n = 21_000
    columns = {"a": rng.normal(size=n), "b": rng.choice(["x", "y", None], n)}
    columns["c"] = rng.integers(0, 9, n)
    columns["d"] = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    frame = pd.DataFrame(columns)
    chosen = {"exclude": ["b", "c"], "missing": "drop", "standardize": False}
    forms = {"pandas": frame, "dict": columns, "in another order": frame.iloc[::-1]}
    drawn = {}
    for name, form in forms.items():
        with pytest.warns(UserWarning, match="left out"):
            drawn[name] = prepare(form, **chosen).excerpt()
    with pytest.warns(UserWarning, match="left out"):
        drawn["dask"] = prepare_partitions(dd.from_pandas(frame, npartitions=3), **chosen)
    for one in drawn.values():
        np.testing.assert_allclose(one.X, drawn["pandas"].X, atol=1e-9)
    assert len(drawn["pandas"].X) < 20_000


@pytest.mark.parametrize("related", [0.0, 0.02])
def test_components_of_many_rows_keep_their_scales(related):
    """A sample of them is correlated by chance, as almost uncorrelated columns are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21_000, 4))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * [90, 50, 20, 9]
    X[:, 1] += related * X[:, 0]
    with nullcontext() if related else pytest.warns(UserWarning, match="they are uncorrelated"):
        local = prepare(X)
    with nullcontext() if related else pytest.warns(UserWarning, match="they are uncorrelated"):
        there = prepare_partitions(da.from_array(X, chunks=(4000, 3)))
    assert local.encoding.scaling == ("units" if related else "components")
    assert there.encoding.scaling == local.encoding.scaling
    np.testing.assert_allclose(there.encoding.scale, local.encoding.scale, rtol=1e-9)
    np.testing.assert_allclose(there.X, local.excerpt().X, atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "linear"])
def test_groups_of_a_large_table_are_those_of_its_partitions(method, tmp_path):
    rng = np.random.default_rng(0)
    hidden, known = rng.integers(0, 3, 22_000), rng.integers(0, 2, 22_000)
    X = rng.normal(size=(22_000, 4))
    X[:, 0] += 2 * hidden  # so that groups overlap
    X[:, 2] += 6 * known
    frame = pd.DataFrame(X, columns=list("abcd")).assign(known=np.array(["no", "yes"])[known])
    options = {"given": "known", "n_views": 1, "n_clusters": 3, "method": method}
    options |= {"n_refits": 0} if method == "auto" else {}
    views = find_views(frame, **options)
    chunks = dd.from_pandas(frame, npartitions=5)
    there = find_views(chunks, **options)
    assert views.labelings.shape == (22_000, 1)
    assert sum(group["size"] for group in views[0].groups) == 22_000
    assert "Measured on 20,000 of 22,000 rows" in str(views)
    assert (there.predict(chunks).compute() == views.labelings).all()
    assert (views.predict(frame) == views.labelings).all()
    views.save(tmp_path / "views.npz")
    assert (Views.load(tmp_path / "views.npz").predict(frame) == views.labelings).all()


def sparse_chunks(X, sizes):
    """Return a dask array of CSR chunks of these sizes."""
    from scipy.sparse import csr_matrix

    return da.from_array(X, chunks=(tuple(sizes), -1)).map_blocks(csr_matrix)


@pytest.fixture(scope="module")
def counts():
    """Counts of few words, by which two groupings of rows can be told."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 300))
    X = rng.poisson(0.2, size=(300, 40)).astype(float)
    X[:, :6] += rng.poisson(4, size=(300, 6)) * hidden[:, None]
    X[:, 6:12] += rng.poisson(4, size=(300, 6)) * given[:, None]
    X[:, 39] = 0
    X[299, 39] = 3
    return X, given, hidden


@pytest.mark.filterwarnings("ignore:features keep their scales")
@pytest.mark.parametrize("standardize", [True, False, "auto"])
@pytest.mark.parametrize("sizes", [(300,), (100, 0, 150, 50)])
def test_the_encoding_of_sparse_chunks_is_that_of_the_whole_matrix(counts, sizes, standardize):
    from scipy.sparse import csr_matrix

    X, given, _ = counts
    whole = prepare(csr_matrix(X), given=given, standardize=standardize)
    found = prepare_partitions(sparse_chunks(X, sizes), given=given, standardize=standardize)
    assert found.encoding.feature_names == whole.encoding.feature_names
    assert found.encoding.scaling == whole.encoding.scaling
    np.testing.assert_allclose(found.encoding.scale, whole.encoding.scale, rtol=1e-12)
    assert not found.encoding.mean.any()
    assert found.X.shape == whole.X.shape
    np.testing.assert_allclose(found.X.sum(axis=0), whole.X.sum(axis=0), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:features keep their scales")
def test_views_of_sparse_chunks(counts):
    X, given, hidden = counts
    chunks = sparse_chunks(X, (100, 0, 150, 50))
    views = find_views(chunks, given=given, n_views=1, n_clusters=2, method="linear")
    labels = views.predict(chunks).compute()[:, 0]
    assert nmi(labels, hidden) > 0.8
    (places,) = views.transform(chunks)
    assert places.compute().shape[0] == 300
    bad = X.copy()
    bad[170, 3] = np.nan
    with pytest.raises(ValueError, match=r"column 3 has a value in row 170 that is missing or inf"):
        find_views(sparse_chunks(bad, (100, 0, 150, 50)), given=given)


def test_wide_chunks(counts):
    """More features than a matrix of all pairs of them is made for."""
    X, given, hidden = counts
    wide = np.hstack([X, np.random.default_rng(1).poisson(0.05, size=(300, 1200))])
    for chunks in (sparse_chunks(wide, (120, 180)), da.from_array(wide, chunks=(120, 500))):
        views = find_views(
            chunks, given=given, n_views=1, n_clusters=2, method="linear", standardize=False
        )
        assert nmi(views.predict(chunks).compute()[:, 0], hidden) > 0.8


def test_chunks_of_unknown_sizes(table):
    """Rows that a condition has chosen; how many they are is known where they are."""
    frame, hidden = table
    parts = in_partitions(frame, (150, 0, 250))
    chosen = parts[parts["a"] > -np.inf]
    views = find_views(chosen, given="given", exclude="habitat", **QUICK)
    assert nmi(views.predict(chosen).compute()[:, 0], hidden) > 0.9
    X = chosen[list("abcd")].to_dask_array()
    assert np.isnan(X.shape[0])
    views = find_views(X, given=frame["given"].to_numpy(), **QUICK)
    assert nmi(views.predict(X).compute()[:, 0], hidden) > 0.9
