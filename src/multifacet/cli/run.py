"""One call of a command that reads a table: its options, notes, timings, and how to repeat it."""

from __future__ import annotations

import platform
import shlex
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from .command import Command, Refused, say, say_json
from .options import CALL_ONLY, key_of, spell
from .progress import Display

if TYPE_CHECKING:
    from ..files import FileData


class Run:
    """What a call is told and tells."""

    def __init__(self, ctx: click.Context) -> None:
        assert isinstance(ctx.command, Command)
        self._ctx, self._command = ctx, ctx.command
        self.options: dict[str, Any] = ctx.params
        self.display = Display(quiet=self.options["quiet"])
        self._inputs: list[dict[str, Any]] = []
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage, and show the warnings of the library as notes."""
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            # The library warns in the category UserWarning; all else is for developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", category=UserWarning)
            yield
        for warning in caught:
            self.note(str(warning.message))
        self._seconds[name] = round(time.perf_counter() - began, 3)

    def note(self, text: str) -> None:
        """Tell the user something, in terms of options."""
        self.display.note(self._command.in_options(text))

    def refuse_unused(self, name: str, unused: Mapping[str, Sequence[str]]) -> None:
        """Refuse options at other values than "auto" for which the value of another has no use."""
        chosen = self.options[name]
        for option in unused.get(chosen, ()):
            if self.options[option] != "auto":
                text = f"{option}={self.options[option]} has no effect with {name}={chosen!r}"
                raise Refused(self._command.in_options(f"{text}: leave it out"))

    def has_read(self, file: FileData) -> None:
        """Keep what is needed to know a file again, and refuse a repetition on another one."""
        rows = len(next(iter(file.columns.values())))
        if rows < 2:
            raise Refused(f"{file.name!r} has a single row: at least 2 are needed")
        entry = {"name": file.name, "sha256": file.sha256, "rows": rows}
        self._inputs.append(entry | {"columns": len(file.columns)})
        before = self._ctx.meta.get("repeated")
        if before is not None and file.sha256 not in [one["sha256"] for one in before]:
            raise Refused(
                f"{file.name!r} has changed since the run that --from repeats: run without --from"
            )
        for note in file.notes:
            self.note(f"{file.name}: {note}")

    def write(self, folder: Path, document: Mapping[str, Any]) -> None:
        """Write what all commands leave: the result as JSON, its report, and how to repeat it."""
        from ..files import write_json
        from ..report import render

        write_json(folder / f"{document['kind']}.json", document)
        render({**document, "run": self.to_dict()}, folder / "report.html")
        write_json(folder / "run.json", self.to_dict())

    def tell(
        self, folder: Path, files: Sequence[str], text: str, result: Mapping[str, Any]
    ) -> None:
        """Print the result, in words or as JSON, and where the files are."""
        if not self.options["as_json"]:
            say(f"{text}\nreport: {folder / 'report.html'}")
            return
        where = {"output": str(folder), "files": list(files)}
        say_json({**where, **result, "notes": self.display.notes})

    def to_dict(self) -> dict[str, Any]:
        """Return how to repeat this run, for run.json and the report."""
        kept = [p for p in self._command.params if p.name not in CALL_ONLY]
        packages = ("numpy", "scipy", "scikit-learn")
        return {
            "task": self._ctx.info_name,
            "command": self._line(kept),
            "options": {key_of(p): self.options[p.name] for p in kept if p.name},
            "versions": {"multifacet": __version__, "python": platform.python_version()}
            | {name: version(name) for name in packages},
            "seed": self.options["random_state"],
            "input": self._inputs[0] | self._path(),
            "existing": self._inputs[1:],
            "seconds": round(sum(self._seconds.values()), 3),
            "timings": self._seconds,
            "notes": self.display.notes,
        }

    def _path(self) -> dict[str, str]:
        """Return where DATA is, whatever the working directory."""
        data = self.options["data"]
        return {} if data == "-" else {"path": str(Path(data).resolve())}

    def _line(self, params: list[click.Parameter]) -> str:
        """Return the shell command, with what differs from the defaults."""
        words = ["multifacet", str(self._ctx.info_name)]
        for param in params:
            value = self.options[param.name or ""]
            if isinstance(param, click.Argument):
                words.append(str(value))
            elif value in (None, [], param.default):
                continue
            elif isinstance(value, bool):
                words.append(param.opts[0] if value else param.secondary_opts[0])
            else:
                words += [max(param.opts, key=len), spell(value)]
        return shlex.join(words)
