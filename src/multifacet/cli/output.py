"""A directory of results: complete or untouched."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .command import Refused

#: Name of the file that keeps an interrupted search.
CHECKPOINT = ".checkpoint.npz"
#: How directories begin in which a run gathers its files.
UNFINISHED = ".unfinished-"


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
    from ..files import locked

    if path.exists() and not path.is_dir():
        raise Refused(f"{str(path)!r} is a file: name a directory with -o")
    with locked(path):  # so that from here on nobody else changes what is there
        _refuse_to_replace(path, names, force=force, resume=resume)
        _sweep(path)
        with tempfile.TemporaryDirectory(
            prefix=UNFINISHED, dir=path, ignore_cleanup_errors=True
        ) as name:
            if force and not resume:
                (path / CHECKPOINT).unlink(missing_ok=True)
            yield Path(name)
            for file in sorted(Path(name).iterdir()):
                file.replace(path / file.name)
            (path / CHECKPOINT).unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what runs that were killed have left behind; nobody else is in the directory."""
    for draft in path.glob(f"{UNFINISHED}*"):
        shutil.rmtree(draft, ignore_errors=True)
    for draft in path.glob(f".*-{CHECKPOINT}"):
        draft.unlink(missing_ok=True)


def _refuse_to_replace(path: Path, names: Sequence[str], *, force: bool, resume: bool) -> None:
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
