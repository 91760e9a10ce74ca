"""The browser of the system, which playwright drives."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

#: Where it is; None on a machine that has none.
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine")


@contextmanager
def launched():
    """Yield the running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Without its sandbox, because CI is root.
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def brightness(page, colour="backgroundColor"):
    """Return how bright a colour of a page is, from 0 to 255."""
    found = page.evaluate(f"getComputedStyle(document.body).{colour}")
    return sum(float(part) for part in found[found.index("(") + 1 : -1].split(",")[:3]) / 3
