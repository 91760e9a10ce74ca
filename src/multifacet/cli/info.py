"""``multifacet info``: versions, engines, and what a table of some size would take."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from .. import __version__
from .command import Command

_NEEDED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "rich", "click")
_OPTIONAL = {"matplotlib": "plot", "pyarrow": "arrow", "anndata": "anndata"}


@click.command(cls=Command)
@click.option("--rows", type=click.IntRange(2), default=1000, show_default=True, help="Rows n.")
@click.option("--columns", type=click.IntRange(1), default=10, show_default=True, help="Features.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def info(rows: int, columns: int, as_json: bool) -> None:
    """Show versions, engines, and what would be chosen for a table of some size."""
    from ..engines import NAMES
    from ..files import to_json

    found = {
        "versions": {"multifacet": __version__, "python": platform.python_version()}
        | {name: _version(name) for name in (*_NEEDED, *_OPTIONAL)},
        "engines": sorted(NAMES),
        "auto": _auto(rows, columns),
    }
    click.echo(to_json(found) if as_json else _in_words(found))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _auto(rows: int, columns: int) -> dict[str, Any]:
    """Return what "auto" chooses for n rows and d features, and the memory it may take."""
    import numpy as np

    from ..engines import Exact
    from ..engines.exact import parse_bytes
    from ..engines.threads import thread_count
    from ..kernels import Gaussian
    from ..search import ROWS

    engine = Exact()
    budget, matrix = parse_bytes(engine.memory), 8 * rows * rows
    problem = None
    try:
        # One number in the shape of the table: the engine says whether it could work on it.
        engine.attach(np.broadcast_to(0.0, (rows, columns)), Gaussian(1.0))
    except MemoryError as error:
        problem = str(error)
    return {
        "rows": rows,
        "columns": columns,
        "engine": "exact",
        "threads": thread_count(None),
        "rows_searched": min(rows, ROWS),
        "data_bytes": 8 * rows * columns,
        "budget_bytes": budget,
        "kernel_matrix_bytes": matrix,
        "kernel_matrix_kept": matrix <= budget // 4,
        "problem": problem,
    }


def _in_words(found: dict[str, Any]) -> str:
    auto = found["auto"]
    missing = {
        name: f'not installed: pip install "multifacet[{e}]"' for name, e in _OPTIONAL.items()
    }
    lines = [f"{name:<14} {text or missing[name]}" for name, text in found["versions"].items()]
    lines += ["", f"engines: {', '.join(found['engines'])}", ""]
    lines.append(f"For {auto['rows']:,} rows and {auto['columns']:,} features, auto would take")
    kept = "kept in memory" if auto["kernel_matrix_kept"] else "recomputed in tiles, never kept"
    lines += [
        f"  engine         {auto['engine']}, {auto['threads']} threads",
        f"  search         on {auto['rows_searched']:,} rows",
        f"  data           {_size(auto['data_bytes'])}",
        f"  kernel matrix  {_size(auto['kernel_matrix_bytes'])}, {kept}",
        f"  at most        {_size(auto['budget_bytes'])} for the engine",
    ]
    return "\n".join([*lines, f"  but {auto['problem']}"] if auto["problem"] else lines)


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
