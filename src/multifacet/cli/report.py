"""``multifacet report``: the report of a result that exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from ..runs.folder import CHECKPOINT
from .command import Command, Refused, say

_RESULTS = ("views.json", "reduction.json", "comparison.json")


@click.command(cls=Command)
@click.argument("result", type=click.Path())
@click.option("-o", "--output", metavar="FILE", help="File to write: .html, .md or .json.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def report(result: str, output: str | None, force: bool) -> None:
    """Write the report of RESULT again, also as Markdown or JSON.

    RESULT is a directory that another command has written, its views.npz or .json file, or what
    `Views.save` wrote. By default the report goes beside it, as report.html.
    """
    path = _find(Path(result))
    target = Path(output) if output else path.parent / "report.html"
    if target.exists() and not force:
        raise Refused(
            f"{str(target)!r} exists: replace it with --force, or name another file with -o"
        )
    from ..files import locked
    from ..report import render

    # What a run has in hand there is neither read nor written.
    with nullcontext() if output else locked(path.parent):
        say(f"report: {render(_document(path), target)}")


def _find(path: Path) -> Path:
    """Return the file that holds a result."""
    if not path.exists():
        raise Refused(f"there is no file {str(path)!r}")
    if not path.is_dir():
        return path
    there = [path / name for name in _RESULTS if (path / name).exists()]
    if not there and (path / CHECKPOINT).exists():
        raise Refused(
            f"{str(path)!r} holds an interrupted search, not yet a result: run the same command "
            "with --resume first"
        )
    if not there:
        raise Refused(f"there is no result in {str(path)!r}: it has none of {', '.join(_RESULTS)}")
    return there[0]


def _document(path: Path) -> Mapping[str, Any]:
    """Return a result as the report takes it."""
    from ..report import check_document, check_run

    if path.suffix == ".npz":
        from ..results.views import Views

        document: Any = Views.load(path).to_dict()
    else:
        document = _read_json(path)
        kinds = [name.removesuffix(".json") for name in _RESULTS]
        if not isinstance(document, dict) or document.get("kind") not in kinds:
            raise Refused(f"{str(path)!r} is not a result: use {', '.join(_RESULTS)} or views.npz")
    with _refusing(path):
        check_document(document)
    record = path.with_name("run.json")
    if not record.exists():
        return document
    run = _read_json(record)
    with _refusing(record):
        check_run(run)
    return {**document, "run": run}


def _read_json(path: Path) -> Any:
    from ..files import read_json

    try:
        return read_json(path.read_bytes())
    except ValueError as error:
        raise Refused(
            f"{str(path)!r} is not a result: pass a directory that `multifacet find`, reduce or "
            "compare has written"
        ) from error


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Say which file is damaged."""
    try:
        yield
    except ValueError as error:
        raise Refused(f"{str(path)!r} is damaged: {error}; make the result again") from error
