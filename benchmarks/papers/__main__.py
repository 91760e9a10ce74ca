"""Run the papers' tables and figures: ``python -m benchmarks.papers [name ...] [--quick]``.

Results are kept by name in ``papers.json``, so that a run of some names renews only these; the
page ``papers.md`` is written from it, and so is ``docs/reproduction.md``. The quick form has files
of its own, with small data, one random start and short time limits: it shows that everything runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from ..table import RESULTS, Table
from .reproduction import PAGE, PARTS, reproduction

NAMES = tuple(PARTS)


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for and write the page and the JSON file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small data and short limits")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no table or figure called {', '.join(unknown)}: use {', '.join(NAMES)}")
    path = options.output / ("papers-quick.json" if options.quick else "papers.json")
    options.output.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.names or NAMES:
            record(path, name, *measure(name, options.quick))
    if not options.quick and options.output == RESULTS:
        PAGE.write_text(
            reproduction(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8"
        )
    print(f"wrote {path} and {path.with_suffix('.md')}")


def measure(name: str, quick: bool) -> tuple[list[Table], float]:
    """Return the tables of one module and the seconds that they took."""
    began = time.perf_counter()
    tables = import_module(f"benchmarks.papers.{name}").run(quick)
    return tables, time.perf_counter() - began


def record(path: Path, name: str, tables: list[Table], seconds: float) -> None:
    """Put the results of one module into the JSON file and write the page anew."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[name] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "seconds": round(seconds, 1),
        "tables": [asdict(table) for table in tables],
    }
    kept = {key: kept[key] for key in NAMES if key in kept}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(kept), encoding="utf-8")


def page(kept: dict) -> str:
    """Return the Markdown page of all results."""
    parts = ["# The papers' tables and figures, run again\n"]
    for name, entry in kept.items():
        parts.append(f"`{name}`: {entry['seconds']:g} s on {entry['machine']}\n")
        parts += [str(Table(**table)) for table in entry["tables"]]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
