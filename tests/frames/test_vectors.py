"""Embeddings as people have them: arrays beside a frame, and columns of lists."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet.files import open_table
from multifacet.frames import prepare
from multifacet.frames.roles import assign_roles
from multifacet.frames.table import described

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
parquet = pytest.importorskip("pyarrow.parquet")

N, D = 60, 12
X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
KNOWN = {"name": [f"row {i}" for i in range(N)], "label": ["a", "b", "c"] * (N // 3)}
AGE = {"age": np.random.default_rng(1).normal(size=N)}


def fixed(rows):
    return pa.array(list(rows), type=pa.list_(pa.float32(), D))


def on_disk(folder, rows, **options):
    parquet.write_table(pa.table(KNOWN | AGE | {"emb": rows}), folder / "t.parquet", **options)
    return open_table(folder / "t.parquet")


FORMS = {
    "dict of lists": lambda folder: KNOWN | AGE | {"emb": X.tolist()},
    "dict with an array": lambda folder: KNOWN | AGE | {"emb": X},
    "pandas": lambda folder: pd.DataFrame(KNOWN | AGE).assign(emb=list(X)),
    "polars lists": lambda folder: pl.DataFrame(KNOWN | AGE | {"emb": X.tolist()}),
    "polars arrays": lambda folder: pl.DataFrame(KNOWN | AGE | {"emb": X}),
    "Arrow": lambda folder: pa.table(KNOWN | AGE | {"emb": list(X)}),
    "Arrow of fixed size": lambda folder: pa.table(KNOWN | AGE | {"emb": fixed(X)}),
    "Parquet": lambda folder: on_disk(folder, list(X), row_group_size=17),
    "Parquet of fixed size": lambda folder: on_disk(folder, fixed(X)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_lists_of_equal_length_are_the_features(form, tmp_path):
    prepared = prepare(form(tmp_path), given="label", standardize=True)
    assert prepared.encoding.feature_names == [f"emb[{j}]" for j in range(D)]
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(prepared.X, expected, atol=1e-5)
    assert list(prepared.references) == ["age"]
    new = prepared.encoding.transform({"emb": X[:3].tolist()})
    np.testing.assert_allclose(new, expected[:3], atol=1e-5)


def test_lists_can_be_named_and_left_out():
    table = KNOWN | AGE | {"emb": X}
    both = assign_roles(table, features=["emb", "age"]).features
    assert both == [*(f"emb[{j}]" for j in range(D)), "age"]
    assert assign_roles(table, exclude="emb").features == ["age"]
    assert len(assign_roles(table, exclude=["emb[0]"]).features) == D - 1


def test_a_missing_list_is_a_missing_value():
    rows = X.tolist()
    rows[4] = None
    with pytest.raises(ValueError, match=r"'emb\[0\]' has 1 missing value in row 4"):
        prepare({"emb": rows})
    with pytest.warns(UserWarning, match="left out 1 of 60 rows"):
        assert prepare({"emb": rows}, missing="drop").X.shape == (N - 1, D)


@pytest.mark.parametrize("keep", [lambda rows, folder: {"emb": rows}, lambda rows, folder:
                                  on_disk(folder, rows, row_group_size=17)])  # fmt: skip
def test_lists_of_several_lengths_name_a_row(keep, tmp_path):
    rows = X.tolist()
    rows[37] = rows[37][:5]
    table = keep(rows, tmp_path)
    with pytest.raises(ValueError, match=r"mostly 12, but 5 in row 37: make them equal, or leave"):
        prepare(table)


def test_whole_files_of_other_lengths_name_a_row(tmp_path):
    rows = [*X[:17].tolist(), *X[17:, :5].tolist()]
    with pytest.raises(ValueError, match="mostly 12, but 5 in row 17"):
        prepare(on_disk(tmp_path, rows, row_group_size=17))
    excluded = prepare(on_disk(tmp_path, rows, row_group_size=17), exclude="emb")
    assert excluded.encoding.feature_names == ["age"]


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, np.ndarray.tolist])
def test_columns_that_describe_rows_are_no_features(form):
    prepared = prepare(described(form(X), KNOWN | AGE), given="label")
    assert prepared.X.shape == (N, D)
    assert prepared.index[1] == "row 1"
    assert list(prepared.references) == ["age"]
    assert prepared.given_names == ["label"]


def test_the_index_of_pandas_names_the_rows():
    rows = pd.DataFrame(KNOWN, index=np.arange(N) + 500)
    prepared = prepare(described(X, rows))
    assert prepared.index[0] == 500
    same = pd.DataFrame(X, index=rows.index)
    assert prepare(described(same, rows)).index[0] == 500
    with pytest.raises(ValueError, match=r"pass rows.loc\[data.index\]"):
        described(pd.DataFrame(X), rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"label": [1, 2]}, "rows has 2 rows, data has 60: pass one row for each"),
        ({"x0": AGE["age"]}, "rows has a column 'x0', as data has"),
        ([1, 2], "rows is of type list"),
    ],
)
def test_what_does_not_describe_the_rows(rows, words):
    with pytest.raises(ValueError, match=words):
        described(X, rows)
