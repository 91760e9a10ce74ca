"""Data as people have it become numbers, and what cannot become numbers gets one clear sentence."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_matrix, csr_array, csr_matrix, issparse

from multifacet import frames
from multifacet.datasets import load_penguins
from multifacet.frames import MAX_CATEGORIES, Column, Encoding
from multifacet.frames.table import columns_of
from multifacet.validation import check_labelings

BIRDS = {
    "name": ["Ada", "Bob", "Cy", "Dee", "Eve", "Flo"],
    "species": ["Adelie", "Adelie", "Gentoo", "Gentoo", "Chinstrap", "Chinstrap"],
    "mass": [3750.0, 3800.0, 4950.0, 5100.0, 3700.0, 3600.0],
    "wing": [181, 186, 211, 219, 196, 190],
    "sex": ["male", "female", "female", "male", "female", "male"],
    "island": ["Biscoe", "Torgersen", "Biscoe", "Biscoe", "Dream", "Dream"],
    "tagged": [True, False, False, True, True, True],
}
FEATURES = [
    "mass", "wing", "sex=male", "island=Biscoe", "island=Dream", "island=Torgersen", "tagged",
]  # fmt: skip
ROLES = {"given": "species", "identifier": "name"}
RNG = np.random.default_rng(0)


def prepare(data, **options):
    """All columns are features, whatever they look like: here is how they become numbers."""
    columns = columns_of(data)
    return frames.prepare(data, features=columns and [name for name, _ in columns], **options)


def to_pyarrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


FRAMES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": to_pyarrow}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def expect_error(message, *arguments, call=prepare, **options):
    with pytest.raises(ValueError, match=message) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)


def birds(**changes):
    return {**BIRDS, **changes}


def numbers(n=6, d=3):
    return RNG.normal(size=(n, d))


# Encoding


@every_frame
def test_all_frames_give_the_same(make):
    expected = prepare(BIRDS, **ROLES)
    prepared = prepare(make(BIRDS), **ROLES)
    assert prepared.encoding.feature_names == FEATURES
    assert prepared.given_names == ["species"]
    assert prepared.given[0].tolist() == BIRDS["species"]
    assert prepared.index.tolist() == BIRDS["name"]
    assert prepared.rows.tolist() == list(range(6))
    assert prepared.imputed == {}
    assert prepared.X.dtype == np.float64
    np.testing.assert_array_equal(prepared.X, expected.X)
    assert prepared.encoding.columns == expected.encoding.columns


def test_columns_remember_their_features():
    encoding = prepare(BIRDS, **ROLES).encoding
    assert encoding.identifier == "name"
    assert encoding.columns == [
        Column("mass", "number", [], [0]),
        Column("wing", "number", [], [1]),
        Column("sex", "category", ["female", "male"], [2]),
        Column("island", "category", ["Biscoe", "Dream", "Torgersen"], [3, 4, 5]),
        Column("tagged", "boolean", [], [6]),
    ]


def test_every_column_weighs_as_one_number():
    prepared = prepare(BIRDS, **ROLES)
    np.testing.assert_allclose(prepared.X.mean(axis=0), 0, atol=1e-12)
    for column in prepared.encoding.columns:
        assert prepared.X[:, column.features].var(axis=0).sum() == pytest.approx(1)


def test_mean_and_scale_lead_back_to_the_encoded_values():
    prepared = prepare(BIRDS, **ROLES)
    encoded = prepared.X * prepared.encoding.scale + prepared.encoding.mean
    plain = prepare(BIRDS, **ROLES, standardize=False)
    np.testing.assert_allclose(encoded, plain.X, atol=1e-9)
    assert plain.X[:, 0].tolist() == BIRDS["mass"]
    assert plain.X[:, 2].tolist() == [1, 0, 0, 1, 0, 1]
    assert plain.X[:, 3:6].sum(axis=1).tolist() == [1] * 6
    assert plain.X[:, 6].tolist() == BIRDS["tagged"]
    assert not plain.encoding.mean.any()
    assert (plain.encoding.scale == 1).all()


def test_penguins_from_a_frame():
    X, labelings = load_penguins(as_frame=True)
    prepared = prepare(pd.concat([X, labelings], axis=1), given=["species", "sex"])
    np.testing.assert_allclose(prepared.X, (X - X.mean()) / X.std(ddof=0), atol=1e-12)
    assert prepared.given_names == ["species", "sex"]
    assert [len(np.unique(codes)) for codes in check_labelings(prepared.given, 333)] == [3, 2]


def test_exclude_takes_a_name_or_several():
    one = prepare(BIRDS, **ROLES, exclude="island").encoding.feature_names
    assert one == [name for name in FEATURES if not name.startswith("island")]
    assert prepare(BIRDS, **ROLES, exclude=["island", "mass"]).encoding.feature_names == one[1:]


def test_declared_order_of_categories():
    sizes = ["small", "large", "medium", "small", "large", "small"]
    order = ["small", "medium", "large", "huge"]
    for column in (
        pd.Series(pd.Categorical(sizes, order, ordered=True)),
        pl.Series(sizes, dtype=pl.Enum(order)),
    ):
        encoding = prepare({"size": column}).encoding
        assert encoding.columns[0].categories == order[:3]  # none is huge
    unordered = prepare({"size": pl.Series(sizes, dtype=pl.Categorical)}).encoding
    assert unordered.columns[0].categories == ["large", "medium", "small"]


def test_second_of_two_categories_is_the_feature():
    frame = pd.DataFrame({"sex": pd.Categorical(["m", "f", "f"], ["m", "f"])})
    assert prepare(frame).encoding.feature_names == ["sex=f"]


def test_categories_of_any_type():
    frame = pd.DataFrame({"mass": numbers()[:, 0], "wing": BIRDS["wing"]})
    frame["band"] = pd.cut(frame["wing"], [0, 190, 300])
    frame["code"] = pd.Categorical([1, 2, 3, 1, 2, 3])
    names = prepare(frame).encoding.feature_names
    assert names == ["mass", "wing", "band=(190, 300]", "code=1", "code=2", "code=3"]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["1.5", " 2", "-3e1", "4"], "number"),
        ([Decimal("1.5"), Decimal(2), Decimal(3), Decimal(4)], "number"),
        (pd.Series([1, 2, 2, 4], dtype="Int64"), "number"),
        (np.array([1, 2, 3, 4], dtype=np.uint8), "number"),
        (np.array([1, "2", 3.5, 4], dtype=object), "number"),
        (pd.Series([True, False, True, True], dtype="boolean"), "boolean"),
        (np.array([True, False, True, True], dtype=object), "boolean"),
        (["1_2", "1_2", "1_3", "1_3"], "category"),
        (["1", "2", "unknown", "2"], "category"),
        (np.array(["a", "a", "b", "b"]), "category"),
        (pd.Series(["1", "2", "3", "1"], dtype="category"), "category"),
        (pl.Series(["1", "2", "3", "1"], dtype=pl.Categorical), "category"),
        (pd.Categorical([1, 2, 3, 1]), "category"),
    ],
)
def test_kinds(column, kind):
    assert prepare({"a": column}).encoding.columns[0].kind == kind


def test_arrays_and_lists():
    X = numbers()
    prepared = prepare(X)
    np.testing.assert_allclose(prepared.X, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-12)
    assert prepared.encoding.feature_names == ["x0", "x1", "x2"]
    assert prepared.index.tolist() == list(range(6))
    np.testing.assert_array_equal(prepare(X.tolist()).X, prepared.X)
    np.testing.assert_array_equal(prepare(X.astype(object)).X, prepared.X)
    mixed = prepare([[1, "a", True], [2, "b", False], [4, "a", True]]).encoding
    assert mixed.feature_names == ["x0", "x1=b", "x2"]


def test_single_precision_stays():
    X = numbers().astype(np.float32)
    prepared = prepare(X)
    assert prepared.X.dtype == prepared.encoding.transform(X).dtype == np.float32
    assert prepare(csr_matrix(X)).X.dtype == np.float32
    assert prepare(X.astype(np.float16)).X.dtype == np.float64
    assert prepare(pd.DataFrame(X)).X.dtype == np.float64


@pytest.mark.filterwarnings("ignore:filled in")
def test_input_is_left_alone():
    array, frame = numbers(), pd.DataFrame(BIRDS)
    frame.loc[1, "mass"] = np.nan
    before = array.copy(), frame.copy()
    prepare(array).X[:] = 7
    prepare(array, standardize=False).X[:] = 7
    prepare(frame, **ROLES, missing="impute")
    np.testing.assert_array_equal(array, before[0])
    pd.testing.assert_frame_equal(frame, before[1])


def test_no_data_frame_library_is_imported():
    code = (
        "import sys, multifacet.frames as f; f.prepare({'a': [1, 2, 4], 'b': ['x', 'y', 'x']}); "
        "assert not {'pandas', 'polars', 'pyarrow', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Row identifiers


@pytest.mark.filterwarnings("ignore:left out")
def test_index_of_pandas():
    frame = pd.DataFrame({"a": [1, 2, 4]}, index=["u", "v", "w"])
    assert prepare(frame).index.tolist() == ["u", "v", "w"]
    assert prepare(frame.reset_index(drop=True)).index.tolist() == [0, 1, 2]
    assert prepare(frame.assign(key=[7, 8, 9]), identifier="key").index.tolist() == [7, 8, 9]
    dropped = prepare(frame.assign(a=[1, np.nan, 3]), missing="drop")
    assert dropped.index.tolist() == ["u", "w"]


# Given labels


def test_given_forms():
    X, first, second = numbers(), [0, 0, 1, 1, 2, 2], ["a", "b", "a", "b", "a", "b"]

    def names_and_labels(given):
        prepared = prepare(X, given=given)
        return prepared.given_names, [labels.tolist() for labels in prepared.given]

    assert names_and_labels(None) == ([], [])
    for labels in (np.array(first), first, tuple(first), np.array(first, dtype=float)):
        assert names_and_labels(labels) == (["given"], [first])
    assert names_and_labels(second) == (["given"], [second])
    assert names_and_labels(pd.Series(second, name="sex")) == (["sex"], [second])
    assert names_and_labels(pl.Series("sex", second)) == (["sex"], [second])
    assert names_and_labels([first, second]) == (["given[0]", "given[1]"], [first, second])
    both = np.column_stack([first, first])
    assert names_and_labels(both) == (["given[0]", "given[1]"], [first, first])
    for make in (dict, pd.DataFrame, pl.DataFrame):
        assert names_and_labels(make({"k": first, "s": second})) == (["k", "s"], [first, second])


def test_given_names_or_text_labels():
    frame = pd.DataFrame({"a": [1, 2, 3, 5], "b": [0, 0, 1, 1], "c": [4, 1, 2, 2]})
    by_name = prepare(frame, given=["b"])
    assert (by_name.given_names, by_name.encoding.feature_names) == (["b"], ["a", "c"])
    for labels in (["u", "v", "u", "v"], ["a", "a", "b", "b"]):
        prepared = prepare(frame, given=labels)
        assert prepared.given[0].tolist() == labels
        assert prepared.encoding.feature_names == ["a", "b", "c"]
    assert prepare(pd.DataFrame({0: [1, 2, 4], 1: [0, 1, 1]}), given=1).given_names == ["1"]


@pytest.mark.parametrize(
    ("message", "given"),
    [
        (r"given='specie' is not a column: did you mean 'species'\? The columns are 'n", "specie"),
        (r"given='SEX' is not a column: did you mean 'sex'\?", ["mass", "SEX"]),
        (r"given='zzz' is not a column: the columns are 'name', 'species'", "zzz"),
        (r"given has 5 labels for 6 rows", [0, 0, 1, 1, 1]),
        (r"given has 5 labels for 6 rows", list("aabbb")),
        (r"given\[1\] has 5 labels for 6 rows", [[0, 1] * 3, [0, 0, 1, 1, 1]]),
        (r"given column 'k' has 2 labels for 6 rows", {"k": [0, 1]}),
        (r"given has 1 missing value in row 2: drop .*missing='drop'", [0, 0, None, 1, 1, 0]),
        (r"given has 1 infinite value in row 0", [np.inf, 0, 0, 1, 1, 0]),
        (r"given has 3 dimensions", np.zeros((6, 1, 1))),
        (r"given is empty", np.zeros((6, 0))),
        (r"given is empty", pd.DataFrame()),
    ],
)
def test_bad_given(message, given):
    expect_error(message, BIRDS, given=given, exclude="name")


@pytest.mark.parametrize("argument", ["given", "exclude", "identifier"])
def test_names_need_a_frame_and_a_column(argument):
    message = rf"{argument}='mass' names a column, but data has no column names: pass a data frame"
    for data in (numbers(), numbers().tolist(), csr_matrix(numbers())):
        expect_error(message, data, **{argument: "mass"})
    expect_error(rf"{argument}='mas' is not .*did you mean 'mass'", BIRDS, **{argument: "mas"})


def test_at_most_ten_columns_are_shown():
    wide = {f"c{j:02}": [1, 2, 4] for j in range(12)}
    expect_error(r"'c09', \.\.\. \(12 in all\)$", wide, given="zzz")


# Missing and infinite values


def test_missing_is_an_error_that_says_where():
    mass = [3750.0, np.nan, 4950.0, np.nan, 3700.0, 3600.0]
    remedy = r"drop or impute them first \(missing='impute' or missing='drop'\)"
    expect_error(
        rf"column 'mass' has 2 missing values in rows 1, 3: {remedy}", birds(mass=mass), **ROLES
    )
    sex = ["male", "", "female", "male", "female", "male"]
    expect_error(
        rf"column 'mass' has 2 missing values in rows 1, 3 \(and 1 more column\): {remedy}",
        birds(mass=mass, sex=sex),
        **ROLES,
    )
    X = numbers(20)
    X[3:12, 1] = np.nan
    expect_error(r"column 1 has 9 missing values in rows 3, 4, 5, 6, 7, \.\.\.:", X)


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.filterwarnings("ignore:filled in")
@pytest.mark.parametrize(
    "column",
    [
        [1.0, None, 3.0],
        ["1", "nan", "3"],
        ["a", None, "b"],
        ["a", " ", "b"],
        ["a", np.nan, "b"],
        [True, None, False],
        np.ma.masked_array([1.0, 2.0, 4.0], [False, True, False]),
        pd.Series([1, pd.NA, 3], dtype="Int64"),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([1, pd.NaT, 3], dtype=object),
        pl.Series([1, None, 3]),
        pl.Series([True, None, False]),
        pl.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"], dtype=pl.Categorical),
    ],
    ids=repr,
)
def test_everything_that_is_missing(column):
    message = r"column 'a' has 1 missing value in row 1:"
    expect_error(message, {"a": column, "b": [1, 2, 4]})
    assert prepare({"a": column, "b": [1, 2, 4]}, missing="drop").rows.tolist() == [0, 2]
    prepared = prepare({"a": column, "b": [1, 2, 4]}, missing="impute")
    assert prepared.imputed == {"a": 1}


@pytest.mark.filterwarnings("ignore:left out")
def test_arrow_nulls():
    pa = pytest.importorskip("pyarrow")
    for values in ([1, None, 3], [True, None, False], ["a", None, "b"]):
        expect_error(r"1 missing value in row 1", pa.table({"a": pa.array(values)}))
    # As a numpy array, a dictionary turns its nulls into categories.
    coded = pa.array(["b", None, "a", "a"]).dictionary_encode()
    expect_error(r"1 missing value in row 1", pa.table({"a": coded}))
    assert prepare(pa.table({"a": coded}), missing="drop").encoding.feature_names == ["a=b"]
    assert prepare({"a": pa.array([1, 2, 3, 1]).dictionary_encode()}).X.shape == (4, 3)
    batch = pa.record_batch({"a": pa.array([1.0, 2.0, 4.0])})
    assert prepare(batch).X.shape == (3, 1)


@pytest.mark.parametrize("missing", ["error", "impute", "drop"])
def test_infinity_is_always_an_error(missing):
    X = numbers()
    X[2, 1] = -np.inf
    for data in (X, X.tolist()):
        expect_error(r"column 1 has 1 infinite value in row 2: replace", data, missing=missing)
    expect_error(r"column 1 has 1 infinite value in row 2", csr_matrix(X), missing=missing)
    expect_error(r"'a' has 1 infinite value", {"a": ["1", "inf", "2"]}, missing=missing)


@pytest.mark.filterwarnings("ignore:filled in")
def test_impute():
    data = birds(
        mass=[1.0, np.nan, 2.0, 2.0, 9.0, np.nan],
        sex=["male", "female", None, "male", "female", "male"],
        tagged=[True, None, False, True, True, True],
    )
    prepared = prepare(data, **ROLES, missing="impute", standardize=False)
    assert prepared.imputed == {"mass": 2, "sex": 1, "tagged": 1}
    assert prepared.X[:, 0].tolist() == [1, 2, 2, 2, 9, 2]
    assert prepared.X[2, 2] == 1
    assert prepared.X[1, 6] == 1
    new = {**data, "mass": [None] * 6, "wing": [None] * 6}
    again = prepared.encoding.transform(new)
    assert (again[:, 0] == 2).all()
    assert (again[:, 1] == np.median(BIRDS["wing"])).all()


def test_drop():
    data = birds(
        mass=[1.0, np.nan, 2.0, 2.5, 9.0, 4.0],
        species=["Adelie", "Adelie", None, "Gentoo", "Chinstrap", "Chinstrap"],
        tagged=[True, True, False, False, True, True],
    )
    with pytest.warns(UserWarning, match="left out 2 of 6 rows with missing values"):
        prepared = prepare(data, **ROLES, missing="drop")
    assert prepared.rows.tolist() == [0, 3, 4, 5]
    assert prepared.index.tolist() == ["Ada", "Dee", "Eve", "Flo"]
    assert prepared.given[0].tolist() == ["Adelie", "Gentoo", "Chinstrap", "Chinstrap"]
    assert prepared.imputed == {}
    np.testing.assert_allclose(prepared.X.mean(axis=0), 0, atol=1e-12)
    # Torgersen went with its only row.
    assert prepared.encoding.columns[3].categories == ["Biscoe", "Dream"]


@pytest.mark.filterwarnings("ignore:filled in")
def test_labels_are_never_imputed():
    data = birds(
        species=["Adelie", None, "Gentoo", "Gentoo", None, "Adelie"],
        mass=[1.0, 2.0, np.nan, 3.0, 4.0, 5.0],
    )
    message = r"given column 'species' has 2 missing values in rows 1, 4: drop their rows"
    expect_error(message, data | {"mass": np.arange(6.0)}, **ROLES)
    with pytest.warns(UserWarning, match="left out 2 of 6 rows without a label"):
        prepared = prepare(data, **ROLES, missing="impute")
    assert prepared.rows.tolist() == [0, 2, 3, 5]
    assert prepared.given[0].tolist() == ["Adelie", "Gentoo", "Gentoo", "Adelie"]
    assert prepared.imputed == {"mass": 1}


def test_missing_cells_of_columns_that_are_not_used_do_not_matter():
    data = birds(sex=[None] * 6)
    assert "sex=male" not in prepare(data, **ROLES, exclude="sex").encoding.feature_names


# Columns that are no features


CITIES = [f"city {i % (MAX_CATEGORIES + 1)}" for i in range(100)]
LONG = {"a": np.arange(100.0), "city": CITIES}


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (
            r"column 'name' holds text with 6 different values in 6 rows: "
            r"pass identifier='name' or exclude=\['name'\]",
            BIRDS,
        ),
        (r"column 'city' has 31 different values: group .*exclude=\['city'\]", LONG),
        (r"column 0 holds text with 3 .*: take it out of data", [["a", 1], ["b", 2], ["c", 4]]),
        (r"'day' holds dates or times: .*exclude=\['day'\]", {"day": [dt.date(2020, 1, 1)] * 3}),
        (r"'day' holds dates", {"day": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
        (r"'day' holds dates", {"day": pl.Series([dt.datetime(2020, 1, 1)] * 3)}),
        (r"'day' holds dates", {"day": np.array([1, 2], dtype="timedelta64[D]")}),
        (r"'a' has no values at all: leave it out", {"a": [None, None], "b": [1, 2]}),
        (r"'a' has no values at all", {"a": ["nan", "nan"], "b": [1, 2]}),
        (r"column 'a' holds values of type complex: pass one number", {"a": [1j, 2.0]}),
        (r"column 0 holds values of type complex", np.ones((3, 2)) * 1j),
        (r"column 'a' holds values of type dict", {"a": [{}, {"b": 1}]}),
        (r"'a' holds lists of several lengths: .* in row 1", pd.DataFrame({"a": [[1], [1, 2]]})),
        (r"'a' holds lists of several lengths: .* in row 1", pl.DataFrame({"a": [[1], [1, 2]]})),
        (r"column 'a' has values of shape \(1, 2\)", {"a": [[[1, 2]], [[3, 4]]]}),
        (r"column 'a' is 3: pass one number, truth value or text per row", {"a": 3}),
        (r"column 'a' is 'xyz'", {"a": "xyz"}),
        (r"column 'b' has 2 values, others have 3", {"a": [1, 2, 3], "b": [1, 2]}),
        (r"column 'a' holds values too large", {"a": [1e300, -1e300, 1e300]}),
    ],
)
def test_bad_columns(message, data):
    expect_error(message, data)


@pytest.mark.parametrize(
    ("message", "data", "options"),
    [
        (r"several columns named 'a'", pd.DataFrame(np.eye(2), columns=["a", "a"]), {}),
        (r"several columns named '1'", {1: [1, 2], "1": [1, 2]}, {}),
        (r"no column is left as a feature: .*'b' is none: excluded; 'a' is given",
         {"a": [1, 2], "b": [1, 2]}, {"given": "a", "exclude": "b"}),
        (r"data has no columns", np.zeros((4, 0)), {}),
        (r"all columns are constant", np.ones((4, 2)), {}),
        (r"all columns are constant", csr_matrix(np.zeros((4, 2))), {}),
        (r"too few rows \(1\): at least 2", {"a": [1]}, {}),
        (r"too few rows \(0\)", {}, {}),
        (r"too few rows \(0\)", np.zeros((0, 3)), {}),
        (r"only 1 of 2 rows have no missing values", {"a": [1, None]}, {"missing": "drop"}),
        (r"data has shape \(3,\): pass rows of equal length", [1, 2, 3], {}),
        (r"data has shape \(2,\): pass rows of equal length", [[1, 2], [3]], {}),
        (r"data is of type str: pass a data frame", "penguins.csv", {}),
        (r"exclude='2.5' is not a column", {"a": [1, 2]}, {"exclude": 2.5}),
        (r"data has shape \(3,\)", pd.Series([1, 2, 3]), {}),
        (r"data has shape \(2, 2, 2\)", np.zeros((2, 2, 2)), {}),
        (r"data is a LazyFrame.*call \.collect\(\)", pl.LazyFrame({"a": [1, 2]}), {}),
        (r"missing='ignore' is not known: use 'error', 'impute', 'drop'", BIRDS,
         {"missing": "ignore"}),
        (r"standardize='yes' is not known: use True, False", BIRDS, {"standardize": "yes"}),
        (r"sparse matrix of type complex128: pass real", csr_matrix(np.eye(3) * 1j), {}),
    ],
)  # fmt: skip
def test_bad_data(message, data, options):
    expect_error(message, data, **options)


def test_two_rows_of_two_words_are_a_category():
    assert prepare({"sex": ["male", "female"]}).encoding.feature_names == ["sex=male"]


def test_constant_columns_are_said_and_recorded():
    data = birds(wing=[7] * 6, sex=["male"] * 6, tagged=[True] * 6, mass=[0.1 + 0.2, 0.3] * 3)
    message = "left out 4 constant columns: 'mass', 'wing', 'sex', 'tagged'"
    with pytest.warns(UserWarning, match=message) as warned:
        prepared = prepare(data, **ROLES)
    assert warned[0].filename == __file__
    assert [len(column.features) for column in prepared.encoding.columns] == [0, 0, 0, 3, 0]
    assert [column.kind for column in prepared.encoding.columns][1:3] == ["number", "category"]
    new = prepared.encoding.transform({"island": BIRDS["island"]})  # the others are not needed
    np.testing.assert_array_equal(new, prepared.X)


# New rows, saving and loading


@every_frame
def test_transform_and_saving(make):
    prepared = prepare(BIRDS, **ROLES)
    loaded = Encoding.from_dict(json.loads(json.dumps(prepared.encoding.to_dict())))
    assert loaded.to_dict() == prepared.encoding.to_dict()
    assert loaded.columns == prepared.encoding.columns
    new = {name: values[1:3] for name, values in reversed(BIRDS.items()) if name != "species"}
    for encoding in (prepared.encoding, loaded):
        X = encoding.transform(make({**new, "extra": [dt.date(2020, 1, 1)] * 2}))
        np.testing.assert_array_equal(X, prepared.X[1:3])


def test_saving_an_imputing_encoding():
    encoding = prepare(BIRDS, **ROLES, missing="impute").encoding
    loaded = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    gaps = {name: [None] for name in BIRDS}
    np.testing.assert_array_equal(loaded.transform(gaps), encoding.transform(gaps))


def test_transform_reads_new_columns_as_the_old_ones():
    data = {"code": pd.Categorical([1, 2, 3, 1]), "flag": [True, False, True, True]}
    encoding = prepare({**data, "size": ["1", "2", "3", "5"]}, standardize=False).encoding
    X = encoding.transform({"code": [3.0], "flag": [0], "size": ["5"]})
    assert X.tolist() == [[0, 0, 1, 0, 5]]
    X = encoding.transform({"code": ["1"], "flag": [1.0], "size": [True]})
    assert X.tolist() == [[1, 0, 0, 1, 1]]
    assert encoding.transform({"code": [], "flag": [], "size": []}).shape == (0, 5)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (r"'island' has the unknown value 'Elba' in row 1: known are 'Biscoe', 'Dream', 'Torg",
         {"island": ["Dream", "Elba"]}),
        (r"column 'mass' has 1 missing value in row 0: drop or impute them first; rows are",
         {"mass": [None, 1.0]}),
        (r"column 'sex' has 1 missing value in row 1", {"sex": ["male", None]}),
        (r"column 'mass' has 1 infinite value", {"mass": [np.inf, 1.0]}),
        (r"column 'mass' holds categories such as 'heavy', but held numbers when",
         {"mass": ["heavy", "1"]}),
        (r"column 'tagged' holds numbers such as .*, but held truth values", {"tagged": [2, 0]}),
        (r"column 'sex' holds dates such as '2020-01-01', but held categories",
         {"sex": [dt.date(2020, 1, 1)] * 2}),
    ],
)  # fmt: skip
def test_bad_new_rows(message, changes):
    encoding = prepare(BIRDS, **ROLES).encoding
    new = {name: values[:2] for name, values in BIRDS.items()}
    expect_error(message, {**new, **changes}, call=encoding.transform)


@pytest.mark.parametrize(
    "gaps", [[None] * 2, ["", " "], [pd.NaT] * 2, pd.Categorical([None] * 2), np.full(2, np.nan)]
)
@pytest.mark.parametrize("name", ["mass", "sex", "tagged"])
def test_new_rows_without_any_value_are_of_every_kind(gaps, name):
    encoding = prepare(BIRDS, **ROLES, missing="impute", standardize=False).encoding
    new = {**{key: values[:2] for key, values in BIRDS.items()}, name: gaps}
    column = next(column for column in encoding.columns if column.name == name)
    fill = column.fill == "male" if name == "sex" else column.fill
    assert encoding.transform(new)[:, column.features[0]].tolist() == [fill] * 2


def test_new_rows_without_their_columns():
    encoding = prepare(BIRDS, **ROLES).encoding
    new = {("Mass" if name == "mass" else name): values for name, values in BIRDS.items()}
    expect_error(r"data has no column 'mass': did you mean 'Mass'", new, call=encoding.transform)
    message = r"data has 5 columns without names, but the encoding was made from 5 columns: 'mass'"
    expect_error(message, np.ones((2, 5)), call=encoding.transform)
    plain = prepare(numbers()).encoding
    expect_error(r"2 columns without names, .* from 3", np.ones((2, 2)), call=plain.transform)
    expect_error(r"data has no column 'x0'", pd.DataFrame({"a": [1]}), call=plain.transform)


# Sparse data


@pytest.mark.parametrize("make", [csr_matrix, csr_array, coo_matrix])
def test_sparse_is_scaled_and_stays_sparse(make):
    dense = RNG.poisson(0.5, size=(50, 6)).astype(float)
    dense[:, 2] = 0
    data = make(dense)
    with pytest.warns(UserWarning, match="left out 1 constant column: 'x2'"):
        prepared = prepare(data, given=np.arange(50) % 2)
    assert issparse(prepared.X)
    kept = [0, 1, 3, 4, 5]
    np.testing.assert_allclose(prepared.X.toarray(), dense[:, kept] / dense[:, kept].std(axis=0))
    assert not prepared.encoding.mean.any()
    loaded = Encoding.from_dict(json.loads(json.dumps(prepared.encoding.to_dict())))
    again = loaded.transform(data)
    assert issparse(again)
    np.testing.assert_array_equal(again.toarray(), prepared.X.toarray())
    np.testing.assert_allclose(loaded.transform(dense), prepared.X.toarray())
    np.testing.assert_array_equal(data.toarray(), dense)


def test_sparse_as_it_is():
    data = csr_matrix(np.eye(4))
    prepared = prepare(data, standardize=False)
    np.testing.assert_array_equal(prepared.X.toarray(), np.eye(4))
    prepared.X.data[:] = 7
    assert (data.data == 1).all()


@pytest.mark.filterwarnings("ignore:left out")
def test_sparse_missing():
    dense = RNG.poisson(0.7, size=(30, 4)).astype(float)
    dense[[3, 8], 1] = np.nan
    dense[5, 2] = np.nan
    for missing in ("error", "impute"):
        expect_error(
            r"column 1 has 2 missing values in rows 3, 8 \(and 1 more column\): sparse data cannot "
            r"be imputed, so drop them first \(missing='drop'\)",
            csr_matrix(dense),
            missing=missing,
        )
    prepared = prepare(csr_matrix(dense), missing="drop")
    assert prepared.X.shape == (27, 4)
    assert not {3, 5, 8} & set(prepared.rows.tolist())


def test_sparse_rows_for_another_encoding():
    encoding = prepare(numbers()).encoding
    message = r"data is a sparse matrix with 3 columns, but the encoding was not made from such"
    expect_error(message, csr_matrix(numbers()), call=encoding.transform)
