"""Tell a disk that cannot be written from files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UnwritableError(OSError):
    """The disk does not take what the workbench has to keep: no fault of the request."""


@contextmanager
def writing() -> Iterator[None]:
    """Turn every error of the system inside into :class:`UnwritableError`."""
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"the disk cannot be written: {_reason(error)}") from error


def reading_words(error: OSError) -> str:
    """Return the sentence for a file that cannot be read, without the folder it is in."""
    if error.filename is None:
        return str(error)
    return f"{Path(str(error.filename)).name!r} cannot be read: {_reason(error)}"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
