"""What was done on the page, done again without it: labels, report, script and run.json files."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..files import FileData, read_file, to_json, write_table
from ..frames.cells import whole
from ..frames.table import Columns, read_table
from ..report.render import to_html
from ..results.views import Views
from ..runs.options import defaults
from ..runs.record import Record
from ..runs.table import ROW, unused
from .disk import writing
from .exploration import Exploration
from .facets import Facet
from .steps import FindDict
from .tables import some_rows

#: Options of a search that need not be said.
_DEFAULTS = {"n_refits": 3, "random_state": 0}


def label_columns(exploration: Exploration) -> Columns:
    """Return the table with a further column for every view that was not rejected.

    Columns whose cells hold no single value, such as lists, are left out.
    """
    table = read_table(exploration.columns)
    columns: Columns = {}
    for name in table.columns:
        try:
            cells = table.read(name)
        except ValueError:
            continue
        values = whole(cells.values) if not cells.missing.any() else cells.values
        missing = cells.missing.tolist()
        columns[name] = [None if m else v for v, m in zip(values.tolist(), missing, strict=True)]
    for facet in exploration.facets().values():
        if facet.status == "rejected":
            continue
        labels: list[Any] = exploration.labels(facet.id)
        if facet.group_names:
            names = facet.group_names
            labels = [None if one is None else names.get(one, str(one)) for one in labels]
        columns[unused(facet.name, columns)] = labels
    return columns


def labels_file(exploration: Exploration, suffix: str) -> bytes:
    """Return the labels joined to the rows, as a file."""
    columns = label_columns(exploration)
    with writing(), tempfile.TemporaryDirectory() as folder:
        return write_table(Path(folder) / f"labels.{suffix}", columns).read_bytes()


def report(exploration: Exploration) -> str:
    """Return the report on all views that were not rejected, as one page."""
    kept = [one for one in exploration.facets().values() if one.status != "rejected"]
    if not kept:
        raise ValueError("there is no view to report: find one first")
    accepted = [one for one in kept if one.status == "accepted"] or kept
    # A report is about views of the same rows and features; those of the first one count.
    first, rows = exploration.views(accepted[0].id), exploration.rows(accepted[0].id)
    same = [
        one
        for one in accepted
        if exploration.views(one.id).encoding.feature_names == first.encoding.feature_names
        and np.array_equal(exploration.rows(one.id), rows)
    ]
    views = [exploration.views(one.id)[0] for one in same]
    given = {name: first.given[name] for name in same[0].step["given"]}
    told = Views(
        views,
        first.index,
        rows,
        given,
        first.encoding,
        first.frontier,
        references=first.references,
        roles=first.roles,
    )
    return to_html(told.to_dict())


def searches(exploration: Exploration) -> list[Facet]:
    """Return the views in the order in which they were found."""
    return list(exploration.facets().values())


def script(exploration: Exploration) -> str:
    """Return Python code that takes the same steps."""
    found = searches(exploration)
    lines = [f'"""Repeat the exploration of {_in_quotes(exploration.name)}."""', ""]
    lines += ["import numpy as np", ""] if _needs_numpy(found) else []
    lines += ["from multifacet import find_views", "from multifacet.files import read_file"]
    lines += ["", f"file = read_file({_data(exploration)!r})", "table = dict(file.columns)"]
    if exploration.file.index is not None:
        name = next(iter(exploration.columns))
        lines.append(f"table = {{{name!r}: file.index, **table}}")
    numbers = {one.id: i for i, one in enumerate(found, start=1)}
    for facet in found:
        lines += ["", *_search_lines(exploration, facet, numbers)]
    return "\n".join(lines) + "\n"


def _data(exploration: Exploration) -> str:
    """Return the path of the table beside the script; a name such as -o.csv is no option."""
    name = exploration.file.name
    return f"./{name}" if name.startswith("-") else name


def _in_a_line(text: str) -> str:
    """Return text that cannot end a comment, whoever wrote it."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _in_quotes(text: str) -> str:
    """Return text that cannot end a docstring, and reads as what it was."""
    return _in_a_line(text.replace("\\", "\\\\").replace('"', '\\"'))


def _needs_numpy(found: list[Facet]) -> bool:
    return any(one.merges or _is_partial(one.step) for one in found)


def _is_partial(step: FindDict) -> bool:
    """Tell whether a view may be about some of the rows only."""
    return step["missing"] == "drop" or step["among"] is not None


def _given_views(step: FindDict) -> list[str]:
    """Return the views that a search was given; others it has found itself, one after the other."""
    return step["known"][: len(step["known"]) - step["follows"]]


def _search_lines(exploration: Exploration, facet: Facet, numbers: dict[str, int]) -> list[str]:
    step, i = facet.step, numbers[facet.id]
    lines = [f"# {_in_a_line(facet.name)}" + (" (rejected)" * (facet.status == "rejected"))]
    # Names may hold anything, so each has a line: nothing but repr says where one ends.
    lines += ["features = [", *(f"    {name!r}," for name in step["features"]), "]"]
    lines.append("data = dict(table)")
    given = list(step["given"])
    for known in _given_views(step):
        name = unused(f"view {numbers[known]}", exploration.columns)
        lines.append(f"data[{name!r}] = labels_{numbers[known]}")
        given.append(name)
    if step["among"] is not None:
        lines.append(f"rows = {step['among']}")
        lines.append("data = {name: [data[name][i] for i in rows] for name in data}")
    arguments = [f"given={given!r}"] if given else []
    arguments.append("features=features")
    named = step["identifier"] is not None
    arguments += [f"identifier={step['identifier']!r}"] if named else []
    scale = step["standardize"]
    arguments += [] if scale == "auto" else [f"standardize={scale!r}"]
    arguments += [] if step["missing"] == "error" else [f"missing={step['missing']!r}"]
    options = {k: v for k, v in step["options"].items() if v not in ("auto", None)}
    options = {k: v for k, v in options.items() if _DEFAULTS.get(k) != v}
    before = _found_before(step)
    count = f"n_views={before + 1}"
    # The page shows what only repeats a feature, too, and then begins another search.
    every = [
        "data",
        *arguments,
        "keep_trivial=True",
        count,
        *(f"{k}={v!r}" for k, v in options.items()),
    ]
    lines += [f"views_{i} = find_views(", *(f"    {one}," for one in every), ")"]
    lines.append(f"labels_{i} = views_{i}[{before}].labels")
    for groups in facet.merges:
        lines.append(
            f"labels_{i} = np.where(np.isin(labels_{i}, {groups}), {min(groups)}, labels_{i})"
        )
        lines.append(f"labels_{i} = np.unique(labels_{i}, return_inverse=True)[1]")
    if _is_partial(step):
        among = step["among"] is not None
        outside = f"labels_{i}.max() + 1" if among else None
        where = f"np.array(rows)[views_{i}.rows]" if among else f"views_{i}.rows"
        lines.append(f"every = np.full({exploration.n_rows}, {outside}, dtype=object)")
        lines += [f"every[{where}] = labels_{i}", f"labels_{i} = every"]
    return lines


def _found_before(step: FindDict) -> int:
    """Return how many views the same search found before: followed, or passed over."""
    return step["follows"] + step["passed"]


def _record(
    exploration: Exploration, facet: Facet, known_file: str, rows_file: str, read: FileData
) -> Record:
    """Return the run of ``multifacet find`` that leads to a view."""
    step = facet.step
    own = step["identifier"] in exploration.file.columns
    said = {
        "data": _data(exploration) if step["among"] is None else rows_file,
        "features": step["features"],
        "given": step["given"],
        "existing": [f"{known_file}:{name}" for name in _known_labels(exploration, facet)],
        "identifier": step["identifier"] if own else None,
        "standardize": step["standardize"],
        "missing": step["missing"],
        "keep_trivial": True,
        "n_views": _found_before(step) + 1,
        **step["options"],
    }
    record = Record("find", defaults("find") | said)
    record.has_read(read)
    return record


def _known_labels(exploration: Exploration, facet: Facet) -> dict[str, list[int | None]]:
    """Return the labels of earlier views, as they were when this one was searched for."""
    found = {}
    for i, known in enumerate(_given_views(facet.step), start=1):
        merges = facet.step["merged"].get(known, [])
        found[f"known {i}"] = exploration.known_labels(exploration.facet(known), merges)
    return found


def repeat_files(exploration: Exploration) -> bytes:
    """Return everything to repeat the searches: the table, a script, and a run.json for each."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(exploration.folder / exploration.file.name, exploration.file.name)
        archive.writestr("repeat.py", script(exploration))
        for i, facet in enumerate(searches(exploration), start=1):
            known_file, rows_file, read = f"known-{i}.csv", f"rows-{i}.csv", exploration.file
            if facet.step["among"] is not None:
                text, read = _written(rows_file, _some_rows(exploration, facet))
                archive.writestr(rows_file, text)
            known = _known_labels(exploration, facet)
            record = _record(exploration, facet, known_file, rows_file, read)
            if known:
                text, file = _written(known_file, _row_names(exploration, facet) | known)
                archive.writestr(known_file, text)
                for _ in known:
                    record.has_read(file)
            archive.writestr(f"search-{i}.json", to_json(record.to_dict()) + "\n")
    return content.getvalue()


def _written(name: str, columns: Columns) -> tuple[bytes, FileData]:
    """Return a table as the content of a file, and as it is read from there."""
    with writing(), tempfile.TemporaryDirectory() as folder:
        path = write_table(Path(folder) / name, columns)
        return path.read_bytes(), read_file(path)


def _some_rows(exploration: Exploration, facet: Facet) -> Columns:
    """Return the rows of a search among some of them, as they are in the table."""
    rows = np.array(facet.step["among"])
    cells = some_rows(exploration.columns, rows)
    return ({} if facet.step["identifier"] else {ROW: rows}) | cells


def _row_names(exploration: Exploration, facet: Facet) -> Columns:
    """Return the column by which the command line finds the rows of known labels."""
    identifier = facet.step["identifier"]
    if identifier is None:
        return {ROW: np.arange(exploration.n_rows)}
    return {identifier: whole(read_table(exploration.columns).read(identifier).values)}


def command_lines(exploration: Exploration) -> str:
    """Return the commands that do the searches again, in the directory of the repeat files."""
    count = len(searches(exploration))
    return "\n".join(
        f"multifacet find --from search-{i}.json -o search-{i}" for i in range(1, count + 1)
    )
