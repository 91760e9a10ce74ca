"""All explorations of a server: begun, taken up again, searched in, and put away."""

from __future__ import annotations

import io
import re
import secrets
import shutil
import stat
import tempfile
import threading
import zipfile
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import make_gaussian_views, make_moons_views
from ..files import read_file, to_json, write_table
from ..frames.table import Columns
from . import display, repeat
from .answers import ListedAnswer
from .disk import UnwritableError, writing
from .exploration import Exploration, Origin
from .jobs import Job, Jobs
from .large import is_large, stem, write_excerpt
from .limits import LIMITS, Limits
from .schemas import STATE, file_name, is_file_name
from .steps import FoundDict, FoundViews, OptionsDict
from .tables import check_unpacked, read_within_limits

#: Explorations that are held in memory; others are read again when someone asks.
MAX_OPEN = 6
EXAMPLES = {
    "penguins": "333 penguins, four measurements. The species is known; what else?",
    "moons": "400 points with two groupings: two blobs in one plane, two moons in another.",
    "gaussians": "600 points with three groupings of 3, 2 and 2 clusters, mixed in 8 features.",
}
_ID = re.compile(r"[a-z0-9-]{1,60}")


class Workbench:
    """What the server knows.

    Parameters
    ----------
    folder : str or Path
        Directory that keeps explorations, one directory each; made when the first one begins.
    limits : Limits
        What it takes and holds at most.
    """

    def __init__(self, folder: str | Path, limits: Limits = LIMITS) -> None:
        self.folder, self.limits = Path(folder), limits
        self.jobs = Jobs()
        self._lock = threading.RLock()
        self._open: dict[str, Exploration] = {}
        self._unused: set[Path] = set()
        self._known_jobs: dict[str, Job] = {}
        self._image_folders: dict[str, str] = {}
        self._origins: dict[str, Origin] = {}
        self._temporary = tempfile.TemporaryDirectory(prefix="multifacet-")

    def close(self) -> None:
        """End all work, and remove what nobody needs: uploads in which nothing was found."""
        self.jobs.close()
        self._temporary.cleanup()
        for folder in self._unused | {one.folder for one in self._open.values() if not one.steps}:
            shutil.rmtree(folder, ignore_errors=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    # Explorations

    def upload_path(self, name: str) -> Path:
        """Return where the bytes of an upload go."""
        with writing():
            return Path(tempfile.mkdtemp(dir=self._temporary.name)) / file_name(name)

    def begin(self, path: Path, *, trusted: bool = False) -> Exploration:
        """Begin with a table, or take up a packed exploration.

        A trusted path, of whoever started the server, has no size limit, and pictures beside it
        are shown.
        """
        if not trusted and _holds_exploration(path):
            return self._unpack(path)
        file = read_file(path) if trusted else read_within_limits(path, self.limits)
        file = replace(file, name=file_name(path.name))
        folder = self._new_folder(path.name)
        try:
            with writing():
                shutil.copyfile(path, folder / file.name)
            exploration = Exploration.begin(folder, file)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if trusted:
            self._image_folders[exploration.id] = str(path.resolve().parent)
        return self._remember(exploration)

    def begin_here(self, data: str | Path) -> Exploration:
        """Begin with a table of whoever started the server: of any size, perhaps in many files."""
        if not is_large(data, self.limits):
            return self.begin(Path(data), trusted=True)
        folder = self._new_folder(stem(data))
        try:
            file, origin = write_excerpt(data, folder, self.limits)
            exploration = Exploration.begin(folder, file)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if origin is not None:
            self._origins[exploration.id] = origin
        return self._remember(exploration)

    def example(self, name: str) -> Exploration:
        """Begin with a built-in table."""
        if name == "penguins":
            with as_file(files("multifacet.datasets").joinpath("penguins.csv")) as path:
                return self.begin(path)
        if name not in EXAMPLES:
            raise LookupError(f"there is no example {name!r}: use {', '.join(EXAMPLES)}")
        path = self.upload_path(f"{name}.csv")
        with writing():
            write_table(path, _generated(name))
        return self.begin(path)

    def get(self, exploration_id: str) -> Exploration:
        """Return an exploration, from memory or from its directory."""
        with self._lock:
            if exploration_id in self._open:
                return self._open[exploration_id]
            folder = self.folder / exploration_id
            if not _ID.fullmatch(exploration_id) or not (folder / STATE).is_file():
                raise LookupError(f"there is no exploration {exploration_id!r}")
            return self._remember(Exploration.open(folder))

    def listed(self) -> list[ListedAnswer]:
        """Return the explorations that can be taken up, latest first."""
        states = sorted(self.folder.glob(f"*/{STATE}"), key=lambda one: -one.stat().st_mtime)
        return [
            {"id": one.parent.name, "changed": one.stat().st_mtime}
            for one in states[:50]
            if any(one.parent.glob("v*.npz"))
        ]

    def of_same_table(self, exploration_id: str) -> list[Exploration]:
        """Return an exploration, then the others that began with the same file."""
        own = self.get(exploration_id)
        size = (own.folder / own.file.name).stat().st_size
        found = [own]
        for listed in self.listed():
            # Names and sizes are cheap to compare; only what may be the same is read.
            path = self.folder / listed["id"] / own.file.name
            if listed["id"] != own.id and path.is_file() and path.stat().st_size == size:
                with suppress(ValueError):  # a damaged one takes nothing from this one
                    other = self.get(listed["id"])
                    if other.file.sha256 == own.file.sha256:
                        found.append(other)
        return found

    def remove(self, exploration_id: str) -> None:
        """Delete an exploration and its directory."""
        exploration = self.get(exploration_id)
        for job in self.jobs_of(exploration_id):
            self.jobs.cancel(job)
        with self._lock:
            self._open.pop(exploration_id, None)
            self._image_folders.pop(exploration_id, None)
            self._origins.pop(exploration_id, None)
        if exploration.folder.exists():
            with writing():
                shutil.rmtree(exploration.folder)

    def _new_folder(self, name: str) -> Path:
        stem = re.sub(r"[^a-z0-9]+", "-", name.split(".")[0].lower()).strip("-")[:40] or "table"
        folder = self.folder / f"{stem}-{secrets.token_hex(3)}"
        with writing():
            folder.mkdir(parents=True)
        return folder

    def _remember(self, exploration: Exploration) -> Exploration:
        exploration.image_folder = self._image_folders.get(exploration.id)
        exploration.origin = self._origins.get(exploration.id)
        with self._lock:
            self._open[exploration.id] = exploration
            self._unused.discard(exploration.folder)
            busy = {job.exploration for job in self._known_jobs.values() if job.active}
            idle = [one for one in self._open.values() if one.id not in busy and not one.problem]
            for old in idle[: max(0, len(self._open) - MAX_OPEN)]:
                if old is not exploration:
                    del self._open[old.id]
                    if not old.steps:  # its page may be open, so it stays as long as the server
                        self._unused.add(old.folder)
        return exploration

    # Files of explorations

    def pack(self, exploration: Exploration) -> bytes:
        """Return the directory of an exploration as one file."""
        content = io.BytesIO()
        with exploration.lock, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            exploration.save()
            wanted = [STATE, exploration.file.name, *(f"{v}.npz" for v in exploration.facets())]
            for name in wanted:
                archive.write(exploration.folder / name, name)
        return content.getvalue()

    def _unpack(self, path: Path) -> Exploration:
        folder = self._new_folder(path.name)
        try:
            _extract(path, folder, self.limits)
            read = partial(read_within_limits, limits=self.limits)
            exploration = Exploration.open(folder, read)
            _try_out(path.name, exploration)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return self._remember(exploration)

    # Searches

    def search(
        self, exploration: Exploration, options: OptionsDict, count: int, **hints: Any
    ) -> Job:
        """Ask for views; hints say where to look, see :meth:`Exploration.task`."""
        task = exploration.task(options, count, **hints)

        def found(message: FoundViews) -> FoundDict:
            view_id = exploration.found(task, message)
            return {"kind": "found", "view": view_id, "name": message["name"]}

        job = Job(secrets.token_hex(4), exploration.id, task, found)
        with self._lock:
            self._known_jobs[job.id] = job
        self.jobs.submit(job)
        return job

    def job(self, exploration_id: str, job_id: str) -> Job:
        """Return a search of an exploration."""
        job = self._known_jobs.get(job_id)
        if job is None or job.exploration != exploration_id:
            raise LookupError(f"there is no job {job_id!r} in this exploration")
        return job

    def jobs_of(self, exploration_id: str) -> list[Job]:
        """Return the searches of an exploration, in their order."""
        return [job for job in self._known_jobs.values() if job.exploration == exploration_id]


def _holds_exploration(path: Path) -> bool:
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            file.seek(0)
            return file.read(2) == b"PK" and STATE in names
    except Exception:  # no archive, or broken in one of many ways: whoever reads it says so
        return False


def _extract(path: Path, folder: Path, limits: Limits) -> None:
    """Unpack an archive of plain files into a directory, within the limits."""
    check_unpacked(path.name, [path], limits)
    try:
        with zipfile.ZipFile(path) as archive:
            seen: set[str] = set()
            for entry in archive.infolist():
                _check_entry(path.name, entry, seen)
                content = archive.read(entry)
                with writing():
                    (folder / entry.filename).write_bytes(content)
    except (ValueError, MemoryError, UnwritableError):
        raise
    except Exception as error:  # zipfile and zlib say in many types what is wrong inside
        raise ValueError(f"{path.name!r} is broken: {error}") from error
    check_unpacked(path.name, sorted(folder.iterdir()), limits)


def _check_entry(name: str, entry: zipfile.ZipInfo, seen: set[str]) -> None:
    """Raise unless an entry of an archive is a file of its own, right in the directory."""
    mode = entry.external_attr >> 16  # of the file, where a system with such modes packed it
    plain = not entry.is_dir() and stat.S_IFMT(mode) in (0, stat.S_IFREG)
    # Some systems do not tell upper and lower case apart.
    again = entry.filename.casefold() in seen
    seen.add(entry.filename.casefold())
    if not plain or again or not is_file_name(entry.filename):
        raise ValueError(
            f"{name!r} holds the strange path {entry.filename!r}: only an exploration as the "
            "workbench packs it can be taken up"
        )


def _try_out(name: str, exploration: Exploration) -> None:
    """Raise unless all that a page or a report asks of an exploration can be answered."""
    try:
        display.describe(exploration, [])
        for view_id in exploration.facets():
            to_json(display.detail(exploration, view_id))
        if any(one.status != "rejected" for one in exploration.facets().values()):
            repeat.report(exploration)
    except MemoryError:
        raise
    except Exception as error:  # views are free in what they hold, and so is what goes wrong
        raise ValueError(f"{name!r} is damaged: a view in it cannot be shown") from error


def _generated(name: str) -> Columns:
    """Return the columns of a generated example: features and true groupings."""
    if name == "moons":
        X, labelings = make_moons_views(400, n_noise=2, random_state=0)
        truth = {"blobs": labelings[:, 0], "moons": labelings[:, 1]}
    else:
        X, labelings = make_gaussian_views(600, (3, 2, 2), n_noise=2, random_state=0)
        truth = {f"grouping {j + 1}": labels for j, labels in enumerate(labelings.T)}
    words = {key: np.array([f"{key} {label}" for label in values]) for key, values in truth.items()}
    return words | {f"x{j + 1}": column.round(4) for j, column in enumerate(X.T)}
