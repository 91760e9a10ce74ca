"""Blocks as one HTML page with everything inside: style, script and figures."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import singledispatch
from html import escape
from importlib.resources import files

from .. import __version__
from ..files.images import is_thumbnail
from .blocks import (
    Bar,
    Block,
    Card,
    Cell,
    Code,
    Columns,
    Details,
    Facts,
    Gallery,
    Line,
    Mark,
    Page,
    Paragraph,
    Ridges,
    Scatter,
    Section,
    Shade,
    Table,
)
from .figures import line, marker, scatter
from .ridges import ridges

#: Characters from which a cell holds words, which wrap; at the end of a row, a few need a line of
#: their own on a phone.
WORDS, FEW_WORDS = 24, 12
#: Shading from which text is light on dark (or dark on light).
STRONG = 0.6


def page(report: Page) -> str:
    """Return a whole report."""
    style, script = _resource("page.css"), _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    title, answer = escape(report.title), _all(report.answer, 2)
    sections = "".join(
        _section(section, 2, f"section-{i + 1}") for i, section in enumerate(report.sections)
    )
    # Nothing is loaded, and no script runs but this one: not even if data were not escaped.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    if "<img " in answer + sections:
        policy += "; img-src data:"  # pictures that are inside
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the answer</a>
<header class="top"><span class="brand">multifacet</span>
<button type="button" id="theme" hidden>Dark</button></header>
<main id="content" tabindex="-1">
<h1>{title}</h1>
<div class="answer">{answer}</div>
{_contents(report.sections)}
{sections}
</main>
<footer>Written by multifacet {escape(__version__)}. This file holds everything it shows.</footer>
<script>{script}</script>
</body>
</html>
"""


@singledispatch
def block_html(block: Block, level: int) -> str:
    """Return one block; the headings inside begin at the level."""
    raise NotImplementedError(type(block).__name__)


@block_html.register
def _(block: Paragraph, level: int) -> str:
    kind = f' class="{escape(block.kind)}"' if block.kind else ""
    return f"<p{kind}>{escape(block.text)}</p>"


@block_html.register
def _(block: Facts, level: int) -> str:
    facts = (
        f"<div><dt>{escape(fact.name)}</dt><dd>{escape(fact.value)}"
        f"<span>{escape(fact.remark)}</span></dd></div>"
        for fact in block.facts
    )
    return f'<dl class="facts">{"".join(facts)}</dl>'


@block_html.register
def _(block: Table, level: int) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in block.head)
    rows = "".join(
        f"<tr>{_cell(row[0], names_row=True)}{''.join(map(_cell, row[1:]))}</tr>"
        for row in block.rows
    )
    caption = escape(block.caption)
    stack = ' class="stack"' if _stacks(block) else ""
    # It scrolls by itself where it is too wide, also by keyboard.
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{caption}"><table{stack}>'
        f"<caption><span>{caption}</span></caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
        "</table></div>"
    )


@block_html.register
def _(block: Scatter, level: int) -> str:
    items = "".join(
        f"<li>{marker(block.first + i, ordered=block.ordered)}{escape(name)}</li>"
        for i, name in enumerate(block.names)
    )
    legend = f'<ul class="legend">{items}</ul>'
    return _figure(scatter(block) + legend, block.caption)


@block_html.register
def _(block: Line, level: int) -> str:
    return _figure(line(block), block.caption)


@block_html.register
def _(block: Ridges, level: int) -> str:
    return _figure(ridges(block), block.caption)


@block_html.register
def _(block: Gallery, level: int) -> str:
    cards = "".join(_card(card, block.words) for card in block.cards)
    mark = "" if block.group is None else marker(block.group)
    wide = " wide" * any(card.texts for card in block.cards)
    return (
        f'<figure class="gallery{wide}"><figcaption>{mark}{escape(block.caption)}</figcaption>'
        f"<ul>{cards}</ul></figure>"
    )


@block_html.register
def _(block: Code, level: int) -> str:
    return f'<pre tabindex="0"><code>{escape(block.text)}</code></pre>'


@block_html.register
def _(block: Columns, level: int) -> str:
    return f'<div class="columns">{_all(block.blocks, level)}</div>'


@block_html.register
def _(block: Details, level: int) -> str:
    inside = _all(block.blocks, level)
    return (
        f"<details><summary>{escape(block.summary)}</summary>"
        f'<div class="inside">{inside}</div></details>'
    )


@block_html.register
def _(block: Section, level: int) -> str:
    return _section(block, level)


def _all(blocks: Sequence[Block], level: int) -> str:
    return "".join(block_html(block, level) for block in blocks)


def _section(section: Section, level: int, name: str = "") -> str:
    anchor = f' id="{name}"' if name else ""
    inside = _all(section.blocks, level + 1)
    return f"<section{anchor}><h{level}>{escape(section.title)}</h{level}>{inside}</section>"


def _contents(sections: Sequence[Section]) -> str:
    links = "".join(
        f'<li><a href="#section-{i + 1}">{escape(section.title)}</a></li>'
        for i, section in enumerate(sections)
    )
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def _figure(drawing: str, caption: str) -> str:
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def _cell(cell: Cell, *, names_row: bool = False) -> str:
    text = cell if isinstance(cell, str) else cell.text
    kinds, style, picture = ["words"] * (len(text) > WORDS), "", ""
    if isinstance(cell, Bar):
        kinds, picture = ["bar"], _bar(cell)
    elif isinstance(cell, Mark):
        picture = marker(cell.group)
    elif isinstance(cell, Shade):
        amount = min(abs(cell.value), 1.0)
        kinds += ["shade", *["low"] * (cell.value < 0), *["strong"] * (amount >= STRONG)]
        style = f' style="--amount:{100 * amount:.0f}%"'
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    tag, scope = ("th", ' scope="row"') if names_row else ("td", "")
    return f"<{tag}{scope}{kind}{style}>{picture}{escape(text)}</{tag}>"


def _card(card: Card, words: Sequence[str]) -> str:
    pictures = "".join(
        f'<img src="{escape(data)}" alt="{escape(what)}" loading="lazy">'
        for what, data in card.pictures
        if is_thumbnail(data)  # whoever wrote it
    )
    texts = "".join(f"<p>{_marked(text, words)}</p>" for text in card.texts)
    return f"<li>{pictures}{texts}<span>{escape(card.name)}</span></li>"


def _marked(text: str, words: Sequence[str]) -> str:
    """Return text in which some words stand out."""
    if not words:
        return escape(text)
    pattern = "|".join(re.escape(word) for word in words)
    parts = re.split(rf"\b({pattern})\b", text, flags=re.IGNORECASE)  # every other one is a word
    return "".join(
        f"<mark>{escape(part)}</mark>" if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def _stacks(table: Table) -> bool:
    """Tell if the words in the last column of a few go below the others where it is narrow."""
    last = [row[-1] for row in table.rows]
    return len(table.head) <= 4 and any(isinstance(c, str) and len(c) > FEW_WORDS for c in last)


def _bar(bar: Bar) -> str:
    reach = 50 if bar.signed else 100
    start = 50 if bar.signed else 0
    length = reach * min(abs(bar.value) / bar.most, 1.0) if bar.most else 0.0
    left = start - length if bar.value < 0 else start
    kind = "low" if bar.value < 0 else "high"
    zero = '<path d="M50 0V10"/>' if bar.signed else ""
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" x="{left:.1f}" y="1" width="{length:.1f}" height="8"/>{zero}</svg>'
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
