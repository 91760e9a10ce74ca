"""Run benchmarks and keep what they find: ``python -m benchmarks [NAME ...]``.

A benchmark is a module with ``run(quick)``, which returns tables. Each writes ``NAME.json`` with
its figures, the machine, the commit and the plan of the search, and ``NAME.md`` made from it.
``papers`` stands for all tables and figures of the papers; without a name everything else is run.
"""

from __future__ import annotations

import argparse
import ast
from importlib import import_module
from pathlib import Path

from .papers.reproduction import PAGE, PARTS, reproduction
from .record import RESULTS, measure, records

PAPERS = tuple(f"papers.{part}" for part in PARTS)
NAMES = (
    "speed",
    "memory",
    "noise",
    "published",
    "selection",
    "tables",
    "categories",
    "generated",
    "embeddings",
    "views",
    "calibration",
    "commandline",
    "workbench",
    "size",
    "growth",
    "distributed",
    "agreement",
    "engines",
    "isaac",
    "shapes",
    "reduction",
    *PAPERS,
)


def parser() -> argparse.ArgumentParser:
    """Return what understands the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="see --list")
    parser.add_argument("--list", action="store_true", help="tell the names, and end")
    parser.add_argument("--render", action="store_true", help="make all pages anew, and end")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small data and short limits, to see that everything runs; kept in --output only",
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="instead of the results")
    return parser


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for, and write the records and their pages."""
    options = parser().parse_args(arguments)
    if options.list:
        print("\n".join(f"{name:20} {about(name)}" for name in NAMES))
    elif options.render:
        render(options.output or RESULTS)
    else:
        try:
            chosen = chosen_names(options.names)
        except ValueError as error:
            parser().error(str(error))
        measure_all(chosen, options.quick, options.output or (None if options.quick else RESULTS))


def measure_all(names: list[str], quick: bool, folder: Path | None) -> None:
    """Run benchmarks, and keep what they find in a folder."""
    for name in names:
        record = measure(name, import_module(f"benchmarks.{name}").run, quick)
        print(record, flush=True)
        if folder is not None:
            print(f"wrote {record.write(folder)}", flush=True)
    if folder == RESULTS:
        render(folder)


def chosen_names(asked: list[str]) -> list[str]:
    """Return the names of benchmarks to run; the name of a group stands for its members."""
    if not asked:
        return [name for name in NAMES if name not in PAPERS]
    unknown = sorted(set(asked) - {*NAMES, "papers"})
    if unknown:
        raise ValueError(f"no benchmark called {', '.join(unknown)}: use {', '.join(NAMES)}")
    return [name for name in NAMES if name in asked or (name in PAPERS and "papers" in asked)]


def about(name: str) -> str:
    """Return the first line of a benchmark's module, without importing what it needs."""
    path = Path(__file__).parent.joinpath(*name.split(".")).with_suffix(".py")
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return words.partition("\n")[0]


def render(folder: Path) -> None:
    """Make all pages from the records; nothing is measured."""
    found = records(folder)
    for record in found:
        record.page(folder).write_text(str(record), encoding="utf-8")
    if folder == RESULTS:
        PAGE.write_text(reproduction(found), encoding="utf-8")


if __name__ == "__main__":
    main()
