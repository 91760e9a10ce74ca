"""Rows to look at: typical and contrasting ones of every group, and those at the ends of axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..documents import GalleryDict, GroupGalleryDict, SeenDict, ViewDict
from .blocks import Block, Card, Columns, Details, Gallery, Paragraph, Section
from .words import counted, listed

#: Groups that are not folded away, and those of which the answer shows a row.
MAX_OPEN, MAX_ANSWER = 8, 12


def gallery_blocks(view: ViewDict) -> list[Block]:
    """Return the sections with rows to look at; none if there is nothing to see."""
    gallery = view.get("gallery")
    if not gallery:
        return []
    sizes = Counter(view["labels"])
    groups = [_group(gallery, one, sizes[one["label"]]) for one in gallery["groups"]]
    shown: list[Block] = [Paragraph(note, "note") for note in gallery["notes"]]
    shown += groups[:MAX_OPEN]
    if groups[MAX_OPEN:]:
        shown.append(Details(f"{len(groups) - MAX_OPEN} more groups", groups[MAX_OPEN:]))
    return [Section("Rows to look at", shown), _axes(gallery)]


def answer_gallery(view: ViewDict) -> list[Block]:
    """Return one picture of every group, to be shown with the answer."""
    gallery = view.get("gallery")
    if not gallery or not any(row["images"] for row in gallery["rows"]):
        return []
    cards = []
    for group in gallery["groups"][:MAX_ANSWER]:
        rows = [gallery["rows"][i] for i in group["typical"]]
        seen = next((row for row in rows if row["images"]), None)
        if seen is not None:
            pictures = [(f"A typical row of group {group['label']}", _first(seen))]
            cards.append(Card(f"group {group['label']}", pictures))
    return [Gallery("A typical row of each group.", cards)]


def _first(row: SeenDict) -> str:
    return next(iter(row["images"].values()))


def _group(gallery: GalleryDict, group: GroupGalleryDict, size: int) -> Section:
    label, words = group["label"], group["words"]
    blocks: list[Block] = []
    if words:
        blocks.append(Paragraph(f"Words that set it apart: {listed(words)}."))
    caption = "Typical: nearest to the centre of the group."
    blocks.append(_rows(gallery, group["typical"], caption, label, words))
    if group["far"]:
        nearest = ", the nearest one" * (len(gallery["groups"]) > 2)
        other = f"group {group['other']}{nearest}"
        far = _rows(gallery, group["far"], f"Farthest from {other}.", label, words)
        near = _rows(gallery, group["near"], f"Nearest to {other}.", label, words)
        blocks.append(Columns([far, near]))
    return Section(f"Group {label}: {counted(size, 'row')}", blocks)


def _axes(gallery: GalleryDict) -> Section:
    """Return the axes of the figure, told by the rows at their ends."""
    words = [word for group in gallery["groups"] for word in group["words"]]
    blocks: list[Block] = []
    for i, axis in enumerate(gallery["axes"], start=1):
        low = _rows(gallery, axis["low"], f"Axis {i}: its low end.", None, words)
        high = _rows(gallery, axis["high"], f"Axis {i}: its high end.", None, words)
        blocks.append(Columns([low, high]))
    return Section("The ends of the axes", blocks)


def _rows(
    gallery: GalleryDict,
    places: Sequence[int],
    caption: str,
    group: int | None,
    words: Sequence[str],
) -> Gallery:
    return Gallery(caption, [_card(gallery["rows"][i]) for i in places], group, words)


def _card(row: SeenDict) -> Card:
    several = len(row["texts"]) > 1
    texts = [f"{name}: {text}" if several else text for name, text in row["texts"].items()]
    pictures = [(f"{name} of {row['row']}", data) for name, data in row["images"].items()]
    return Card(str(row["row"]), pictures, texts)
