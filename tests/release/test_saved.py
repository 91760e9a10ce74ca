"""What earlier versions have written is read: results, runs and explorations.

``python -m tests.release.save`` adds the files of a version when it is released.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import multifacet
from multifacet import Views
from multifacet.cli import main

SAVED = Path(__file__).with_name("saved")
VERSIONS = sorted(path.name for path in SAVED.iterdir() if path.is_dir())


@pytest.fixture(params=VERSIONS)
def saved(request, tmp_path, monkeypatch):
    """Return a copy of what a version has written, and go there."""
    folder = shutil.copytree(SAVED / request.param, tmp_path / "saved")
    monkeypatch.chdir(folder)
    return folder


def columns(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def command(words):
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, done.output
    return done.output


def test_this_version_has_saved_something():
    assert multifacet.__version__ in VERSIONS, "run `python -m tests.release.save`"


def test_views_are_read(saved):
    views = Views.load("views/views.npz")
    written, table = columns(saved / "views" / "labels.csv"), columns(saved / "birds.csv")
    assert [str(label) for label in views[0].labels] == written["view 1"]
    assert views.index.tolist() == table["bird"]
    assert "60 rows, given known" in str(views)
    features = {name: [float(cell) for cell in table[name]] for name in ("x0", "x1", "x2", "x3")}
    assert (views.predict(features)[:, 0] == views[0].labels).mean() > 0.95


@pytest.mark.parametrize("kind", ["views", "reduction", "comparison"])
def test_a_report_is_made_again(saved, kind):
    command(f"report {kind} -o again.md")
    assert (saved / "again.md").read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("task", ["find views", "reduce reduction", "compare comparison"])
def test_a_run_is_repeated(saved, task):
    name, folder = task.split()
    command(f"{name} --from {folder}/run.json -o again")
    before, after = (json.loads((saved / f / "run.json").read_text()) for f in (folder, "again"))
    assert after["input"]["sha256"] == before["input"]["sha256"]
    assert before["options"].items() <= after["options"].items()


def test_an_exploration_is_taken_up(saved):
    for package in ("fastapi", "uvicorn", "plotly", "httpx"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from ..app.served import running

    (saved / "explorations").mkdir()
    (saved / "exploration").rename(saved / "explorations" / "kept")
    with running(saved / "explorations") as (_, client):
        address = "/api/explorations/kept"
        state = client.get(address).raise_for_status().json()
        first, second = state["views"]
        assert (first["name"], first["status"]) == ("halves", "accepted")
        assert second["status"] == "new"
        labels = client.get(f"{address}/files/labels.csv").raise_for_status().text
        assert len(labels.splitlines()) == 61
