"""A table that is read and labelled in parts: many files, ``--workers 4``, ``--scheduler ...``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runs.table import ROW, unused
from .command import Refused
from .source import note_roles

if TYPE_CHECKING:
    from ..finding.finder import ViewFinder
    from ..frames import Prepared
    from ..frames.roles import Roles
    from ..results.views import Views
    from .run import Run

#: Partitions whose labels are fetched together.
AT_ONCE = 32
#: Folder of their labels.
LABELS = "labels"
_ROLES = ("features", "exclude", "categories", "identifier")
#: Options about reading that Parquet has no use for, and what stands for nothing said.
_IDLE: dict[str, Any] = {
    "separator": None,
    "decimal": None,
    "encoding": None,
    "matrix": "auto",
    "existing": [],
    "rows": None,
}


@contextmanager
def workers_of(options: dict[str, Any]) -> Iterator[bool]:
    """Have everything computed by the workers that options ask for; tell whether it is in parts.

    Several files are read in parts in any case: by threads if nobody asks for workers.
    """
    count, address = options["workers"], options["scheduler"]
    if count is None and address is None:
        several = in_parts(options["data"])
        if several:
            _refuse_idle(options)
        yield several
        return
    if count is not None and address is not None:
        raise Refused("--workers starts a cluster and --scheduler names one: pass one of them")
    if count is not None and count < 1:
        raise Refused(f"--workers {count} must be at least 1")
    _refuse_idle(options)
    from ..engines.cluster import connected, local_workers

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are told in sentences
    cluster = connected(address) if count is None else local_workers(count)
    with cluster as client, client.as_current():
        yield True


def in_parts(data: str) -> bool:
    """Tell a folder, a pattern or an address from one file and from standard input."""
    from ..files.many import is_several

    return data != "-" and is_several(data)


def roles_of_parts(options: dict[str, Any]) -> Roles:
    """Return what the columns of several files would be used for."""
    from ..files import open_partitions
    from ..tables.partitions import partition_roles

    _refuse_idle(options)
    return partition_roles(open_partitions(options["data"]), **_said_of_columns(options))


def _said_of_columns(options: dict[str, Any]) -> dict[str, Any]:
    """Return what options say of columns, None where they say nothing."""
    return {name: options[name] or None for name in ("given", *_ROLES)}


def _refuse_idle(options: dict[str, Any]) -> None:
    """Raise for options that a table in partitions does not have."""
    for name, nothing in _IDLE.items():
        if options.get(name, nothing) != nothing:
            raise Refused(f"--{name} is not for Parquet that is read in parts: leave it out")
    if options["format"] not in (None, "parquet"):
        raise Refused(f"--format {options['format']}: only Parquet is read in parts")


@dataclass(frozen=True)
class Parts:
    """A table in partitions, and what one pass over it has told."""

    frame: Any
    prepared: Prepared

    @classmethod
    def read(cls, run: Run) -> Parts:
        """Open DATA, learn its encoding and draw a sample; says what is used and what is not."""
        from ..files import open_partitions
        from ..tables.partitions import prepare_partitions

        options = run.options
        frame = open_partitions(options["data"])
        said = _said_of_columns(options)
        said |= {name: options[name] for name in ("missing", "standardize")}
        prepared = prepare_partitions(frame, **said, latent=True)
        # Pictures are not where the workers are.
        prepared = replace(prepared, shown=replace(prepared.shown, images={}))
        parts = cls(frame, prepared)
        run.has_read(parts._as_file(options["data"]))
        note_roles(run, prepared.roles, options["given"])
        drawn, n_rows = prepared.X.shape[0], prepared.roles.n_rows
        if drawn < n_rows:
            run.note(
                f"views, evidence and report are those of {drawn:,} of {n_rows:,} rows, drawn by "
                f"their content; {LABELS} holds all rows"
            )
        return parts

    def find(self, finder: ViewFinder, *, keep_trivial: bool) -> Views:
        """Search in the sample."""
        from ..tables.find import views_of

        return views_of(self.prepared, finder, keep_trivial=keep_trivial)

    def write_labels(self, folder: Path, views: Views) -> None:
        """Write one file of labels for every partition, beside what names the rows and is given.

        Workers tell the labels and this process writes them, some partitions at a time, so that
        both need nothing but the table in common.
        """
        from ..engines.cluster import gathered

        names = [view.name for view in views]
        if not names:
            return
        identifier = self.prepared.roles.identifier
        beside = [*filter(None, [identifier]), *views.given]
        used = [column.name for column in views.encoding.columns if column.features]
        told = views.assign(self.frame[list(dict.fromkeys([*beside, *used]))])
        parts = list(told[[*beside, *names]].to_delayed())
        (folder / LABELS).mkdir()
        first_row = 0
        for first in range(0, len(parts), AT_ONCE):
            for number, part in enumerate(gathered(parts[first : first + AT_ONCE]), start=first):
                if identifier is None:
                    rows = range(first_row, first_row + len(part))
                    part.insert(0, unused(ROW, part.columns), rows)
                    first_row += len(part)
                part.to_parquet(folder / LABELS / f"part-{number:05}.parquet", index=False)

    def _as_file(self, path: str) -> Any:
        """Return what is known of the files, of whose columns nothing but the length was read."""
        from ..files import FileData
        from ..files.pieces import fingerprint

        length = range(self.prepared.roles.n_rows)
        return FileData(
            dict.fromkeys(self.frame.columns, length),
            name=Path(path).name,
            format="parquet",
            sha256=fingerprint(path),
        )
