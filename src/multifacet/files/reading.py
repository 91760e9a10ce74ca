"""Read a table from a file: where it is, what it is, and what it holds."""

from __future__ import annotations

import gzip
import hashlib
import sys
import zlib
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from ..frames.table import CLOSE, listing
from ..wording import Argument, ArgumentError
from .annotated import read_h5ad
from .binary import read_arrow, read_npy, read_npz, read_parquet
from .data import FileData
from .text import read_delimited

#: Formats and the suffixes of their files.
FORMATS = {
    "csv": (".csv", ".tsv", ".txt", ".tab", ".dat"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "npy": (".npy",),
    "npz": (".npz",),
    "h5ad": (".h5ad",),
}
#: The first bytes of the formats that are no text.
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"\x89HDF\r\n\x1a\n": "h5ad",
}
_GZIP = b"\x1f\x8b"


def read_file(
    path: str | Path,
    *,
    format: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    matrix: str = "auto",
) -> FileData:
    r"""Read a table from a file of a usual format.

    Numbers become numbers. A column stays text if one of its values is no number, has leading
    zeros such as ``007``, or has more digits than a number can keep, because these are codes. Empty
    cells and NA, N/A, NaN, null, None and ? are missing.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` reads standard input. Files packed by gzip are unpacked.
    format : {"csv", "parquet", "arrow", "npy", "npz", "h5ad"}, optional
        What it is ("csv" is text with any separator); by default its suffix or its content says.
    separator : str, optional
        What stands between the fields of a text file: one character, "tab" or "space" (one or
        more); by default the likeliest of comma, semicolon, tab, bar and space.
    decimal : {".", ","}, optional
        Decimal mark of a text file; by default a point, or a comma if that is what numbers have.
    encoding : str, optional
        Encoding of a text file; by default UTF-8, or UTF-16 if it says so.
    matrix : str, default="auto"
        Matrix of a .h5ad file: "X", "layers:NAME" or "obsm:NAME"; "auto" is X or, of more than
        100 variables, their principal components, as in :func:`multifacet.find_views`.

    Returns
    -------
    FileData
        The columns and what is known about them.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import read_file, write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_text(f"{folder}/birds.csv", "bird;mass\nann;3,75\nbob;3,8\n")
    ...     data = read_file(path)
    >>> data.columns["mass"], [str(note) for note in data.notes]
    (array([3.75, 3.8 ]), ["fields are separated by ';'", 'numbers have a decimal comma'])
    """
    if format is not None and format not in FORMATS:
        known = listing(FORMATS)
        raise ArgumentError(Argument.of("format", format), f" is not known: use {known}")
    name, raw = _read_bytes(path)
    if not raw:
        raise ValueError(f"{name!r} is empty")
    content = _unpack(name, raw)
    kind = format or _recognise(name, content)
    text_options = {"separator": separator, "decimal": decimal, "encoding": encoding}
    found = _read_as(kind, name, content, text_options, matrix)
    if not found.columns:
        raise ValueError(f"{name!r} has no columns")
    if not len(next(iter(found.columns.values()))):
        raise ValueError(f"{name!r} has {len(found.columns)} columns, but no rows")
    return replace(found, name=name, format=kind, sha256=hashlib.sha256(raw).hexdigest())


def _read_bytes(path: str | Path) -> tuple[str, bytes]:
    """Return the name and the content of a file."""
    if str(path) == "-":
        return "stdin", sys.stdin.buffer.read()
    path = Path(path)
    try:
        return path.name, path.read_bytes()
    except FileNotFoundError:
        raise missing_file(path) from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{str(path)!r} is a directory: pass a file in it") from None
    except PermissionError:
        raise PermissionError(f"there is no permission to read {str(path)!r}") from None
    except OSError as error:
        raise OSError(f"cannot read {str(path)!r}: {error.strerror}") from None


def missing_file(path: Path) -> FileNotFoundError:
    """Return the error for a file that is not there."""
    return FileNotFoundError(f"there is no file {str(path)!r}{_alike(path)}")


def _alike(path: Path) -> str:
    """Say which files have a name like that of a missing one."""
    if not path.parent.is_dir():
        return f", since there is no directory {str(path.parent)!r}"
    names = [file.name for file in path.parent.iterdir() if file.is_file()]
    close = get_close_matches(path.name, names, cutoff=CLOSE)
    return f": did you mean {' or '.join(map(repr, close))}?" if close else ""


def _unpack(name: str, raw: bytes) -> bytes:
    if not raw.startswith(_GZIP):
        if name.lower().endswith(".gz"):
            raise ValueError(f"{name!r} is not packed by gzip, though its name says so: rename it")
        return raw
    try:
        content = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name!r} is packed by gzip, but broken: {error}") from error
    if not content:
        raise ValueError(f"{name!r} is empty")
    return content


def recognise_suffix(name: str) -> str | None:
    """Return the format that the suffix of a file shows, if any."""
    suffix = Path(name.lower()).suffix
    return next((kind for kind, suffixes in FORMATS.items() if suffix in suffixes), None)


def _recognise(name: str, content: bytes) -> str:
    """Return the format that the suffix or, if that says nothing, the content of a file shows."""
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    by_suffix = recognise_suffix(name.lower().removesuffix(".gz"))
    by_magic = next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), None)
    known = listing([suffix for suffixes in FORMATS.values() for suffix in suffixes], 20)
    if suffix in (".xlsx", ".xls", ".ods"):
        raise ValueError(f"{name!r} is a spreadsheet: save it as CSV")
    if by_suffix is None and by_magic is None and suffix:
        raise ValueError(
            f"{name!r} has the unknown suffix {suffix!r}: if it is a table, rename it to end in "
            f"one of {known}, or pass its format"
        )
    if by_suffix == "csv" and by_magic is not None:
        raise ArgumentError(
            f"{name!r} is binary, not text: rename it to end in {FORMATS[by_magic][0]!r}, or pass ",
            Argument.of("format", by_magic),
            ", if that is what it is",
        )
    return by_suffix or by_magic or "csv"


def _read_as(
    kind: str, name: str, content: bytes, text_options: dict[str, str | None], matrix: str
) -> FileData:
    """Read content of a known format; raise for options that it does not have."""
    if kind != "csv":
        for option, value in text_options.items():
            if value is not None:
                raise ValueError(f"{option}={value!r} is for text, but {name!r} is read as {kind}")
    if kind == "h5ad":
        return read_h5ad(name, content, matrix)
    if matrix not in ("auto", "X"):  # the latter was the default, and stands in records of runs
        read = f" is for .h5ad files, but {name!r} is read as {kind}"
        raise ArgumentError(Argument.of("matrix", matrix), read)
    if kind == "csv":
        return read_delimited(name, content, **text_options)
    readers = {"parquet": read_parquet, "arrow": read_arrow, "npy": read_npy, "npz": read_npz}
    return readers[kind](name, content)
