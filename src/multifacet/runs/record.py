"""What is kept of a run in run.json: enough to repeat it, and to know whether it can be."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from .. import __version__
from .options import OPTIONS, TASKS, Option, spell

if TYPE_CHECKING:
    from ..files import FileData

#: What is needed of a run.json to repeat a run.
_NEEDED = {
    "task": str,
    "options": {"data": str},
    "input": {"sha256": str, "path?": str},
    "existing": [{"sha256": str}],
}
_PACKAGES = ("numpy", "scipy", "scikit-learn")


class ReadDict(TypedDict):
    """A file that was read; of standard input and of what is elsewhere there is no path."""

    name: str
    sha256: str
    rows: int
    columns: int
    path: NotRequired[str]


class RecordDict(TypedDict):
    """What run.json holds."""

    task: str
    command: str
    options: dict[str, Any]
    versions: dict[str, str]
    seed: Any
    input: ReadDict
    existing: list[ReadDict]
    seconds: float
    timings: dict[str, float]
    notes: list[str]


@dataclass
class Record:
    """A run: what it was told, what it has read, and what it said.

    Attributes
    ----------
    task : str
        One of ``TASKS``, such as "find".
    options : dict
        What it was told, by the parameters of the library; all options of the task are there.
    inputs : list of dict
        The files that were read, as :meth:`has_read` keeps them; the table is the first.
    timings : dict of str to float
        Seconds that its stages took.
    notes : list of str
        What the user was told.
    """

    task: str
    options: dict[str, Any]
    inputs: list[ReadDict] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def has_read(self, file: FileData) -> None:
        """Keep what is needed to know a file again."""
        rows = len(next(iter(file.columns.values())))
        if rows < 2:
            raise ValueError(f"{file.name!r} has a single row: at least 2 are needed")
        self.inputs.append(
            {
                "name": file.name,
                "sha256": file.sha256,
                "rows": rows,
                "columns": len(file.columns),
            }
        )

    @property
    def command(self) -> str:
        """The shell command that does it again, with what differs from the defaults."""
        words = ["multifacet", self.task]
        for option, value in self._said():
            if option.name == "data":
                words.append(str(value))
            elif value in (None, [], option.default):
                continue
            elif isinstance(value, bool):
                words.append(f"--{'' if value else 'no-'}{option.name}")
            else:
                words += [f"--{option.name}", spell(value)]
        return shlex.join(words)

    def to_dict(self) -> RecordDict:
        """Return how to repeat this run, for run.json and the report."""
        from importlib.metadata import version

        return {
            "task": self.task,
            "command": self.command,
            "options": {option.name: value for option, value in self._said()},
            "versions": {"multifacet": __version__, "python": platform.python_version()}
            | {name: version(name) for name in _PACKAGES},
            "seed": self.options["random_state"],
            "input": self._table(),
            "existing": self.inputs[1:],
            "seconds": round(sum(self.timings.values()), 3),
            "timings": self.timings,
            "notes": self.notes,
        }

    def _said(self) -> Iterator[tuple[Option, Any]]:
        for name in TASKS[self.task]:
            yield OPTIONS[name], self.options[OPTIONS[name].parameter]

    def _table(self) -> ReadDict:
        """Return the table, and where it is, whatever the working directory."""
        data, table = self.options["data"], self.inputs[0]
        anywhere = data == "-" or "://" in data
        return table if anywhere else {**table, "path": str(Path(data).resolve())}


def read_record(text: str) -> RecordDict:
    """Return what a run.json holds; raise unless it is enough to repeat a run.

    The data are looked for from here or, if they are not there, where they were then.
    """
    from ..files import check_shape, read_json

    found = read_json(text)
    check_shape(found, _NEEDED)
    record: RecordDict = found
    data, known = record["options"]["data"], record["input"].get("path")
    moved = known and data != "-" and not Path(data).exists()
    return {**record, "options": record["options"] | {"data": known if moved else data}}
