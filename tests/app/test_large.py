"""Parquet in many files, or too large to be held: a sample is shown, and all rows are told."""

from __future__ import annotations

import io
import subprocess
import sys
import weakref
import zipfile

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("fastapi", reason="needs the extra app")
pd = pytest.importorskip("pandas", reason="needs the extra pandas")
pytest.importorskip("pyarrow", reason="needs the extra arrow")

from multifacet.app.large import stem  # noqa: E402
from multifacet.app.limits import Limits  # noqa: E402
from multifacet.cli import main  # noqa: E402
from multifacet.datasets import make_gaussian_views  # noqa: E402
from multifacet.files import pieces  # noqa: E402
from multifacet.metrics import nmi  # noqa: E402
from multifacet.tables.excerpt import excerpt  # noqa: E402

from .served import running, searched, wait_for  # noqa: E402

ROWS, SAMPLE = 1200, 200
#: Everything counts as large, and few rows as a sample.
FEW = Limits(cells=1000, drawn=SAMPLE)
X, LABELINGS = make_gaussian_views(ROWS, [2, 2], rotate=False, random_state=0)


def frame():
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    return pd.DataFrame({**columns, "known": [f"k{c}" for c in LABELINGS[:, 0]]})


@pytest.fixture
def folder(tmp_path):
    """Return a folder of Parquet files of different lengths, one of which is empty."""
    place = tmp_path / "birds"
    (place / "deep").mkdir(parents=True)
    table = frame()
    for i, (start, stop) in enumerate([(0, 500), (500, 500), (500, 1150), (1150, 1200)]):
        where = place / "deep" if i == 2 else place
        table[start:stop].to_parquet(where / f"part{i}.parquet", index=False)
    return place


def in_files(folder):
    """Return the rows in the order in which the files are read."""
    paths = sorted(folder.rglob("*.parquet"))
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def known(client, address, **setup):
    """Say that a column is known, and return the state."""
    said = client.get(address).json()["setup"]
    kept = ("features", "given", "identifier", "standardize", "missing")
    body = {name: said[name] for name in kept} | {"given": ["known"]} | setup
    return client.put(f"{address}/setup", json=body).raise_for_status().json()


def all_labels(client, address):
    content = client.get(f"{address}/files/all-labels.zip").raise_for_status().content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [pd.read_parquet(io.BytesIO(archive.read(n))) for n in sorted(archive.namelist())]
    return pd.concat(parts, ignore_index=True)


def test_an_excerpt_does_not_depend_on_how_rows_are_cut(folder, tmp_path):
    whole = tmp_path / "whole.parquet"
    in_files(folder).to_parquet(whole, row_group_size=77)
    rows, count = excerpt(folder, SAMPLE)
    again, _ = excerpt(whole, SAMPLE)
    assert (rows.shape, count) == ((SAMPLE, 5), ROWS)
    pd.testing.assert_frame_equal(rows, again)
    positions = in_files(folder).reset_index().merge(rows, how="inner")["index"]
    assert len(positions) == SAMPLE
    assert positions.min() < 150  # from everywhere
    assert positions.max() > 1050


def test_one_piece_is_held_at_a_time(tmp_path, monkeypatch):
    path = tmp_path / "birds.parquet"
    frame().to_parquet(path, row_group_size=100)
    seen = []

    def read(piece):
        assert not any(held() is not None for held in seen)
        part = pieces.read_piece(piece)
        seen.append(weakref.ref(part))
        return part

    monkeypatch.setattr("multifacet.tables.excerpt.read_piece", read)
    assert len(excerpt(path, SAMPLE, piece_bytes=1)[0]) == SAMPLE
    assert len(seen) == ROWS // 100


def test_a_folder_that_can_be_held_is_one_table(folder, tmp_path):
    with running(tmp_path / "kept") as (bench, client):
        state = client.get(f"/api/explorations/{bench.begin_here(folder).id}").json()
        assert (state["name"], state["n_rows"], state["all_rows"]) == ("birds.parquet", ROWS, None)
        assert not any("drawn" in note for note in state["setup"]["notes"])
        address = f"/api/explorations/{state['id']}"
        cells = client.get(f"{address}/rows", params={"start": ROWS - 1}).json()["cells"]
        assert cells[0][:4] == pytest.approx(in_files(folder).iloc[-1, :4].tolist())
        assert client.get(f"{address}/files/all-labels.zip").status_code == 404


def test_a_sample_is_searched_and_all_rows_are_told(folder, tmp_path):
    with running(tmp_path / "kept", FEW) as (bench, client):
        address = f"/api/explorations/{bench.begin_here(str(folder)).id}"
        state = known(client, address)
        assert (state["n_rows"], state["all_rows"]) == (SAMPLE, ROWS)
        assert any("200 of 1,200 rows, drawn" in note for note in state["setup"]["notes"])
        assert client.get(f"{address}/files/all-labels.zip").status_code == 400
        assert searched(client, address) == ["v1"]
        told = all_labels(client, address)
        assert told.columns.tolist() == ["row", "known", "view 1"]
        assert told["row"].tolist() == list(range(ROWS))
        table = in_files(folder)
        assert told["known"].tolist() == table["known"].tolist()
        order = [np.flatnonzero((row == X).all(axis=1))[0] for row in table.iloc[:, :4].to_numpy()]
        assert nmi(told["view 1"].to_numpy(int), LABELINGS[order, 1]) > 0.95
        # Rows of the sample are told what the page shows.
        sample = pd.read_csv(io.StringIO(client.get(f"{address}/files/labels.csv").text))
        places = [int(np.argmin(abs(table["x0"] - value))) for value in sample["x0"]]
        assert (told["view 1"][places].to_numpy() == sample["view 1"]).mean() > 0.98
        step = {"do": "rename", "view": "v1", "group": 0, "name": "small"}
        client.post(f"{address}/steps", json=step).raise_for_status()
        assert set(all_labels(client, address)["view 1"]) == {"small", "1"}
        # The file is removed after it was sent, while the client has it already.
        uploads = bench.upload_path("x").parent.parent
        wait_for(lambda: not any(uploads.glob("*/all-labels.zip")))


def test_rows_that_lack_cells_have_no_label(folder, tmp_path):
    path = folder / "part0.parquet"
    table = pd.read_parquet(path)
    table.loc[:9, "x1"] = np.nan
    table.to_parquet(path, index=False)
    with running(tmp_path / "kept", FEW) as (bench, client):
        address = f"/api/explorations/{bench.begin_here(folder).id}"
        known(client, address, missing="drop")
        searched(client, address)
        lacking = in_files(folder)["x1"].isna()
        assert (all_labels(client, address)["view 1"].isna() == lacking).all()


def test_one_large_file_and_what_is_kept_of_it(tmp_path):
    path = tmp_path / "birds.parquet"
    frame().to_parquet(path, row_group_size=100)
    with running(tmp_path / "kept", FEW) as (bench, client):
        address = f"/api/explorations/{bench.begin_here(path).id}"
        assert client.get(address).json()["all_rows"] == ROWS
        searched(client, address)
    files = {one.name for one in (tmp_path / "kept").rglob("*.parquet")}
    assert files == {"birds-sample.parquet"}
    with running(tmp_path / "kept", FEW) as (_, client):  # which does not know where all rows are
        state = client.get(address).json()
        assert (state["n_rows"], state["all_rows"]) == (SAMPLE, None)
        assert len(state["views"]) == 1


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("data/birds", "birds"),
        ("data/birds/*.parquet", "birds"),
        ("birds.parquet", "birds"),
        ("s3://bucket/birds/part-*.parquet", "birds"),
    ],
)
def test_a_table_is_called_by_where_it_is(path, name):
    assert stem(path) == name


def test_the_command_opens_a_folder(folder, tmp_path):
    command = [sys.executable, "-m", "multifacet", "explore", str(folder), "--no-browser"]
    command += ["--port", "0", "--folder", str(tmp_path / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        page, _, name = process.stdout.readline().split()[1].partition("#")
        assert httpx.get(f"{page}api/explorations/{name}").json()["n_rows"] == ROWS
        process.terminate()
        assert process.wait(20) == 0


def test_a_folder_without_parquet_is_refused(tmp_path):
    told = CliRunner().invoke(main, ["explore", str(tmp_path), "--folder", str(tmp_path / "kept")])
    assert told.exit_code == 2
    assert "there is no Parquet file in" in told.output
