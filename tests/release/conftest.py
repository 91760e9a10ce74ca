"""The distributions: those of ``make dist`` if it says where, otherwise made here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """Return the directory with the wheel and the source distribution."""
    if "MULTIFACET_DIST" in os.environ:
        return ROOT / os.environ["MULTIFACET_DIST"]
    for name in ("build", "hatchling"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(distributions):
    """Return the path of the wheel."""
    (path,) = distributions.glob("*.whl")
    return path
