"""Write files: complete or not at all."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..frames.table import read_table
from .binary import need
from .formulas import guarded

#: What the system says too briefly.
_REASONS = {errno.ENOENT: "its directory does not exist", errno.ENOSPC: "the disk is full"}


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Give a path to write to, which takes the place of the file when all went well.

    Parameters
    ----------
    path : str or Path
        The file to write. What it held is kept until the new content is complete, and for good
        if anything goes wrong, be it Ctrl-C.

    Yields
    ------
    Path
        A file that does not exist yet, in the same directory and with the same suffix.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from multifacet.files import atomic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder) / "words.txt") as draft:
    ...         _ = draft.write_text("complete")
    ...     (Path(folder) / "words.txt").read_text()
    'complete'
    """
    path = Path(path)
    # A device, such as /dev/stdout, cannot be replaced, only written to.
    special = path.exists() and not path.is_file() and not path.is_dir()
    draft = path if special else path.with_name(f".{secrets.token_hex(4)}-{path.name}")
    try:
        yield draft
        if not special:
            draft.replace(path)
    except BaseException as error:
        if not special:
            _remove(draft)
        if isinstance(error, OSError):
            reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
            raise OSError(f"cannot write {str(path)!r}: {reason}") from error
        raise


def _remove(draft: Path) -> None:
    """Remove a draft, if it came to exist."""
    try:
        draft.unlink(missing_ok=True)
    except OSError:  # the error that led here says it all
        return


def write_text(path: str | Path, text: str) -> Path:
    """Write text to a file, in UTF-8.

    Parameters
    ----------
    path : str or Path
        The file.
    text : str
        Its content.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/words.txt", "a few words").name
    'words.txt'
    """
    with atomic(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def write_json(path: str | Path, value: Any) -> Path:
    r"""Write a value to a file, as :func:`to_json` spells it.

    Parameters
    ----------
    path : str or Path
        The file.
    value : dict, list, array or scalar
        What it shall hold.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import write_json
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(f"{folder}/run.json", {"seed": 0}).read_text()
    '{\n  "seed": 0\n}\n'
    """
    return write_text(path, to_json(value) + "\n")


def to_json(value: Any) -> str:
    """Return strict JSON, which every reader understands.

    Parameters
    ----------
    value : dict, list, array or scalar
        Arrays become lists; numbers that are not finite, for which JSON has no word, become null.

    Returns
    -------
    str
        The text, indented.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.files import to_json
    >>> print(to_json({"p": np.float64(0.5), "separation": -np.inf}))
    {
      "p": 0.5,
      "separation": null
    }
    """
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value in the types of JSON."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_table(path: str | Path, columns: Mapping[str, Sequence[Any]]) -> Path:
    r"""Write columns of equal length to a file.

    Parameters
    ----------
    path : str or Path
        The file; its suffix says the format: .csv, .tsv (both also with .gz), .parquet, .arrow
        or .feather.
    columns : dict of str to sequence
        The columns. None and NaN become empty cells, or nulls. In delimited text, a name or a cell
        of text that a spreadsheet would take for a formula gets a leading apostrophe, which
        :func:`read_file` takes off again.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(f"{folder}/t.csv", {"bird": ["a", "b"], "mass": [3.5, None]}).read_text()
    'bird,mass\na,3.5\nb,\n'
    """
    path = Path(path)
    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    compress = path.suffix.lower() == ".gz"
    write = _WRITERS.get(suffix)
    if write is None or (compress and suffix not in ("csv", "tsv")):
        raise ValueError(
            f"{str(path)!r} is to be a table of unknown format: use a name that ends in .csv, "
            ".tsv, .csv.gz, .tsv.gz, .parquet, .arrow or .feather"
        )
    read_table(columns)  # raises unless they have equal lengths
    content = write({name: _values(column) for name, column in columns.items()})
    with atomic(path) as draft:
        # Without a time, the same table gives the same bytes.
        draft.write_bytes(gzip.compress(content, mtime=0) if compress else content)
    return path


def _values(column: Sequence[Any]) -> list[Any]:
    """Return a column as Python objects, None for what is missing."""
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [None if value != value else value for value in values]


class _Lines(io.StringIO):
    """Ends lines by a line feed, though fields with a carriage return are put into quotes.

    The writer of the standard library quotes only what ends its own lines.
    """

    END = "\r\n"

    def write(self, row: str) -> int:
        return super().write(row.removesuffix(self.END) + "\n")


def _delimited(separator: str) -> Any:
    """Return the writer of text in which a separator stands between fields."""

    def write(columns: dict[str, list[Any]]) -> bytes:
        text = _Lines()
        writer = csv.writer(text, delimiter=separator, lineterminator=_Lines.END)
        writer.writerow(map(guarded, columns))
        writer.writerows(map(guarded, row) for row in zip(*columns.values(), strict=True))
        return text.getvalue().encode()

    return write


def _arrow_table(columns: dict[str, list[Any]], what: str) -> Any:
    pa = need("pyarrow", "arrow", what)

    def array(name: str, values: list[Any]) -> Any:
        try:
            return pa.array(values)
        except OverflowError:  # beyond 64 bits with a sign, which Arrow expects of whole numbers
            pass
        try:
            return pa.array(values, pa.uint64())
        except (OverflowError, pa.ArrowException) as error:
            raise ValueError(
                f"column {name!r} holds whole numbers of more than 64 bits, which {what} cannot "
                "keep: write a CSV file"
            ) from error

    return pa.table({name: array(name, values) for name, values in columns.items()})


def _parquet(columns: dict[str, list[Any]]) -> bytes:
    table = _arrow_table(columns, "Parquet")
    pa = need("pyarrow", "arrow", "Parquet")
    sink = pa.BufferOutputStream()
    need("pyarrow.parquet", "arrow", "Parquet").write_table(table, sink)
    return sink.getvalue().to_pybytes()


def _arrow(columns: dict[str, list[Any]]) -> bytes:
    pa = need("pyarrow", "arrow", "Arrow")
    table, sink = _arrow_table(columns, "Arrow"), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue().to_pybytes()


_WRITERS = {
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "parquet": _parquet,
    "arrow": _arrow,
    "feather": _arrow,
}
