"""Columns that people look at, and no method does: texts, and files of pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from ..linalg import Array
from .looks import look_at
from .roles import SHOWN, Roles
from .table import Table


@dataclass(frozen=True, eq=False)
class Shown:
    """What rows look like to people.

    Attributes
    ----------
    texts, images : dict of str to array of shape (n,)
        By column, a text of each row, or the path of a picture; empty where it is missing.
    folder : str, Path or None
        Where pictures are looked for, and outside of which none is read; None is the working
        directory for paths that begin nowhere, and anywhere for others.

    Examples
    --------
    >>> from multifacet.frames import prepare
    >>> rows = ["a cat on a mat", "a dog in the fog", "a bird that was heard"]
    >>> shown = prepare({"text": rows, "mass": [4.0, 20.0, 0.1]}).shown
    >>> list(shown.texts), bool(shown)
    (['text'], True)
    """

    texts: dict[str, Array] = field(default_factory=dict)
    images: dict[str, Array] = field(default_factory=dict)
    folder: str | PathLike[str] | None = None

    def within(self, folder: str | PathLike[str] | None) -> Shown:
        """Return the same with pictures of a folder only; without any if there is none."""
        return Shown(self.texts, {} if folder is None else self.images, folder)

    def __bool__(self) -> bool:
        return bool(self.texts or self.images)


def read_shown(table: Table, roles: Roles, rows: Array) -> Shown:
    """Return the columns of a table, of some rows, that are there to be looked at.

    Those that somebody has excluded, or made a feature or a label, are not.
    """
    found: dict[str, dict[str, Array]] = {"prose": {}, "images": {}}
    for role in roles.columns:
        named = role.use == "row name"
        if (role.use == "left out" and role.why != "excluded") or named:
            if role.name in table.features or role.name not in table.columns:
                continue
            look = look_at(table, role.name)
            if look.what in SHOWN:
                found[look.what][role.name] = _words(table, role.name, rows)
    return Shown(found["prose"], found["images"])


def _words(table: Table, name: str, rows: Array) -> Array:
    cells = table.read(name).take(rows)
    return np.where(cells.missing, "", cells.values)
