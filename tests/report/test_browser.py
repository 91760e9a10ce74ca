"""Reports in a browser: no errors, no requests, everything in sight, wide and narrow."""

from __future__ import annotations

import pytest

from multifacet.report import to_html

from ..browser import brightness, launched, needs_browser
from . import made
from .made import SCRIPT

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = needs_browser

#: How many figures with points each report has.
FIGURES = {"views": 2, "free": 1, "several": 8, "none": 2, "wide": 2}
FIGURES |= {"reduction": 1, "comparison": 0}


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the reports, and the documents they were made of."""
    folder = tmp_path_factory.mktemp("reports")
    found = made.find(made.difficult_table(), given="known").to_dict()
    documents = {
        "views": found | {"run": made.RUN},
        "free": made.find(made.difficult_table(), n_components=3).to_dict(),
        "several": made.several_views(found),
        "none": made.no_views(found),
        "wide": made.wide_view(found),
        "reduction": made.reduction(),
        "comparison": made.comparison(),
    }
    paths = {name: folder / f"{name}.html" for name in documents}
    for name, document in documents.items():
        paths[name].write_text(to_html(document), encoding="utf-8")
    return {name: (paths[name].as_uri(), documents[name]) for name in documents}


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page, and a list of what went wrong in it."""
    contexts, wrong = [], []

    def opened(address, width=1280, scheme="light"):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on(
            "request", lambda request: wrong.append(request.url) if request.url != address else 0
        )
        page.goto(address)
        return page

    yield opened, wrong
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", FIGURES)
def test_everything_is_in_sight(pages, open_page, name, width, scheme):
    address, document = pages[name]
    opened, wrong = open_page
    page = opened(address, width, scheme)
    assert not wrong
    assert page.locator("h1").is_visible()
    assert document["sentence"] in page.inner_text("main")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert SCRIPT in page.inner_text("main") or name == "wide"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    figures = page.locator("svg.plot:has(.points)")
    assert figures.count() == FIGURES[name]
    for box in figures.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())"):
        assert box["width"] >= 300
        assert box["left"] >= 0
        assert box["right"] <= width
    # No word reaches beyond its figure.
    cut = page.evaluate(
        """[...document.querySelectorAll('svg.plot')].some(figure => {
          const frame = figure.getBoundingClientRect();
          return [...figure.querySelectorAll('text')].some(text => {
            const box = text.getBoundingClientRect();
            return box.left < frame.left - 1 || box.right > frame.right + 1
              || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
          });
        })"""
    )
    assert not cut
    assert (brightness(page) > 200) == (scheme == "light")


@pytest.mark.parametrize(("name", "width"), [("views", 1280), ("free", 1280), ("free", 390)])
def test_tables_are_not_cut(pages, open_page, name, width):
    opened, _ = open_page
    page = opened(pages[name][0], width)
    tables = page.locator(".table").evaluate_all(
        """all => all.filter(one => one.checkVisibility()).map(one => ({
          caption: one.getAttribute("aria-label"), cut: one.scrollWidth > one.clientWidth + 1,
        }))"""
    )
    cut = [one["caption"].split(",")[0] for one in tables if one["cut"]]
    # A phone scrolls numbers, but no sentences.
    numbers = {"What each feature tells", "Mean and standard deviation of numbers"}
    numbers |= {"The rows nearest to the mean of each group in the features that set it apart"}
    assert set(cut) <= (numbers if width < 500 else set())
    assert len(tables) >= 5


def test_the_button_switches_the_colours(pages, open_page):
    opened, _ = open_page
    page = opened(pages["views"][0])
    button = page.get_by_role("button", name="Switch to dark colours")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    button.click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.get_by_role("button", name="Switch to light colours").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_it_works_by_keyboard(pages, open_page):
    opened, _ = open_page
    page = opened(pages["views"][0])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    folded = page.locator("summary").first
    folded.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    for region in page.locator(".table").all():
        assert region.get_attribute("tabindex") == "0"
        assert region.get_attribute("aria-label")


def test_paper_shows_what_is_folded(pages, open_page):
    opened, wrong = open_page
    page = opened(pages["views"][0], scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0
    assert not wrong
