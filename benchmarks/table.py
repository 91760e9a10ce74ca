"""A table of figures: cells keep their values, and Markdown is made from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A number, and how it is shown where three digits are not the right way."""

    value: float
    shown: str

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return self.shown


#: What a cell holds; None is what could not be measured.
Cell = Figure | float | int | bool | str | None


def figure(value: float, form: str = ".3g", end: str = "") -> Figure | None:
    """Return a number to be shown in a form, with something behind it; None if it is none."""
    return Figure(float(value), f"{value:{form}}{end}") if isfinite(value) else None


def shown(cell: Cell) -> str:
    """Return a cell in words."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


@dataclass
class Table:
    title: str
    headings: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    note: str = ""

    def add(self, *cells: Any) -> None:
        self.rows.append([_plain(cell) for cell in cells])

    @property
    def last(self) -> str:
        """The last row, to be printed while a benchmark runs."""
        return " | ".join(map(shown, self.rows[-1]))

    def __str__(self) -> str:
        lines = [f"## {self.title}", "", "| " + " | ".join(self.headings) + " |"]
        lines.append("|" + " --- |" * len(self.headings))
        lines += ["| " + " | ".join(map(shown, row)) + " |" for row in self.rows]
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Table:
        """Return the table of a JSON object."""
        rows = [
            [Figure(**cell) if isinstance(cell, dict) else cell for cell in row]
            for row in kept["rows"]
        ]
        return cls(**kept | {"rows": rows})


def _plain(cell: Any) -> Cell:
    """Return what JSON can hold: no scalars of numpy, and nothing that is not a number."""
    if hasattr(cell, "item"):
        cell = cell.item()
    return None if isinstance(cell, float) and not isfinite(cell) else cell
