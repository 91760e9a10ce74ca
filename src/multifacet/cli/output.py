"""A directory of results: complete or untouched."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .command import Failed, Refused

#: Name of the file that keeps an interrupted search.
CHECKPOINT = ".checkpoint.npz"


def default_output(data: str, what: str) -> Path:
    """Return where results go if nobody says: penguins-views for penguins.csv."""
    name = "stdin" if data == "-" else Path(data).name
    return Path(f"{name.split('.')[0] or name}-{what}")


def unused(name: str, columns: Container[str]) -> str:
    """Return a name for a new column: DATA may hold the result of an earlier run."""
    while name in columns:
        name = f"new {name}"
    return name


@contextmanager
def results_in(
    path: Path, names: Sequence[str], *, force: bool, resume: bool = False
) -> Iterator[Path]:
    """Give a directory to write to, whose files take their places when all went well.

    Parameters
    ----------
    path : Path
        Where the results belong. It is made if need be, and goes again if nothing is left in it.
    names : sequence of str
        The files that are to come.
    force : bool
        Whether such files may be replaced.
    resume : bool
        Whether an interrupted search may be continued.
    """
    _refuse_to_replace(path, names, force=force, resume=resume)
    new = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=path))
    except OSError as error:
        raise Failed(f"cannot write to {str(path)!r}: {error.strerror}") from error
    try:
        if force and not resume:
            (path / CHECKPOINT).unlink(missing_ok=True)
        yield draft
        for file in sorted(draft.iterdir()):
            file.replace(path / file.name)
        (path / CHECKPOINT).unlink(missing_ok=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if new and not any(path.iterdir()):
            path.rmdir()


def _refuse_to_replace(path: Path, names: Sequence[str], *, force: bool, resume: bool) -> None:
    if path.exists() and not path.is_dir():
        raise Refused(f"{str(path)!r} is a file: name a directory with -o")
    if force:
        return
    there = [name for name in names if (path / name).exists()]
    if there:
        raise Refused(
            f"{str(path)!r} holds results ({', '.join(there)}): replace them with --force, or "
            "name another directory with -o"
        )
    if (path / CHECKPOINT).exists() and not resume:
        raise Refused(
            f"{str(path)!r} holds an interrupted search: continue it with --resume, or begin anew "
            "with --force"
        )
