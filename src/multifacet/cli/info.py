"""``multifacet info``: what the columns of a table are taken for; versions and engines."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypedDict

import click

from .. import __version__
from .cluster import in_parts, roles_of_parts
from .command import Command, say, say_json
from .options import reading_options, role_options, several
from .run import Run
from .source import read_roles
from .words import in_options

if TYPE_CHECKING:
    from ..frames.notes import Note
    from ..frames.roles import Roles

_NEEDED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "rich", "click")
#: Packages that come with an extra of this one, and its name.
_OPTIONAL = {
    "pandas": "pandas",
    "matplotlib": "plot",
    "fastapi": "app",
    "plotly": "app",
    "pyarrow": "arrow",
    "anndata": "anndata",
    "dask": "dask",
}


@click.command(cls=Command)
@click.argument("data", type=click.Path(), required=False)
@reading_options
@several("given", help="Columns that hold what is known already.")
@role_options
@click.option(
    "--rows", "n_rows", type=click.IntRange(2), default=1000, show_default=True, help="Rows n."
)
@click.option("--columns", type=click.IntRange(1), default=10, show_default=True, help="Features.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_context
def info(
    ctx: click.Context, /, data: str | None, n_rows: int, columns: int, **options: Any
) -> None:
    """Show what the columns of DATA would be used for; without DATA, versions and engines.

    Nothing is searched for, and nothing is written. Without DATA, it shows what would be chosen for
    a table of some size.
    """
    if data is None:
        _show_versions(n_rows, columns, options["as_json"])
    else:
        _show_roles(Run(ctx))


class AutoDict(TypedDict):
    """What "auto" chooses for a table, and the memory it may take."""

    rows: int
    columns: int
    engine: str
    why: str
    threads: int
    rows_searched: int
    rows_solved_first: int
    data_bytes: int
    budget_bytes: float
    problem: str | None


class InfoDict(TypedDict):
    """What is installed, and what it would do."""

    versions: dict[str, str | None]
    engines: list[str]
    auto: AutoDict


def _show_roles(run: Run) -> None:
    """Show what was decided about every column, and what can be said otherwise."""
    with run.stage("read"):
        parts = in_parts(run.options["data"])
        roles = roles_of_parts(run.options) if parts else read_roles(run)[-1]
    found = [*roles.notes, *_note_on_missing(roles)]
    notes = [in_options(note, run.options) for note in found if note.remedy is not None]
    if run.options["as_json"]:
        say_json({"rows": roles.n_rows, "columns": roles.table(), "notes": notes})
    else:
        say("\n".join([str(roles), *notes]))


def _note_on_missing(roles: Roles) -> list[Note]:
    """Say beforehand what a search would stop at."""
    from ..frames.notes import Note
    from ..frames.table import listing

    lacking = [one.name for one in roles.columns if one.use == "feature" and one.missing]
    if not lacking:
        return []
    verb = "lack" if len(lacking) > 1 else "lacks"
    return [Note(f"{listing(lacking)} {verb} values: ", "impute or drop", tuple(lacking))]


def _show_versions(rows: int, columns: int, as_json: bool) -> None:
    from ..engines import NAMES

    found: InfoDict = {
        "versions": {
            "multifacet": __version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in (*_NEEDED, *_OPTIONAL)},
        },
        "engines": sorted(NAMES),
        "auto": _auto(rows, columns),
    }
    if as_json:
        say_json(found)
    else:
        say(_in_words(found))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _auto(rows: int, columns: int) -> AutoDict:
    """Return what "auto" chooses for n rows and d features, and the memory it may take."""
    import numpy as np

    from ..engines.choose import Auto
    from ..engines.exact import parse_bytes
    from ..engines.threads import thread_count
    from ..fitting.driver import ManyRows
    from ..kernels import Gaussian
    from ..search import PLAN

    engine, why = Auto().choose(rows, columns)
    many = ManyRows()
    problem = None
    try:
        # One number in the shape of the table: the engine says whether it could work on it.
        at_once = rows if rows <= many.refined else many.sampled
        engine.attach(np.broadcast_to(0.0, (at_once, columns)), Gaussian(1.0))
    except MemoryError as error:
        problem = str(error)
    return {
        "rows": rows,
        "columns": columns,
        "engine": type(engine).__name__.lower(),
        "why": why,
        "threads": thread_count(None),
        "rows_searched": min(rows, PLAN.rows),
        "rows_solved_first": min(rows, many.sampled),
        "data_bytes": 8 * rows * columns,
        "budget_bytes": parse_bytes(engine.memory),
        "problem": problem,
    }


def _in_words(found: InfoDict) -> str:
    auto = found["auto"]
    missing = {
        name: f'not installed: pip install "multifacet[{e}]"' for name, e in _OPTIONAL.items()
    }
    lines = [f"{name:<14} {text or missing[name]}" for name, text in found["versions"].items()]
    lines += ["", f"engines: {', '.join(found['engines'])}", ""]
    lines.append(f"For {auto['rows']:,} rows and {auto['columns']:,} features, auto would take")
    lines += [
        f"  {auto['why']}, {auto['threads']} threads",
        f"  search         on {auto['rows_searched']:,} rows",
        f"  solution       on {auto['rows_solved_first']:,} rows first",
        f"  data           {_size(auto['data_bytes'])}",
        f"  at most        {_size(auto['budget_bytes'])} for the engine",
    ]
    return "\n".join([*lines, f"  but {auto['problem']}"] if auto["problem"] else lines)


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
