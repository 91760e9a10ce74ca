"""What becomes of a search when someone says no, or where to look."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from click.testing import CliRunner

from multifacet.app.display import group_colours
from multifacet.app.facets import Facet, merge
from multifacet.cli import main
from multifacet.files import write_table
from multifacet.metrics import nmi

from .served import QUICK, running, searched, small_table, uploaded


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with running(tmp_path_factory.mktemp("explorations")) as (_, client):
        yield client


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return small_table(tmp_path_factory.mktemp("data"))


def step(client, address, do, view="v1"):
    client.post(f"{address}/steps", json={"do": do, "view": view}).raise_for_status()


def labels_of(client, address):
    """Labels of every view, also of those that are not exported, None where a row is not in it."""
    found = {}
    for one in client.get(address).json()["views"]:
        points = client.get(f"{address}/views/{one['id']}").json()["points"]
        found[one["id"]] = dict(zip(points["rows"], points["labels"], strict=True))
    return found


def found_step(client, address, view):
    steps = client.get(address).json()["steps"]
    return next(one for one in steps if one["do"] == "find" and one["view"] == view)


def agreement(one, other):
    return nmi(list(one.values()), [other[row] for row in one])


def check_repetition(client, address, folder):
    """Check that script and command line lead to the labels of every view."""
    content = client.get(f"{address}/files/repeat.zip").raise_for_status().content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    here = os.getcwd()
    os.chdir(folder)
    try:
        names: dict = {}
        exec((folder / "repeat.py").read_text(), names)
        for i, labels in enumerate(labels_of(client, address).values(), start=1):
            assert [names[f"labels_{i}"][row] for row in labels] == list(labels.values())
            run = ["find", "--from", f"search-{i}.json", "-o", f"out-{i}", "--quiet"]
            result = CliRunner().invoke(main, run)
            assert result.exit_code == 0, result.output
            count = json.loads((folder / f"search-{i}.json").read_text())["options"]["views"]
            with (folder / f"out-{i}" / "labels.csv").open() as file:
                again = {row["bird"]: int(row[f"view {count}"]) for row in csv.DictReader(file)}
            assert again == {f"b{row}": label for row, label in labels.items()}
    finally:
        os.chdir(here)


def test_what_was_rejected_does_not_come_again_until_it_is_allowed(client, small, tmp_path):
    address = uploaded(client, small, given=[])
    searched(client, address)
    step(client, address, "reject")
    searched(client, address)
    labels = labels_of(client, address)
    assert agreement(labels["v1"], labels["v2"]) < 0.2
    second = client.get(f"{address}/views/v2").json()
    assert (second["given"], second["avoided"]) == ([], ["view 1"])
    # The search that found the first one went on, as if two views had been asked for.
    assert found_step(client, address, "v2")["follows"] == 1
    step(client, address, "restore")
    searched(client, address)
    labels = labels_of(client, address)
    assert agreement(labels["v1"], labels["v3"]) == pytest.approx(1)
    assert found_step(client, address, "v3")["follows"] == 0
    check_repetition(client, address, tmp_path)


def test_a_search_begins_anew_if_it_was_about_something_else(client, small):
    address = uploaded(client, small, given=[])
    searched(client, address)
    step(client, address, "accept")
    searched(client, address, n_clusters=3)  # other settings
    assert found_step(client, address, "v2")["follows"] == 0
    assert found_step(client, address, "v2")["known"] == ["v1"]


def test_what_only_repeats_a_feature_is_known_to_the_next_search(client, tmp_path):
    rng = np.random.default_rng(0)
    species, stage = rng.integers(0, 2, (2, 200))
    columns = {
        "species": np.where(species, "blue", "orange"),
        "width": rng.normal(size=200) + 12 * species,
        "length": rng.normal(size=200) + 7 * stage,
        "depth": rng.normal(size=200) + 7 * stage,
    }
    path = write_table(tmp_path / "birds.csv", {"bird": [f"b{i}" for i in range(200)]} | columns)
    address = uploaded(client, path, given=[], features=list(columns))
    searched(client, address, n_components="auto")
    assert "only repeats the feature" in client.get(address).json()["views"][0]["beside"]
    step(client, address, "reject")
    searched(client, address, n_components="auto")
    assert found_step(client, address, "v2")["follows"] == 0
    labels = labels_of(client, address)
    assert agreement(labels["v1"], labels["v2"]) < 0.2
    check_repetition(client, address, tmp_path)


def test_a_search_among_some_rows_and_features(client, small, tmp_path):
    address = uploaded(client, small, given=[], features=["x0", "x1", "x2", "x3"])
    rows = list(range(10, 70))
    searched(client, address, rows=rows[::-1], features=["x2", "x3"])
    found = client.get(f"{address}/views/v1").json()
    assert found["among"] == 60
    assert found["features"] == ["x2", "x3"]
    assert sorted(found["points"]["rows"]) == rows
    examples = [one["row"] for group in found["description"]["groups"] for one in group["examples"]]
    assert {*examples} <= {f"b{row}" for row in rows}
    step(client, address, "accept")
    searched(client, address)  # in which all other rows are one further group
    assert len(labels_of(client, address)["v2"]) == 90
    check_repetition(client, address, tmp_path)


def test_groups_that_belong_together_are_not_told_apart(client, small, tmp_path):
    address = uploaded(client, small, given=[])
    searched(client, address)
    (found,) = searched(client, address, together={"view": "v1", "groups": [0, 1]})
    step_found = found_step(client, address, found)
    assert (step_found["follows"], step_found["passed"]) == (0, 1)  # the first one came again
    labels = labels_of(client, address)
    assert agreement(labels["v1"], labels[found]) < 0.2
    check_repetition(client, address, tmp_path)


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        ({"rows": [3, 90]}, "rows are counted from 0 to 89"),
        ({"features": ["known"]}, "'known' is no feature"),
    ],
)
def test_hints_about_nothing_are_refused(client, small, hint, words):
    address = uploaded(client, small, given=["known"])
    answer = client.post(f"{address}/jobs", json=QUICK | hint)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]


def test_groups_that_a_view_has_not_cannot_be_kept_together(client, small):
    address = uploaded(client, small, given=[])
    searched(client, address)
    for groups in ([0, 7], [1, 1]):
        hint = {"together": {"view": "v1", "groups": groups}}
        answer = client.post(f"{address}/jobs", json=QUICK | hint)
        assert answer.status_code == 400
        assert "groups of this view are counted from 0 to 1" in answer.json()["detail"]
    unknown = {"together": {"view": "v9", "groups": [0, 1]}}
    assert client.post(f"{address}/jobs", json=QUICK | unknown).status_code == 404


def test_colours_stay_with_the_groups_that_are_left():
    labels, facet = np.arange(6), Facet("v1", "view 1", {})
    for groups in ([1, 4], [0, 2]):
        before = group_colours(facet, labels.max() + 1)
        facet.merges.append(groups)
        kept = ~np.isin(labels, groups)
        labels, old = merge(labels, groups), labels
        after = group_colours(facet, labels.max() + 1)
        assert [after[c] for c in labels[kept]] == [before[c] for c in old[kept]]
        joined = {after[c] for c in labels[~kept]}
        assert joined == {before[min(groups)]}
        assert len({*after}) == len(after)
