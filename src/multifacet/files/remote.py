"""Files at addresses such as ``s3://bucket/data/*.parquet``: found and opened by fsspec.

fsspec needs a package for every kind of store. Where that is absent, pyarrow, which reads Parquet
anyway, is asked: it knows S3 and Google Cloud Storage by itself.
"""

from __future__ import annotations

from glob import has_magic
from typing import Any

from .binary import need

#: How names of Parquet files end.
SUFFIXES = (".parquet", ".pq")


def find_remote(address: str) -> list[str]:
    """Return the addresses of Parquet files, sorted: of a file, a folder of any depth, a pattern.

    Parameters
    ----------
    address : str
        With a protocol, such as ``s3://``, ``gs://`` or ``memory://``.

    Examples
    --------
    >>> import fsspec
    >>> from multifacet.files.remote import find_remote
    >>> fsspec.filesystem("memory").pipe("/birds/deep/part0.parquet", b"PAR1")
    >>> find_remote("memory://birds")
    ['memory:///birds/deep/part0.parquet']
    """
    store, path, protocol = _store(address)
    try:
        if has_magic(path):
            found = store.glob(path)
        elif store.isdir(path):
            found = [one for one in store.find(path) if one.endswith(SUFFIXES)]
        else:
            return [address]
    except (OSError, ValueError) as error:
        raise FileNotFoundError(f"{address!r} cannot be opened: {error}") from error
    return [_full(store, protocol, one) for one in sorted(found)]


def open_remote(address: str) -> Any:
    """Return an open file, of which the parts that are asked for are fetched."""
    store, path, _ = _store(address)
    try:
        return store.open(path, "rb")
    except (OSError, ValueError) as error:
        raise FileNotFoundError(f"{address!r} cannot be opened: {error}") from error


def _store(address: str) -> tuple[Any, str, str | None]:
    """Return what knows the files of an address, its path there, and the protocol it leaves out."""
    fsspec = need("fsspec.core", "dask", "object stores")
    try:
        return *fsspec.url_to_fs(address), None
    except ImportError as missing:  # fsspec knows the protocol, but the package for it is absent
        by_arrow = _by_arrow(address)
        if by_arrow is None:
            raise ImportError(f"{address!r} cannot be opened: {missing}") from missing
        return by_arrow
    except (OSError, ValueError) as error:
        raise FileNotFoundError(f"{address!r} cannot be opened: {error}") from error


def _by_arrow(address: str) -> tuple[Any, str, str] | None:
    """Return the same from pyarrow; None if it does not know the protocol either."""
    arrow, fs = need("pyarrow", "arrow", "Parquet"), need("pyarrow.fs", "arrow", "Parquet")
    wrapper = need("fsspec.implementations.arrow", "dask", "object stores")
    protocol, _, path = address.partition("://")
    try:  # of a bucket: what follows may be a pattern, which is no address
        store, _ = fs.FileSystem.from_uri(f"{protocol}://{path.partition('/')[0]}")
    except (arrow.ArrowException, OSError):
        return None
    return wrapper.ArrowFSWrapper(store), path, protocol


def _full(store: Any, protocol: str | None, path: str) -> str:
    """Return the address of a path."""
    return store.unstrip_protocol(path) if protocol is None else f"{protocol}://{path}"
