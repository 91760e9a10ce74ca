"""``multifacet find`` with workers: Parquet in, labels by partition out, or one sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("distributed", reason="needs the extra dask")
pytest.importorskip("dask.dataframe", reason="needs the extra dask")
pytest.importorskip("pyarrow", reason="needs the extra arrow")

import pandas as pd
from distributed import LocalCluster

from multifacet import find_views
from multifacet.cli import main
from multifacet.cli.cluster import Parts
from multifacet.files import open_partitions, write_table

from .clusters import LOCAL, SIZES, cluster_apart, in_partitions, labelled_table

QUICK = ("--given", "given", "--views", "1", "--clusters", "3", "--method", "linear")
FILES = {
    "labels", "loadings.csv", "references.csv", "report.html", "run.json", "views.json",
    "views.npz",
}  # fmt: skip


@pytest.fixture(scope="module")
def frame():
    return labelled_table()[0].assign(name=[f"row {i}" for i in range(400)])


@pytest.fixture
def here(frame, tmp_path, monkeypatch):
    """A directory with a folder of four files, one of them empty."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for number, (start, stop) in enumerate(pairwise(np.cumsum([0, *SIZES]))):
        frame.iloc[start:stop].to_parquet(f"data/part{number}.parquet", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def address():
    with LocalCluster(**LOCAL) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def expected(frame):
    """Labels of all rows."""
    parts = in_partitions(frame)
    views = find_views(parts, given="given", n_views=1, n_clusters=3, method="linear")
    return views.assign(parts).compute(scheduler="sync")["view 1"].tolist()


def call(*words):
    return CliRunner().invoke(main, ["find", *map(str, words)])


def labels_in(folder):
    files = sorted(path.name for path in (folder / "labels").iterdir())
    assert files == [f"part-{number:05}.parquet" for number in range(4)]
    return pd.concat([pd.read_parquet(folder / "labels" / name) for name in files])


def test_labels_are_written_by_partition(here, frame, expected, address):
    done = call("data/*.parquet", *QUICK, "--scheduler", address)
    assert done.exit_code == 0, done.output
    folder = here / "data-views"
    assert {path.name for path in folder.iterdir()} == FILES
    labels = labels_in(folder)
    assert labels.columns.tolist() == ["name", "given", "view 1"]
    assert labels["view 1"].tolist() == expected
    assert labels["name"].tolist() == frame["name"].tolist()
    run = json.loads((folder / "run.json").read_text())
    assert run["options"]["scheduler"] == address
    assert run["input"]["rows"] == 400
    again = call("data/*.parquet", "--from", folder / "run.json", "-o", "again")
    assert again.exit_code == 0, again.output
    assert labels_in(here / "again").equals(labels)
    frame.iloc[:50].to_parquet("data/part1.parquet", index=False)
    changed = call("data/*.parquet", "--from", folder / "run.json", "-o", "changed")
    assert "has changed since the run that --from repeats" in changed.output


@pytest.mark.parametrize("data", ["data", "data/*.parquet"])
def test_several_files_need_no_workers(here, frame, expected, data):
    done = call(data, *QUICK, "-o", "out")
    assert done.exit_code == 0, done.output
    assert {path.name for path in (here / "out").iterdir()} == FILES
    assert labels_in(here / "out")["view 1"].tolist() == expected
    assert "read in parts" in call(data, *QUICK, "--existing", "a.csv:b").output


@pytest.mark.parametrize("data", ["data", "data/*.parquet"])
def test_what_columns_of_several_files_are_for(here, frame, data):
    done = CliRunner().invoke(main, ["info", data, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["rows"] == len(frame)
    assert [column["name"] for column in told["columns"]] == list(frame.columns)
    refused = CliRunner().invoke(main, ["info", data, "--separator", ";"])
    assert (refused.exit_code, "read in parts" in refused.output) == (2, True)


def test_workers_of_its_own(here, expected, address):
    """In place of a file of labels that was there; rows without names are counted."""
    folder = here / "out"
    folder.mkdir()
    (folder / "labels.csv").write_text("old")
    words = ["data", *QUICK, "--exclude", "name", "-o", "out"]
    assert "holds results (labels.csv)" in call(*words, "--scheduler", address).output
    done = call(*words, "--workers", "2", "--force")
    assert done.exit_code == 0, done.output
    assert {path.name for path in folder.iterdir()} == FILES
    labels = labels_in(folder)
    assert labels["view 1"].tolist() == expected
    assert labels.columns[0] == "row"
    assert labels["row"].tolist() == list(range(400))


def test_a_file_that_cannot_be_read_is_named_and_nothing_is_written(here, address):
    content = bytearray((here / "data/part2.parquet").read_bytes())
    content[4:600] = bytes(596)
    (here / "data/part2.parquet").write_bytes(content)
    done = call("data", *QUICK, "--scheduler", address)
    assert done.exit_code == 2
    assert "partition 2 of 4 cannot be read (the first is 0)" in done.output
    assert "part2.parquet' is broken" in done.output
    assert sorted(path.name for path in here.iterdir()) == ["data"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--workers", "2", "--scheduler", "tcp://127.0.0.1:1"), "pass one of them"),
        (("--workers", "0"), "--workers 0 must be at least 1"),
        (("--scheduler", "nowhere"), "'nowhere' is not the address of a scheduler"),
        (
            ("--workers", "1", "--existing", "a.csv:b"),
            "--existing is not for Parquet that",
        ),
        (("--workers", "1", "--format", "csv"), "only Parquet is read in parts"),
    ],
)
def test_wrong_use(here, words, message):
    done = call("data", *words)
    assert done.exit_code == 2
    assert message in done.output
    assert sorted(path.name for path in here.iterdir()) == ["data"]


def test_no_scheduler_there(here, monkeypatch):
    def refuse(*args, **kwargs):  # waiting for it takes 10 seconds
        raise TimeoutError

    monkeypatch.setattr("distributed.Client", refuse)
    done = call("data", "--scheduler", "tcp://127.0.0.1:1")
    assert done.exit_code == 1
    assert "the scheduler at 'tcp://127.0.0.1:1' did not answer within 10 seconds" in done.output


def test_without_dask(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = call("data", "--workers", "2")
    assert done.exit_code == 1
    assert 'a cluster needs distributed: pip install "multifacet[dask]"' in done.output


def test_only_parquet_has_partitions(here, address):
    write_table("t.csv", {"a": [1, 2, 3]})
    done = call("t.csv", "--scheduler", address)
    assert done.exit_code == 2
    assert "'t.csv' is no Parquet file, which workers could read in parts" in done.output
    assert "there is no file 'none.parquet'" in call("none.parquet", "--scheduler", address).output


def test_the_scheduler_is_lost_before_labels_are_written(here, expected, address, monkeypatch):
    with cluster_apart(here) as (process, lost):
        write = Parts.write_labels

        def lose(self, folder, views):
            process.kill()
            process.wait()
            write(self, folder, views)

        monkeypatch.setattr(Parts, "write_labels", lose)
        done = call("data", *QUICK, "--scheduler", lost, "-o", "out")
    assert done.exit_code == 1
    assert "connection to the scheduler was lost" in done.output
    assert "what was found so far is kept in 'out'" in done.output
    assert [path.name for path in (here / "out").iterdir()] == [".checkpoint.npz"]
    monkeypatch.setattr(Parts, "write_labels", write)
    done = call("data", *QUICK, "--scheduler", address, "-o", "out", "--resume")
    assert done.exit_code == 0, done.output
    assert labels_in(here / "out")["view 1"].tolist() == expected


def test_it_is_interrupted(here, address):
    """Between two views, of which the first is kept."""
    line = [sys.executable, "-m", "multifacet", "find", "data", "--given", "given", "-o", "out"]
    line += ["--views", "4", "--clusters", "2", "--method", "kdac", "--scheduler", address]
    with subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        kept = here / "out" / ".checkpoint.npz"
        while not kept.exists() and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGINT)
        said = process.communicate()[1].decode()
    assert process.returncode == 1
    assert "interrupted; what was found so far is kept in 'out'" in said
    assert "Traceback" not in said
    assert [path.name for path in kept.parent.iterdir()] == [".checkpoint.npz"]


def test_large_files_are_cut_by_their_row_groups(frame, tmp_path):
    frame.to_parquet(tmp_path / "one.parquet", row_group_size=40)
    assert open_partitions(tmp_path / "one.parquet").npartitions == 1
    parts = open_partitions(tmp_path / "one.parquet", piece_bytes=6000)
    assert 2 <= parts.npartitions <= 10
    back = parts.compute(scheduler="sync")
    assert back["name"].tolist() == frame["name"].tolist()
    assert back["a"].tolist() == frame["a"].tolist()
