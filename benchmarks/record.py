"""What a benchmark found, and where, when and from what: one JSON file, and a page made from it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from multifacet.search import PLAN

from .table import Table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
#: What runs write themselves; it does not make a tree another one than its commit.
WRITTEN = ("benchmarks/results", "docs/reproduction.md", "docs/images")
#: Packages whose versions are recorded, where installed.
PACKAGES = (
    *("multifacet", "numpy", "scipy", "scikit-learn", "joblib", "dask"),
    *("pymanopt", "clustpy", "umap-learn", "metric-learn"),
)


@dataclass(frozen=True)
class Machine:
    """What a benchmark ran on; None is what was not recorded."""

    processor: str
    cores: int | None = None
    memory_gib: float | None = None
    python: str | None = None
    packages: dict[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls) -> Machine:
        found = {name: _version(name) for name in PACKAGES}
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        return cls(
            _processor(),
            os.cpu_count(),
            round(memory, 1),
            platform.python_version(),
            {name: one for name, one in found.items() if one},
        )

    @property
    def hardware(self) -> str:
        memory = None if self.memory_gib is None else f"{self.memory_gib:g} GiB"
        cores = None if self.cores is None else f"{self.cores} cores"
        return ", ".join(filter(None, [self.processor, cores, memory]))

    def __str__(self) -> str:
        versions = [f"Python {self.python}"] if self.python else []
        versions += [f"{name} {one}" for name, one in self.packages.items()]
        return "; ".join(filter(None, [self.hardware, ", ".join(versions)]))


@dataclass(frozen=True)
class Origin:
    """Where, when and from what figures come; None is what was not recorded.

    ``changed`` tells whether the tree was another one than its commit, ``plan`` is the key of the
    plan of the search, ``load`` the mean number of running processes in the minute before.
    """

    date: str
    commit: str | None = None
    changed: bool | None = None
    plan: str | None = None
    machine: Machine | None = None
    load: float | None = None
    seconds: float | None = None
    quick: bool = False
    note: str = ""

    @classmethod
    def now(cls, quick: bool = False) -> Origin:
        commit = _git("rev-parse", "--short=10", "HEAD")
        differs = _git("status", "--porcelain", "--", ".", *(f":!{path}" for path in WRITTEN))
        return cls(
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            commit,
            None if commit is None else bool(differs),
            PLAN.key,
            Machine.here(),
            round(os.getloadavg()[0], 2),
            quick=quick,
        )

    def __str__(self) -> str:
        changed = {True: ", with changes", False: "", None: ""}[self.changed]
        parts = [
            f"{'Measured in the quick form' if self.quick else 'Measured'} on {self.date}",
            f"commit {self.commit or 'not recorded'}{changed}",
            f"plan of the search {self.plan or 'not recorded'}",
            f"machine: {self.machine or 'not recorded'}",
            f"load at the start {'not recorded' if self.load is None else f'{self.load:g}'}",
        ]
        if self.seconds is not None:
            parts.append(f"took {self.seconds:g} s")
        return "; ".join(parts) + "." + (f" {self.note}" if self.note else "")


@dataclass(frozen=True)
class Record:
    """The tables of one benchmark and their origin."""

    name: str
    origin: Origin
    tables: list[Table]

    @classmethod
    def read(cls, path: Path) -> Record:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        origin = kept["origin"]
        machine = Machine(**origin["machine"]) if origin["machine"] else None
        tables = [Table.read(table) for table in kept["tables"]]
        return cls(kept["name"], Origin(**origin | {"machine": machine}), tables)

    def write(self, folder: Path = RESULTS) -> Path:
        """Write the JSON file and the page, and return the path of the first."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")
        self.page(folder).write_text(str(self), encoding="utf-8")
        return path

    def page(self, folder: Path) -> Path:
        return folder / f"{self.name}.md"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.tables), f"*{self.origin}*\n"])


def records(folder: Path = RESULTS) -> list[Record]:
    """Return all records of a folder, by name."""
    return [Record.read(path) for path in sorted(folder.glob("*.json"))]


def measure(name: str, run: Callable[[bool], list[Table]], quick: bool = False) -> Record:
    """Run a benchmark and return what it found, and under which circumstances."""
    origin = Origin.now(quick)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = run(quick)
    seconds = round(time.perf_counter() - began, 1)
    return Record(name, replace(origin, seconds=seconds), tables)


def _git(*words: str) -> str | None:
    """Return what git says, or None without git or outside a repository."""
    try:
        told = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return told.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), "") or platform.processor() or platform.machine()
