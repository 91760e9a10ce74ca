"""One process at a time writes to a directory, and what a killed one leaves does no harm."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from multifacet.cli import main
from multifacet.files import FolderInUseError, locked, write_table

FAST = ("--views", "1", "--clusters", "2", "--method", "linear")
LOCK = ".multifacet.lock"
HOLD = """
import sys, tempfile, time
from multifacet.files import locked
with locked(sys.argv[1]):
    tempfile.mkdtemp(prefix=".unfinished-", dir=sys.argv[1])
    print("held", flush=True)
    time.sleep(60)
"""
QUEUE = """
import os, sys
from multifacet.files import locked
print("ready", flush=True)
sys.stdin.readline()
mine = locked("out")
mine.__enter__()
print("held", flush=True)
sys.stdin.readline()
os._exit(0)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    write_table("t.csv", {"kind": list("ab") * 6} | {n: rng.normal(size=12) for n in "xyz"})


@pytest.fixture
def holder(here):
    """A process that works in the directory out, as a run does."""
    line = [sys.executable, "-c", HOLD, "out"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def call(*words):
    return CliRunner().invoke(main, list(words))


def names():
    return {path.name for path in Path("out").iterdir()}


def lock_of(**changes):
    """Write the lock of this very process, with changes."""
    Path("out").mkdir(exist_ok=True)
    with locked("out"):
        values = json.loads(Path("out", LOCK).read_text())
    Path("out", LOCK).write_text(json.dumps(values | changes))


COMMANDS = {
    "find": ("find", "t.csv", *FAST, "-o", "out", "--force"),
    "reduce": ("reduce", "t.csv", "--target", "kind", "-o", "out"),
    "compare": ("compare", "out/labels.csv", "-o", "out"),
    "report": ("report", "out/comparison.json"),
    "explore": ("explore", "--no-browser", "--port", "0", "--folder", "out"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_written_where_another_process_works(holder, command):
    if command == "explore":
        pytest.importorskip("uvicorn")
    write_table("out/labels.csv", {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    Path("out/comparison.json").write_text("{}")
    before = names()
    done = call(*COMMANDS[command])
    assert done.exit_code == 1, done.stdout
    said = f"Error: 'out' is in use by process {holder.pid} on {socket.gethostname()!r} since 20"
    [sentence] = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    assert sentence.startswith(said)
    assert sentence.endswith(": wait until that has ended, or use another directory")
    assert names() == before


def test_a_server_keeps_others_out_while_it_runs(here):
    pytest.importorskip("uvicorn")
    line = [sys.executable, "-m", "multifacet", *COMMANDS["explore"]]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"workbench: http")
        assert names() == {LOCK}
        said = f"'out' is in use by process {process.pid} on"
        assert said in call(*COMMANDS["explore"]).stderr
        assert said in call(*COMMANDS["find"]).stderr
        process.terminate()
    assert not Path("out").exists()


def test_a_killed_run_is_cleared_away_by_the_next(holder):
    os.kill(holder.pid, signal.SIGKILL)
    os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)  # until it is dead, but a zombie
    assert any(name.startswith(".unfinished-") for name in names())
    Path("out/.0a1b2c3d-.checkpoint.npz").write_text("half")
    Path("out/mine.txt").write_text("mine")
    assert call("find", "t.csv", *FAST, "-o", "out").exit_code == 0
    holder.wait()
    assert not [name for name in names() if name.startswith(".")]
    assert "mine.txt" in names()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no start times of processes")
def test_a_number_that_another_process_has_now_is_recognised(here):
    lock_of(born="another start of the same machine 12345")
    assert call("find", "t.csv", *FAST, "-o", "out").exit_code == 0
    lock_of()
    assert "in use by process" in call("find", "t.csv", *FAST, "-o", "out", "--force").stderr


def test_locks_that_cannot_be_judged_are_named(here):
    lock_of(host="elsewhere", process=2**22 + 1)
    done = call("find", "t.csv", *FAST, "-o", "out")
    assert done.exit_code == 1
    assert "on 'elsewhere' since" in done.stderr
    assert "another machine" in done.stderr
    assert done.stderr.endswith(f"if that run is over, delete {str(Path('out', LOCK))!r}\n")
    for content in ("", "[" * 100_000, '{"process": 1}', "null", b"\xff"):
        Path("out", LOCK).write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(FolderInUseError, match="does not say by whom: delete this file if no"):
            locked("out").__enter__()
        assert names() == {LOCK}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, None])
def test_a_lock_goes_with_its_holder(here, error):
    def work():
        with locked("new"):
            assert os.listdir("new") == [LOCK]
            if error:
                raise error

    if error:
        with pytest.raises(error):
            work()
    else:
        work()
    assert not Path("new").exists()
    Path("kept").mkdir()
    with locked("kept"):
        Path("kept", LOCK).unlink()  # as a user may do
        Path("kept", LOCK).write_text("of another process")
    assert Path("kept", LOCK).read_text() == "of another process"


def test_of_many_at_once_one_gets_it(here):
    """An abandoned lock is taken over once, however many come at the same time."""
    lock_of(process=2**22 + 1)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    crowd = [subprocess.Popen([sys.executable, "-c", QUEUE], **pipes) for _ in range(4)]
    for one in crowd:
        assert one.stdout.readline() == b"ready\n"
    for one in crowd:
        one.stdin.write(b"\n")
        one.stdin.flush()
    said = [one.stdout.readline() for one in crowd]
    for one in crowd:
        one.communicate(b"\n")
    assert sorted(said) == [b"", b"", b"", b"held\n"]
