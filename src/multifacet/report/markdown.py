"""Blocks as Markdown: tables stay tables, figures become their captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch

from .blocks import (
    Block,
    Cell,
    Code,
    Columns,
    Details,
    Facts,
    Gallery,
    Line,
    Page,
    Paragraph,
    Ridges,
    Scatter,
    Section,
    Table,
)
from .words import number


def page(report: Page) -> str:
    """Return a whole report."""
    parts = [f"# {escaped(report.title)}", _all(report.answer, 1), _all(report.sections, 1)]
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    one_line = " ".join(text.split())
    # Underscores within words, as in names of columns, start nothing.
    special = re.sub(r"([\\`*\[\]#|~]|(?<!\w)_|_(?!\w))", r"\\\1", one_line)
    special = re.sub(r"^(\d*)([-+.)])(?=\s)", r"\1\\\2", special)  # would start a list
    return special.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@singledispatch
def block_text(block: Block, level: int) -> str:
    """Return one block; sections inside begin below the level."""
    raise NotImplementedError(type(block).__name__)


@block_text.register
def _(block: Paragraph, level: int) -> str:
    return escaped(block.text)


@block_text.register
def _(block: Facts, level: int) -> str:
    lines = (
        f"- {escaped(fact.name)}: **{escaped(fact.value)}**"
        + (f" ({escaped(fact.remark)})" if fact.remark else "")
        for fact in block.facts
    )
    return "\n".join(lines)


@block_text.register
def _(block: Table, level: int) -> str:
    rule = [":---"] + ["---:"] * (len(block.head) - 1)
    head = [escaped(name) for name in block.head]
    rows = [head, rule, *([_cell(cell) for cell in row] for row in block.rows)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{escaped(block.caption)}\n\n{table}"


@block_text.register
def _(block: Scatter, level: int) -> str:
    return f"*Figure, in the HTML report: {escaped(block.caption)}*"


@block_text.register
def _(block: Line, level: int) -> str:
    pairs = zip(block.names, block.places, strict=True)
    rows = [[name, number(x), number(y)] for name, (x, y) in pairs]
    return block_text(Table(block.caption, ["point", *block.axes], rows), level)


@block_text.register
def _(block: Ridges, level: int) -> str:
    rows = [[name, number(mean, 4)] for name, mean in zip(block.names, block.means, strict=True)]
    return block_text(Table(block.caption, ["group", f"mean {block.axis}"], rows), level)


@block_text.register
def _(block: Gallery, level: int) -> str:
    lines = []
    for card in block.cards:
        seen = ["picture, in the HTML report"] * bool(card.pictures)
        lines.append(f"- {escaped(card.name)}: {escaped('; '.join([*seen, *card.texts]))}")
    return "\n".join([escaped(block.caption), "", *lines])


@block_text.register
def _(block: Code, level: int) -> str:
    # A fence longer than any run of backticks inside.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
    return f"{fence}\n{block.text}\n{fence}"


@block_text.register
def _(block: Columns, level: int) -> str:
    return _all(block.blocks, level)


@block_text.register
def _(block: Details, level: int) -> str:
    return f"**{escaped(block.summary)}**\n\n{_all(block.blocks, level)}"


@block_text.register
def _(block: Section, level: int) -> str:
    return f"{'#' * (level + 1)} {escaped(block.title)}\n\n{_all(block.blocks, level + 1)}"


def _all(blocks: Sequence[Block], level: int) -> str:
    return "\n\n".join(block_text(block, level) for block in blocks)


def _cell(cell: Cell) -> str:
    return escaped(cell if isinstance(cell, str) else cell.text)
