"""One process at a time in a directory: a file says which one, and on which machine."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Name of the file.
LOCK = ".multifacet.lock"


class FolderInUseError(OSError):
    """Another process works in the directory."""


@dataclass(frozen=True)
class Holder:
    """The process that a lock belongs to.

    Attributes
    ----------
    process : int
        Its number.
    host : str
        Name of its machine.
    born : str
        What tells it from another process that had or gets the same number; empty if the system
        does not say.
    since : str
        When it took the lock.
    """

    process: int
    host: str
    born: str
    since: str

    @classmethod
    def this(cls) -> Holder:
        """Return this process."""
        pid = os.getpid()
        return cls(pid, socket.gethostname(), _born(pid), time.strftime("%Y-%m-%d %H:%M:%S"))

    @classmethod
    def read(cls, path: Path) -> Holder | None:
        """Return whom a lock belongs to, None if it does not say."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            return None
        kinds: dict[str, Any] = {"process": int, "host": str, "born": str, "since": str}
        if not isinstance(values, dict) or set(values) != set(kinds):
            return None
        fits = all(isinstance(values[name], kind) for name, kind in kinds.items())
        return cls(**values) if fits else None

    @property
    def gone(self) -> bool:
        """Whether the process is over for sure; nobody knows that of another machine."""
        if self.host != socket.gethostname():
            return False
        return not _exists(self.process) or (self.born != "" and _born(self.process) != self.born)


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Keep other processes out of a directory, as far as they ask.

    Parameters
    ----------
    folder : str or Path
        The directory. It is made if need be, and goes again if nothing is left in it. It holds
        the file ``.multifacet.lock`` meanwhile; one that a process on this machine left behind
        when it was killed is taken over.

    Yields
    ------
    None
        While the directory belongs to this process.

    Raises
    ------
    FolderInUseError
        If the lock belongs to another process that may be alive.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from multifacet.files import locked
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with locked(folder):
    ...         print([file.name for file in Path(folder).iterdir()])
    ['.multifacet.lock']
    """
    folder, own = Path(folder), Holder.this()
    path, new = folder / LOCK, not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            _take(path, own)
    except FolderInUseError:
        raise
    except OSError as error:
        raise OSError(f"cannot write to {str(folder)!r}: {error.strerror}") from error
    try:
        yield
    finally:
        with suppress(OSError), _alone(folder):
            # Whoever deleted the file by hand may have let another process in.
            if Holder.read(path) == own:
                path.unlink()
            if new and not any(folder.iterdir()):
                folder.rmdir()


def _take(path: Path, own: Holder) -> None:
    if path.exists():
        holder = Holder.read(path)
        if holder is None or not holder.gone:
            raise FolderInUseError(_refusal(path, holder))
        path.unlink()
    _create(path, own)


def _create(path: Path, own: Holder) -> None:
    with path.open("x", encoding="utf-8") as file:  # fails if it exists
        try:
            file.write(json.dumps(asdict(own)))
            file.flush()
        except BaseException:
            path.unlink()
            raise


def _refusal(path: Path, holder: Holder | None) -> str:
    folder = str(path.parent)
    if holder is None:
        return (
            f"{folder!r} is locked, but {str(path)!r} does not say by whom: delete this file if "
            "no other run works there"
        )
    who = f"process {holder.process} on {holder.host!r} since {holder.since}"
    if holder.host == socket.gethostname():
        return f"{folder!r} is in use by {who}: wait until that has ended, or use another directory"
    return (
        f"{folder!r} is in use by {who}, another machine: wait until that has ended, use another "
        f"directory or, if that run is over, delete {str(path)!r}"
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let processes of this machine look at the lock one after the other, where that is possible.

    Otherwise two of them could find the same abandoned lock, and the second would remove the one
    that the first has just taken.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives know no such locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _exists(process: int) -> bool:
    """Tell if there is such a process, in doubt that there is."""
    if os.name != "posix":  # elsewhere signal 0 is not a mere question
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return _state(process)[:1] not in (["Z"], ["X"])


def _born(process: int) -> str:
    """Return what tells a process from any other of the same number, if the system says it."""
    state = _state(process)
    if len(state) < 20:
        return ""
    boot = Path("/proc/sys/kernel/random/boot_id")
    with suppress(OSError):
        return f"{boot.read_text().strip()} {state[19]}"
    return ""


def _state(process: int) -> list[str]:
    """Return what Linux tells about a process: its state first, its start as the 20th word."""
    try:
        line = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return line.rpartition(")")[2].split()  # the name, in brackets, may hold anything
