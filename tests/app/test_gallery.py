"""Texts and pictures of rows in the workbench: none is read that the local user has not opened."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet.files import write_table

from ..tables.test_rows import png
from .served import running, searched, uploaded

pytest.importorskip("fastapi")
N = 60


@pytest.fixture
def bench(tmp_path):
    with running(tmp_path / "explorations") as (found, client):
        yield found, client


@pytest.fixture
def path(tmp_path):
    """Write a table with texts, and pictures beside it and elsewhere."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    group = np.arange(N) % 3
    words = np.array(["bells rang in the night", "rain fell on the hill", "birds sang in the wood"])
    (tmp_path / "secret.png").write_bytes(png(3))
    names = [f"{i}.png" if i % 2 else "../secret.png" for i in range(N)]
    for name in names[1::2]:
        (folder / name).write_bytes(png(200))
    columns = {
        "text": [f"{words[c]} once or {i} times" for i, c in enumerate(group)],
        "picture": [*names[:-1], str(tmp_path / "secret.png")],
        "size": 9.0 * group + rng.normal(size=N),
        "age": rng.normal(size=N),
    }
    return write_table(folder / "rows.csv", columns)


def gallery(client, address, view):
    return client.get(f"{address}/views/{view}").raise_for_status().json()["description"]["gallery"]


def test_uploads_show_texts_and_no_pictures(bench, path):
    _, client = bench
    address = uploaded(client, path)
    (view,) = searched(client, address, n_clusters=3)
    seen = gallery(client, address, view)
    assert all(row["texts"] and not row["images"] for row in seen["rows"])
    assert {*seen["groups"][0]["words"]} & {"bells", "rain", "birds", "rang", "fell", "sang"}
    merge = {"do": "merge", "view": view, "groups": [0, 1]}
    client.post(f"{address}/steps", json=merge).raise_for_status()
    merged = gallery(client, address, view)
    assert len(merged["groups"]) == 2
    assert not any(row["images"] for row in merged["rows"])
    page = client.get(f"{address}/files/report.html").raise_for_status().text
    assert ">Rows to look at<" in page
    assert "<img" not in page


def test_the_table_of_the_local_user_shows_pictures_of_its_folder(bench, path):
    found, client = bench
    exploration = found.begin(path, trusted=True)
    address = f"/api/explorations/{exploration.id}"
    (view,) = searched(client, address, n_clusters=3)
    seen = gallery(client, address, view)
    shown = [row for row in seen["rows"] if row["images"]]
    assert 0 < len(shown) < len(seen["rows"])
    secret = "".join(str(row["images"]) for row in seen["rows"])
    assert len({*(one["images"]["picture"] for one in shown)}) == 1  # and not that one
    assert secret
    (note,) = seen["notes"]
    assert "is outside the folder of the table" in note
    packed = client.get(f"{address}/files/exploration.zip").raise_for_status().content
    answer = client.post("/api/uploads", params={"name": "e.zip"}, content=packed)
    again = f"/api/explorations/{answer.raise_for_status().json()['id']}"
    # What was shown stays; a new search there reads no file.
    assert gallery(client, again, view) == seen
    (new,) = searched(client, again, n_clusters=2)
    assert not any(row["images"] for row in gallery(client, again, new)["rows"])


def test_lists_of_numbers_are_features(bench, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    _, client = bench
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 9)) + 9 * (np.arange(N) % 2)[:, None]
    table = pa.table({"label": ["a", "b", "c"] * 20, "emb": list(X), "age": rng.normal(size=N)})
    parquet.write_table(table, tmp_path / "emb.parquet")
    address = uploaded(client, tmp_path / "emb.parquet", given=["label"])
    state = client.get(address).json()
    assert state["setup"]["features"] == [f"emb[{j}]" for j in range(9)]
    (view,) = searched(client, address)
    sizes = client.get(f"{address}/views/{view}").json()["sizes"]
    assert sizes == [30, 30]
