"""What the README and the pages say works: every block is run, and prints what stands below it.

Blocks of a page are run in their order, in one directory. Blocks of Python share their names. Of a
shell, the lines that call the command are run; others are checked as far as this is possible. A
block of text that follows is what was printed, or the error that was raised; numbers may differ by
a tenth, and an ellipsis stands for anything.
"""

from __future__ import annotations

import re
import shlex
import tomllib
import warnings
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from benchmarks.__main__ import chosen_names, parser
from click.testing import CliRunner

from multifacet.cli import main
from multifacet.datasets import make_gaussian_views
from multifacet.files import write_table

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
#: Lines of a shell that are not for the command, and whether what they name exists.
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
OTHERS = {"clustpy", "scanpy"}  # shown side by side, and run where they are installed
TARGETS = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def blocks(page):
    """Yield language and text of the blocks of a page; directives of Sphinx are none."""
    for found in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        if not found[1].startswith("{"):
            yield found[1], found[2]


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A directory with the tables that the pages speak of, small enough for a test."""
    X, labels = make_gaussian_views(60, [2, 2, 2], rotate=False, random_state=0)
    birds = {"species": labels[:, 0]} | {f"feature {j}": column for j, column in enumerate(X.T)}
    for name in ("birds.csv", "data.csv"):
        write_table(tmp_path / name, birds)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))])
def test_blocks_do_what_they_say(page, directory):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    names: dict = {}
    for (language, text), (after, expected) in pairwise([*blocks(page), ("", "")]):
        if language == "python" and missing(text):
            continue
        if language == "python":
            told = run_python(text, names, raises=after == "text" and "Error: " in expected[:30])
        elif language == "sh":
            told = run_shell(text, expected if after == "text" else "")
        elif language == "toml":
            Path("options.toml").write_text(text)
            continue
        else:
            assert language in ("text", ""), f"nobody runs {language}"
            continue
        if after == "text":
            assert_says(told, expected)


def missing(code):
    """Tell whether code is for another package that is not here."""
    roots = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
    return any(root in OTHERS and find_spec(root) is None for root in roots)


def run_python(code, names, *, raises):
    """Return what a block prints; the error that it raises, where one is expected."""
    printed = StringIO()
    with warnings.catch_warnings(), redirect_stdout(printed):
        warnings.simplefilter("ignore", UserWarning)  # ours, about data that are made up
        try:
            exec(code, names)
        except Exception as error:
            if not raises:
                raise
            return f"{type(error).__name__}: {error}"
    assert not raises, f"no error from\n{code}"
    return printed.getvalue()


def run_shell(text, expected):
    """Return what the lines of a block print; the demo is run only where that is expected."""
    told = ""
    for line in text.replace("\\\n", "").splitlines():
        words = shlex.split(line, comments=True)
        if not words or any(mark in words for mark in ("|", ".")) or words[0] == "eval":
            continue  # nothing to run without a shell
        if words[0] == "multifacet":
            if words[1] == "explore" or (words[1] == "demo" and not expected):
                main.commands[words[1]].make_context(words[1], words[2:])  # understood, no more
            else:
                told += run_command(words[1:], fails=expected.startswith("Error: "))
        elif words[0] == "make":
            assert set(words[1:]) <= TARGETS, line
        elif words[0] == "pip":
            named = ",".join(re.findall(r"\[([\w,]+)\]", line))
            assert set(re.findall(r"\w+", named)) <= set(EXTRAS), line
        elif words[:3] == ["python", "-m", "benchmarks"]:
            chosen_names(parser().parse_args(words[3:]).names)  # understood, no more
        elif words[:2] == ["python", "-m"] and words[2].startswith("tests."):
            assert find_spec(words[2]), line
        else:
            assert words[0] in ("python", "cd", "ls"), f"nobody runs {line!r}"
    return told


def run_command(words, *, fails):
    """Return what the command prints."""
    result = CliRunner().invoke(main, words)
    assert (result.exit_code != 0) == fails, result.output
    return result.stdout + result.stderr


def assert_says(told, expected):
    """Compare words exactly and numbers roughly; every expected line occurs, in this order."""
    lines = iter(told.splitlines())
    for line in filter(str.strip, expected.splitlines()):
        assert any(same(one, line) for one in lines), f"{line!r} is not in\n{told}"


def same(told, expected):
    pattern = ".*".join(re.escape(NUMBER.sub("#", part)) for part in expected.split("..."))
    if not re.fullmatch(pattern, NUMBER.sub("#", told)):
        return False
    if "..." in expected:
        return True
    pairs = zip(NUMBER.findall(told), NUMBER.findall(expected), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=0.1, abs=0.05) for a, b in pairs)
