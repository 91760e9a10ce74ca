"""The workbench behind its page: load, search, steer, keep, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("plotly", reason="the extra app is not installed")

from click.testing import CliRunner
from sklearn.exceptions import ConvergenceWarning

from multifacet import KDAC, find_views
from multifacet.app import display
from multifacet.app.exploration import Exploration
from multifacet.app.words import for_the_page
from multifacet.app.worker import _Teller
from multifacet.cli import main
from multifacet.datasets import make_gaussian_views
from multifacet.files import read_file, write_table
from multifacet.metrics import nmi

from .served import QUICK, alive, events, running, searched, small_table, uploaded, wait_for


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with running(tmp_path_factory.mktemp("explorations")) as both:
        yield both


@pytest.fixture(scope="module")
def client(served):
    return served[1]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return small_table(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def explored(client, small):
    """An exploration in which a view was found, accepted, and a second one found beside it."""
    address = uploaded(client, small, given=["known"])
    assert searched(client, address) == ["v1"]
    client.post(f"{address}/steps", json={"do": "accept", "view": "v1"}).raise_for_status()
    assert searched(client, address) == ["v2"]
    return address


def state_of(client, address):
    return client.get(address).raise_for_status().json()


def file_of(client, address, kind):
    return client.get(f"{address}/files/{kind}").raise_for_status().content


def labels_of(client, address):
    rows = list(csv.DictReader(io.StringIO(file_of(client, address, "labels.csv").decode())))
    return {name: [row[name] for row in rows] for name in rows[0]}


# Load


def test_columns_are_described_and_get_roles(client, small):
    address = uploaded(client, small)
    setup = state_of(client, address)["setup"]
    assert setup["features"] == ["x0", "x1", "x2", "x3"]
    assert setup["identifier"] == "bird"
    assert setup["left_out"] == {"known": "few values; compared with every view"}
    preview = client.get(f"{address}/preview").json()
    known = next(column for column in preview["columns"] if column["name"] == "known")
    assert (known["kind"], known["values"], known["missing"]) == ("category", 2, 0)
    assert preview["rows"][0][:2] == ["b0", read_file(small).columns["known"][0]]


def test_examples_are_there(client):
    names = [one["name"] for one in client.get("/api/status").json()["examples"]]
    for name in names:
        answer = client.post("/api/explorations", json={"example": name})
        assert answer.status_code == 201
        assert answer.json()["setup"]["features"]
    assert client.post("/api/explorations", json={"example": "wine"}).status_code == 404


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"features": ["x9"]}, "features='x9' is not a column"),
        ({"features": ["x1", "x1"]}, "features names a column twice"),
        ({"features": ["x1"], "given": ["x1"]}, "a column has two roles"),
    ],
)
def test_impossible_roles_are_refused(client, small, setup, message):
    address = uploaded(client, small)
    answer = client.put(f"{address}/setup", json=setup)
    assert answer.status_code == 400
    assert message in answer.json()["detail"]


# Search


def test_the_scale_of_features_is_chosen_unless_someone_says(client, small):
    address = uploaded(client, small)
    setup = {key: state_of(client, address)["setup"][key] for key in ("features", "standardize")}
    assert setup["standardize"] == "auto"
    for value in (True, False, "auto"):
        body = setup | {"standardize": value}
        client.put(f"{address}/setup", json=body).raise_for_status()
        assert state_of(client, address)["setup"]["standardize"] == value
    answer = client.put(f"{address}/setup", json=setup | {"standardize": "perhaps"})
    assert answer.status_code == 422
    client.delete(address).raise_for_status()


def test_views_are_those_of_the_library(client, explored, small):
    columns = dict(read_file(small).columns)
    first = find_views(columns, given="known", identifier="bird", n_views=1, **QUICK)[0]
    columns["view 1"] = first.labels
    second = find_views(columns, given=["known", "view 1"], identifier="bird", n_views=1, **QUICK)
    found = labels_of(client, explored)
    assert found["bird"] == list(columns["bird"])
    assert found["view 1"] == [str(label) for label in first.labels]
    assert found["view 2"] == [str(label) for label in second[0].labels]


def test_two_in_a_row_are_the_two_of_one_call(client, small):
    address = uploaded(client, small)
    assert searched(client, address, n_views=2) == ["v1", "v2"]
    columns = {n: c for n, c in read_file(small).columns.items() if n != "known"}
    both = find_views(columns, identifier="bird", n_views=2, **QUICK)
    found = labels_of(client, address)
    for i in range(2):
        assert found[f"view {i + 1}"] == [str(label) for label in both[i].labels]


#: Tables at which the library stops or warns, with settings, and what the page is to say of it.
ADVISED = {
    "gap": ({"a": [None, *range(29)]}, {}, "choose under “Missing values” to fill in medians"),
    "empty": ({"a": [None] * 30}, {}, "has no values at all: mark it as “left out”"),
    "text": ({"a": [f"it's [{i}]" for i in range(30)]}, {}, "as “row name” or as “left out”"),
    "dates": ({"a": np.arange("2020-01", "2022-07", dtype="M8[M]")}, {}, "mark it as “left out”"),
    "lost": ({"a": [1, *[None] * 29]}, {"missing": "drop"}, "mark the columns that lack most"),
    "unlabelled": ({"k": [None, *"ab" * 14, "a"]}, {"given": ["k"]}, "to leave out their rows, or"),
    "single": ({"k": ["a"] * 30}, {"given": ["k"]}, "known 'k' has the single value a"),
    "wide": ({"k": ["a", "b"] * 15}, {"given": ["k"], "n_components": 2}, "“Dimensions” 2 keeps"),
    "many": ({}, {"n_clusters": 50}, "“Groups” 50 must be between 1 and 30: the table has 30 rows"),
}


@pytest.mark.parametrize("case", ADVISED)
def test_advice_speaks_of_the_page(case):
    columns, settings, expected = ADVISED[case]
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=30), "y": rng.normal(size=30)} | columns
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category=UserWarning)
        # On the page, someone has marked all these columns as features.
        quick = {"features": list(table), "n_views": 1, "n_refits": 0, "n_clusters": 2}
        try:
            find_views(table, **quick | settings)
            told = [warning.message for warning in caught]
        except ValueError as error:
            told = [error]
    words = [for_the_page(one) for one in told]
    assert any(expected in one for one in words), words
    assert not re.search(r"\w=|\w_\w|\bX\b|\w_\b", " ".join(words))


def test_a_search_that_did_not_converge_is_told_without_python():
    X, _ = make_gaussian_views(60, [2, 2], random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        KDAC(2, n_components=1, max_iter=1, init="spectral", random_state=0).fit(X)
    words = for_the_page(caught[0].message)
    assert words.startswith("The search ended before it came to rest: the groups are usable")
    assert not re.search("KDAC|_", words)


def test_points_are_coloured_by_any_column(client, tmp_path):
    X, labels = make_gaussian_views(90, [3, 2], rotate=False, random_state=0)
    columns = {
        "x": X[:, 2],
        "y": X[:, 3],
        "kind": [None if i == 4 else "ab"[c] for i, c in enumerate(labels[:, 1])],
        "age": [None, *X[1:, 0]],
        "bird": [f"bird {i}" for i in range(90)],
    }
    path = write_table(tmp_path / "birds.csv", columns)
    address = uploaded(client, path, features=["x", "y"])
    searched(client, address)
    (view,) = client.get(address).json()["views"]
    assert view["beside"].startswith("nearly your column kind (agreement 1.00)")
    place = f"{address}/views/{view['id']}"
    rows = client.get(place).json()["points"]["rows"]

    def column(name):
        return client.get(f"{place}/column", params={"name": name}).json()

    kind = column("kind")
    assert kind["names"] == ["a", "b"]
    assert kind["codes"] == [-1 if row == 4 else int(labels[row, 1]) for row in rows]
    age = column("age")["numbers"]
    assert age[rows.index(0)] is None
    assert age[rows.index(7)] == pytest.approx(X[7, 0], rel=1e-5)
    assert len(column("bird")["names"]) == 64
    assert column("bird")["names"][-1] == "others"
    refused = client.get(f"{place}/column", params={"name": "ring"})
    assert refused.status_code == 404
    assert refused.json()["detail"] == "there is no column 'ring' in this table"


def test_known_labels_have_the_same_numbers_in_all_views(client, tmp_path):
    X, labels = make_gaussian_views(90, [3, 2], rotate=False, random_state=0)
    known = labels[:, 0]
    gaps = [None if c == 0 else x for c, x in zip(known, X[:, 2], strict=True)]
    columns = {"known": 10.0 * known, "x": X[:, 2], "y": X[:, 3], "gaps": gaps}
    path = write_table(tmp_path / "numbers.csv", columns)
    address = uploaded(client, path, features=["x", "y"], given=["known"], missing="drop")
    searched(client, address)
    body = {"features": ["x", "y", "gaps"], "given": ["known"], "missing": "drop"}
    client.put(f"{address}/setup", json=body).raise_for_status()
    searched(client, address)
    for view, rows in (("v1", 90), ("v2", int((known > 0).sum()))):
        found = client.get(f"{address}/views/{view}").json()
        assert len(found["points"]["rows"]) == rows
        assert found["known"][0]["names"] == ["0", "10", "20"]
        assert found["known"][0]["codes"] == known[found["points"]["rows"]].tolist()


def test_a_search_tells_how_far_it_is(client, small):
    address = uploaded(client, small)
    job = client.post(f"{address}/jobs", json=QUICK).json()
    told = events(client, address, job)
    kinds = [one["kind"] for one in told]
    assert kinds.index("sketch") < kinds.index("found") < kinds.index("done") == len(kinds) - 1
    assert {"view", "select"} <= {one["stage"] for one in told if one["kind"] == "progress"}
    sketch = next(one for one in told if one["kind"] == "sketch")
    assert len(sketch["points"]["x"]) == len(sketch["points"]["labels"]) == 90
    # Whoever comes later hears the same again.
    assert events(client, address, job) == told


def test_a_view_can_be_drawn(client, explored):
    found = client.get(f"{explored}/views/v2").json()
    points = found["points"]
    assert points["rows"] == list(range(90))
    assert len(points["x"]) == len(points["labels"]) == points["total"] == 90
    assert points["y"] is None  # a view of one dimension
    assert [known["name"] for known in found["known"]] == ["known", "view 1"]
    assert found["frontier"]["rows"] == list(range(90))
    assert len(found["frontier"]["labels"]) == len(found["frontier"]["weights"])
    assert found["description"]["loadings"]


def test_words_beside_numbers_come_with_the_view(client, explored):
    for view in state_of(client, explored)["views"]:
        words = view["verdicts"]
        assert words["separation"] == "0 is none, from 1.5 on it is clear"
        assert words["p_value"] == ("beyond" if view["p_value"] <= 0.05 else "could be") + " chance"
        assert ("stability" in words) == (view["stability"] is not None)


def test_agreement_is_that_of_the_labels(client, explored):
    found = client.get(f"{explored}/agreement").json()
    labels = labels_of(client, explored)
    assert [one["name"] for one in found["labelings"]] == ["known", "view 1", "view 2"]
    assert found["nmi"][0][1] == pytest.approx(nmi(labels["known"], labels["view 1"]))


def test_two_runs_are_compared(client, explored):
    found = client.get(f"{explored}/views/v1/compare", params={"other_id": "v2"}).json()
    labels = labels_of(client, explored)
    assert found["agreement"]["nmi"] == pytest.approx(nmi(labels["view 1"], labels["view 2"]))
    assert [run["given"] for run in found["runs"]] == [["known"], ["known", "view 1"]]
    for run in found["runs"]:
        assert run["chosen"]["n_clusters"] == run["options"]["n_clusters"] == 2
        assert run["options"]["novelty_weight"] == "auto"
        assert run["chosen"]["novelty_weight"] > 0
        assert (run["standardize"], run["scaling"]) == ("auto", "units")
    answer = client.get(f"{explored}/views/v1/compare", params={"other_id": "v1"})
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "a view agrees with itself: choose two",
    )


def test_runs_of_two_explorations_are_compared_if_the_table_is_the_same(
    client, explored, small, tmp_path
):
    own = explored.rsplit("/", 1)[1]
    other = uploaded(client, small)
    searched(client, other, n_clusters=3)
    name = other.rsplit("/", 1)[1]
    asked = {"other_id": "v1", "other_exploration": name}
    found = client.get(f"{explored}/views/v1/compare", params=asked).json()
    labels = [labels_of(client, one)["view 1"] for one in (explored, other)]
    counts = np.zeros((2, 3), int)
    np.add.at(counts, tuple(np.array(labels, int)), 1)
    assert found["agreement"]["counts"] == counts.tolist()
    different = uploaded(client, small_table(tmp_path, n=80))
    searched(client, different)
    listed = client.get(f"{explored}/runs").json()
    assert listed[0]["id"] == own
    assert [view["id"] for view in listed[0]["views"]] == ["v1", "v2"]
    assert name in [one["id"] for one in listed]
    assert different.rsplit("/", 1)[1] not in [one["id"] for one in listed]
    asked["other_exploration"] = different.rsplit("/", 1)[1]
    answer = client.get(f"{explored}/views/v1/compare", params=asked)
    assert (answer.status_code, "are different tables" in answer.text) == (400, True)
    for address in (other, different):
        client.delete(address).raise_for_status()


def test_rows_come_with_their_groups(client, explored):
    page = client.get(f"{explored}/rows", params={"start": 88, "count": 10}).json()
    assert (page["rows"], page["total"]) == ([88, 89], 90)
    chosen = client.post(f"{explored}/rows", json=[89, 3, 1000, -1]).json()
    assert chosen["rows"] == [89, 3]
    labels = labels_of(client, explored)
    place = chosen["columns"].index("view 2")
    assert [str(cells[place]) for cells in chosen["cells"]] == [
        labels["view 2"][89],
        labels["view 2"][3],
    ]


def test_large_tables_are_thinned_without_losing_groups():
    labels = np.repeat([0, 1, 2], [180_000, 40_000, 30])
    drawn = display.stratified(labels, 100_000)
    assert len(drawn) <= 100_000
    assert len(set(drawn.tolist())) == len(drawn)
    sizes = np.bincount(labels[drawn])
    assert sizes[2] == 30
    assert sizes[0] / sizes[1] == pytest.approx(4.5, rel=0.01)
    assert sizes.sum() > 99_000


# Jobs


def test_the_picture_on_the_way_shows_the_rows_that_have_labels():
    sent = []
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(50, 3)), np.array([3, 8, 20, 41])
    best = SimpleNamespace(
        W=np.eye(3)[:, :2], labels=np.array([1, 0, 0, 1]), n_clusters=2, rejected="", separation=1.0
    )
    prepared = SimpleNamespace(X=X, rows=100 + np.arange(50))
    tell = _Teller(SimpleNamespace(send=sent.append), prepared, "view 1")
    tell({"stage": "select", "done": 1, "total": 2, "best": best, "rows": rows})
    points = sent[0]["points"]
    assert (points["rows"], points["labels"]) == ([103, 108, 120, 141], [1, 0, 0, 1])
    assert points["total"] == 50
    x = X[rows, 0] - X[rows, 0].mean()
    np.testing.assert_allclose(points["x"], x, atol=1e-4)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table on which a search takes long."""
    X, _ = make_gaussian_views(4000, [3, 3, 3], n_noise=10, random_state=0)
    path = tmp_path_factory.mktemp("large") / "large.npy"
    np.save(path, X)
    return path


def busy(client, address):
    """Start a long search and wait until it has told something."""
    job = client.post(f"{address}/jobs", json={"n_views": 6}).raise_for_status().json()
    with client.stream("GET", f"{address}/jobs/{job['id']}/events") as stream:
        next(line for line in stream.iter_lines() if line.startswith("data: "))
    return client.get(f"{address}/jobs/{job['id']}").json()


def test_cancel_ends_the_process(client, large):
    address = uploaded(client, large)
    job = busy(client, address)
    assert job["status"] == "running"
    waiting = client.post(f"{address}/jobs", json={}).json()
    assert waiting["status"] == "waiting"
    client.delete(f"{address}/jobs/{waiting['id']}").raise_for_status()
    answer = client.delete(f"{address}/jobs/{job['id']}").raise_for_status()
    assert answer.json()["status"] == "cancelled"
    wait_for(lambda: not alive(job["pid"]), seconds=2)
    assert events(client, address, job)[-1]["kind"] == "cancelled"


def test_a_killed_process_loses_no_view(client, explored):
    before = labels_of(client, explored)
    job = busy(client, explored)
    os.kill(job["pid"], signal.SIGKILL)
    last = events(client, explored, job)[-1]
    assert last["kind"] == "failed"
    assert "was ended" in last["message"]
    after = labels_of(client, explored)
    assert {name: after[name] for name in before} == before
    # The next search finds a process again.
    address = f"{explored}/jobs"
    again = client.post(address, json=QUICK | {"n_clusters": 3}).json()
    assert events(client, explored, again)[-1]["kind"] == "done"
    for _ in range(len(state_of(client, explored)["views"]) - 2):
        client.delete(f"{explored}/steps/last").raise_for_status()


def test_what_the_library_refuses_is_a_sentence(client, tmp_path):
    path = write_table(tmp_path / "gaps.csv", {"a": [1.0, None, 3, 4], "b": [2.5, 1, 4, 3]})
    address = uploaded(client, path)
    job = client.post(f"{address}/jobs", json=QUICK).json()
    last = events(client, address, job)[-1]
    assert last["kind"] == "failed"
    assert "column 'a'" in last["message"]
    client.put(f"{address}/setup", json={"features": []}).raise_for_status()
    answer = client.post(f"{address}/jobs", json=QUICK)
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "no column is a feature: choose at least one",
    )


def test_all_requests_are_answered_while_a_job_runs(client, large):
    address = uploaded(client, large)
    job = busy(client, address)
    with ThreadPoolExecutor(20) as pool:
        codes = list(pool.map(lambda _: client.get(address).status_code, range(100)))
    assert codes == [200] * 100
    assert client.get(f"{address}/jobs/{job['id']}").json()["status"] == "running"
    client.delete(f"{address}/jobs/{job['id']}")


@pytest.mark.filterwarnings("ignore:left out 1 of 90 rows")
def test_rows_that_were_dropped_have_no_group(client, tmp_path):
    path = small_table(tmp_path, "gaps.csv")
    text = path.read_text().splitlines()
    fields = text[5].split(",")
    text[5] = ",".join([*fields[:2], "", *fields[3:]])
    path.write_text("\n".join(text))
    address = uploaded(client, path, missing="drop")
    searched(client, address)
    client.post(f"{address}/steps", json={"do": "accept", "view": "v1"}).raise_for_status()
    searched(client, address)
    labels = labels_of(client, address)
    for name in ("view 1", "view 2"):
        assert [i for i, label in enumerate(labels[name]) if label == ""] == [4]
    check_repetition(client, address, tmp_path)


def test_a_report_is_about_the_same_rows_throughout(client, tmp_path):
    path = small_table(tmp_path, "gaps.csv")
    head, *lines = path.read_text().splitlines()
    # Two known labelings, each of which lacks another row.
    lines = [
        f"{line},{'' if i == 4 else i % 2},{'' if i == 9 else i % 3}"
        for i, line in enumerate(lines)
    ]
    path.write_text("\n".join([f"{head},one,other", *lines]))
    setup = {"features": ["x0", "x1", "x2", "x3"], "identifier": "bird", "missing": "drop"}
    address = uploaded(client, path, **setup, given=["one"])
    searched(client, address)
    client.put(f"{address}/setup", json=setup | {"given": ["other"]}).raise_for_status()
    searched(client, address)
    page = file_of(client, address, "report.html").decode()
    assert "View 1 in detail" in page
    assert "View 2 in detail" not in page


# Steer


@pytest.fixture
def steered(client, small):
    address = uploaded(client, small, given=["known"])
    searched(client, address, n_clusters=4, n_components=2)
    return address


def step(client, address, **body):
    return client.post(f"{address}/steps", json={"view": "v1"} | body)


def test_merge_rename_reject_and_undo(client, steered):
    before = labels_of(client, steered)["view 1"]
    step(client, steered, do="rename", name="my view").raise_for_status()
    step(client, steered, do="merge", groups=[3, 1]).raise_for_status()
    merged = {"0": "0", "1": "1", "2": "2", "3": "1"}
    assert labels_of(client, steered)["my view"] == [merged[label] for label in before]
    found = client.get(f"{steered}/views/v1").json()
    assert found["n_clusters"] == len(found["description"]["groups"]) == 3
    assert sum(group["size"] for group in found["description"]["groups"]) == 90
    assert found["stability"] is found["p_value"] is None
    told = found["description"]
    assert told["selection"] is told["settings"]["novelty_weight"] is None
    assert told["settings"]["n_clusters"] == 3
    assert "not known of these groups, which were changed" in told["evidence"]
    step(client, steered, do="rename", group=1, name="both").raise_for_status()
    assert set(labels_of(client, steered)["my view"]) == {"0", "both", "2"}
    step(client, steered, do="reject").raise_for_status()
    assert "my view" not in labels_of(client, steered)
    for _ in range(4):
        client.delete(f"{steered}/steps/last").raise_for_status()
    assert labels_of(client, steered)["view 1"] == before
    client.delete(f"{steered}/steps/last").raise_for_status()
    assert state_of(client, steered)["views"] == []
    answer = client.delete(f"{steered}/steps/last")
    assert (answer.status_code, answer.json()["detail"]) == (400, "there is nothing to undo")


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"do": "merge", "groups": [0]}, 400, "name 2 or more of 0 to 3"),
        ({"do": "merge", "groups": [0, 9]}, 400, "name 2 or more of 0 to 3"),
        ({"do": "merge", "groups": [0, 1, 2, 3]}, 400, "no grouping"),
        ({"do": "rename", "name": "  "}, 400, "1 to 80 characters"),
        ({"do": "rename", "name": "known"}, 400, "is taken"),
        ({"do": "rename", "group": 7, "name": "x"}, 400, "does not exist"),
        ({"do": "accept", "view": "v9"}, 404, "there is no view 'v9'"),
        ({"do": "explode"}, 422, "do"),
    ],
)
def test_impossible_steps_are_refused(client, steered_once, body, code, message):
    answer = step(client, steered_once, **body)
    assert answer.status_code == code
    assert message in answer.json()["detail"]


@pytest.fixture(scope="module")
def steered_once(client, small):
    address = uploaded(client, small, given=["known"])
    searched(client, address, n_clusters=4, n_components=2)
    return address


# Keep


def check_repetition(client, address, folder):
    """Check that the script and the command line lead to the same labels."""
    place = folder / "again"
    with zipfile.ZipFile(io.BytesIO(file_of(client, address, "repeat.zip"))) as archive:
        archive.extractall(place)
    here = os.getcwd()
    os.chdir(place)
    try:
        names: dict = {}
        exec((place / "repeat.py").read_text(), names)
        labels = labels_of(client, address)
        for i in (1, 2):
            run = ["find", "--from", f"search-{i}.json", "-o", f"search-{i}", "--quiet"]
            result = CliRunner().invoke(main, run)
            assert result.exit_code == 0, result.output
            with (place / f"search-{i}" / "labels.csv").open() as file:
                count = json.loads((place / f"search-{i}.json").read_text())["options"]["views"]
                by_bird = {row["bird"]: row[f"view {count}"] for row in csv.DictReader(file)}
            assert [by_bird.get(bird, "") for bird in labels["bird"]] == labels[f"view {i}"]
            again = ["" if one is None else str(one) for one in names[f"labels_{i}"].tolist()]
            assert again == labels[f"view {i}"]
    finally:
        os.chdir(here)


def test_it_can_be_repeated_without_the_page(client, explored, tmp_path):
    check_repetition(client, explored, tmp_path)
    code = client.get(f"{explored}/code").json()
    assert "find_views(" in code["python"]
    assert code["shell"].splitlines()[1] == "multifacet find --from search-2.json -o search-2"


def test_labels_as_parquet_are_those_of_the_csv(client, explored):
    parquet = pytest.importorskip("pyarrow.parquet")
    found = parquet.read_table(io.BytesIO(file_of(client, explored, "labels.parquet")))
    labels = labels_of(client, explored)
    assert found.column_names == list(labels)
    assert [str(v) for v in found["view 2"].to_pylist()] == labels["view 2"]


def test_the_report_tells_both_views(client, explored):
    report = file_of(client, explored, "report.html").decode()
    assert "Content-Security-Policy" in report
    assert "view 1" in report


def test_an_exploration_can_be_opened_again(client, explored, tmp_path):
    step(client, explored, do="rename", view="v2", group=0, name='<b>"zero"</b>').raise_for_status()
    path = tmp_path / "kept.zip"
    path.write_bytes(file_of(client, explored, "exploration.zip"))
    answer = client.post("/api/uploads", params={"name": path.name}, content=path.read_bytes())
    again = f"/api/explorations/{answer.json()['id']}"
    assert again != explored
    assert labels_of(client, again) == labels_of(client, explored)
    assert client.get(f"{again}/views/v2").json() == client.get(f"{explored}/views/v2").json()
    client.delete(f"{explored}/steps/last").raise_for_status()


def test_a_restart_loses_nothing(served, client, explored):
    bench, _ = served
    folder = bench.folder / explored.rsplit("/", 1)[1]
    again = Exploration.open(folder)
    assert [facet.status for facet in again.facets().values()] == ["accepted", "new"]
    labels = labels_of(client, explored)
    assert [str(label) for label in again.labels("v2")] == labels["view 2"]


def test_a_full_disk_loses_nothing(served, client, small, monkeypatch):
    bench, _ = served
    address = uploaded(client, small)
    folder = bench.folder / address.rsplit("/", 1)[1]
    with monkeypatch.context() as patch:
        patch.setattr(
            "multifacet.results.storage.np.savez_compressed",
            lambda *a, **k: (_ for _ in ()).throw(OSError(28, "No space left on device")),
        )
        searched(client, address)
        assert "the disk is full" in state_of(client, address)["problem"]
        assert len(labels_of(client, address)["view 1"]) == 90
        assert not (folder / "v1.npz").exists()
    step(client, address, do="accept").raise_for_status()
    assert state_of(client, address)["problem"] is None
    kept = [str(label) for label in Exploration.open(folder).labels("v1")]
    assert kept == labels_of(client, address)["view 1"]


def test_images_of_groups(client, tmp_path):
    rng = np.random.default_rng(0)
    bright = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 16)) * 0.1
    X[bright == 1, :8] += 2.0
    np.save(tmp_path / "faces.npy", X)
    address = uploaded(client, tmp_path / "faces.npy")
    searched(client, address)
    found = client.get(f"{address}/views/v1/images", params={"height": 4, "width": 4}).json()
    labels = np.array(labels_of(client, address)["view 1"], dtype=int)
    expected = [X[labels == c].mean(axis=0) for c in range(2)]
    np.testing.assert_allclose(found["images"], expected, atol=1e-4)
    found = client.get(f"{address}/views/v1/images", params={"height": 8, "width": 5}).json()
    assert found["labels"] == labels.tolist()
    answer = client.get(f"{address}/views/v1/images", params={"height": 3, "width": 3})
    words = "3 by 3 are 9 pixels, but there are 16 numeric features and 40 rows"
    assert words in answer.json()["detail"]


def test_pixels_that_never_change_belong_to_the_image(client, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 16)) * 0.1 + 2.0 * rng.integers(0, 2, (40, 1))
    X[:, [0, 15]] = 5.0
    path = write_table(tmp_path / "digits.csv", {f"p{j}": X[:, j] for j in range(16)})
    address = uploaded(client, path)
    searched(client, address)
    found = client.get(f"{address}/views/v1/images", params={"height": 4, "width": 4}).json()
    labels = np.array(labels_of(client, address)["view 1"], dtype=int)
    expected = [X[labels == c].mean(axis=0) for c in range(2)]
    np.testing.assert_allclose(found["images"], expected, atol=1e-4)


def test_removing_removes(served, client, small):
    bench, _ = served
    address = uploaded(client, small)
    folder = bench.folder / address.rsplit("/", 1)[1]
    assert folder.exists()
    client.delete(address).raise_for_status()
    assert not folder.exists()
    assert client.get(address).status_code == 404


def test_uploads_in_which_nothing_was_found_are_not_kept(tmp_path, small):
    with running(tmp_path / "kept") as (_, client):
        uploaded(client, small)
        assert len(list((tmp_path / "kept").iterdir())) == 1
    assert not (tmp_path / "kept").exists()


# The command


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_and_ends_in_peace(tmp_path, small, end):
    command = [sys.executable, "-m", "multifacet", "explore", str(small), "--no-browser"]
    command += ["--port", "0", "--folder", str(tmp_path / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        address = process.stdout.readline().split()[1]
        page, _, name = address.partition("#")
        assert page.startswith("http://127.0.0.1:")
        assert httpx.get(f"{page}api/explorations/{name}").json()["name"] == "small.csv"
        process.send_signal(end)
        assert process.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_killed_in_a_search_loses_no_view(tmp_path, small):
    command = [sys.executable, "-m", "multifacet", "explore", "--no-browser", "--port", "0"]
    command += ["--folder", str(tmp_path / "kept")]

    def start(*words):
        process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True)
        page, _, name = process.stdout.readline().split()[1].partition("#")
        return process, httpx.Client(base_url=page, timeout=60), name

    process, client, name = start(str(small))
    with process, client:
        address = f"/api/explorations/{name}"
        searched(client, address)
        before = labels_of(client, address)
        busy(client, address)
        process.kill()
    process, client, _ = start()
    with process, client:
        assert labels_of(client, address) == before
        assert [job["status"] for job in state_of(client, address)["jobs"]] == []
        assert searched(client, address) == ["v2"]
        process.terminate()


def test_wrong_use_of_the_command():
    result = CliRunner().invoke(main, ["explore", "nowhere.csv"])
    assert (result.exit_code, result.output) == (2, "Error: there is no file 'nowhere.csv'\n")


def test_the_example_script(client, small):
    script = Path(__file__).resolve().parents[2] / "examples" / "workbench_api.py"
    command = [sys.executable, str(script), str(client.base_url), str(small), "known"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["bird"] for row in rows] == [f"b{i}" for i in range(90)]
    assert "view 1: " in result.stderr
    assert len({row["view 1"] for row in rows}) > 1
