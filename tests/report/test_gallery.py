"""Rows to look at in a report: pictures inside the page, texts with their telling words."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from multifacet import Views, find_views
from multifacet.report import check_document, to_html, to_markdown

from ..tables.test_rows import png

N, D = 80, 55
QUICK = {"n_views": 1, "n_clusters": 2, "method": "linear", "n_refits": 0}
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """Return views of embeddings whose rows have hostile texts, names and pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, N)
    direction = np.linalg.qr(rng.normal(size=(D, 1)))[0]
    X = np.outer(9 * hidden, direction) + 0.3 * rng.normal(size=(N, D))
    words = np.array([f"loud {SCRIPT} bells were heard", f"quiet <b>rain</b> & mist {SCRIPT}"])
    rows = {
        "picture": [f'"><img src=x onerror=alert({i})>.png' for i in range(N)],
        "text": [f"{words[c]} in place {chr(65 + i % 26)}{i}" for i, c in enumerate(hidden)],
    }
    for name in rows["picture"][:70]:
        (folder / name).write_bytes(png(30))
    return find_views(X, rows=rows, image_folder=folder, **QUICK).to_dict()


def test_the_report_shows_rows(document):
    page = to_html(document)
    assert ">Rows to look at<" in page
    assert page.count('<img src="data:image/png;base64,') > 10
    assert "<mark>loud</mark>" in page or "<mark>Loud</mark>" in page
    assert "The ends of the axes" in page
    assert "img-src data:" in page
    assert "The numbers behind it" in page


def test_nothing_of_the_rows_gives_orders(document):
    page = to_html(document)
    assert page.count("<script") == 1
    assert "onerror=alert(" not in page.replace("&quot;&gt;&lt;img src=x onerror=alert(", "")
    assert "<b>" not in page


def test_missing_pictures_are_a_sentence(document):
    changed = deepcopy(document)
    changed["views"][0]["gallery"]["notes"] = ["Some pictures are not shown: there is none."]
    assert "Some pictures are not shown: there is none." in to_html(changed)


def test_markdown_lists_the_rows(document):
    text = to_markdown(document)
    assert "picture, in the HTML report" in text
    assert "loud" in text


def test_a_report_without_pictures_allows_none(document):
    changed = deepcopy(document)
    for row in changed["views"][0]["gallery"]["rows"]:
        row["images"] = {}
    page = to_html(changed)
    assert "<img" not in page
    assert "img-src" not in page
    assert "bells" in page


@pytest.mark.parametrize(
    "change",
    [
        lambda gallery: gallery["rows"][0]["images"].update(picture="https://example.org/a.png"),
        lambda gallery: gallery["rows"][0]["images"].update(picture="data:image/svg+xml;base64,AA"),
        lambda gallery: gallery["rows"][0]["images"].update(picture='data:image/png;base64,A" x="'),
        lambda gallery: gallery["groups"][0]["typical"].append(10**6),
        lambda gallery: gallery["groups"][0]["far"].append(-1),
        lambda gallery: gallery["groups"][0].update(other=7),
        lambda gallery: gallery["groups"].pop(),
        lambda gallery: gallery.update(rows=None),
        lambda gallery: gallery["groups"][0].update(words=[1]),
    ],
)
def test_forged_galleries_are_refused(document, change):
    check_document(document)
    forged = deepcopy(document)
    change(forged["views"][0]["gallery"])
    with pytest.raises(ValueError, match="gallery"):
        check_document(forged)


def test_a_forged_picture_is_never_shown(document):
    forged = deepcopy(document)
    for row in forged["views"][0]["gallery"]["rows"]:
        row["images"] = {"picture": "https://example.org/a.png"}
    assert "example.org" not in to_html(forged)


def test_older_documents_have_no_gallery(document):
    older = deepcopy(document)
    del older["views"][0]["gallery"]
    check_document(older)
    assert ">Rows to look at<" not in to_html(older)


def test_a_forged_file_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 5 * (np.arange(40) % 2)[:, None]
    texts = [f"some words about number {i}" for i in range(40)]
    views = find_views(X, rows={"text": texts}, **QUICK)
    assert views[0].gallery is not None
    views[0].gallery["groups"][0]["typical"].append(99)
    with pytest.raises(ValueError, match=r"is damaged: view0\.gallery speaks of rows"):
        Views.load(views.save(tmp_path / "views"))
