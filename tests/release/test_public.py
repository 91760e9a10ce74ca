"""The public surface changes only on purpose: with its file, and a line in the changelog."""

from __future__ import annotations

import re

import pytest

from .surface import FILE, ROOT, at_release, marked, surface


@pytest.fixture(scope="module")
def now():
    for package in ("dask", "fastapi"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    return surface()


def lines():
    return FILE.read_text(encoding="utf-8").splitlines()


def test_the_file_lists_the_public_surface(now):
    assert lines() == marked(at_release(lines()), now), (
        "public names, signatures, options or formats have changed. If that is on purpose, say so "
        "in CHANGELOG.md and run `python -m tests.release.surface` (see docs/stability.md)"
    )


def test_the_changelog_names_what_has_changed():
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    words = set(re.findall(r"[\w.-]+", unreleased)) | set(re.findall(r"\w+", unreleased))
    unnamed = [line for line in lines() if line[0] in "+-" and not words & names(line)]
    assert unnamed == [], 'add lines to "Unreleased" in CHANGELOG.md that name them'


def names(line):
    """Return the words, one of which tells that the changelog speaks of a line."""
    bare = re.sub(r"\(.*", "", line[2:])
    if bare.startswith("$"):  # an option by its name, an argument by its command
        return {word for word in re.split(r"[ /]", bare) if word.startswith("--")} or {
            bare.split()[2]
        }
    return set(re.split(r"[. ]", bare)[-2:]) - {"multifacet", "of"} | {bare}


def test_a_change_is_noticed(now):
    fewer = [line for line in now if line != "$ multifacet find --given"]
    (gone,) = (line for line in marked(now, fewer) if not line.startswith(" "))
    assert gone == "- $ multifacet find --given"
    assert names(gone) == {"--given"}
    assert at_release(marked(fewer, now)) == fewer
    assert names("+ multifacet.View.plot(self, *, ax=None)") == {
        "View", "plot", "multifacet.View.plot"
    }  # fmt: skip
