"""Use the workbench from a program: load a table, search, accept, and fetch the labels.

Start the server first, then pass its address::

    multifacet explore --no-browser
    python examples/workbench_api.py http://127.0.0.1:8642 birds.csv species
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen


def ask(method: str, address: str, body: Any = None, kind: str = "application/json") -> bytes:
    """Return the answer to a request."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(address, data=content, method=method, headers={"content-type": kind})
    with urlopen(request) as answer:
        return answer.read()


def find(server: str, path: Path, given: list[str]) -> str:
    """Find one grouping beside what is given; return the labels of all rows as CSV."""
    upload = f"{server}/api/uploads?name={quote(path.name)}"
    state = json.loads(ask("POST", upload, path.read_bytes(), "application/octet-stream"))
    here = f"{server}/api/explorations/{state['id']}"
    features = [name for name in state["setup"]["features"] if name not in given]
    roles = {"features": features, "given": given, "identifier": state["setup"]["identifier"]}
    ask("PUT", f"{here}/setup", roles)
    job = json.loads(ask("POST", f"{here}/jobs", {"n_refits": 0}))
    with urlopen(f"{here}/jobs/{job['id']}/events") as events:  # until the search is over
        told = [json.loads(line[6:]) for line in events if line.startswith(b"data: ")]
    if told[-1]["kind"] != "done":
        raise RuntimeError(told[-1].get("message", told[-1]["kind"]))
    for view in json.loads(ask("GET", here))["views"]:
        print(f"{view['name']}: {view['sentence']}", file=sys.stderr)
        ask("POST", f"{here}/steps", {"do": "accept", "view": view["id"]})
    return ask("GET", f"{here}/files/labels.csv").decode()


if __name__ == "__main__":
    print(find(sys.argv[1].rstrip("/"), Path(sys.argv[2]), sys.argv[3:]), end="")
