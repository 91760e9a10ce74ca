"""What reports are made of: blocks that know nothing of HTML, Markdown or the kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Bar:
    """A cell that shows a number as a bar; ``most`` is the length of the longest one.

    If ``signed``, bars begin in the middle and go to both sides.
    """

    value: float
    most: float
    text: str
    signed: bool = False


@dataclass(frozen=True)
class Shade:
    """A cell coloured by a number: from 0 to 1, or from -1 (low) to 1 (high)."""

    value: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A cell that begins with the marker of a group, as in figures."""

    group: int
    text: str


Cell: TypeAlias = str | Bar | Shade | Mark


@dataclass(frozen=True)
class Paragraph:
    """Some sentences; ``kind`` may be "lead" for the answer and "note" for the small print."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Fact:
    """A number that matters, what it is, and how to take it."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Facts:
    """The numbers that matter, side by side."""

    facts: Sequence[Fact]


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head; the first cell of a row names it."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Scatter:
    """A cloud of points in groups; an axis without a name is not drawn.

    ``groups`` holds a position in ``names`` for every point. Their colours and shapes begin with
    number ``first``; ``ordered`` groups are steps of a number and get shades instead. ``hints``
    appear when a point is pointed at.
    """

    caption: str
    places: Sequence[tuple[float, float]]
    axes: tuple[str, str]
    groups: Sequence[int]
    names: Sequence[str]
    first: int = 0
    ordered: bool = False
    hints: Sequence[str] = ()


@dataclass(frozen=True)
class Line:
    """Points joined in their order, some with a word beside them, one of them ``chosen``."""

    caption: str
    places: Sequence[tuple[float, float]]
    axes: tuple[str, str]
    names: Sequence[str]
    chosen: int | None = None


@dataclass(frozen=True)
class Ridges:
    """How often values of something are found in each group: one hill above the other.

    ``counts`` has a row per group, in intervals of equal length from ``low`` to ``high``.
    """

    caption: str
    axis: str
    low: float
    high: float
    counts: Sequence[Sequence[int]]
    means: Sequence[float]
    names: Sequence[str]


@dataclass(frozen=True)
class Card:
    """A row to look at: its name, pictures (what they are, and a data URL), and texts."""

    name: str
    pictures: Sequence[tuple[str, str]] = ()
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Gallery:
    """Rows side by side; ``words`` are marked in their texts, ``group`` is that of all of them."""

    caption: str
    cards: Sequence[Card]
    group: int | None = None
    words: Sequence[str] = ()


@dataclass(frozen=True)
class Code:
    """Something to type or to copy."""

    text: str


@dataclass(frozen=True)
class Columns:
    """Blocks side by side where there is room."""

    blocks: Sequence[Block]


@dataclass(frozen=True)
class Details:
    """Blocks that only some readers want: folded away under a summary."""

    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Section:
    """A heading and what is below it; sections nest."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole report: the answer, then sections."""

    title: str
    answer: Sequence[Block]
    sections: Sequence[Section] = field(default_factory=list)


Block: TypeAlias = (
    Paragraph
    | Facts
    | Table
    | Scatter
    | Line
    | Ridges
    | Gallery
    | Code
    | Columns
    | Details
    | Section
)
