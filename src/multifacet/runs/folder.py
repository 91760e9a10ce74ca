"""A directory of results: complete or untouched."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: Name of the file that keeps an interrupted search.
CHECKPOINT = ".checkpoint.npz"
#: How directories begin in which a run gathers its files.
UNFINISHED = ".unfinished-"


class OccupiedError(ValueError):
    """A place for results that holds something which would be lost.

    Attributes
    ----------
    path : Path
        The place.
    files : list of str
        Results that are there; nothing if it is an interrupted search, or no directory.
    interrupted : bool
        Whether it holds an interrupted search.
    """

    def __init__(self, path: Path, files: Sequence[str] = (), *, interrupted: bool = False) -> None:
        self.path, self.files, self.interrupted = path, list(files), interrupted
        what = "an interrupted search" if interrupted else f"results ({', '.join(files)})"
        held = f"holds {what}" if files or interrupted else "is a file"
        super().__init__(f"{str(path)!r} {held}: name another directory")


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
        The files and folders that may come.
    force : bool
        Whether such results may be replaced; those that do not come again are removed.
    resume : bool
        Whether an interrupted search may be continued.
    """
    from ..files import locked

    if path.exists() and not path.is_dir():
        raise OccupiedError(path)
    with locked(path):  # so that from here on nobody else changes what is there
        _refuse_to_replace(path, names, force=force, resume=resume)
        _sweep(path)
        with tempfile.TemporaryDirectory(
            prefix=UNFINISHED, dir=path, ignore_cleanup_errors=True
        ) as name:
            if force and not resume:
                (path / CHECKPOINT).unlink(missing_ok=True)
            yield Path(name)
            came = sorted(Path(name).iterdir())
            for draft in came:
                place = path / draft.name
                if place.is_dir():  # which nothing can replace while something is in it
                    shutil.rmtree(place)
                draft.replace(place)
            for old in {*names} - {draft.name for draft in came}:
                _remove(path / old)
            (path / CHECKPOINT).unlink(missing_ok=True)


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


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
        raise OccupiedError(path, there)
    if (path / CHECKPOINT).exists() and not resume:
        raise OccupiedError(path, interrupted=True)
