"""The pages build without a warning, their links lead somewhere, and names have examples."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import multifacet

from ..browser import BROWSER, brightness, launched
from ..release.surface import documented_names
from ..test_layout import LATER, LEVEL, imported, modules

ROOT = Path(__file__).resolve().parents[2]
#: Modules whose names are public, and helpers in those that list none.
MODULES = ("kernels", "solvers", "engines", "metrics", "datasets", "baselines", "evidence")
HELPERS = {"kernels.needs_bandwidth", "kernels.with_bandwidth", "kernels.typical_distance",
           "kernels.gram_rows"}  # fmt: skip
#: Rules of numpydoc that this project does not follow: "See Also" sections, and a longer summary
#: where one line says it. The other two ask for capital letters where a name or number begins.
WAIVED = {"ES01", "SA01", "PR08", "RT04"}


def public_names():
    """Return what may be relied on: the top level, and the public modules."""
    names = [f"multifacet.{name}" for name in multifacet.__all__ if name not in MODULES]
    for module in MODULES:
        home = importlib.import_module(f"multifacet.{module}")
        listed = getattr(home, "__all__", None) or [
            name
            for name, value in vars(home).items()
            if (inspect.isclass(value) or inspect.isfunction(value))
            and value.__module__ == home.__name__
            and not name.startswith("_")
        ]
        names += [
            f"multifacet.{module}.{name}" for name in listed if f"{module}.{name}" not in HELPERS
        ]
    return names


def found(name):
    """Return the object of a full name."""
    module, _, last = name.rpartition(".")
    if last == "Dask":
        pytest.importorskip("dask", reason="dask is not installed")
    return getattr(importlib.import_module(module), last)


def test_the_reference_has_every_public_name():
    documented = documented_names()
    assert len(documented) == len(set(documented))
    assert set(public_names()) - set(documented) == set()


@pytest.mark.parametrize("name", documented_names())
def test_a_public_name_has_a_docstring_and_an_example(name):
    thing = found(name)
    assert thing.__doc__, f"{name} has no docstring"
    assert ">>> " in thing.__doc__, f"{name} has no example"
    validation = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    place = f"{thing.__module__}.{thing.__qualname__}"
    report = validation.validate(place)
    wrong = {code: text for code, text in report["errors"] if code not in WAIVED}
    if "PR01" in wrong and inspect.isclass(thing) and documents_its_fields(thing):
        del wrong["PR01"]
    assert wrong == {}


def documents_its_fields(cls):
    """Tell whether fields are attributes that users read, or there are none to pass."""
    fields = getattr(cls, "__annotations__", {}) if "Attributes\n" in (cls.__doc__ or "") else {}
    protocol = getattr(cls, "_is_protocol", False)
    return protocol or all(f"    {name} :" in cls.__doc__ or name in cls.__doc__ for name in fields)


def test_the_diagram_shows_the_imports(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    architecture = importlib.import_module("architecture")
    graph = architecture.import_graph()
    expected = {
        (parts[0], name)
        for parts, tree in modules()
        for where, name in imported(parts, tree)
        if where == "inside" and name in graph and parts[0] in graph and name != parts[0]
    } - LATER
    assert {(part, name) for part, names in graph.items() for name in names} == expected
    assert set(graph) == set(LEVEL) - {"__main__"}
    level = architecture.levels(graph)
    drawn = architecture.arrows(graph)
    assert all(level[above] < level[below] for above, below in drawn)
    # What is left out follows from what is drawn.
    reach = {part: {part} for part in graph}
    for part in sorted(graph, key=level.get, reverse=True):
        reach[part].update(*[reach[below] for above, below in drawn if above == part])
    assert all(names <= reach[part] for part, names in graph.items())
    picture = architecture.draw(graph)
    # Parts that import nothing share a box.
    named = {name for box in re.findall(r">([^<]+)</text>", picture) for name in box.split(", ")}
    assert named == set(graph)


def build(folder):
    """Build the pages from a copy of their sources; the gallery is not run."""
    for name in ("sphinx", "myst_parser", "furo", "numpydoc", "sphinx_gallery", "latex2mathml"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    generated = shutil.ignore_patterns("_build", "api", "gallery", "generated", "__pycache__")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=generated)
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    for name in ("src", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0",
         "docs", "html"],
        cwd=folder, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder / "html"


class Page(HTMLParser):
    """Anchors of a page, where its links lead, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = {""}, [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.add(values.get("id") or "")
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in ("script", "img", "link", "iframe", "source"):
            self.loads += [values[key] for key in ("src", "href") if values.get(key)]


def test_the_pages_build_and_their_links_lead_somewhere(tmp_path):
    # One test, because the site takes long to build and processes of pytest share nothing.
    site = build(tmp_path)
    assert_links_lead_somewhere(site)
    assert_every_result_is_shown(site)
    if BROWSER is not None and find_spec("playwright"):
        assert_it_is_read_offline(site)


def assert_links_lead_somewhere(site):
    """Links have goals, and nothing is loaded from outside."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) > 100
    broken, outside = [], []
    for path, page in pages.items():
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    outside.append((path.name, target))
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not goal.exists() or (goal in pages and anchor not in pages[goal].anchors):
                broken.append((str(path.relative_to(site)), target))
    assert broken == []
    assert outside == []


def assert_every_result_is_shown(site):
    """No table of results is typed: each comes from a file of the benchmarks."""
    results = {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.md")}
    shown = {path.stem for path in (site / "generated" / "results").glob("*.html")}
    assert results == shown
    sizing = (site / "big-data.html").read_text(encoding="utf-8")
    first = (
        (ROOT / "benchmarks" / "results" / "size.md").read_text(encoding="utf-8").splitlines()[0]
    )
    assert first.lstrip("# ").split("(")[0].strip() in sizing


def assert_it_is_read_offline(site):
    """Dark where the system is, with the version in sight, and searched without a server."""
    asked = []
    with launched() as browser:
        page = browser.new_page(color_scheme="dark")
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        assert brightness(page) < 60
        assert brightness(page, "color") > 180
        assert multifacet.__version__ in page.title()
        box = page.get_by_placeholder("Search")
        box.fill("novelty_weight")
        box.press("Enter")
        page.locator("ul.search li").first.wait_for()
        assert "search.html" in page.url
    assert [url for url in asked if not url.startswith("file:")] == []


def test_readme_links_to_files_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not urlsplit(target).scheme:
            assert (ROOT / target).exists(), target
