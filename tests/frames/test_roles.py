"""What columns are for, when nobody said so: the safe guess, and a sentence about it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from multifacet.datasets import load_penguins
from multifacet.frames import MAX_CATEGORIES
from multifacet.frames.notes import Note
from multifacet.frames.roles import assign_roles

N = 60
RNG = np.random.default_rng(0)
MEASURED = {"mass": RNG.normal(size=N), "wing": RNG.normal(size=N)}
SPELLED = "looks like numbers with a decimal comma, thousands separators or units"


def table(**columns):
    return MEASURED | columns


def cycle(*values):
    """Return N values that repeat."""
    return [values[i % len(values)] for i in range(N)]


LEFT_OUT = {
    "constant number": ([7.0] * N, "constant"),
    "constant text": (["x"] * N, "constant"),
    "constant where known": (cycle(1.0, np.nan), "the same value wherever it has one"),
    "no values": ([None] * N, "no values"),
    "dates": (cycle(dt.date(2026, 1, 1), dt.date(2026, 1, 2)), "dates or times"),
    "datetimes": (np.arange(N).astype("datetime64[D]"), "dates or times"),
    "dates as text": ([f"2026-01-{1 + i % 28:02d}" for i in range(N)], "dates or times"),
    "times as text": ([f"2026-01-01T10:{i:02d}:00" for i in range(N)], "dates or times"),
    "German dates": ([f"{1 + i % 28}.05.2022" for i in range(N)], "dates or times"),
    "American dates": ([f"05/{1 + i % 28:02d}/2022 10:30" for i in range(N)], "dates or times"),
    "German thousands": ([f"{1 + i}.234,56" for i in range(N)], SPELLED),
    "English thousands": ([f"{1 + i},234.50" for i in range(N)], SPELLED),
    "decimal comma": ([f"{i},5" for i in range(N)], SPELLED),
    "percent": (cycle("10 %", "20 %", "5%"), SPELLED),
    "money": ([f"\N{EURO SIGN} {i}" for i in range(N)], SPELLED),
    "codes": (cycle("007", "012", "013"), "looks like labels"),
    "versions": (cycle("1.2.3", "1.10.0"), "looks like labels"),
    "many words": ([f"word {i % (MAX_CATEGORIES + 1)}" for i in range(N)], "text with many values"),
    "few words": (cycle("male", "female"), "looks like labels"),
    "truth": (cycle(True, False), "looks like labels"),
    "truth with gaps": (cycle(True, False, None), "looks like labels"),
    "categories": (pd.Categorical(cycle("a", "b", "c")), "looks like labels"),
    "polars": (pl.Series(cycle("a", "b"), dtype=pl.Categorical), "looks like labels"),
    "two numbers": (cycle(0, 1), "looks like labels"),
    "two halves": (cycle(0.5, 1.5), "looks like labels"),
    "lists": ([[1], [1, 2]] * (N // 2), "neither numbers nor text"),
}


@pytest.mark.parametrize(("column", "reason"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_no_measurement_is_left_out_and_said(column, reason):
    roles = assign_roles(table(odd=column))
    assert roles.features == ["mass", "wing"]
    assert roles.left_out == {"odd": reason}
    assert roles.identifier is None
    (note,) = roles.notes
    assert note.columns == ("odd",)
    assert note.before.startswith(f"left out 'odd': {reason}")


@pytest.mark.parametrize("name", ["class", "Cluster", "target", "group_no", "y", "batchCode"])
def test_whole_numbers_are_labels_by_their_name(name):
    roles = assign_roles(table(**{name: cycle(1, 2, 3)}))
    assert roles.left_out == {name: "looks like labels"}
    fact = f"left out {name!r}: looks like labels; "
    assert roles.notes == [Note(fact, "given or feature", (name,))]
    fractions = assign_roles(table(**{name: cycle(1.5, 2, 3)}))
    assert fractions.features == ["mass", "wing", name]


def test_counts_are_features_with_a_remark():
    roles = assign_roles(table(rooms=cycle(1, 2, 3, 4), year=1900 + np.arange(N)))
    assert roles.features == ["mass", "wing", "rooms", "year"]
    (note,) = roles.notes
    assert note.before.startswith("'rooms' used as numbers")
    assert (note.remedy, note.columns) == ("given or left out", ("rooms",))


def test_tables_of_codes_are_data():
    counts = {f"c{j}": RNG.integers(0, 9, size=N) for j in range(4)}
    assert assign_roles(counts).features == list(counts)
    assert assign_roles(counts).notes == []
    bits = {f"b{j}": RNG.integers(0, 2, size=N) for j in range(4)}
    roles = assign_roles(bits | {"mass": MEASURED["mass"], "kind": cycle("a", "b")})
    assert roles.features == [*bits, "mass"]
    assert list(roles.left_out) == ["kind"]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("bird", [f"bird {i}" for i in range(N)]),
        ("zip", [f"{i:05d}" for i in range(N)]),
        ("patient_id", np.arange(N)[::-1]),
        ("customerID", np.arange(N) * 17.0),
        ("Unnamed: 0", np.arange(N) * 3),
    ],
)
def test_the_first_column_that_tells_rows_apart_names_them(name, column):
    second = [f"word {i}" for i in range(N)]
    roles = assign_roles({name: column} | table(second=second))
    assert roles.identifier == name
    assert roles.features == ["mass", "wing"]
    assert roles.left_out == {"second": "different in every row"}
    assert roles.notes[0] == Note(f"rows are named by column {name!r}")


@pytest.mark.parametrize("first", [0, 1, 7])
def test_row_numbers_give_way_to_a_better_identifier(first):
    columns = {"Unnamed: 0": np.arange(N) + first} | table(customer=[f"c{i}" for i in range(N)])
    roles = assign_roles(columns)
    assert roles.identifier == ("Unnamed: 0" if first == 7 else "customer")
    assert len(roles.left_out) == 1
    alone = assign_roles({"Unnamed: 0": np.arange(N) + first} | MEASURED)
    assert alone.identifier == "Unnamed: 0"


@pytest.mark.parametrize("name", ["PLZ", "zip_code", "postcode"])
def test_postal_codes_are_no_amounts(name):
    roles = assign_roles(table(**{name: RNG.integers(10000, 99999, size=N)}))
    assert roles.left_out == {name: "postal codes"}
    assert assign_roles(table(**{name: cycle(1.5, 2.5, 3.5)})).features[-1] == name


def test_different_whole_numbers_are_a_measurement_under_another_name():
    roles = assign_roles(table(length=RNG.permutation(N)))
    assert roles.features == ["mass", "wing", "length"]
    assert roles.identifier is None


def test_the_word_of_the_user_goes_before_every_guess():
    columns = table(
        bird=[f"bird {i}" for i in range(N)], tag=np.arange(N), sex=cycle("f", "m"), same=[1] * N
    )
    roles = assign_roles(columns, given="sex", identifier="tag", exclude=["wing"])
    assert (roles.features, roles.given, roles.identifier) == (["mass"], ["sex"], "tag")
    assert roles.left_out == {
        "bird": "different in every row",
        "same": "constant",
        "wing": "excluded",
    }
    roles = assign_roles(columns, features=["same", "sex", "wing"], set_aside="mass")
    assert roles.features == ["same", "sex", "wing"]
    assert roles.identifier == "bird"
    assert roles.left_out == {"tag": "not among the features"}
    assert roles.notes == [Note("rows are named by column 'bird'")]
    assert assign_roles(columns, features="bird").identifier is None


def test_known_labels_are_never_features():
    columns = {f"x{j}": RNG.normal(size=N) for j in range(3)}
    roles = assign_roles(columns, features=list(columns), given="x2", exclude="x0")
    assert (roles.features, roles.given) == (["x1"], ["x2"])
    assert roles.left_out == {"x0": "excluded"}


@pytest.mark.parametrize("argument", ["given", "identifier", "exclude", "features", "set_aside"])
def test_unknown_columns_are_suggested(argument):
    with pytest.raises(
        ValueError, match=f"{argument}='Masss' is not a column: did you mean 'mass'"
    ):
        assign_roles(MEASURED, **{argument: "Masss"})


def test_a_table_without_measurements_is_refused():
    with pytest.raises(ValueError, match=r"no column is left as a feature.*'a' is left out: looks"):
        assign_roles({"a": cycle("x", "y"), "b": ["same"] * N})
    with pytest.raises(ValueError, match="no column is left as a feature"):
        assign_roles({"a": MEASURED["mass"]}, given="a")


def test_penguins_are_told_from_their_labels():
    measurements, known = load_penguins(as_frame=True)
    penguins = known.join(measurements)
    roles = assign_roles(penguins, given="species")
    assert roles.features == list(measurements)
    assert roles.left_out == {"sex": "looks like labels"}
