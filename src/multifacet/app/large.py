"""Tables of Parquet that are too large to be held: some rows stand for all of them.

The page shows, and searches in, rows that were drawn by their content. Labels of all rows are told
when someone takes them along, a piece of the table at a time.
"""

from __future__ import annotations

import io
import zipfile
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import Any

from ..files import FileData, read_file
from ..files.many import is_several
from ..files.pieces import cut, extent, read_piece
from ..files.reading import recognise_suffix
from ..frames.notes import Note
from ..results.partitioned import Teller
from ..runs.table import ROW, unused
from ..tables.excerpt import excerpt
from .disk import writing
from .exploration import Exploration, Origin
from .facets import Facet
from .limits import Limits
from .schemas import file_name


def is_large(path: str | Path, limits: Limits) -> bool:
    """Tell whether a path leads to several files, or to one that is too large to be held."""
    if is_several(path):
        return True
    file = Path(path)
    is_parquet = file.is_file() and recognise_suffix(file.name) == "parquet"
    return is_parquet and extent(file)[1] > limits.cells


def stem(path: str | Path) -> str:
    """Return what to call the table of a file, a folder, a pattern or an address."""
    words = [word for word in PurePosixPath(str(path)).parts if not has_magic(word)]
    name = words[-1] if words else ""
    named = name.split(".")[0] if name not in ("", ".", "..", "/") else Path(path).resolve().name
    return file_name(named or "table")


def write_excerpt(path: str | Path, folder: Path, limits: Limits) -> tuple[FileData, Origin | None]:
    """Write all rows of Parquet files, or a sample, to one file; return it and where others are."""
    rows, cells = extent(path)
    held, count = excerpt(path, max(rows, 2) if cells <= limits.cells else limits.drawn)
    if count < 2:
        raise ValueError(f"{str(path)!r} has too few rows ({count}): at least 2 are needed")
    complete = len(held) == count
    target = folder / f"{stem(path)}{'' if complete else '-sample'}.parquet"
    with writing():
        held.to_parquet(target, index=False)
    file = read_file(target)
    if complete:
        return file, None
    file.notes.append(
        Note(
            f"{len(held):,} of {count:,} rows, drawn by their content, are shown and searched; "
            "“Keep” has the labels of all rows for as long as the workbench runs"
        )
    )
    return file, Origin(str(path), count)


def write_all_labels(exploration: Exploration, origin: Origin, target: Path) -> None:
    """Write an archive with the labels of all rows, one file for every piece of the table.

    Views that were looked for among some rows are left out: nobody knows which of the others belong
    to these.
    """
    kept = [one for one in exploration.facets().values() if one.status != "rejected"]
    told = [one for one in kept if one.step["among"] is None]
    if not told:
        raise ValueError("there is no view of all rows: find one first")
    tellers = [(one, _teller(exploration, one)) for one in told]
    setup = exploration.setup
    beside = [*filter(None, [setup["identifier"]]), *setup["given"]]
    first_row = 0
    with writing(), zipfile.ZipFile(target, "w") as archive:
        for number, piece in enumerate(cut(origin.path)):
            part = read_piece(piece).reset_index()
            labels = part[[name for name in beside if name in part.columns]]
            for facet, teller in tellers:
                labels = labels.assign(**{facet.name: _labels(facet, teller, part)})
            if setup["identifier"] is None:
                rows = range(first_row, first_row + len(part))
                labels.insert(0, unused(ROW, labels.columns), rows)
            first_row += len(part)
            content = io.BytesIO()
            labels.to_parquet(content, index=False)
            archive.writestr(f"labels/part-{number:05}.parquet", content.getvalue())


def _teller(exploration: Exploration, facet: Facet) -> Teller:
    views = exploration.views(facet.id)
    return Teller.of(views.encoding, views.views)


def _labels(facet: Facet, teller: Teller, part: Any) -> Any:
    """Return the groups of the rows of a piece, by their names if someone gave any."""
    found = teller.with_labels(part)[facet.name]
    names = facet.group_names
    return found.map(lambda one: names.get(one, str(one)), na_action="ignore") if names else found
