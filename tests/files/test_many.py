"""Several Parquet files are one table, wherever they are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="needs the extra arrow")
parquet = pytest.importorskip("pyarrow.parquet")

from multifacet import find_views  # noqa: E402
from multifacet.datasets import make_gaussian_views  # noqa: E402
from multifacet.files import open_partitions, open_table, read_path, write_table  # noqa: E402
from multifacet.frames import prepare  # noqa: E402

from .objects import object_store  # noqa: E402

QUICK = {"n_views": 1, "n_clusters": 2, "method": "linear"}


@pytest.fixture(scope="module")
def columns():
    X, labelings = make_gaussian_views(90, [2, 2], rotate=False, random_state=0)
    words = np.array(["b", "a", "c"])[np.arange(90) // 30]
    return {
        **{f"f{j}": column for j, column in enumerate(X.T)},
        "word": words,
        "known": labelings[:, 0],
    }


def write_parts(folder, columns, sizes=(20, 0, 50, 20)):
    ends = np.cumsum([0, *sizes])
    for i, (start, stop) in enumerate(pairwise(ends)):
        part = {name: column[start:stop] for name, column in columns.items()}
        table = pa.table(
            {
                name: pa.array(column.tolist(), pa.array(columns[name]).type)
                for name, column in part.items()
            }
        )
        parquet.write_table(table, folder / f"part{i}.parquet")


def test_a_folder_and_a_pattern_are_one_table(columns, tmp_path):
    (tmp_path / "deep").mkdir()
    write_parts(tmp_path / "deep", columns)
    whole = write_table(tmp_path / "whole.parquet", columns)
    one = prepare(open_table(whole), given="known")
    for place in (tmp_path / "deep", f"{tmp_path}/deep/*.parquet", f"{tmp_path}/d*/part?.parquet"):
        table = read_path(place)
        assert table.n_rows == 90
        several = prepare(table, given="known")
        assert several.encoding.feature_names == one.encoding.feature_names
        np.testing.assert_array_equal(several.X, one.X)
        assert several.given[0].tolist() == one.given[0].tolist()


def test_views_of_a_pattern(columns, tmp_path):
    write_parts(tmp_path, columns)
    pattern = f"{tmp_path}/*.parquet"
    views = find_views(pattern, given="known", exclude="word", **QUICK)
    assert views[0].labels.shape == (90,)
    assert (views.predict(pattern)[:, 0] == views[0].labels).mean() > 0.95


def test_an_address_is_opened_by_fsspec(columns, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="comes with the extra dask")
    write_parts(tmp_path, columns)
    store = fsspec.filesystem("memory")
    for path in sorted(tmp_path.glob("*.parquet")):
        store.pipe(f"/bucket/{path.name}", path.read_bytes())
    views = find_views("memory://bucket/*.parquet", given="known", exclude="word", **QUICK)
    local = find_views(tmp_path, given="known", exclude="word", **QUICK)
    assert (views[0].labels == local[0].labels).all()
    with pytest.raises(FileNotFoundError, match="memory://bucket/none"):
        read_path("memory://bucket/none.parquet")
    with pytest.raises((FileNotFoundError, ImportError), match="nowhere://"):
        read_path("nowhere://bucket/none.parquet")


def test_what_is_wrong_is_named(columns, tmp_path):
    write_parts(tmp_path, columns)
    with pytest.raises(FileNotFoundError, match="there is no Parquet file in"):
        read_path(f"{tmp_path}/*.pq")
    write_table(tmp_path / "part9.parquet", {"f0": [1.0], "strange": [2.0]})
    with pytest.raises(ValueError, match=r"part0.parquet' and .*part9.parquet' have different col"):
        read_path(tmp_path)
    (tmp_path / "part9.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match=r"part9.parquet' is broken, or is no Parquet file"):
        read_path(tmp_path)


def test_a_file_that_cannot_be_read_later_is_named(columns, tmp_path):
    write_parts(tmp_path, columns)
    table = read_path(tmp_path)
    broken = tmp_path / "part2.parquet"
    content = bytearray(broken.read_bytes())
    content[4:200] = bytes(196)
    broken.write_bytes(content)
    with pytest.raises(ValueError, match=r"part2.parquet' is broken"):
        table["f0"]


def test_types_that_differ_are_named(columns, tmp_path):
    write_parts(tmp_path, columns)
    other = {name: column[:3] for name, column in columns.items()}
    write_table(tmp_path / "part7.parquet", {**other, "f0": ["x", "y", "z"]})
    with pytest.raises(ValueError, match=r"column 'f0' is of type double and .*string"):
        read_path(tmp_path)["f0"]


@pytest.fixture
def store(monkeypatch):
    """Return a stand-in for S3 in this process, at which addresses are opened."""
    with object_store() as (found, address):
        for name, value in {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
        }.items():
            monkeypatch.setenv(name, value)
        yield found


def fill(store, folder):
    for path in sorted(folder.glob("*.parquet")):
        store.objects[f"bucket/data/{path.name}"] = path.read_bytes()


@pytest.mark.parametrize("place", ["s3://bucket/data/*.parquet", "s3://bucket/data"])
def test_an_object_store_is_read(columns, tmp_path, store, place):
    write_parts(tmp_path, columns)
    fill(store, tmp_path)
    options = {"given": "known", "exclude": "word", **QUICK}
    views = find_views(place, **options)
    local = find_views(tmp_path, **options)
    assert (views[0].labels == local[0].labels).all()
    assert open_partitions(place).compute(scheduler="sync").shape[0] == 90
    assert (views.predict(place) == local.predict(tmp_path)).all()


def test_what_an_object_store_does_not_have(columns, tmp_path, store):
    with pytest.raises(FileNotFoundError, match="s3://bucket/none"):
        read_path("s3://bucket/none/*.parquet")
    with pytest.raises(FileNotFoundError, match=r"s3://bucket/none\.parquet"):
        read_path("s3://bucket/none.parquet")
    write_parts(tmp_path, columns)
    fill(store, tmp_path)
    store.objects["bucket/data/part2.parquet"] = b"PAR1 and nothing else"
    with pytest.raises(ValueError, match=r"s3://bucket/data/part2.parquet' is broken"):
        read_path("s3://bucket/data")


def test_of_an_object_only_what_is_needed_is_fetched(tmp_path, store):
    columns = {f"f{j}": np.random.default_rng(j).normal(size=20_000) for j in range(8)}
    content = write_table(tmp_path / "rows.parquet", columns).read_bytes()
    store.objects["bucket/rows.parquet"] = content
    assert len(read_path("s3://bucket/rows.parquet")["f3"]) == 20_000
    assert sum(size for _, size in store.read) < len(content) / 4
