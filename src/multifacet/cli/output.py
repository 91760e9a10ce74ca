"""The directory of results, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import Any

from ..runs import folder
from .command import Refused


def default_output(data: str, what: str) -> Path:
    """Return where results go if nobody says: penguins-views for penguins.csv or penguins/*.pq."""
    name = "stdin" if data == "-" else Path(data).name
    if has_magic(name):
        name = Path(data).parent.name or "files"
    return Path(f"{name.split('.')[0] or name}-{what}")


@contextmanager
def results_in(path: Path, names: Sequence[str], **allowed: Any) -> Iterator[Path]:
    """Give a directory to write to, as :func:`multifacet.runs.folder.results_in` does."""
    try:
        with folder.results_in(path, names, **allowed) as draft:
            yield draft
    except folder.OccupiedError as error:
        raise Refused(_in_options(error)) from None


def _in_options(error: folder.OccupiedError) -> str:
    place = repr(str(error.path))
    if error.interrupted:
        return (
            f"{place} holds an interrupted search: continue it with --resume, or begin anew with "
            "--force"
        )
    if error.files:
        return (
            f"{place} holds results ({', '.join(error.files)}): replace them with --force, or name "
            "another directory with -o"
        )
    return f"{place} is a file: name a directory with -o"
