"""Draw the pictures of the README: ``python docs/images/draw.py`` (needs the development tools).

The problem is drawn by matplotlib, report and workbench are photographed in the system's Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Colours of the picture; fewer make a smaller file.
COLOURS = 128


def problem(path: Path) -> None:
    """Draw the same rows in two subspaces, each with its own grouping."""
    from matplotlib.figure import Figure
    from matplotlib.patches import ConnectionPatch

    from multifacet.datasets import make_moons_views

    X, labelings = make_moons_views(160, random_state=2)
    figure = Figure(figsize=(8.4, 3.6), layout="constrained", dpi=110)
    axes = figure.subplots(1, 2)
    titles = ("what you know: two kinds", "what else is there: two habits")
    names = (("length", "width"), ("speed", "turn"))
    colours = (("#0072B2", "#D55E00"), ("#009E73", "#CC79A7"))
    for i, ax in enumerate(axes):
        for group, marker in ((0, "o"), (1, "^")):
            rows = labelings[:, i] == group
            x, y = X[rows, 2 * i], X[rows, 2 * i + 1]
            ax.plot(x, y, marker, color=colours[i][group], markersize=5, alpha=0.8)
        ax.set(xlabel=names[i][0], ylabel=names[i][1], xticks=[], yticks=[])
        ax.set_title(titles[i], fontsize=12)
    axes[1].yaxis.set_label_position("right")
    for row in (0, 5, 9, 14):
        ends = (X[row, :2], X[row, 2:])
        line = ConnectionPatch(
            *ends, "data", "data", axesA=axes[0], axesB=axes[1], color="#8C8C8C", linewidth=0.8
        )
        figure.add_artist(line)
        for ax, end in zip(axes, ends, strict=True):
            ax.plot(*end, "o", color="#333333", fillstyle="none", markersize=9)
    figure.supxlabel("the same rows; a line joins a row with itself", fontsize=9, color="#555555")
    figure.savefig(path)


def photographs(report: Path, workbench: Path) -> None:
    """Run the command on the penguins, and photograph its report and the workbench."""
    from playwright.sync_api import sync_playwright

    data = files("multifacet.datasets").joinpath("penguins.csv")
    command = [sys.executable, "-m", "multifacet"]
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        subprocess.run([*command, "demo", "--quiet", "-o", f"{folder}/views"], check=True)
        server = subprocess.Popen(
            [*command, "explore", str(data), "--no-browser", "--port", "0", "--folder", folder],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page = window.new_page(viewport={"width": 1120, "height": 1180})
            page.goto(f"file://{folder}/views/report.html")
            page.screenshot(path=report)
            page.set_viewport_size({"width": 1280, "height": 1040})
            page.set_default_timeout(120_000)
            page.goto(server.stdout.readline().split()[-1])
            page.get_by_label("Use of species").select_option("given")
            page.get_by_role("button", name="Find another grouping").click()
            page.wait_for_function("document.getElementById('view-figure')?.data?.length")
            page.locator("#find:enabled").wait_for()
            page.wait_for_timeout(1000)
            page.screenshot(path=workbench)
            window.close()
        finally:
            server.terminate()
            server.wait()


def shrink(path: Path) -> None:
    """Make a picture smaller by a palette."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    problem(HERE / "problem.png")
    photographs(HERE / "report.png", HERE / "workbench.png")
    for name in ("problem", "report", "workbench"):
        shrink(HERE / f"{name}.png")
