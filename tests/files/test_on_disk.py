"""Tables that are never read as a whole: the same features, labels and errors as in memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from multifacet import find_views
from multifacet.datasets import make_moons_views
from multifacet.files import open_table, read_path
from multifacet.frames import prepare
from multifacet.metrics import nmi

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")


def penguins(n: int = 250, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    return {
        "id": np.arange(n) + 100,
        "mass": rng.normal(4000, 300, n),
        "depth": rng.normal(17, 1, n).astype(np.float32),
        "young": rng.random(n) < 0.3,
        "island": np.array(["Biscoe", "Dream", "Torgersen"], dtype=object)[rng.integers(0, 3, n)],
        "species": np.array(["Adelie", "Gentoo"], dtype=object)[rng.integers(0, 2, n)],
        "constant": np.ones(n),
    }


@pytest.fixture(params=["parquet", "feather", "arrow"])
def saved(request, tmp_path):
    """Write columns to a file that has several batches."""

    def save(columns: dict):
        table = pa.table(columns)
        path = tmp_path / f"table.{request.param}"
        if request.param == "parquet":
            parquet.write_table(table, path, row_group_size=100)
        else:
            feather.write_feather(table, path, chunksize=100)
        return path

    return save


#: The header of an array with a bracket that nobody closes.
HALF_A_HEADER = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': ('<f8', 'shape': 3".ljust(117) + b"\n"
OPTIONS = {"given": "species", "identifier": "id"}


@pytest.mark.filterwarnings("ignore:left out 'constant'")
@pytest.mark.parametrize("standardize", [True, False])
def test_the_same_features_as_in_memory(saved, standardize):
    columns = penguins()
    expected = prepare(columns, **OPTIONS, standardize=standardize)
    found = prepare(open_table(saved(columns), batch_rows=64), **OPTIONS, standardize=standardize)
    assert isinstance(found.X, np.memmap)
    # On disk, features are centred before they become numbers of single precision.
    centre = 0 if standardize else expected.X.mean(axis=0)
    np.testing.assert_allclose(found.X, expected.X - centre, rtol=1e-5, atol=1e-4)
    assert found.encoding.feature_names == expected.encoding.feature_names
    np.testing.assert_allclose(found.encoding.mean, expected.encoding.mean + centre)
    np.testing.assert_allclose(found.encoding.scale, expected.encoding.scale)
    assert (found.index == expected.index).all()
    assert (found.given[0] == expected.given[0]).all()


@pytest.mark.filterwarnings("ignore:filled in")
@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_missing_values(saved, missing):
    columns = penguins()
    columns["mass"][[3, 90, 249]] = np.nan
    columns["island"][[64, 65]] = None
    columns["species"][200] = None
    expected = prepare(columns, **OPTIONS, missing=missing)
    found = prepare(open_table(saved(columns), batch_rows=64), **OPTIONS, missing=missing)
    np.testing.assert_allclose(found.X, expected.X, rtol=1e-5, atol=1e-5)
    assert (found.rows == expected.rows).all()
    assert found.imputed == expected.imputed


@pytest.mark.filterwarnings("ignore:left out 'constant'")
def test_errors_name_column_and_row(saved):
    columns = penguins()
    columns["mass"][[3, 90]] = np.nan
    with pytest.raises(ValueError, match="column 'mass' has 2 missing values in rows 3, 90"):
        prepare(open_table(saved(columns), batch_rows=64), **OPTIONS)
    columns = penguins()
    columns["mass"] = [f"bird {i}" for i in range(250)]
    with pytest.raises(ValueError, match="column 'mass' holds text with 250 different values"):
        prepare(open_table(saved(columns), batch_rows=64), features="mass", **OPTIONS)
    with pytest.raises(ValueError, match="given='speces' is not a column: did you mean 'species'"):
        prepare(open_table(saved(penguins()), batch_rows=64), given="speces")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"PAR1 and nothing else", "'a.parquet' is broken, or is no Parquet file"),
        ("a.arrow", b"ARROW1 and nothing else", "'a.arrow' is broken, or is no Arrow file"),
        ("a.npy", b"no array", "'a.npy' is broken, or is no NumPy file"),
        ("a.npy", HALF_A_HEADER, "'a.npy' is broken, or is no NumPy file"),
        ("a.csv", b"a,b\n1,2\n", "'a.csv' can only be read as a whole"),
    ],
)
def test_files_that_cannot_be_opened(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        open_table(tmp_path / name)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", ">f4", "i2", "?"])
def test_arrays_of_every_layout(tmp_path, order, dtype):
    X = np.asarray(np.random.default_rng(0).normal(size=(150, 3)) * 9, dtype, order=order)
    np.save(tmp_path / "a.npy", X)
    table = open_table(tmp_path / "a.npy", batch_rows=64)
    np.testing.assert_array_equal(np.column_stack([table[name] for name in table]), X)
    parts = [np.column_stack(list(batch.values())) for batch in table.batches()]
    assert [len(part) for part in parts] == [64, 64, 22]
    np.testing.assert_array_equal(np.concatenate(parts), X)


def test_an_array_shorter_than_its_header_says(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.ones((100, 4)))
    with path.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(
        ValueError, match=r"'a\.npy' is broken.* cut off, with 1000 of the 3328 bytes"
    ):
        open_table(path)


CUT_OFF = """
import os, sys
from multifacet.files import open_table
from multifacet.frames import prepare

table = open_table(sys.argv[1])
os.truncate(sys.argv[1], 8192)
for work in (lambda: table["x1"], lambda: list(table.batches()), lambda: prepare(table)):
    try:
        work()
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize("name", ["a.npy", "columns.npy", "a.arrow"])
def test_a_file_that_is_cut_off_while_it_is_open(tmp_path, name):
    """In a process of its own: a file that is mapped and cut off would end it by SIGBUS."""
    path = tmp_path / name
    X = np.random.default_rng(0).normal(size=(100_000, 2))
    if name == "a.arrow":
        table = pa.table({"x0": X[:, 0], "x1": X[:, 1]})
        feather.write_feather(table, path, compression="uncompressed")
    else:
        np.save(path, np.asarray(X, order="F" if name == "columns.npy" else "C"))
    done = subprocess.run([sys.executable, "-c", CUT_OFF, path], capture_output=True, text=True)
    said = f"'{name}' has become shorter since it was opened: wait until it is complete\n"
    assert (done.returncode, done.stdout) == (0, 3 * said)


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "birds.parquet").touch()
    with pytest.raises(FileNotFoundError, match=r"did you mean 'birds\.parquet'"):
        open_table(tmp_path / "bird.parquet")


def test_an_array_must_have_rows_and_columns(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3.0))
    with pytest.raises(ValueError, match=r"holds an array of shape \(3,\)"):
        open_table(tmp_path / "a.npy")


def test_views_of_a_file_by_its_path(tmp_path):
    X, labelings = make_moons_views(150, random_state=0)
    np.save(tmp_path / "rows.npy", X)
    options = {"given": labelings[:, 0], "n_views": 1, "n_clusters": 2, "n_refits": 0}
    views = find_views(tmp_path / "rows.npy", **options)
    in_memory = find_views(X.astype(np.float32), **options)
    assert nmi(views[0].labels, in_memory[0].labels) == pytest.approx(1.0)
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c,d", comments="")
    assert list(read_path(tmp_path / "rows.csv")) == list("abcd")
    assert list(read_path(str(tmp_path / "rows.npy"))) == ["x0", "x1", "x2", "x3"]


def test_a_large_offset_costs_no_digits(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 4))
    path = tmp_path / "far.parquet"
    parquet.write_table(pa.table({f"x{j}": column + 1e8 for j, column in enumerate(X.T)}), path)
    found = prepare(open_table(path), standardize=False)
    np.testing.assert_allclose(found.X, X - X.mean(axis=0), atol=1e-6)


def test_memory_is_that_of_a_few_columns(tmp_path):
    n, d = 200_000, 24
    rng = np.random.default_rng(0)
    table = pa.table({f"f{j}": rng.standard_normal(n) for j in range(d)})
    parquet.write_table(table, tmp_path / "big.parquet", row_group_size=20_000)
    del table
    tracemalloc.start()
    try:
        X = prepare(open_table(tmp_path / "big.parquet")).X
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert X.shape == (n, d)
    np.testing.assert_allclose(np.mean(X, axis=0, dtype=float), 0, atol=1e-5)
    assert peak < 0.6 * 8 * n * d
