"""Read delimited text: its encoding, its separator, its header, and what each column holds."""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ..frames.notes import Note
from ..frames.table import listing
from ..linalg import Array
from ..wording import Argument, ArgumentError
from .data import FileData, named_once
from .formulas import unguarded

#: Cells that hold no value.
MISSING = frozenset(
    ("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "?")
)
#: Names of separators that are hard to type.
_SPOKEN = {"tab": "\t", "space": " "}
#: The comma comes after the others, because it also stands in numbers and in text.
_SEPARATORS = "\t;|,"
#: A code such as 007, or one of more digits than a float can keep, on a line of its own.
_CODE = re.compile(r"^[+-]?(0\d+|\d{16,})$", re.MULTILINE)


def read_delimited(
    name: str,
    content: bytes,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> FileData:
    """Read delimited text."""
    separator = _SPOKEN.get(separator or "", separator)
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise ArgumentError(
            Argument.of("separator", separator), " is not one character, 'tab' or 'space'"
        )
    if decimal not in (None, ".", ","):
        raise ArgumentError(Argument.of("decimal", decimal), " is not known: use '.' or ','")
    text = _decode(name, content, encoding)
    notes: list[Note] = []
    if separator is None:
        separator = _sniff(text)
        if separator not in ",\t":
            notes.append(Note(f"fields are separated by {separator!r}"))
    header, rows = _read_rows(name, text, separator)
    if _are_data(header):
        rows.insert(0, header)
        header = [f"x{j}" for j in range(len(header))]
        fact = "the first line holds numbers, so the columns were named 'x0', 'x1', ..."
        notes.append(Note(fact, columns=tuple(header)))
    if not rows:
        raise ValueError(f"{name!r} has a header of {len(header)} columns, but no rows")
    texts, index = _name_columns(name, header, rows)
    if decimal is None:
        decimal = "," if separator != "," and _has_decimal_comma(texts.values()) else "."
        if decimal == ",":
            notes.append(Note("numbers have a decimal comma"))
    columns = {column: _parse(cells, decimal) for column, cells in texts.items()}
    return FileData(columns, index, notes=notes + _remarks(texts, columns, decimal))


def _decode(name: str, content: bytes, encoding: str | None) -> str:
    """Return bytes as text without a byte-order mark."""
    if encoding is None:
        utf16 = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        encoding = "utf-16" if utf16 else "utf-8"
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if b"\0" in content:
            raise _binary(name) from None
        line, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
        raise ArgumentError(
            f"{name!r} is not {encoding}: line {line} has the byte 0x{byte:02x}; pass the "
            "encoding, such as ",
            Argument.of("encoding", "cp1252"),
            " (Windows, Excel) or ",
            Argument.of("encoding", "latin-1"),
        ) from None
    except (LookupError, ValueError):  # no such codec, or one that is not for text
        raise ArgumentError(
            Argument.of("encoding", encoding), " is not known: use 'utf-8', 'cp1252' or 'latin-1'"
        ) from None
    if "\0" in text:
        raise _binary(name)
    if not text.strip():
        raise ValueError(f"{name!r} is empty")
    return text


def _binary(name: str) -> ValueError:
    return ValueError(f"{name!r} is binary, not text: pass its format, or a text file")


def _sniff(text: str) -> str:
    """Return the separator that splits most lines like the first one."""
    sample = text[:100_000]
    shares = {separator: _share_alike(sample, separator) for separator in _SEPARATORS}
    best = max(shares, key=shares.__getitem__)
    if shares[best]:
        return best
    # Spaces also stand within names.
    return " " if _share_alike(sample, " ") > 0.5 else ","


def _share_alike(text: str, separator: str) -> float:
    """Return the share of lines with as many fields as the first; 0 if that has one."""
    widths = [len(row) for row in islice(_records(text, separator, strict=False), 100) if row]
    return widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0


def _records(text: str, separator: str, *, strict: bool = True) -> Any:
    """Return a reader of rows as lists of fields."""
    lines: Iterable[str] = io.StringIO(text, newline="")
    if separator == " ":
        lines = _stripped(lines)
    return csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict)


def _stripped(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without the spaces around them, which separate nothing."""
    for line in lines:
        yield line.strip() + "\n"


def _read_rows(name: str, text: str, separator: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows, all as long as the header."""
    reader = _records(text, separator)
    rows: list[list[str]] = []
    try:
        header = next(row for row in reader if row)
        for row in reader:
            if len(row) == len(header):
                rows.append(row)
            elif row:
                raise ValueError(
                    f"line {reader.line_num} of {name!r} has {len(row)} fields, but the first line "
                    f"has {len(header)}: correct it, or pass the separator if it is not "
                    f"{separator!r}"
                )
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} of {name!r} cannot be read ({error}): look for a quotation "
            "mark that is not closed or not doubled"
        ) from error
    return [unguarded(column.strip()) for column in header], rows


def _are_data(header: list[str]) -> bool:
    """Tell a first line of numbers from names; different whole numbers may be names (years)."""
    present = [cell for cell in header if cell not in MISSING]
    for decimal in (".", ","):
        numbers = _numbers(present, decimal)
        if present and numbers is not None:
            return numbers.dtype.kind == "f" or len(set(present)) < len(present)
    return False


def _name_columns(
    name: str, header: list[str], rows: list[list[str]]
) -> tuple[dict[str, tuple[str, ...]], Array | None]:
    """Return the columns by name, and the identifiers of the rows if there are any."""
    pairs: list[tuple[str, tuple[str, ...]]] = []
    index = None
    for j, cells in enumerate(zip(*rows, strict=True)):
        if header[j]:
            pairs.append((header[j], cells))
        elif j == 0 and len(set(cells)) == len(cells):
            index = _parse(cells, ".")
        elif not MISSING.issuperset(cells):  # else the lines end in a separator
            pairs.append((f"column {j + 1}", cells))
    return named_once(name, pairs), index


def _has_decimal_comma(columns: Iterable[tuple[str, ...]]) -> bool:
    """Tell if some columns are numbers with a comma, and none are numbers with a point."""
    found = False
    for cells in columns:
        present = set(cells) - MISSING
        numbers = _numbers(present, ".")
        if numbers is None:
            found = found or _numbers(present, ",") is not None
        elif numbers.dtype.kind == "f":
            return False
    return found


def _parse(cells: Sequence[str], decimal: str) -> Array:
    """Return a column as numbers, or as text with None for missing values."""
    missing = MISSING.intersection(cells)
    filled = ["nan" if cell in missing else cell for cell in cells] if missing else cells
    numbers = _numbers(filled, decimal)
    if numbers is not None:
        return numbers
    known = [None if cell in missing else unguarded(cell) for cell in cells]
    return np.array(known, dtype=object)


def _numbers(texts: Collection[str], decimal: str) -> Array | None:
    """Return the numbers that texts stand for; None if one is no number, or a code."""
    joined = "\n".join(texts)
    # Python reads "1_2" as 12.
    if "_" in joined or _CODE.search(joined) or (decimal == "," and "." in joined):
        return None
    spelled = [text.replace(",", ".") for text in texts] if decimal == "," else list(texts)
    for dtype in (np.int64, np.float64):
        with suppress(ValueError):
            return np.array(spelled, dtype=dtype)
    return None


def _remarks(
    texts: Mapping[str, tuple[str, ...]], columns: Mapping[str, Array], decimal: str
) -> list[Note]:
    """Say which words were taken as missing values, and which columns are nearly numbers."""
    notes = []
    words = {column: MISSING.intersection(cells) - {""} for column, cells in texts.items()}
    spelled = sorted(set().union(*words.values()))
    if spelled:
        where = [column for column, found in words.items() if found]
        plural = "s" * (len(where) > 1)
        fact = f"{listing(spelled)} is taken as a missing value in column{plural} {listing(where)}"
        notes.append(Note(fact, columns=tuple(where)))
    for column, values in columns.items():
        if values.dtype == object:
            distinct = dict.fromkeys(value for value in values.tolist() if value is not None)
            odd = [text for text in distinct if _numbers([text], decimal) is None]
            if 0 < len(odd) < len(distinct) / 2:
                why = f"because of {listing(odd, 3)}; its other values are numbers"
                notes.append(Note(f"column {column!r} is text {why}", columns=(column,)))
    return notes
