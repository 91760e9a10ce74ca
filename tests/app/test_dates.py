"""Parts of dates in the workbench: offered below their column, and features like any other."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from multifacet.app.exploration import Exploration
from multifacet.files import read_file, write_table
from multifacet.frames import prepare

from .served import running, searched, uploaded

FEATURES = ["mass", "seen.month"]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("explorations")) as both:
        yield both


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """A table whose rows fall into three groups by month; dates of another column are unclear."""
    rng = np.random.default_rng(0)
    months = np.repeat([1, 5, 12], 30)
    days = rng.integers(1, 28, 90)
    columns = {
        "mass": rng.normal(size=90),
        "seen": [f"2025-{month:02}-{day:02}" for month, day in zip(months, days, strict=True)],
        "told": [f"{day:02}/05/2025" for day in days],
    }
    return write_table(tmp_path_factory.mktemp("data") / "dated.csv", columns)


@pytest.fixture(scope="module")
def explored(served, dated):
    address = uploaded(served[1], dated, features=FEATURES)
    assert searched(served[1], address, n_clusters=3) == ["v1"]
    return address


def groups_of(client, address):
    text = client.get(f"{address}/files/labels.csv").raise_for_status().text
    return [row["view 1"] for row in csv.DictReader(io.StringIO(text))]


def test_parts_of_dates_are_offered_but_not_taken(served, dated):
    client = served[1]
    address = uploaded(client, dated)
    assert client.get(address).json()["setup"]["features"] == ["mass"]
    columns = client.get(f"{address}/preview").raise_for_status().json()["columns"]
    assert {one["name"]: one["parts"] for one in columns} == {
        "mass": [],
        "seen": ["seen.year", "seen.month", "seen.weekday", "seen.elapsed"],
        "told": [],  # the fifth of which month?
    }


def test_a_part_is_what_python_takes_it_for(served, dated, explored):
    bench = served[0]
    exploration = bench.get(explored.rsplit("/", 1)[1])
    encoding = exploration.views("v1").encoding
    table = read_file(dated).columns
    told = prepare(table, features=FEATURES, exclude=["seen", "told"], latent=True).encoding
    assert encoding.feature_names == FEATURES
    np.testing.assert_array_equal(encoding.transform(table), told.transform(table))


def test_a_view_of_parts_is_opened_again(served, explored):
    exploration = served[0].get(explored.rsplit("/", 1)[1])
    again = Exploration.open(exploration.folder)
    assert again.setup["features"] == FEATURES
    np.testing.assert_array_equal(again.views("v1")[0].labels, exploration.views("v1")[0].labels)


def test_groups_of_a_view_of_parts_are_merged(served, explored):
    client = served[1]
    before = groups_of(client, explored)
    body = {"do": "merge", "view": "v1", "groups": [0, 2]}
    client.post(f"{explored}/steps", json=body).raise_for_status()
    after = groups_of(client, explored)
    client.delete(f"{explored}/steps/last").raise_for_status()
    assert after == [{"2": "0"}.get(label, label) for label in before]


def test_a_part_can_be_the_only_feature_that_matters(served, explored):
    client = served[1]
    (found,) = searched(client, explored, features=["seen.month"], n_clusters=3)
    exploration = served[0].get(explored.rsplit("/", 1)[1])
    assert exploration.views(found).encoding.feature_names == ["seen.month"]


@pytest.mark.parametrize("name", ["seen.hour", "nobody.month", "seen.month.year"])
def test_what_is_no_part_of_a_date_is_refused(served, dated, name):
    client = served[1]
    state = client.post(
        "/api/uploads", params={"name": "dated.csv"}, content=dated.read_bytes()
    ).json()
    kept = ("given", "identifier", "standardize", "missing")
    body = {one: state["setup"][one] for one in kept} | {"features": ["mass", name]}
    answer = client.put(f"/api/explorations/{state['id']}/setup", json=body)
    assert answer.status_code == 400
    assert name in answer.text


@pytest.mark.parametrize("role", ["given", "identifier"])
def test_parts_are_features_and_nothing_else(served, dated, role):
    client = served[1]
    state = client.post(
        "/api/uploads", params={"name": "dated.csv"}, content=dated.read_bytes()
    ).json()
    kept = ("features", "given", "identifier", "standardize", "missing")
    said = {"given": ["seen.month"], "identifier": "seen.month"}
    body = {one: state["setup"][one] for one in kept} | {role: said[role]}
    assert client.put(f"/api/explorations/{state['id']}/setup", json=body).status_code == 400
