"""The workbench: how soon the first picture is there, and how it answers while a search runs."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from statistics import median

import httpx
from playwright.sync_api import sync_playwright

from multifacet.datasets import make_gaussian_views
from multifacet.files import write_table

from .table import Table, figure

REQUESTS, REPEATS = 100, 3
N, QUICK_N, D = 100_000, 1000, 20
#: Click, and wait in the page itself until points are drawn.
CLICK = """async () => {
  const began = performance.now();
  document.getElementById("find").click();
  while (!document.querySelector(".sketch canvas")) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return (performance.now() - began) / 1000;
}"""


def run(quick: bool = False) -> list[Table]:
    with tempfile.TemporaryDirectory() as name:
        folder, n, repeats = Path(name), *((QUICK_N, 1) if quick else (N, REPEATS))
        X, labelings = make_gaussian_views(n, [3, 3], n_noise=D - 4, random_state=0)
        columns = {"known": [f"group {c}" for c in labelings[:, 0]]}
        columns |= {f"x{j}": column.round(4) for j, column in enumerate(X.T)}
        large = write_table(folder / "large.csv", columns)
        with as_file(files("multifacet.datasets").joinpath("penguins.csv")) as penguins:
            tables = {penguins: ("species", "penguins, 333 x 4", "< 2")}
            tables[large] = ("known", f"Gaussian views, {n} x {D}", "< 10")
            return [_pictures(folder, tables, repeats), _requests(folder, penguins, repeats)]


def _pictures(folder: Path, tables: dict[Path, tuple[str, str, str]], repeats: int) -> Table:
    table = Table(
        "Seconds from the click to the first picture",
        ["table", "median", "all", "bar", "load of the machine"],
        note=f"Chromium without a screen, {os.cpu_count()} processors; the picture is the best "
        "candidate so far. The load is the mean number of running processes in the last minute.",
    )
    for path, (given, shape, bar) in tables.items():
        load = os.getloadavg()[0]
        seconds = [_first_picture(folder, path, given) for _ in range(repeats)]
        every = ", ".join(f"{one:.1f}" for one in seconds)
        table.add(shape, median(seconds), every, bar, figure(load, ".1f"))
    return table


def _first_picture(folder: Path, path: Path, given: str) -> float:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with _served(folder, path) as (page_address, _, _), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(page_address)
        page.get_by_label(f"Use of {given}").select_option("given")
        page.get_by_text(f"Known: {given}").wait_for()
        seconds = page.evaluate(CLICK)
        browser.close()
    return seconds


def _requests(folder: Path, path: Path, repeats: int) -> Table:
    table = Table(
        f"{REQUESTS} requests at once while a search runs",
        ["request", "answered", "medians, ms", "slowest, ms", "bar", "load of the machine"],
        note=f"All begin at the same moment, each with a connection of its own; {repeats} times.",
    )
    with _served(folder, path) as (_, client, name):
        address = f"/api/explorations/{name}"
        _wait_for_view(client, address)
        client.post(f"{address}/jobs", json={"n_views": 6}).raise_for_status()
        for words, asked in (
            ("the state of the exploration", address),
            ("a view with its points", f"{address}/views/v1"),
            ("25 rows of the table", f"{address}/rows?count=25"),
        ):
            load = os.getloadavg()[0]
            volleys = [asyncio.run(_at_once(client.base_url, asked)) for _ in range(repeats)]
            good = {sum(code == 200 for code in codes) for codes, _ in volleys}
            medians = ", ".join(f"{1000 * median(seconds):.0f}" for _, seconds in volleys)
            slowest = max(1000 * max(seconds) for _, seconds in volleys)
            table.add(words, min(good), medians, figure(slowest, ".0f"), "< 200",
                      figure(load, ".1f"))  # fmt: skip
        running = [job["status"] for job in client.get(address).json()["jobs"]]
        assert running[-1] == "running", running
    return table


def _wait_for_view(client: httpx.Client, address: str) -> None:
    """Find one view quickly, so that there is something to ask for."""
    quick = {"n_clusters": 2, "n_components": 2, "n_refits": 0}
    job = client.post(f"{address}/jobs", json=quick).raise_for_status().json()
    while client.get(f"{address}/jobs/{job['id']}").json()["status"] != "done":
        time.sleep(0.1)


async def _at_once(home: httpx.URL, asked: str) -> tuple[list[int], list[float]]:
    """Ask by bare connections: a client library would take longer than the server."""
    request = f"GET {asked} HTTP/1.1\r\nHost: {home.host}\r\nConnection: close\r\n\r\n".encode()

    async def ask() -> tuple[int, float]:
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection(home.host, home.port)
        writer.write(request)
        answer = await reader.read(-1)
        writer.close()
        return int(answer.split(maxsplit=2)[1]), time.perf_counter() - began

    found = await asyncio.gather(*(ask() for _ in range(REQUESTS)))
    return [code for code, _ in found], [seconds for _, seconds in found]


@contextmanager
def _served(folder: Path, path: Path) -> Iterator[tuple[str, httpx.Client, str]]:
    """Run the command; yield the address of its page, a client, and the exploration."""
    command = [sys.executable, "-m", "multifacet", "explore", str(path), "--no-browser"]
    command += ["--port", "0", "--folder", str(folder / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().split()[1]
        home, _, name = address.partition("#")
        try:
            with httpx.Client(base_url=home, timeout=60) as client:
                time.sleep(5)  # people look before they click; meanwhile the worker gets ready
                yield address, client, name
        finally:
            process.terminate()
