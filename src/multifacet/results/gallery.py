"""Rows of a view that people can look at: typical and contrasting ones, as texts and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..documents import AxisGalleryDict, GalleryDict, GroupGalleryDict, SeenDict
from ..explain import telling_words
from ..explain.vocabulary import words_of
from ..files.images import NoPictureError, is_thumbnail, thumbnail
from ..frames.shown import Shown
from ..linalg import Array
from .plain import plain

if TYPE_CHECKING:
    from .view import View

#: Typical rows of a group, and rows on either side of it; fewer of each if groups are many.
TYPICAL, BESIDE, MANY, FEWER = 6, 3, 12, (4, 2)
#: Axes that are described by the rows at their ends, and how many those are.
AXES, ENDS = 2, 4
#: Columns of texts, and of pictures, that are shown of a row.
MAX_TEXTS, MAX_IMAGES = 3, 2
#: Characters of a text, and how many of them come before the first word that tells.
SNIPPET, LEAD = 280, 60
#: Characters of all pictures of a view.
MAX_PICTURES = 6 * 2**20
#: Files that could not be shown, as a note lists them; words in the name of a group.
LISTED, NAMED_WORDS = 3, 3
#: Up to so many groups, the sentence tells the words of each.
FEW_GROUPS = 4


def with_gallery(view: View, shown: Shown, index: Array) -> View:
    """Return a view with rows to look at, if there is anything to see.

    Groups that no feature tells apart are named by the words that do.

    Parameters
    ----------
    view : View
        The view.
    shown : Shown
        What its rows look like.
    index : array of shape (n,)
        Identifiers of the rows.
    """
    if not shown:
        return view
    words = _words(view, shown)
    gallery = _gallery(view, shown, index, words)
    return _named(replace(view, gallery=gallery), words)


def check_gallery(gallery: GalleryDict | None, n_clusters: int, place: str) -> None:
    """Raise unless the rows that a gallery from a file speaks of are there, and are pictures."""
    if gallery is None:
        return
    if len(gallery["groups"]) != n_clusters:
        raise ValueError(f"{place} has {len(gallery['groups'])} groups, not {n_clusters}")
    of_groups = [g[key] for g in gallery["groups"] for key in ("typical", "far", "near")]
    of_axes = [axis[key] for axis in gallery["axes"] for key in ("low", "high")]
    places = [i for places in [*of_groups, *of_axes] for i in places]
    groups = [i for g in gallery["groups"] for i in (g["label"], g["other"]) if i is not None]
    if not {*places} <= {*range(len(gallery["rows"]))} or not {*groups} <= {*range(n_clusters)}:
        raise ValueError(f"{place} speaks of rows or groups that are not there")
    if not all(map(is_thumbnail, (u for row in gallery["rows"] for u in row["images"].values()))):
        raise ValueError(f"{place} holds something else than pictures")


def _words(view: View, shown: Shown) -> list[list[str]]:
    """Return the words that set each group apart, of all texts."""
    if not shown.texts:
        return [[] for _ in range(view.n_clusters)]
    columns = list(shown.texts.values())[:MAX_TEXTS]
    texts = [" ".join(row) for row in zip(*columns, strict=True)]
    return telling_words(texts, view.labels)


def _gallery(view: View, shown: Shown, index: Array, words: list[list[str]]) -> GalleryDict:
    seen = _Seen(shown, index, {word for group in words for word in group})
    groups = [_group(view, c, seen, words[c]) for c in range(view.n_clusters)]
    return {
        "rows": seen.rows,
        "groups": groups,
        "axes": _axes(view, seen),
        "notes": seen.notes(),
    }


def _group(view: View, group: int, seen: _Seen, words: list[str]) -> GroupGalleryDict:
    """Return the rows of a group nearest to its centre, and on both of its sides."""
    typical, beside = (TYPICAL, BESIDE) if view.n_clusters <= MANY else FEWER
    points, inside = view.projection, np.flatnonzero(view.labels == group)
    centre = points[inside].mean(axis=0)
    order = np.argsort(((points[inside] - centre) ** 2).sum(axis=1), kind="stable")
    found: GroupGalleryDict = {
        "label": group,
        "typical": seen.places(inside[order[:typical]]),
        "other": None,
        "far": [],
        "near": [],
        "words": words,
    }
    rest = np.sort(inside[order[typical:]])
    other = _nearest(view, group, centre)
    if other is None or len(rest) < 2 * beside:
        return found
    away = centre - points[view.labels == other].mean(axis=0)
    along = np.argsort(points[rest] @ away, kind="stable")
    far, near = rest[along[::-1][:beside]], rest[along[:beside]]
    return found | {"other": other, "far": seen.places(far), "near": seen.places(near)}


def _nearest(view: View, group: int, centre: Array) -> int | None:
    """Return the other group whose centre is nearest; None if there is none elsewhere."""
    distances = {
        c: float(((view.projection[view.labels == c].mean(axis=0) - centre) ** 2).sum())
        for c in range(view.n_clusters)
        if c != group
    }
    distances = {c: distance for c, distance in distances.items() if distance > 0}
    return min(distances, key=lambda c: distances[c]) if distances else None


def _axes(view: View, seen: _Seen) -> list[AxisGalleryDict]:
    """Return the rows at the ends of the readable axes."""
    points = view.projection
    if len(view.components):
        points = points @ view.explanation.rotation.T
    ends = min(ENDS, len(points) // 2)
    found: list[AxisGalleryDict] = []
    for axis in range(min(AXES, points.shape[1])):
        order = np.argsort(points[:, axis], kind="stable")
        low, high = seen.places(order[:ends]), seen.places(order[::-1][:ends])
        found.append({"low": low, "high": high})
    return found


@dataclass
class _Seen:
    """Rows that are shown, each once."""

    shown: Shown
    index: Array
    words: set[str]
    rows: list[SeenDict] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _problems: dict[str, None] = field(default_factory=dict)
    _size: int = 0

    def places(self, rows: Sequence[int] | Array) -> list[int]:
        """Return the places of rows in the gallery, where they are put if they are new."""
        return [self._place(int(row)) for row in rows]

    def _place(self, row: int) -> int:
        if row not in self._places:
            self._places[row] = len(self.rows)
            texts = list(self.shown.texts.items())[:MAX_TEXTS]
            images = list(self.shown.images.items())[:MAX_IMAGES]
            pictures = {name: self._picture(str(paths[row])) for name, paths in images}
            self.rows.append(
                {
                    "row": plain(self.index[[row]])[0],
                    "texts": {n: snippet(str(t[row]), self.words) for n, t in texts if t[row]},
                    "images": {name: found for name, found in pictures.items() if found},
                }
            )
        return self._places[row]

    def _picture(self, path: str) -> str:
        """Return the picture of a row; of none, or one that cannot be shown, nothing."""
        if not path:
            return ""
        if self._size > MAX_PICTURES:
            self._problems["there are more pictures than a report should hold"] = None
            return ""
        try:
            found = thumbnail(path.strip(), self.shown.folder)
        except NoPictureError as error:
            self._problems[str(error)] = None
            return ""
        self._size += len(found)
        return found

    def notes(self) -> list[str]:
        """Say which pictures are not shown, and why."""
        if not self._problems:
            return []
        told = list(self._problems)
        more = f"; and {len(told) - LISTED} more" * (len(told) > LISTED)
        return [f"Some pictures are not shown: {'; '.join(told[:LISTED])}{more}."]


def snippet(text: str, words: set[str]) -> str:
    r"""Return some characters of a text, from shortly before the first word that tells.

    Examples
    --------
    >>> from multifacet.results.gallery import snippet
    >>> snippet("one  line\nand another", set())
    'one line and another'
    >>> len(snippet("word " * 200, set()))
    281
    """
    line = " ".join(text.split())
    if len(line) <= SNIPPET:
        return line
    start = 0
    lower = line.lower()
    first = next((lower.find(word) for word in words_of(line) if word in words), 0)
    if first > SNIPPET // 2:
        start = line.rfind(" ", 0, max(first - LEAD, 1)) + 1
    part = line[start : start + SNIPPET]
    if start + SNIPPET < len(line):
        part = f"{part[: part.rfind(' ')] if ' ' in part else part[:-2]} \N{HORIZONTAL ELLIPSIS}"
    return f"\N{HORIZONTAL ELLIPSIS} {part}" if start else part


def _named(view: View, words: list[list[str]]) -> View:
    """Return a view whose groups, if no feature tells them, are named by their words."""
    found = view.explanation
    if found.contrasts:
        return view
    names = {
        c: f"more often: {', '.join(some[:NAMED_WORDS])}" for c, some in enumerate(words) if some
    }
    told = "; their typical rows show what they are"
    if len(names) > 0 and view.n_clusters <= FEW_GROUPS:
        parts = [f"{', '.join(words[c][:NAMED_WORDS])} in group {c}" for c in names]
        told = f"; words that are more frequent: {'; '.join(parts)}"
    view = replace(view, explanation=replace(found, sentence=f"{found.sentence}{told}"))
    return view.renamed(view.name, names)
