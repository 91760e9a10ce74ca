"""Wheel and source distribution hold what they should, and nothing else."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import multifacet

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "multifacet"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: Extras of users, one feature each.
USERS = sorted(set(EXTRAS) - {"all", "dev"})


@pytest.fixture(scope="module")
def metadata(wheel):
    with ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(archive.read(name).decode())


def test_the_wheel_is_the_package(wheel):
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {
        f"multifacet/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    beside = {name for name in names if not name.startswith("multifacet/")}
    assert names - beside == package
    assert all(".dist-info/" in name for name in beside)
    assert any(name.endswith("licenses/LICENSE") for name in beside)
    for needed in ("py.typed", "datasets/penguins.csv", "search/null.json", "report/page.css",
                   "app/static/index.html", "app/static/main.js"):  # fmt: skip
        assert f"multifacet/{needed}" in names
    assert wheel.name.endswith("-py3-none-any.whl")


def test_metadata(metadata):
    assert metadata["Name"] == "multifacet"
    assert metadata["Version"] == multifacet.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert set(metadata.get_all("Provides-Extra")) == set(EXTRAS)
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().startswith("# multifacet")


def test_all_is_every_extra_of_users():
    assert EXTRAS["all"] == [f"multifacet[{','.join(USERS)}]"]


def test_the_source_distribution_is_the_repository(distributions):
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("pyproject.toml", "Makefile", "README.md", "CHANGELOG.md", "CITATION.cff",
                   "LICENSE", "src/multifacet/py.typed", "tests/conftest.py", "docs/index.md",
                   "benchmarks/__main__.py", "examples/plot_01_penguins.py"):  # fmt: skip
        assert needed in names
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode == 0:  # nothing that is not part of the repository comes along
        assert names - set(listed.stdout.splitlines()) == {"PKG-INFO"}


def test_the_oldest_versions_are_those_of_the_project():
    wanted = {}
    needed = [*PROJECT["dependencies"], *(r for name in USERS for r in EXTRAS[name])]
    for requirement in map(Requirement, needed):
        (lowest,) = (s.version for s in requirement.specifier if s.operator == ">=")
        wanted[requirement.name] = lowest
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {name: Version(version) for name, version in pinned.items()} == {
        name: Version(version) for name, version in wanted.items()
    }
