"""The types of the package reach those who use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONSUMER = Path(__file__).with_name("consumer.py")
WRONG = """
from multifacet import find_views
from multifacet.kernels import Gaussian

find_views([[1.0]], n_views=1, missing=3)
views = find_views([[1.0]])
views.lables
Gaussian("wide")
"""


def test_a_users_file_is_typed(wheel, tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    from .fresh import Fresh

    # Installed from the wheel: without py.typed, a type checker does not look into a package.
    fresh = Fresh(tmp_path / "fresh", wheel)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", fresh.bin / "python",
         "--cache-dir", tmp_path / "cache", "--config-file", "", CONSUMER, wrong],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    told = checked.stdout.splitlines()
    assert [line for line in told if CONSUMER.name in line] == []
    codes = [line.rpartition("[")[2].rstrip("]") for line in told if "error:" in line]
    assert codes == ["call-overload", "attr-defined", "arg-type"], checked.stdout + checked.stderr
