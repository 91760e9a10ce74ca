"""Read the formats that are no text: Parquet, Arrow, NPY and NPZ, from their bytes."""

from __future__ import annotations

import io
from importlib import import_module
from tokenize import TokenError
from types import ModuleType
from typing import Any

import numpy as np

from ..linalg import Array
from ..wording import Argument, ArgumentError
from .data import FileData, named_once

#: How the files of NumPy begin: one array, and several in an archive.
_NPY, _NPZ = (b"\x93NUMPY",), (b"PK\x03\x04", b"PK\x05\x06")
#: The column in which pandas keeps an index without a name.
INDEX = "__index_level_0__"


def need(module: str, extra: str, what: str) -> ModuleType:
    """Return a module that comes with an extra of this package."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{what} needs {package}: pip install "multifacet[{extra}]"') from error


def read_parquet(name: str, content: bytes) -> FileData:
    """Read a Parquet file."""
    pa = need("pyarrow", "arrow", "Parquet")
    parquet = need("pyarrow.parquet", "arrow", "Parquet")
    try:
        # As one file and not as a data set, which cannot have columns of the same name.
        table = parquet.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise broken(name, "Parquet", error) from error
    return _from_arrow(name, table)


def read_arrow(name: str, content: bytes) -> FileData:
    """Read an Arrow file (Feather), or an Arrow stream."""
    pa = need("pyarrow", "arrow", "Arrow")
    open_it = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
    try:
        with open_it(pa.BufferReader(content)) as reader:
            table = reader.read_all()
    except (pa.ArrowException, OSError) as error:
        raise broken(name, "Arrow", error) from error
    return _from_arrow(name, table)


def _from_arrow(name: str, table: Any) -> FileData:
    columns = named_once(name, list(zip(table.column_names, table.columns, strict=True)))
    index = columns.pop(INDEX, None)
    return FileData(columns, index=None if index is None else np.asarray(index))


#: What reading the header of an array raises, if someone or something has changed it.
BAD_HEADER = (ValueError, OSError, EOFError, SyntaxError, TokenError)


def read_npy(name: str, content: bytes) -> FileData:
    """Read one array of numbers (n, d)."""
    array = _load(name, content, _NPY)
    check_numbers(name, array)
    columns = {f"x{j}": column for j, column in enumerate(array.T)}
    return FileData(columns, features=list(columns))


def check_numbers(name: str, array: Array) -> None:
    """Raise unless an array holds numbers (n, d)."""
    _check_array(name, "an array", array)
    if array.ndim != 2:
        raise ValueError(
            f"{name!r} holds an array of shape {array.shape}: save one of rows and columns, (n, d)"
        )


def read_npz(name: str, content: bytes) -> FileData:
    """Read arrays by name: (n, d) are features, (n,) are further columns."""
    arrays = _load(name, content, _NPZ)
    pairs: list[tuple[str, Array]] = []
    features: list[str] = []
    for key, array in arrays.items():
        _check_array(name, f"array {key!r}", array)
        if array.ndim not in (1, 2):
            raise ValueError(
                f"{name!r} holds array {key!r} of shape {array.shape}: save columns (n,) or tables "
                "(n, d)"
            )
        if array.ndim == 1:
            pairs.append((key, array))
            continue
        stem = "x" if len(arrays) == 1 else f"{key}_"
        named = [(f"{stem}{j}", column) for j, column in enumerate(array.T)]
        pairs += named
        features += [column for column, _ in named]
    lengths = {key: len(array) for key, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key!r} {length}" for key, length in list(lengths.items())[:5])
        raise ValueError(f"{name!r} holds arrays of several lengths ({shown}): save equal ones")
    return FileData(named_once(name, pairs), features=features or None)


def _load(name: str, content: bytes, begins: tuple[bytes, ...]) -> Any:
    """Return the array of an NPY file, or the arrays of an NPZ file by name."""
    if not content.startswith(begins):  # numpy would take it for Python objects
        raise ArgumentError(
            f"{name!r} is broken, or is no NumPy file of this kind: rename it after what it is, "
            "or pass its format, such as ",
            Argument.of("format", "csv"),
            " for text",
        )
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        arrays = dict(loaded)
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("it holds other files than arrays")
        return arrays
    except Exception as error:  # a damaged archive fails in many ways, from zlib to the header
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{name!r} holds Python objects, which could run code when loaded: save arrays of "
                "numbers or text"
            ) from error
        raise broken(name, "NumPy", error) from error


def _check_array(name: str, what: str, array: Array) -> None:
    kinds = "biuf" if array.ndim != 1 else "biufUM"
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name!r} holds {what} of type {array.dtype}: save real numbers")


def broken(name: str, kind: str, error: Exception) -> ValueError:
    """Return the error for a file that a library could not read."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return ValueError(f"{name!r} is broken, or is no {kind} file: {reason}")
