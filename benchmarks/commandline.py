"""What the command adds to the library call: reading, writing, the report, and starting up."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from multifacet.datasets import make_gaussian_views
from multifacet.files import write_table

from .table import Table

N, QUICK_N, D, REPEATS = 1000, 100, 10, 3
#: Fixed settings: nothing is searched but the start.
OPTIONS = "n_views=1, n_clusters=2, n_components=2, bandwidth=1.0, novelty_weight=3.0, n_refits=0"
WORDS = (
    "--given known --views 1 --clusters 2 --dimensions 2 --bandwidth 1 --novelty-weight 3 "
    "--refits 0 --quiet --force"
)
LIBRARY = f"""
import sys
import numpy as np
from multifacet import find_views
table = np.load(sys.argv[1])
columns = {{f"x{{j}}": table[:, j] for j in range({D})}} | {{"known": table[:, -1]}}
find_views(columns, given="known", {OPTIONS})
"""


def run(quick: bool = False) -> list[Table]:
    import numpy as np

    n, repeats = (QUICK_N, 1) if quick else (N, REPEATS)
    X, labelings = make_gaussian_views(n, [2, 3], n_noise=D - 4, random_state=0)
    columns = {f"x{j}": X[:, j] for j in range(D)} | {"known": labelings[:, 0]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "table.csv", columns)
        np.save(folder / "table.npy", np.column_stack(list(columns.values())))
        library = [sys.executable, "-W", "ignore", "-c", LIBRARY, str(folder / "table.npy")]
        command = [sys.executable, "-m", "multifacet", "find", str(folder / "table.csv")]
        command += [*WORDS.split(), "-o", str(folder / "out")]
        seconds = [(_seconds(library), _seconds(command)) for _ in range(repeats)]
    table = Table(
        f"`multifacet find` on {n} x {D} with fixed settings, against the library call",
        ["library, seconds", "command, seconds", "command / library", "bar"],
        note=f"Each a process of its own, from its start to its end; medians of {repeats} pairs.",
    )
    before, after = (median(column) for column in zip(*seconds, strict=True))
    table.add(before, after, median(b / a for a, b in seconds), "< 1.2")
    return [table]


def _seconds(line: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(line, check=True, capture_output=True)
    return time.perf_counter() - began
