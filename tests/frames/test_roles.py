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
SPELLED = "looks like numbers with a decimal comma, separators, units or some words"


def table(**columns):
    return MEASURED | columns


def cycle(*values):
    """Return N values that repeat."""
    return [values[i % len(values)] for i in range(N)]


FEW, DATES = "few values", "dates or times"
ODD = {
    "constant number": ([7.0] * N, "left out", "constant"),
    "constant text": (["x"] * N, "left out", "constant"),
    "constant where known": (cycle(1.0, np.nan), "left out", "constant"),
    "no values": ([None] * N, "left out", "no values"),
    "dates": (cycle(dt.date(2026, 1, 1), dt.date(2026, 1, 2)), "left out", DATES),
    "datetimes": (np.arange(N).astype("datetime64[D]"), "left out", DATES),
    "dates as text": ([f"2026-01-{1 + i % 28:02d}" for i in range(N)], "left out", DATES),
    "times as text": ([f"2026-01-01T10:{i:02d}:00" for i in range(N)], "left out", DATES),
    "German dates": ([f"{1 + i % 28}.05.2022" for i in range(N)], "left out", DATES),
    "American dates": ([f"05/{1 + i % 28:02d}/2022 10:30" for i in range(N)], "left out", DATES),
    "German thousands": ([f"{1 + i}.234,56" for i in range(N)], "left out", SPELLED),
    "English thousands": ([f"{1 + i},234.50" for i in range(N)], "left out", SPELLED),
    "decimal comma": ([f"{i},5" for i in range(N)], "left out", SPELLED),
    "percent": (cycle("10 %", "20 %", "5%"), "left out", SPELLED),
    "money": ([f"\N{EURO SIGN} {i}" for i in range(N)], "left out", SPELLED),
    "numbers and a word": ([*(f"{i}.5" for i in range(N - 1)), "n.v."], "left out", SPELLED),
    "free text": ([f"word {i // 1.5}" for i in range(N)], "left out", "text of many values"),
    "lists": ([[1], [1, 2]] * (N // 2), "left out", "neither numbers nor text"),
    "codes": (cycle("007", "012", "013"), "reference", FEW),
    "postal codes": ([f"0{1000 + i // 2}" for i in range(N)], "reference", FEW),
    "versions": (cycle("1.2.3", "1.10.0"), "reference", FEW),
    "many words": (
        [f"word {i % (MAX_CATEGORIES + 1)}" for i in range(2 * N)], "reference",
        "text of many values",
    ),
    "few words": (cycle("male", "female"), "reference", FEW),
    "truth": (cycle(True, False), "reference", FEW),
    "truth with gaps": (cycle(True, False, None), "reference", FEW),
    "categories": (pd.Categorical(cycle("a", "b", "c")), "reference", FEW),
    "polars": (pl.Series(cycle("a", "b"), dtype=pl.Categorical), "reference", FEW),
    "two numbers": (cycle(0, 1), "reference", FEW),
    "two halves": (cycle(0.5, 1.5), "reference", FEW),
    "five numbers": (cycle(1, 2, 3, 4, 5), "reference", FEW),
    "blocks": (np.arange(N) // 5 + 1, "reference", FEW),
    "two numbers as text": (cycle("0", "1"), "reference", FEW),
}  # fmt: skip


def role(roles, name):
    return next(one for one in roles.columns if one.name == name)


@pytest.mark.parametrize(("column", "use", "why"), ODD.values(), ids=ODD)
def test_what_is_no_measurement_is_no_feature_and_said(column, use, why):
    times = len(column) // N
    columns = {name: np.tile(values, times) for name, values in MEASURED.items()}
    roles = assign_roles(columns | {"odd": column})
    assert roles.features == ["mass", "wing"]
    assert (role(roles, "odd").use, role(roles, "odd").why) == (use, why)
    assert roles.identifier is None
    (note,) = roles.notes
    assert note.columns == ("odd",)
    said = f"left out 'odd': {why}" if use == "left out" else "'odd' looks like labels, to be comp"
    assert note.before.startswith(said)


@pytest.mark.parametrize("column", [cycle("f", "m"), cycle(True, False), cycle(0, 1), cycle(1, 3)])
def test_labels_are_features_if_someone_says_so(column):
    roles = assign_roles(table(odd=column), categories="use")
    assert roles.features == ["mass", "wing", "odd"]
    assert assign_roles(table(odd=column), features=["odd", "mass"]).features == ["mass", "odd"]


@pytest.mark.parametrize("name", ["class", "y", "id", "zip", "rooms"])
def test_names_decide_nothing(name):
    counts = RNG.integers(0, 9, size=N)
    assert assign_roles(table(**{name: counts})).features == ["mass", "wing", name]
    assert assign_roles(table(**{name: cycle(1, 2, 3)})).references == [name]
    assert assign_roles(table(**{name: np.arange(N)})).identifier == name


def test_counts_are_features_with_a_remark():
    rooms = RNG.choice([1, 2, 3, 4, 5, 6], size=N)
    roles = assign_roles(table(rooms=rooms, other=RNG.normal(size=N)))
    assert roles.features == ["mass", "wing", "rooms", "other"]
    (note,) = roles.notes
    assert note.before.startswith("'rooms' used as numbers")
    assert (note.remedy, note.columns) == ("given or left out", ("rooms",))


def test_tables_of_codes_are_data():
    counts = {f"c{j}": RNG.integers(0, 9, size=N) for j in range(4)}
    assert assign_roles(counts).features == list(counts)
    assert assign_roles(counts).notes == []
    for bits in (RNG.integers(0, 2, size=(4, N)), RNG.integers(0, 2, size=(4, N)) == 1):
        columns = {f"b{j}": column for j, column in enumerate(bits)}
        roles = assign_roles(columns | {"mass": MEASURED["mass"], "kind": cycle("a", "b")})
        assert roles.features == [*columns, "mass"]
        assert roles.references == ["kind"]
        assert "used as features, though of few values" in roles.notes[0].before
        assert assign_roles(columns).features == list(columns)
    rates = 4 / np.arange(1, 41)
    words = {f"w{j}": RNG.poisson(rate, size=300) for j, rate in enumerate(rates)}
    assert any(len(set(column.tolist())) <= 5 for column in words.values())
    assert any(len(set(column.tolist())) > 5 for column in words.values())
    assert assign_roles(words).features == list(words)
    words = {name: RNG.choice(["yes", "no"], size=N) for name in "abc"}
    assert assign_roles(words).features == ["a", "b", "c"]


NUMBERING = {
    "words": [f"bird {i}" for i in range(N)],
    "codes": [f"{i:05d}" for i in range(N)],
    "counter": np.arange(N) + 1,
    "counter down": np.arange(N)[::-1],
    "steps": np.arange(N) * 17.0,
    "shuffled": RNG.permutation(N) + 1000,
    "ascending": np.sort(RNG.choice(100_000, size=N, replace=False)),
    "dense": RNG.choice(300, size=N, replace=False),
}


@pytest.mark.parametrize("column", NUMBERING.values(), ids=NUMBERING)
@pytest.mark.parametrize("name", ["bird", "rownames", "length"])
def test_the_first_column_that_tells_rows_apart_names_them(name, column):
    second = [f"{i} pages" for i in range(N)] if isinstance(column, list) else np.arange(N) * 3
    roles = assign_roles({name: column} | table(second=second))
    assert roles.identifier == name
    assert roles.features == ["mass", "wing"]
    assert role(roles, "second").why == "different in every row"
    assert roles.notes[0] == Note(f"rows are named by column {name!r}")


def test_numbers_that_were_drawn_name_rows_if_there_are_many():
    n = 3000
    columns = {"mass": RNG.normal(size=n), "customer": RNG.choice(10**7, size=n, replace=False)}
    assert assign_roles(columns).identifier == "customer"


@pytest.mark.parametrize("n", [12, 60, 400])
def test_large_amounts_are_different_in_every_row_and_measured(n):
    rng = np.random.default_rng(1)
    columns = {
        "population": np.exp(rng.normal(15, 1, size=n)).round(),
        "income": rng.normal(5e6, 1e6, size=n).round(),
    }
    assert all(len(set(column.tolist())) == n for column in columns.values())
    assert assign_roles(columns).features == ["population", "income"]


def test_words_name_the_rows_before_numbers():
    columns = {"no": np.arange(N)} | table(customer=[f"c{i}" for i in range(N)])
    roles = assign_roles(columns)
    assert roles.identifier == "customer"
    assert role(roles, "no").use == "left out"
    assert assign_roles({"no": np.arange(N)} | MEASURED).identifier == "no"


def test_the_word_of_the_user_goes_before_every_guess():
    columns = table(
        bird=[f"bird {i}" for i in range(N)], tag=np.arange(N), sex=cycle("f", "m"), same=[1] * N
    )
    roles = assign_roles(columns, given="sex", identifier="tag", exclude=["wing"])
    assert (roles.features, roles.names("given"), roles.identifier) == (["mass"], ["sex"], "tag")
    assert {one.name: one.why for one in roles.columns if one.use == "left out"} == {
        "bird": "different in every row",
        "same": "constant",
    }
    assert (roles.references, role(roles, "wing").why) == (["wing"], "excluded")
    roles = assign_roles(columns, features=["same", "sex", "wing"])
    assert roles.features == ["wing", "sex", "same"]
    assert roles.identifier == "bird"
    assert (role(roles, "mass").use, role(roles, "mass").why) == (
        "reference",
        "not among the features",
    )
    assert assign_roles(columns, features="bird").identifier == "tag"


def test_what_was_decided_is_decided_again():
    columns = table(
        bird=[f"bird {i}" for i in range(N)], sex=cycle("f", "m"), code=cycle(1, 2), day=["x"] * N
    )
    first = assign_roles(columns, given="code")
    again = assign_roles(
        columns, given="code", features=first.features, identifier=first.identifier
    )
    assert [(one.name, one.use) for one in again.columns] == [
        (one.name, one.use) for one in first.columns
    ]


def test_known_labels_are_never_features():
    columns = {f"x{j}": RNG.normal(size=N) for j in range(3)}
    roles = assign_roles(columns, features=list(columns), given="x2", exclude="x0")
    assert (roles.features, roles.names("given"), roles.references) == (["x1"], ["x2"], ["x0"])


def test_thousands_of_numbers_are_not_compared():
    genes = {f"g{j}": RNG.normal(size=N) for j in range(150)}
    roles = assign_roles(genes | {"kind": cycle("a", "b")}, features=["g0", "g1"])
    assert roles.references == ["kind"]
    assert len(str(roles).splitlines()) == 5


def test_arrays_are_features_throughout():
    roles = assign_roles(np.column_stack([np.arange(N), np.tile([0, 1], N // 2)]))
    assert roles.features == ["x0", "x1"]


@pytest.mark.parametrize("argument", ["given", "identifier", "exclude", "features"])
def test_unknown_columns_are_suggested(argument):
    with pytest.raises(
        ValueError, match=f"{argument}='Masss' is not a column: did you mean 'mass'"
    ):
        assign_roles(MEASURED, **{argument: "Masss"})


def test_a_table_without_measurements_is_refused():
    with pytest.raises(
        ValueError, match=r"no column is left as a feature.*'a' is none: few values"
    ):
        assign_roles({"a": cycle("x", "y"), "b": ["same"] * N})
    with pytest.raises(ValueError, match="no column is left as a feature"):
        assign_roles({"a": MEASURED["mass"]}, given="a")


def test_penguins_are_told_from_their_labels():
    measurements, known = load_penguins(as_frame=True)
    penguins = known.join(measurements)
    roles = assign_roles(penguins, given="species")
    assert roles.features == list(measurements)
    assert roles.references == ["sex"]


def test_an_unknown_wish_is_refused():
    with pytest.raises(ValueError, match="categories='all' is not known: use 'reference' or 'use'"):
        assign_roles(MEASURED, categories="all")
