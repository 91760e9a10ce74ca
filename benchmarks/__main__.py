"""Run benchmarks and write their tables: ``python -m benchmarks [name ...]``."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

from .table import write

NAMES = (
    "speed",
    "memory",
    "noise",
    "published",
    "selection",
    "views",
    "calibration",
    "commandline",
    "workbench",
    "size",
    "distributed",
    "agreement",
    "engines",
    "isaac",
    "shapes",
)


def main(names: list[str]) -> None:
    unknown = set(names) - set(NAMES)
    if unknown:
        sys.exit(f"no benchmark called {', '.join(sorted(unknown))}: use {', '.join(NAMES)}")
    warnings.simplefilter("ignore")
    for name in names or NAMES:
        tables = import_module(f"benchmarks.{name}").run()
        write(name, tables)
        for table in tables:
            print(table, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
