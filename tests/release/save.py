"""Write what this version keeps, for later ones to read: ``python -m tests.release.save`` once.

``saved/VERSION`` then holds a small table with two groupings, the folders that the command line
writes, and an exploration of the workbench in which all kinds of steps were taken.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner

import multifacet
from multifacet.cli import main

from ..app.served import running, searched, small_table, uploaded

SAVED = Path(__file__).with_name("saved")
#: What is shown again from these files, and large.
MADE = ("report.html",)


def save(folder: Path) -> None:
    """Fill a directory."""
    table = small_table(folder, "birds.csv", n=60)
    os.chdir(folder)
    commands = (
        "find birds.csv --given known --views 1 --clusters 2 --method linear --quiet -o views",
        "reduce birds.csv --target known --dimensions 1 --quiet -o reduction",
        "compare birds-labels.csv --labels known,half --quiet -o comparison",
    )
    labels = table.read_text(encoding="utf-8").splitlines()
    half = [labels[0] + ",half", *(f"{row},{i % 2}" for i, row in enumerate(labels[1:]))]
    Path("birds-labels.csv").write_text("\n".join(half) + "\n", encoding="utf-8")
    for command in commands:
        done = CliRunner().invoke(main, command.split())
        assert done.exit_code == 0, done.output
    explore(folder / "exploration", table)
    for path in folder.rglob("*"):
        if path.name in MADE:
            path.unlink()
        elif path.name == "run.json":  # nobody needs to know where this was
            path.write_text(path.read_text(encoding="utf-8").replace(f"{folder}/", ""))


def explore(target: Path, table: Path) -> None:
    """Keep an exploration: one view with new names, accepted, and another one without it."""
    with tempfile.TemporaryDirectory() as elsewhere, running(Path(elsewhere)) as (_, client):
        address = uploaded(client, table, features=["x0", "x1", "x2", "x3"], given=["known"])
        (first,) = searched(client, address, n_views=1)
        steps = (
            {"do": "rename", "view": first, "name": "halves"},
            {"do": "rename", "view": first, "group": 0, "name": "left"},
            {"do": "accept", "view": first},
        )
        for step in steps:
            client.post(f"{address}/steps", json=step).raise_for_status()
        searched(client, address, n_views=1)
        shutil.copytree(Path(elsewhere) / address.rpartition("/")[2], target)


if __name__ == "__main__":
    goal = SAVED / multifacet.__version__
    goal.mkdir(parents=True)  # what a version has written stays as it is
    save(goal.resolve())
