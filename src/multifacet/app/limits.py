"""What the workbench takes at most, and how much a packed file holds without unpacking it."""

from __future__ import annotations

import gzip
import math
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from ..content import DRAWN
from ..files.binary import BAD_HEADER, broken, need
from ..files.reading import recognise_suffix


@dataclass(frozen=True)
class Limits:
    """What a workbench takes and holds at most.

    Attributes
    ----------
    upload : int
        Bytes that one request may bring.
    unpacked : int
        Bytes that a file of somebody may unpack to.
    cells : int
        Cells of a table that is held as a whole; a sample stands for more.
    drawn : int
        Rows of that sample.
    """

    upload: int = 150 * 2**20
    unpacked: int = 600 * 2**20
    cells: int = 20_000_000
    drawn: int = DRAWN


LIMITS = Limits()
#: Bytes of the smallest cell: a number, or the address of a text.
CELL = 8


def unpacked_size(path: Path, most: int) -> int:
    """Return how many bytes a file unpacks to: exact, or any number beyond ``most``.

    Parameters
    ----------
    path : Path
        A file of any kind; what is not packed has its own size.
    most : int
        Where counting may end.
    """
    with path.open("rb") as stream:
        if stream.read(2) == b"\x1f\x8b":
            return _gzip_size(path, most)
        return max(path.stat().st_size, _content_size(path.name, stream, most))


def _gzip_size(path: Path, most: int) -> int:
    """Return the size of what is packed by gzip, which may itself be packed."""
    size = 0
    with tempfile.TemporaryFile() as content:
        try:
            with gzip.open(path) as stream:
                while size <= most and (block := stream.read(2**20)):
                    size += len(block)
                    content.write(block)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path.name!r} is packed by gzip, but broken: {error}") from error
        if size > most:
            return size
        return max(size, _content_size(path.name.lower().removesuffix(".gz"), content, most))


def _content_size(name: str, stream: BinaryIO, most: int) -> int:
    """Return what a table of any format takes up, as the reader of that format would read it."""
    stream.seek(0)
    start = stream.read(8)
    stream.seek(0)
    kind = recognise_suffix(name)
    if start[:2] == b"PK":
        return _zip_size(name, stream)
    if kind == "parquet" or start[:4] == b"PAR1":
        return _parquet_size(name, stream, most)
    if kind == "arrow" or start[:6] == b"ARROW1":
        return _arrow_size(name, stream)
    if kind == "h5ad" or start == b"\x89HDF\r\n\x1a\n":
        return _hdf5_size(name, stream, most)
    return 0


def _zip_size(name: str, stream: BinaryIO) -> int:
    """Return the size of an archive; arrays in it count with all the cells that they claim."""
    size = 0
    try:
        with zipfile.ZipFile(stream) as archive:
            for entry in archive.infolist():
                size += entry.file_size
                with archive.open(entry) as member:
                    size += _claimed(member)
    except (*BAD_HEADER, zipfile.BadZipFile, RuntimeError, zlib.error) as error:
        raise ValueError(f"{name!r} is broken: {error}") from error
    return size


def _claimed(member: IO[bytes]) -> int:
    """Return the size of an array whose cells take no room in the file, such as empty text."""
    if member.read(6) != b"\x93NUMPY":
        return 0
    member.seek(0)
    first = np.lib.format.read_magic(member) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    return 0 if dtype.itemsize else CELL * math.prod(shape)


def _parquet_size(name: str, stream: BinaryIO, most: int) -> int:
    """Return the size of all cells; texts are stored once, but take up memory every time."""
    pa = need("pyarrow", "arrow", "Parquet")
    parquet = need("pyarrow.parquet", "arrow", "Parquet")
    try:
        found = parquet.ParquetFile(stream)
        leaves = [found.schema.column(i) for i in range(len(found.schema))]
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        groups = [found.metadata.row_group(i) for i in range(found.metadata.num_row_groups)]
        size = packed = 0
        for chunk, leaf in [(g.column(i), leaf) for g in groups for i, leaf in enumerate(leaves)]:
            packed += chunk.total_uncompressed_size
            size += chunk.num_values * max(leaf.length or 0, CELL)
        size = max(size, packed, CELL * found.metadata.num_rows * len(leaves))
        if size > most or not texts:
            return size
        found = parquet.ParquetFile(stream, read_dictionary=texts)
        wanted = sorted({text.partition(".")[0] for text in texts})
        for i in range(len(groups)):
            if size > most:
                break
            for column in found.read_row_group(i, columns=wanted).columns:
                size += sum(_text_size(chunk) for chunk in column.chunks)
    except (pa.ArrowException, OSError) as error:
        raise broken(name, "Parquet", error) from error
    return size


def _text_size(array: Any) -> int:
    """Return the bytes of all texts in an Arrow array whose texts are coded, nested or not."""
    pa, compute = need("pyarrow", "arrow", "Parquet"), need("pyarrow.compute", "arrow", "Parquet")
    if pa.types.is_dictionary(array.type):
        lengths = compute.binary_length(array.dictionary).take(array.indices)
        return int(compute.sum(compute.cast(lengths, pa.int64())).as_py() or 0)
    if pa.types.is_nested(array.type):
        inner = array.flatten()
        return sum(map(_text_size, inner if isinstance(inner, list) else [inner]))
    return 0


def _arrow_size(name: str, stream: BinaryIO) -> int:
    """Return the size of all buffers, which say themselves what they unpack to."""
    pa = need("pyarrow", "arrow", "Arrow")
    content = pa.py_buffer(stream.read())
    try:
        return sum(_batch_size(message) for message in _messages(pa, content))
    except (pa.ArrowException, OSError, EOFError, struct.error, IndexError, TypeError) as error:
        raise broken(name, "Arrow", error) from error


def _messages(pa: Any, content: Any) -> Iterator[Any]:
    """Yield what an Arrow stream, or the directory at the end of an Arrow file, leads to."""
    if content[:6].to_pybytes() != b"ARROW1":
        yield from pa.ipc.MessageReader.open_stream(pa.BufferReader(content))
        return
    end = content.size - 10
    length = struct.unpack_from("<i", content, end)[0]
    directory = _Flat.root(content[end - length : end].to_pybytes())
    for place in (2, 3):  # dictionaries, batches
        for block in directory.structs(place, "<qiiq"):
            yield pa.ipc.read_message(pa.BufferReader(content[block[0] :]))


def _batch_size(message: Any) -> int:
    """Return what the batch in a message unpacks to; 0 for a schema."""
    if message.type == "schema":
        return 0
    batch = _Flat.root(message.metadata.to_pybytes()).table(2)
    if message.type == "dictionary":
        batch = batch.table(1)
    cells = sum(CELL * max(0, length) for length, _ in batch.structs(1, "<qq"))
    packed, size = batch.has(3), 0
    for offset, length in batch.structs(2, "<qq"):
        if packed and length >= 8:
            claimed = struct.unpack_from("<q", message.body, offset)[0]
            length = length if claimed == -1 else claimed
        size += max(0, length)
    return max(size, cells)


class _Flat:
    """A table of a flatbuffer, in which Arrow describes its batches; pyarrow shows it as bytes."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content, self._place = content, place

    @classmethod
    def root(cls, content: bytes) -> _Flat:
        return cls(content, struct.unpack_from("<I", content)[0])

    def _field(self, number: int) -> int | None:
        """Return where a field stands, None if it is left out."""
        names = self._place - struct.unpack_from("<i", self._content, self._place)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", self._content, names)[0]:
            return None
        offset = struct.unpack_from("<H", self._content, names + 4 + 2 * number)[0]
        return self._place + offset if offset else None

    def _target(self, place: int) -> int:
        return place + int(struct.unpack_from("<I", self._content, place)[0])

    def has(self, number: int) -> bool:
        return self._field(number) is not None

    def table(self, number: int) -> _Flat:
        place = self._field(number)
        if place is None:
            raise IndexError("a batch is missing")
        return _Flat(self._content, self._target(place))

    def structs(self, number: int, form: str) -> list[tuple[int, ...]]:
        place = self._field(number)
        if place is None:
            return []
        start = self._target(place)
        count, width = struct.unpack_from("<I", self._content, start)[0], struct.calcsize(form)
        inside = self._content[start + 4 : start + 4 + count * width]
        if len(inside) < count * width:
            raise IndexError("a list ends too early")
        return list(struct.iter_unpack(form, inside))


def _hdf5_size(name: str, stream: BinaryIO, most: int) -> int:
    """Return the size of all that a HDF5 file holds; it has to hold it itself, and once."""
    h5py = need("h5py", "anndata", ".h5ad")
    try:
        with h5py.File(stream, "r") as file:
            return sum(_dataset_size(h5py, one, most) for one in _datasets(h5py, name, file))
    except (OSError, RuntimeError, KeyError, TypeError) as error:
        raise broken(name, ".h5ad", error) from error


def _datasets(h5py: Any, name: str, file: Any) -> Iterator[Any]:
    """Yield all that a HDF5 file holds; raise if something is elsewhere, or in two places."""
    waiting, seen = [file], set()
    while waiting:
        group = waiting.pop()
        for key in group:
            if not isinstance(group.get(key, getlink=True), h5py.HardLink):
                raise _linked(name, key)
            member = group[key]
            place = h5py.h5o.get_info(member.id).addr
            if place in seen:
                raise _linked(name, key)
            seen.add(place)
            if isinstance(member, h5py.Group):
                waiting.append(member)
            elif isinstance(member, h5py.Dataset):
                if member.external or member.is_virtual:
                    raise _linked(name, key)
                yield member


def _linked(name: str, key: str) -> ValueError:
    return ValueError(
        f"{name!r} holds {key!r} by a link, which may lead anywhere: save it without links"
    )


def _dataset_size(h5py: Any, data: Any, most: int) -> int:
    size = int(data.size or 0) * max(data.dtype.itemsize, CELL)
    if size > most or h5py.check_string_dtype(data.dtype) is None or data.ndim != 1:
        return size
    # Texts stand elsewhere in the file, perhaps many times the same one: as few are read at once
    # as would fit if each of them was as long as the file.
    step = max(1, most // max(1, data.file.id.get_filesize()))
    for start in range(0, data.size, step):
        size += sum(map(len, data[start : start + step]))
        if size > most:
            break
    return size
