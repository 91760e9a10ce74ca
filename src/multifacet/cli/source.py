"""The table that a command works on: read from a file, with a role for every column."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runs.table import ROW, named_columns
from .command import Refused
from .words import in_options

if TYPE_CHECKING:
    from ..files import FileData
    from ..files.annotated import Representation
    from ..frames.roles import Roles
    from ..frames.table import Columns, Table
    from .run import Run

#: Features that a note lists.
MAX_LISTED = 40
#: Parameters of :func:`multifacet.files.read_file`.
_READING = ("format", "separator", "decimal", "encoding", "matrix")


@dataclass(frozen=True)
class Source:
    """A table, what its columns are for, and which hold what is known.

    Of annotated data, ``cells`` says where the features are from. ``folder`` is where image files
    are, that a column names.
    """

    columns: Columns
    roles: Roles
    given: list[str]
    cells: Representation | None = None
    folder: str = "."


def read_source(run: Run, *guides: str) -> Source:
    """Read DATA and decide what its columns are for; says what is used and what is left out.

    ``guides`` are options whose columns are no features, as those that are given.
    """
    file, columns, given, roles = read_roles(run, *guides)
    note_roles(run, roles, given)
    return Source(columns, roles, given, file.cells, _folder(run))


def note_roles(run: Run, roles: Roles, given: list[str]) -> None:
    """Say what is used of a table, and what is left out."""
    from ..frames.table import listing

    options = run.options
    for note in roles.notes:
        run.note(in_options(note, options))
    count = len(roles.features)
    run.note(f"{count} feature{'s' * (count > 1)} used: {listing(roles.features, MAX_LISTED)}")
    twice = [name for name in given if name in options["features"]]
    if twice:
        run.note(f"{listing(twice)} is given, so it is no feature")


def read_roles(run: Run, *guides: str) -> tuple[FileData, Columns, list[str], Roles]:
    """Read DATA; return it, its columns, which are given, and what all of them are for."""
    from ..frames.roles import assign_roles
    from ..frames.table import read_table

    file, columns, identifier = read_data(run)
    options = run.options
    table = read_table(columns)
    if options.get("rows"):
        table, identifier = _described(run, columns, identifier)
        columns = dict(table.columns)
    given = [
        name for option in ("given", *guides) for name in table.find(option, options.get(option))
    ]
    roles = assign_roles(
        table,
        given=given,
        identifier=identifier,
        exclude=options["exclude"],
        features=options["features"] or file.features,
        categories=options["categories"],
    )
    return file, columns, given, roles


def read_data(run: Run) -> tuple[FileData, Columns, str | None]:
    """Read DATA; return it, its columns, and the identifier if the user or the file names one."""
    from ..files import read_file
    from ..files.reading import recognise_suffix

    path, said = run.options["data"], {name: run.options[name] for name in _READING}
    named = run.options.get("features") and recognise_suffix(str(path)) == "h5ad"
    if named and said["matrix"] == "auto":
        said["matrix"] = "X"  # components would not have the variables that were named
    file = read_file(path, **said)
    run.has_read(file)
    return file, *_named_rows(file, run.options["identifier"])


def _described(run: Run, columns: Columns, identifier: str | None) -> tuple[Table, str | None]:
    """Return columns with those that describe their rows, and what names the rows."""
    from ..files import read_file
    from ..frames.table import described

    file = read_file(run.options["rows"])
    run.has_read(file)
    beside, named = _named_rows(file, run.options["identifier"])
    return described(columns, beside), identifier or named


def _folder(run: Run) -> str:
    """Return where image files are that a column names: beside the table that has it."""
    path = str(run.options.get("rows") or run.options["data"])
    return "." if path == "-" else str(Path(path).parent)


def _named_rows(file: FileData, identifier: str | None) -> tuple[Columns, str | None]:
    """Return the columns and the identifier, which may belong to no column of the file."""
    return named_columns(file) if identifier is None else (file.columns, identifier)


def with_existing(run: Run, source: Source, places: list[str]) -> Source:
    """Add known labels from other files, found by the identifier of the rows."""
    columns, given = dict(source.columns), list(source.given)
    for place in places:
        path, _, name = place.rpartition(":")
        if not (path and name):
            raise Refused(f"--existing {place!r} is not FILE:COLUMN, such as labels.csv:species")
        labels = _existing(run, source, path, name)
        while name in columns:
            name += " (existing)"
        columns[name] = labels
        given.append(name)
    return replace(source, columns=columns, given=given)


def _existing(run: Run, source: Source, path: str, column: str) -> list[Any]:
    """Return the labels (n,) of the rows of DATA, from a column of another file."""
    from ..files import read_file

    own, ours = _row_names(source)
    file = read_file(path)
    run.has_read(file)
    if source.roles.identifier is None and own not in file.columns and file.index is None:
        return _labels_in_order(run, file, column, len(ours))
    labels = _labels_by_row(file, path, column, own)
    absent = [row for row in ours if row not in labels]
    if absent:
        raise Refused(
            f"{path!r} has no row for {len(absent)} of {len(ours)} rows of DATA, whose {own} is "
            f"{_shown(absent)}"
        )
    if len(labels) > len(ours):
        run.note(f"{path} has {len(labels) - len(ours)} more rows than DATA")
    return [labels[row] for row in ours]


def _row_names(source: Source) -> tuple[str, list[str]]:
    """Return the identifiers of the rows and their name; row 0, 1, ... if they have none."""
    from ..frames.table import read_table

    table = read_table(source.columns)
    own = source.roles.identifier
    if own is None:
        return ROW, [str(row) for row in range(table.n_rows)]
    rows = _as_text(table, own)
    _refuse_repeated(rows, f"DATA has rows of the same {own}")
    return own, rows


def _labels_in_order(run: Run, file: FileData, column: str, n_rows: int) -> list[Any]:
    """Return the labels in a column of a file whose rows are those of DATA, in the same order."""
    from ..frames.table import read_table

    table = read_table(file.columns)
    table.find("existing", [column])
    if table.n_rows != n_rows:
        raise Refused(
            f"{file.name!r} has {table.n_rows} rows, DATA has {n_rows}, and no column of DATA "
            "names its rows, by which they could be found: name one with --id"
        )
    run.note(f"no column of DATA names its rows, so those of {file.name} are taken in their order")
    return _values(table, column)


def _values(table: Table, name: str) -> list[Any]:
    """Return the values of a column, None where they are missing."""
    cells = table.read(name)
    return [None if gone else v for v, gone in zip(cells.values, cells.missing, strict=True)]


def _labels_by_row(file: FileData, path: str, column: str, own: str) -> dict[str, Any]:
    """Return the labels in a column of a file by the identifiers of its rows."""
    from ..frames.roles import assign_roles
    from ..frames.table import read_table

    columns, identifier = _named_rows(file, own if own in file.columns else None)
    table = read_table(columns)
    table.find("existing", [column])
    identifier = own if own in columns else identifier
    identifier = identifier or assign_roles(table, features=[column]).identifier
    if identifier is None:
        raise Refused(f"{path!r} has no column that names its rows, such as {own!r}: add one")
    rows = _as_text(table, identifier)
    _refuse_repeated(rows, f"{path!r} has rows of the same {identifier}")
    return dict(zip(rows, _values(table, column), strict=True))


def _as_text(table: Table, name: str) -> list[str]:
    from ..frames.cells import whole

    return [str(value) for value in whole(table.read(name).values).tolist()]


def _refuse_repeated(rows: list[str], what: str) -> None:
    repeated = [row for row, count in Counter(rows).items() if count > 1]
    if repeated:
        raise Refused(f"{what}, {_shown(repeated)}: every row needs a name of its own")


def _shown(rows: list[str], most: int = 5) -> str:
    return ", ".join(rows[:most]) + ", ..." * (len(rows) > most)
