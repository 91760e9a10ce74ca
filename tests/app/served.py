"""A workbench that runs while a test asks it, and tables for it."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager

import httpx
import uvicorn

from multifacet.app import Workbench
from multifacet.app.limits import LIMITS
from multifacet.app.routes import make_app
from multifacet.datasets import make_gaussian_views
from multifacet.files import write_table

#: Settings with which a search on the small table takes a moment.
QUICK = {"n_clusters": 2, "n_components": 1, "n_refits": 0}


@contextmanager
def running(folder, limits=LIMITS, **security):
    """Run a workbench in a thread; yield it and a client for its addresses."""
    bench = Workbench(folder, limits)
    server = uvicorn.Server(uvicorn.Config(make_app(bench, **security), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield bench, client
    finally:
        server.should_exit = True
        thread.join(20)
        bench.close()


def wait_for(condition, seconds=20):
    """Wait until something is so, which another thread sees to."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def small_table(folder, name="small.csv", n=90):
    """Write a table with two independent groupings, of which one is known."""
    X, labels = make_gaussian_views(n, [2, 2], rotate=False, random_state=0)
    columns = {"bird": [f"b{i}" for i in range(n)], "known": [f"k{c}" for c in labels[:, 0]]}
    columns |= {f"x{j}": column for j, column in enumerate(X.T)}
    return write_table(folder / name, columns)


def uploaded(client, path, **setup):
    """Upload a table, say what is known, and return the address of the exploration."""
    answer = client.post(
        "/api/uploads", params={"name": path.name}, content=path.read_bytes()
    ).raise_for_status()
    state = answer.json()
    address = f"/api/explorations/{state['id']}"
    kept = ("features", "given", "identifier", "standardize", "missing")
    body = {name: state["setup"][name] for name in kept} | setup
    client.put(f"{address}/setup", json=body).raise_for_status()
    return address


def events(client, address, job):
    """Return everything that a search tells, once it is over."""
    found = []
    with client.stream("GET", f"{address}/jobs/{job['id']}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
    return found


def searched(client, address, **options):
    """Search until the end, and return the ids of the views that were found."""
    job = client.post(f"{address}/jobs", json=QUICK | options).raise_for_status().json()
    told = events(client, address, job)
    assert told[-1]["kind"] == "done", told[-1]
    return [one["view"] for one in told if one["kind"] == "found"]


def alive(pid):
    """Tell whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
