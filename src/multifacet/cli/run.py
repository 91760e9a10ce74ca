"""One call of a command that reads a table: its options, notes, timings, and how to repeat it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runs.record import Record
from .command import Command, Refused, say, say_json
from .progress import Display
from .words import in_options

if TYPE_CHECKING:
    from ..files import FileData
    from ..frames import Encoding


class Run:
    """What a call is told and tells."""

    def __init__(self, ctx: click.Context) -> None:
        assert isinstance(ctx.command, Command)
        self._ctx, self._command = ctx, ctx.command
        self.options: dict[str, Any] = ctx.params
        self.display = Display(quiet=self.options.get("quiet", False))
        self.record = Record(str(ctx.info_name), self.options, notes=self.display.notes)

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
            self.note(self._command.worded(warning.message))
        self.record.timings[name] = round(time.perf_counter() - began, 3)

    def note(self, text: str) -> None:
        """Tell the user something."""
        self.display.note(text)

    def note_encoding(self, encoding: Encoding) -> None:
        """Tell how columns became features, as far as the library has not warned of it."""
        for note in encoding.notes:
            if note.remedy is None:
                self.note(note.said(""))

    def has_read(self, file: FileData) -> None:
        """Keep what is needed to know a file again, and refuse a repetition on another one."""
        self.record.has_read(file)
        before = self._ctx.meta.get("repeated")
        if before is not None and file.sha256 not in [one["sha256"] for one in before]:
            raise Refused(
                f"{file.name!r} has changed since the run that --from repeats: run without --from"
            )
        for note in file.notes:
            self.note(f"{file.name}: {in_options(note, self.options)}")

    def write(self, folder: Path, document: Mapping[str, Any]) -> None:
        """Write what all commands leave: the result as JSON, its report, and how to repeat it."""
        from ..files import write_json
        from ..report import render

        write_json(folder / f"{document['kind']}.json", document)
        record = self.record.to_dict()
        render({**document, "run": record}, folder / "report.html")
        write_json(folder / "run.json", record)

    def tell(
        self, folder: Path, files: Sequence[str], text: str, result: Mapping[str, Any]
    ) -> None:
        """Print the result, in words or as JSON, and where the files are."""
        if not self.options["as_json"]:
            say(f"{text}\nreport: {folder / 'report.html'}")
            return
        where = {"output": str(folder), "files": list(files)}
        say_json({**where, **result, "notes": self.display.notes})
