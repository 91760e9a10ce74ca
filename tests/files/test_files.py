"""Files of every format give the table that was put into them, and wrong ones a clear sentence."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from multifacet.files import atomic, read_file, to_json, write_json, write_table, write_text
from multifacet.files.annotated import MAX_SPARSE_CELLS
from multifacet.frames import prepare

from ..conftest import DATA

BIRDS = pd.DataFrame(
    {
        "bird": ["Ada", "Bob", "Cy", "Dée"],
        "species": ["Adelie", "Gentoo", "Gentoo", "Adelie"],
        "mass": [3750.5, 4950.25, 5100.0, 3800.125],
        "wing": [181, 211, 219, 186],
    }
)


def save(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def said(data):
    return [str(note) for note in data.notes]


def expect_error(message, *arguments, kind=ValueError, call=read_file, **options):
    with pytest.raises(kind, match=message) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    assert "Errno" not in str(caught.value)


def as_table(data):
    """Return a read file as a data frame, by way of plain lists."""
    return pd.DataFrame({name: list(np.asarray(column)) for name, column in data.columns.items()})


# Delimited text


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "csv.gz"])
def test_every_separator_gives_the_same_table(tmp_path, separator, suffix):
    path = tmp_path / f"birds.{suffix}"
    BIRDS.to_csv(path, sep=separator, index=False)
    data = read_file(path)
    pd.testing.assert_frame_equal(as_table(data), BIRDS)
    assert (data.name, data.format) == (path.name, "csv")
    assert data.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert data.index is None
    assert data.features is None
    quiet = separator in (",", "\t")
    assert said(data) == ([] if quiet else [f"fields are separated by {separator!r}"])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(tmp_path, encoding):
    path = tmp_path / "birds.csv"
    BIRDS.to_csv(path, index=False, encoding=encoding)
    pd.testing.assert_frame_equal(as_table(read_file(path)), BIRDS)


def test_other_encodings_are_asked_for(tmp_path):
    path = tmp_path / "birds.csv"
    BIRDS.to_csv(path, index=False, encoding="latin-1")
    expect_error(r"'birds.csv' is not utf-8: line 5 has the byte 0xe9; .*encoding='latin-1'", path)
    pd.testing.assert_frame_equal(as_table(read_file(path, encoding="latin-1")), BIRDS)
    expect_error("encoding='latin-99' is not known", path, encoding="latin-99")


def test_decimal_comma_is_recognised(tmp_path):
    path = tmp_path / "birds.csv"
    BIRDS.to_csv(path, sep=";", decimal=",", index=False)
    data = read_file(path)
    pd.testing.assert_frame_equal(as_table(data), BIRDS)
    assert "numbers have a decimal comma" in said(data)


def test_decimal_comma_is_not_guessed_where_it_is_doubtful(tmp_path):
    quoted = save(tmp_path, "quoted.csv", 'a,b\n"1,234",x\n"5,678",y\n')
    assert read_file(quoted).columns["a"].tolist() == ["1,234", "5,678"]
    assert read_file(quoted, decimal=",").columns["a"].tolist() == [1.234, 5.678]
    mixed = save(tmp_path, "mixed.csv", "a;b\n1,234;1.5\n5,678;2.5\n")
    assert read_file(mixed).columns["a"].tolist() == ["1,234", "5,678"]
    thousands = save(tmp_path, "thousands.csv", "a;b\n1.234;1,5\n5.678;2,5\n")
    assert read_file(thousands, decimal=",").columns["a"].tolist() == ["1.234", "5.678"]


def test_quoted_fields_hold_separators_quotes_and_new_lines(tmp_path):
    text = 'name,"a ""b""",c\n"x, y",1,"one\ntwo"\nz , 2,three\n'
    data = read_file(save(tmp_path, "quoted.csv", text))
    assert list(data.columns) == ["name", 'a "b"', "c"]
    assert data.columns["name"].tolist() == ["x, y", "z "]
    assert data.columns["c"].tolist() == ["one\ntwo", "three"]
    assert data.columns['a "b"'].tolist() == [1, 2]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_blank_lines_and_final_separators_do_not_matter(tmp_path, end):
    lines = ["a;b;", "", "1;x;", "2;y;", ""]
    data = read_file(save(tmp_path, "ends.csv", end.join(lines)))
    assert {name: column.tolist() for name, column in data.columns.items()} == {
        "a": [1, 2],
        "b": ["x", "y"],
    }


@pytest.mark.parametrize("word", ["", "NA", "NaN", "null", "None", "?", "N/A"])
def test_missing_values_have_many_names(tmp_path, word):
    text = f"number,text,whole\n1.5,x,1\n{word},{word},{word}\n2.5,y,3\n"
    data = read_file(save(tmp_path, "gaps.csv", text))
    np.testing.assert_array_equal(data.columns["number"], [1.5, np.nan, 2.5])
    np.testing.assert_array_equal(data.columns["whole"], [1, np.nan, 3])
    assert data.columns["text"].tolist() == ["x", None, "y"]
    expected = f"'{word}' is taken as a missing value in columns 'number', 'text', 'whole'"
    assert said(data) == ([expected] if word else [])


@pytest.mark.parametrize("code", ["007", "9007199254740993", "1_000"])
def test_codes_stay_text(tmp_path, code):
    data = read_file(save(tmp_path, "codes.csv", f"code,size\n{code},1\n{code},0\n12,0.5\n"))
    assert data.columns["code"].tolist() == [code, code, "12"]
    np.testing.assert_array_equal(data.columns["size"], [1, 0, 0.5])


def test_numbers_are_what_python_says(tmp_path):
    spelled = ["-1", "+2.5", "1e-3", "0", "-0.5", ".25", "inf"]
    data = read_file(save(tmp_path, "numbers.csv", "x\n" + "\n".join(spelled)))
    assert data.columns["x"].tolist() == [float(text) for text in spelled]


def test_a_few_odd_cells_among_numbers_are_named(tmp_path):
    data = read_file(save(tmp_path, "odd.csv", "x,y\n1,a\n2,b\nn.d.,c\n4,d\n"))
    assert data.columns["x"].tolist() == ["1", "2", "n.d.", "4"]
    assert data.notes[0].columns == ("x",)
    assert said(data) == ["column 'x' is text because of 'n.d.'; its other values are numbers"]


def test_rows_may_have_names_in_a_column_without_a_name(tmp_path):
    path = tmp_path / "birds.csv"
    BIRDS.set_index("bird").to_csv(path, index_label="")
    data = read_file(path)
    assert data.index.tolist() == BIRDS["bird"].tolist()
    assert list(data.columns) == ["species", "mass", "wing"]
    repeated = save(tmp_path, "repeated.csv", ",a\nx,1\nx,2\n")
    assert list(read_file(repeated).columns) == ["column 1", "a"]


def test_a_matrix_without_a_header_loses_no_row(tmp_path):
    X = np.random.default_rng(0).normal(size=(5, 3))
    np.savetxt(tmp_path / "matrix.txt", X)
    data = read_file(tmp_path / "matrix.txt")
    np.testing.assert_array_equal(np.column_stack(list(data.columns.values())), X)
    assert list(data.columns) == ["x0", "x1", "x2"]
    digits = read_file(save(tmp_path, "digits.csv", "5,1,1\n5,4,4\n"))
    assert digits.columns["x0"].tolist() == [5, 5]
    commas = read_file(save(tmp_path, "commas.csv", "1,5;2,5\n3,5;4,5\n"))
    assert [column.tolist() for column in commas.columns.values()] == [[1.5, 3.5], [2.5, 4.5]]
    years = read_file(save(tmp_path, "years.csv", "2019,2020\n1.5,2.5\n"))
    assert list(years.columns) == ["2019", "2020"]


def test_separators_can_be_said(tmp_path):
    path = save(tmp_path, "odd.txt", "a:b c\n1:x y\n2:z z\n")
    data = read_file(path, separator=":")
    assert data.columns["b c"].tolist() == ["x y", "z z"]
    words = save(tmp_path, "words.txt", "a\tb;c\n1\t2;3\n")
    assert list(read_file(words, separator="tab").columns) == ["a", "b;c"]
    alone = save(tmp_path, "alone.txt", "body mass\n3750\n3800\n")
    assert read_file(alone).columns["body mass"].tolist() == [3750, 3800]
    spaced = save(tmp_path, "spaced.txt", "  a    b\n 1.5  x \n10    y\n")
    assert read_file(spaced, separator="space").columns["a"].tolist() == [1.5, 10]
    expect_error("separator='::' is not one character", path, separator="::")
    expect_error("decimal=';' is not known", path, decimal=";")


def test_standard_input_is_a_file_too(tmp_path, monkeypatch):
    for content, kind in ((b"a,b\n1,2\n3,4\n", "csv"), (npy([[1, 2], [3, 4]]), "npy")):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        data = read_file("-")
        assert (data.name, data.format) == ("stdin", kind)
        assert [column.tolist() for column in data.columns.values()] == [[1, 3], [2, 4]]


# Binary formats


def npy(array):
    file = io.BytesIO()
    np.save(file, np.array(array))
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


ARROW_WRITERS = {
    "birds.parquet": lambda path: BIRDS.to_parquet(path, index=False),
    "birds.feather": BIRDS.to_feather,
    "birds.arrow": lambda path: pl.from_pandas(BIRDS).write_ipc(path),
    "stream.arrow": lambda path: pl.from_pandas(BIRDS).write_ipc_stream(path),
    "parquet-without-suffix": lambda path: BIRDS.to_parquet(path, index=False),
}


@pytest.mark.parametrize("name", ARROW_WRITERS)
def test_arrow_and_parquet_keep_every_column(tmp_path, name):
    ARROW_WRITERS[name](tmp_path / name)
    data = read_file(tmp_path / name)
    pd.testing.assert_frame_equal(as_table(data), BIRDS, check_dtype=False)
    assert data.format == ("parquet" if "parquet" in name else "arrow")
    expected = prepare(BIRDS, given="species", identifier="bird")
    found = prepare(data.columns, given="species", identifier="bird")
    np.testing.assert_array_equal(found.X, expected.X)
    assert found.given[0].tolist() == expected.given[0].tolist()


def test_the_index_of_pandas_names_the_rows(tmp_path):
    frame = BIRDS[["mass"]].set_axis(list("wxyz"))
    frame.to_parquet(tmp_path / "birds.parquet")
    data = read_file(tmp_path / "birds.parquet")
    assert data.index.tolist() == list("wxyz")
    assert list(data.columns) == ["mass"]


def test_an_array_is_a_table_of_features(tmp_path):
    X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    data = read_file(save(tmp_path, "matrix.npy", npy(X)))
    np.testing.assert_array_equal(np.column_stack(list(data.columns.values())), X)
    assert data.features == list(data.columns) == ["x0", "x1", "x2"]
    alone = read_file(save(tmp_path, "matrix.npz", npz(X=X)))
    assert alone.features == ["x0", "x1", "x2"]


def test_several_arrays_are_features_and_further_columns(tmp_path):
    X, y, names = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), np.array(["a", "b", "c"])
    data = read_file(save(tmp_path, "set.npz", npz(X=X, y=y, names=names)))
    assert list(data.columns) == ["X_0", "X_1", "y", "names"]
    assert data.features == ["X_0", "X_1"]
    assert data.columns["names"].tolist() == ["a", "b", "c"]
    assert read_file(save(tmp_path, "columns.npz", npz(y=y, names=names))).features is None


@pytest.fixture(scope="module")
def annotated(tmp_path_factory):
    anndata = pytest.importorskip("anndata")
    X = np.random.default_rng(0).poisson(1.0, size=(4, 3)).astype(float)
    obs = BIRDS.set_index("bird").astype({"species": "category"})[["species", "mass"]]
    data = anndata.AnnData(csr_matrix(X), obs, pd.DataFrame(index=["g1", "g2", "g3"]))
    data.layers["logs"] = np.log1p(X)
    data.obsm["X_pca"] = X[:, :2] * 10
    path = tmp_path_factory.mktemp("annotated") / "birds.h5ad"
    data.write_h5ad(path)
    return path, X


def test_annotated_data_give_features_labels_and_names(annotated):
    path, X = annotated
    data = read_file(path)
    assert data.features == ["g1", "g2", "g3"]
    np.testing.assert_array_equal(np.column_stack([data.columns[g] for g in data.features]), X)
    assert data.index.tolist() == BIRDS["bird"].tolist()
    prepared = prepare(data.columns, given="species", exclude="mass")
    assert prepared.given[0].tolist() == BIRDS["species"].tolist()
    assert prepared.encoding.feature_names == data.features


def test_matrices_of_annotated_data_can_be_chosen(annotated):
    path, X = annotated
    logs = read_file(path, matrix="layers:logs")
    np.testing.assert_array_equal(logs.columns["g2"], np.log1p(X[:, 1]))
    reduced = read_file(path, matrix="obsm:X_pca")
    assert reduced.features == ["X_pca_1", "X_pca_2"]
    np.testing.assert_array_equal(reduced.columns["X_pca_2"], X[:, 1] * 10)
    expect_error(
        "matrix='obsm:pca' is not in 'birds.h5ad': it has 'X', 'layers:logs', 'obsm:X_pca'",
        path,
        matrix="obsm:pca",
    )


def test_sparse_data_that_are_too_large_as_a_table_are_refused(tmp_path):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(csr_matrix((20_000, MAX_SPARSE_CELLS // 20_000 + 1)))
    data.obsm["X_pca"] = np.zeros((20_000, 2))
    data.write_h5ad(tmp_path / "large.h5ad")
    message = r"sparse with 20000 rows and 5001 columns.*pass a smaller one \('X', 'obsm:X_pca'"
    expect_error(message, tmp_path / "large.h5ad", matrix="X")


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_variables_of_one_name_are_numbered(tmp_path):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(np.eye(2), var=pd.DataFrame(index=["gene", "gene"]))
    data.write_h5ad(tmp_path / "genes.h5ad")
    read = read_file(tmp_path / "genes.h5ad")
    assert read.features == ["gene", "gene-1"]
    assert said(read) == ["variables of the same name were numbered"]


# Wrong files


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("sheet.xml", "<sheet/>")
    return file.getvalue()


CSV = "a,b\n1,2\n3,4\n"
BINARY = bytes(range(256)) * 4
WRONG_FILES = {
    "empty": ("e.csv", "", "'e.csv' is empty"),
    "only blanks": ("e.csv", " \n\n", "'e.csv' is empty"),
    "packed nothing": ("e.csv.gz", gzip.compress(b""), "'e.csv.gz' is empty"),
    "header only": ("h.csv", "a,b\n", "'h.csv' has a header of 2 columns, but no rows"),
    "short row": ("r.csv", "a,b\n1,2\n\n3\n", "line 4 of 'r.csv' has 1 fields.*first line has 2"),
    "long row": ("r.csv", CSV + "5,6,7\n", "line 4 of 'r.csv' has 3 fields.*separator"),
    "open quote": ("q.csv", 'a,b\n1,"2\n3,4\n', "line 3 of 'q.csv' cannot be read.*quotation mark"),
    "stray quote": ("q.csv", 'a,b\n1,"2"3\n', "line 2 of 'q.csv' cannot be read.*not doubled"),
    "same names": ("d.csv", "a,b,a\n1,2,3\n", "several columns named 'a': rename"),
    "binary": ("b.csv", BINARY, "'b.csv' is binary, not text"),
    "zeros": ("b.csv", b"a,b\n\0,1\n", "'b.csv' is binary, not text"),
    "parquet as csv": ("p.csv", b"PAR1....", "binary, not text: .*format='parquet'"),
    "broken gzip": ("g.csv.gz", gzip.compress(CSV.encode())[:-9], "packed by gzip, but broken"),
    "no gzip": ("g.csv.gz", CSV, "'g.csv.gz' is not packed by gzip"),
    "unknown suffix": ("t.json", "{}", "unknown suffix '.json': if it is a table, rename it"),
    "spreadsheet": ("t.xlsx", zipped(), "'t.xlsx' is a spreadsheet: save it as CSV"),
    "cut parquet": ("p.parquet", b"PAR1" + BINARY, "'p.parquet' is broken, or is no Parquet file"),
    "cut arrow": ("p.arrow", b"ARROW1" + BINARY, "'p.arrow' is broken, or is no Arrow file"),
    "text as arrow": ("p.feather", CSV, "'p.feather' is broken, or is no Arrow file"),
    "cut array": ("x.npy", npy(np.eye(9))[:200], "'x.npy' is broken, or is no NumPy file"),
    "text as array": ("x.npy", CSV, "'x.npy' is broken, or is no NumPy file.*format='csv' for"),
    "text as arrays": ("x.npz", CSV, "'x.npz' is broken, or is no NumPy file.*format='csv' for"),
    "array as arrays": ("x.npz", npy([[1]]), "'x.npz' is broken, or is no NumPy file of this kind"),
    "arrays as array": ("x.npy", npz(a=[1]), "'x.npy' is broken, or is no NumPy file of this kind"),
    "no such archive": ("x.npz", b"PK\x05\x06", "'x.npz' is broken, or is no NumPy file"),
    "pickled": ("x.npy", pickled(), "'x.npy' holds Python objects, which could run code"),
    "one dimension": ("x.npy", npy([1, 2]), r"array of shape \(2,\): save one of rows and columns"),
    "three dimensions": ("x.npy", npy(np.zeros((2, 2, 2))), r"array of shape \(2, 2, 2\)"),
    "complex": ("x.npy", npy([[1j]]), "an array of type complex128: save real numbers"),
    "no array rows": ("x.npy", npy(np.zeros((0, 2))), "'x.npy' has 2 columns, but no rows"),
    "no array columns": ("x.npy", npy(np.zeros((2, 0))), "'x.npy' has no columns"),
    "lengths": ("x.npz", npz(a=[1, 2], b=[1]), r"arrays of several lengths \('a' 2, 'b' 1\)"),
    "deep array": ("x.npz", npz(a=np.zeros((1, 1, 1))), r"array 'a' of shape \(1, 1, 1\)"),
    "other zip": ("x.npz", zipped(), "'x.npz' is broken, or is no NumPy file"),
    "same array names": ("x.npz", npz(a=[[1], [2]], a_0=[1, 2]), "several columns named 'a_0'"),
    "text as h5ad": ("x.h5ad", CSV, "'x.h5ad' is broken, or is no .h5ad file"),
}


@pytest.mark.parametrize(("name", "content", "message"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_wrong_files_get_one_sentence(tmp_path, name, content, message):
    if name.endswith(".h5ad"):
        pytest.importorskip("anndata", reason="the extra anndata is not installed")
    expect_error(message, save(tmp_path, name, content))


def test_files_that_are_not_there_are_searched_for(tmp_path):
    save(tmp_path, "penguins.csv", CSV)
    missing = tmp_path / "pengiuns.csv"
    expect_error(r"there is no file .*: did you mean 'penguins.csv'\?", missing, kind=OSError)
    nowhere = tmp_path / "no" / "penguins.csv"
    expect_error("there is no directory", nowhere, kind=FileNotFoundError)
    expect_error("is a directory: pass a file", tmp_path, kind=IsADirectoryError)
    expect_error("cannot read .*: File name too long", "x" * 999, kind=OSError)


def test_unreadable_files_are_named(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # the superuser may read everything
    expect_error("no permission to read .*t.csv'", tmp_path / "t.csv", kind=PermissionError)


def test_options_that_do_not_fit_are_refused(tmp_path):
    csv, array = save(tmp_path, "t.csv", CSV), save(tmp_path, "t.npy", npy(np.eye(2)))
    expect_error("format='xls' is not known: use 'csv', 'parquet'", csv, format="xls")
    expect_error("separator=';' is for text, but 't.npy' is read as npy", array, separator=";")
    expect_error("matrix='obsm:pca' is for .h5ad files", csv, matrix="obsm:pca")
    assert list(read_file(save(tmp_path, "t.data", CSV), format="csv").columns) == ["a", "b"]


def test_extras_that_are_not_installed_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "anndata", None)
    for name, extra in (("t.parquet", "arrow"), ("t.arrow", "arrow"), ("t.h5ad", "anndata")):
        message = rf'pip install "multifacet\[{extra}\]"'
        expect_error(message, save(tmp_path, name, "?"), kind=ImportError)
    expect_error(message.replace("anndata", "arrow"), tmp_path / "u.parquet", {"a": [1]},
                 kind=ImportError, call=write_table)  # fmt: skip


# Writing

TABLE = {
    "row": np.array(["a", "b", "c"], dtype=object),
    "label": np.array([0, 1, 1]),
    "x": [0.1, float("nan"), 1e-300],
    "text": ['say "hi"', None, "one, two\nthree"],
}
PANDAS_READERS = {
    "t.csv": pd.read_csv,
    "t.tsv": lambda path: pd.read_csv(path, sep="\t"),
    "t.csv.gz": pd.read_csv,
    "t.parquet": pd.read_parquet,
    "t.arrow": pd.read_feather,
    "t.feather": pd.read_feather,
}


@pytest.mark.parametrize("name", PANDAS_READERS)
def test_written_tables_are_read_by_others(tmp_path, name):
    path = write_table(tmp_path / name, TABLE)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    found = PANDAS_READERS[name](path)
    expected = pd.DataFrame(TABLE)
    pd.testing.assert_frame_equal(found.isna(), expected.isna())
    filled, wanted = (np.where(t.isna(), "-", t.astype(object)) for t in (found, expected))
    np.testing.assert_array_equal(filled, wanted)
    again = read_file(path)
    np.testing.assert_array_equal(np.asarray(again.columns["x"], dtype=float), TABLE["x"])


FORMULAS = [
    "=1+1",
    "+cmd",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\r=1",
    "'=1",
    "''-x",
    "-",
    "+",
    "'tis",
    "a=b",
]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz"])
def test_no_spreadsheet_finds_a_formula(tmp_path, name):
    names = ["=name", "@x", "plain", "n"]
    table = {names[0]: FORMULAS, names[1]: FORMULAS[::-1], names[2]: range(12)}
    table |= {names[3]: -np.arange(12.0), "spelled": ["-1.5"] * 12}
    path = write_table(tmp_path / name, table)
    seen = pd.read_csv(path, sep="," if name == "t.csv" else "\t", keep_default_na=False)
    texts = [*seen.columns, *seen.iloc[:, 0], *seen.iloc[:, 1]]
    assert [text for text in texts if text[0] in "=+-@\t\r" and len(text) > 1] == []
    assert seen["n"].tolist() == (-np.arange(12.0)).tolist()
    assert seen["spelled"].tolist() == [-1.5] * 12
    again = read_file(path).columns
    assert list(again) == list(table)
    assert again["=name"].tolist() == FORMULAS
    assert again["@x"].tolist() == FORMULAS[::-1]


def test_the_same_table_gives_the_same_bytes(tmp_path):
    first = write_table(tmp_path / "a.csv.gz", TABLE).read_bytes()
    assert write_table(tmp_path / "b.csv.gz", TABLE).read_bytes() == first


def test_wrong_tables_are_refused(tmp_path):
    expect_error("unknown format", tmp_path / "t.xlsx", TABLE, call=write_table)
    expect_error("unknown format", tmp_path / "t.parquet.gz", TABLE, call=write_table)
    short = {"a": [1], "b": [1, 2]}
    expect_error("column 'a' has 1 values", tmp_path / "t.csv", short, call=write_table)
    large = {"a": [2**64, 1]}
    for name in ("t.parquet", "t.arrow"):
        expect_error(
            "column 'a' holds whole numbers of more", tmp_path / name, large, call=write_table
        )
    assert not list(tmp_path.iterdir())


def test_json_is_strict(tmp_path):
    value = {
        1: np.arange(3),
        "none": [float("nan"), np.inf, -np.inf, np.float32("nan")],
        "pair": (np.bool_(True), np.int64(2)),
        "text": "<é>",
        "array": np.array([[0.5, np.nan]]),
    }
    path = write_json(tmp_path / "v.json", value)

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert found == {
        "1": [0, 1, 2],
        "none": [None] * 4,
        "pair": [True, 2],
        "text": "<é>",
        "array": [[0.5, None]],
    }
    assert "é" in path.read_text(encoding="utf-8")
    with pytest.raises(TypeError, match="not JSON serializable"):
        to_json({"what": object()})


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("no"), MemoryError])
def test_what_goes_wrong_leaves_the_old_file(tmp_path, error):
    path = write_text(tmp_path / "t.txt", "old")

    def fail():
        with atomic(path) as draft:
            assert draft.suffix == ".txt"
            draft.write_text("half", encoding="utf-8")
            raise error

    with pytest.raises((KeyboardInterrupt, ValueError, MemoryError)):
        fail()
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["t.txt"]


def test_unwritable_places_are_named(tmp_path):
    file = write_text(tmp_path / "t.txt", "x")
    folder = tmp_path / "folder"
    folder.mkdir()
    problems = {
        folder: "folder': Is a directory",
        file / "t.txt": "Not a directory",
        tmp_path / "no" / "t.txt": "its directory does not exist",
    }
    for path, problem in problems.items():
        expect_error(f"cannot write .*{problem}", path, "", kind=OSError, call=write_text)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "t.txt"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk_is_named_and_a_device_is_not_replaced(tmp_path):
    link = tmp_path / "full.txt"
    link.symlink_to("/dev/full")  # never the device itself: a mistake would replace it
    expect_error("full.txt': the disk is full", link, "x" * 10**6, kind=OSError, call=write_text)
    assert link.is_symlink()
    assert [file.name for file in tmp_path.iterdir()] == ["full.txt"]


def test_written_files_have_the_usual_permissions(tmp_path):
    plain = save(tmp_path, "plain.txt", "x")
    written = write_text(tmp_path / "written.txt", "x")
    assert written.stat().st_mode == plain.stat().st_mode


def test_shared_files_are_read_as_they_are(load_shared):
    X, labels = load_shared("moon_400", 2)
    columns = read_file(DATA / "moon_400.csv").columns
    features = [column for name, column in columns.items() if name not in labels]
    np.testing.assert_array_equal(np.column_stack(features), X)
