"""What a long search has found so far, in a file, so that it can be taken up again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..files import check_shape
from ..linalg import Array
from ..wording import Argument, ArgumentError
from .storage import pack_views, read_archive, unpack_views, write_archive
from .view import View

#: Version of the file format.
FORMAT = 1
#: Rows hashed at once.
HASHED_ROWS = 2**16
#: Parameters that change nothing in the result.
_FREE = ("checkpoint", "n_jobs", "verbose")


@dataclass(frozen=True)
class Checkpoint:
    """A file with views, and what they were found from.

    Attributes
    ----------
    path : Path
        The file; it need not exist yet.
    data : str
        Hash of the data and of what was given.
    options : dict of str to str
        Parameters of the search.
    """

    path: Path
    data: str
    options: dict[str, str]

    @classmethod
    def of(cls, finder: Any, X: Any, given: Sequence[Array]) -> Checkpoint:
        """Return the checkpoint of a search."""
        if not isinstance(finder.random_state, Integral):
            raise ValueError(
                f"checkpoint={str(finder.checkpoint)!r} needs a seed to continue with: pass "
                "random_state as a whole number"
            )
        options = {
            name: repr(value)
            for name, value in finder.get_params(deep=False).items()
            if name not in _FREE
        }
        return cls(Path(finder.checkpoint), _hash(X, given), options)

    def load(self) -> list[View]:
        """Return the views found so far; none if there is no file yet."""
        if not self.path.exists():
            return []
        meta, arrays = read_archive(self.path, "a checkpoint", FORMAT)
        with self._named():
            check_shape(meta, {"options": {...: str}, "data": str})
        was = meta["options"]
        changed = [
            Argument(name, str(was.get(name)))
            for name in self.options
            if self.options[name] != was.get(name)
        ]
        if changed or meta["data"] != self.data:
            reason: list[str | Argument] = ["from other data"]
            if changed:
                reason = ["with ", changed[0]]
                for other in changed[1:]:
                    reason += [", ", other]
            raise ArgumentError(
                Argument.of("checkpoint", str(self.path)),
                " was made ",
                *reason,
                ": use the same again, or delete the file to begin anew (on the command line: "
                "--force without --resume)",
            )
        with self._named():
            return unpack_views(meta.get("views"), arrays)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which file is damaged."""
        try:
            yield
        except ValueError as error:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is damaged: {error}; delete the file to begin anew "
                "(on the command line: --force without --resume)"
            ) from error

    def save(self, views: Sequence[View]) -> None:
        """Replace the file by one with these views."""
        described, arrays = pack_views(views)
        meta = {"format": FORMAT, "data": self.data, "options": self.options, "views": described}
        write_archive(self.path, meta, arrays)


def _hash(X: Any, given: Sequence[Array]) -> str:
    parts = [X.data, X.indices, X.indptr] if issparse(X) else [X]
    digest = hashlib.sha256(repr((X.shape, X.dtype.str, len(given))).encode())
    for part in [*parts, *given]:
        for start in range(0, len(part), HASHED_ROWS):  # data on disk are not read as a whole
            digest.update(np.ascontiguousarray(part[start : start + HASHED_ROWS]).data)
    return digest.hexdigest()
