"""Labels of views back in the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multifacet import Views, find_views
from multifacet.datasets import make_gaussian_views

pd = pytest.importorskip("pandas")

LINEAR = {"n_views": 2, "n_clusters": 2, "method": "linear"}


@pytest.fixture(scope="module")
def table():
    """Sixty rows under names of their own, three of which are not complete."""
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    table = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(60)])
    table.iloc[[3, 7, 59], 0] = np.nan
    return table


@pytest.fixture(scope="module")
def views(table):
    with pytest.warns(UserWarning, match="left out 3 of 60 rows"):
        return find_views(table, missing="drop", **LINEAR)


def test_labels_as_a_frame(table, views):
    frame = views.to_frame()
    assert frame.columns.tolist() == ["view 1", "view 2"]
    assert frame.index.equals(table.dropna().index)
    np.testing.assert_array_equal(frame.to_numpy(), views.labelings)
    assert replace(views, views=[]).to_frame().shape == (57, 0)


def test_dropped_rows_have_missing_labels_and_the_table_stays_as_it_was(table, views, tmp_path):
    for told in (views, Views.load(views.save(tmp_path / "views")), Views.load(tmp_path / "views")):
        joined = told.assign(table)
        assert joined.columns.tolist() == [*"abcd", "view 1", "view 2"]
        assert joined.index.equals(table.index)
        assert joined.index[joined["view 1"].isna()].tolist() == ["row 3", "row 7", "row 59"]
        np.testing.assert_array_equal(joined.dropna()[["view 1", "view 2"]], views.labelings)
    assert table.columns.tolist() == list("abcd")


def test_rows_are_found_by_their_index_in_any_order(table, views):
    known = views.to_frame()["view 1"]
    shuffled = table.iloc[::-1].iloc[:20]
    joined = views.assign(shuffled)
    inside = joined.dropna()
    assert inside["view 1"].tolist() == known[inside.index].tolist()
    assert joined["view 1"].isna().sum() == 1  # row 59
    more = pd.concat([table.dropna(), table.dropna().rename(index="new {}".format)])
    assert views.assign(more)["view 1"].isna().sum() == 57


@pytest.mark.parametrize(
    "index",
    [
        np.arange(60) * 10,
        pd.date_range("2020-01-01", periods=60),
        pd.date_range("2020-01-01", periods=60, tz="UTC"),
        pd.MultiIndex.from_product([["x", "y"], range(30)]),
    ],
    ids=["numbers", "dates", "zones", "levels"],
)
def test_an_index_of_any_kind(table, index, tmp_path):
    complete = table.fillna(0.0).set_axis(index)
    views = find_views(complete, **LINEAR)
    again = Views.load(views.save(tmp_path / "views"))
    backwards = complete.iloc[::-1]
    for told in (views, again):
        for frame, labels in ((complete, views.labelings), (backwards, views.labelings[::-1])):
            joined = told.assign(frame)
            np.testing.assert_array_equal(joined[["view 1", "view 2"]], labels)
            assert joined["view 1"].dtype.kind == "i"


def test_repeated_names_do_no_harm_in_the_table_itself(table):
    repeated = table.fillna(0.0).set_axis([0, 1] * 30)
    views = find_views(repeated, **LINEAR)
    np.testing.assert_array_equal(views.assign(repeated)["view 1"], views[0].labels)
    with pytest.raises(ValueError, match="share names, and data is in another order"):
        views.assign(repeated.iloc[::-1])


def test_a_column_may_name_the_rows(table):
    named = table.fillna(0.0).rename_axis("id").reset_index()
    views = find_views(named, identifier="id", **LINEAR)
    assert views.to_frame().index.name == "id"
    joined = views.assign(named.sample(frac=1, random_state=0))
    known = views.to_frame()["view 1"]
    assert joined["view 1"].tolist() == known[joined["id"]].tolist()
    with pytest.raises(ValueError, match="no column 'id'"):
        views.assign(named.drop(columns="id"))


def as_polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def as_arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def as_dict(frame):
    return frame.to_dict("list")


@pytest.mark.parametrize("convert", [as_polars, as_arrow, as_dict])
def test_other_frames_are_told_by_position(table, convert):
    other = convert(table)
    with pytest.warns(UserWarning, match="left out"):
        views = find_views(other, missing="drop", **LINEAR)
    joined = views.assign(other)
    assert type(joined) is type(other)
    labels = joined["view 2"]
    if convert is not as_dict:
        labels = labels.to_pylist() if convert is as_arrow else labels.to_list()
    assert [i for i, label in enumerate(labels) if label is None] == [3, 7, 59]
    assert [label for label in labels if label is not None] == views[1].labels.tolist()
    with pytest.raises(ValueError, match=r"data has 30 rows without names, .* 57 of 59 or more"):
        views.assign(convert(table.iloc[:30]))
    whole = find_views(convert(table.fillna(0.0)), **LINEAR)
    with pytest.raises(ValueError, match=r"data has 61 rows without names, .* 60 of 60: pass the"):
        whole.assign(convert(pd.concat([table, table.iloc[:1]])))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(**{"view 2": 1}), "data has a column 'view 2' already: drop or rename"),
        (lambda t: t.set_axis(range(60)), "the index of data has no name of a row .* 'row 0'"),
        (lambda t: t.to_numpy(), "data is of type ndarray, .* or use labelings, which"),
    ],
    ids=["conflict", "strangers", "array"],
)
def test_what_labels_cannot_be_put_into(table, views, change, message):
    with pytest.raises(ValueError, match=message):
        views.assign(change(table))
