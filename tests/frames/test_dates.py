"""Parts of dates are features for those who ask for them by name, and for nobody else."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from multifacet import find_views
from multifacet.frames import prepare

DAYS = [dt.datetime(2024, 2, 29, 12), dt.datetime(1969, 12, 31), dt.datetime(2026, 7, 5, 6)]
WANTED = {
    "year": [2024, 1969, 2026],
    "month": [2, 12, 7],
    "weekday": [4, 3, 7],
    "elapsed": [(day - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1) for day in DAYS],
}
FORMS = {
    "datetimes": DAYS,
    "numpy": np.array(DAYS, dtype="datetime64[ns]"),
    "pandas": pd.Series(DAYS),
    "polars": pl.Series(DAYS),
    "ISO": [day.isoformat() for day in DAYS],
    "German": [f"{day.day}.{day.month}.{day.year} {day:%H:%M}" for day in DAYS],
    "slashes": [f"{day.year}/{day.month}/{day.day}T{day:%H:%M}" for day in DAYS],
}


@pytest.mark.parametrize("part", WANTED)
@pytest.mark.parametrize("form", FORMS)
def test_parts_are_numbers(part, form):
    prepared = prepare(
        {"mass": [1.0, 5.0, 2.0], "seen": FORMS[form]}, features=["mass", f"seen.{part}"],
        standardize=False,
    )  # fmt: skip
    assert prepared.encoding.feature_names == ["mass", f"seen.{part}"]
    np.testing.assert_allclose(prepared.X[:, 1], WANTED[part])


def test_parts_of_new_rows_and_missing_ones():
    table = {"mass": [1.0, 5.0, 2.0, 3.0], "seen": ["2026-01-31", "2026-02-01", None, "2026-05-01"]}
    options = {"features": ["mass", "seen.month"], "standardize": False}
    with pytest.raises(ValueError, match=r"column 'seen.month' has 1 missing value in row 2"):
        prepare(table, **options)
    with pytest.warns(UserWarning, match=r"filled in 1 missing values: 'seen.month' 1"):
        encoding = prepare(table, missing="impute", **options).encoding
    fresh = {"seen": [dt.date(2030, 12, 1)], "mass": [4]}
    assert encoding.transform(fresh).tolist() == [[4.0, 12.0]]
    with pytest.raises(ValueError, match=r"data has no column 'seen.month'"):
        encoding.transform({"mass": [4]})


def test_nothing_is_made_of_dates_unasked_and_it_is_said_how():
    table = {"mass": [1.0, 5.0, 2.0, 9.0], "wing": [2.0, 1.0, 7.0, 3.0], "seen": ["2026-01-31"] * 4}
    table["seen"] = [f"2026-0{i}-01" for i in range(1, 5)]
    roles = find_views(table, dry_run=True)
    assert roles.features == ["mass", "wing"]
    assert str(roles.notes[-1]).endswith(
        "dates or times; name parts of it in features if you need it, such as 'seen.month'"
    )
    with pytest.raises(ValueError, match=r"'seen' holds dates or times: name the parts .*'seen.mo"):
        prepare(table, features=["mass", "seen"])
    with pytest.raises(ValueError, match=r"features='mass.mont' is not a column"):
        prepare(table, features=["mass.mont"])
    with pytest.raises(ValueError, match=r"given='seen.month' is not a column"):
        prepare(table, given="seen.month")


@pytest.mark.filterwarnings("ignore:left out 'seen'")
def test_a_column_keeps_its_name_and_odd_dates_are_refused():
    table = {"a": [1.0, 2.0, 4.0], "a.month": [7.0, 8.0, 9.5], "seen": ["01/02/2026"] * 3}
    assert prepare(table, features=["a.month"], standardize=False).X[:, 0].tolist() == [7, 8, 9.5]
    with pytest.raises(ValueError, match="column 'seen' holds '01/02/2026', of which no parts can"):
        prepare(table, features=["seen.year"])
