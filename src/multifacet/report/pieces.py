"""Blocks that several kinds of reports share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..documents import RunDict
from ..explain import importance
from .blocks import Bar, Block, Cell, Code, Details, Fact, Facts, Paragraph, Section, Shade, Table
from .words import counted, number, share, shorten, signed

#: Features and columns of a table in a report; a longer one would not be read.
MAX_ROWS = 12
#: Share of a feature in a subspace below which it is not worth a line.
MIN_SHARE = 0.005
#: Readable axes of a subspace that are shown.
MAX_AXES = 3
#: Groups that a figure tells apart; all further ones look alike.
MAX_GROUPS = 24
#: Rows and columns of a table of counts.
MAX_LABELS = 30
#: Part of a lane over which points are scattered, so that they do not hide each other.
LANE = 0.7
GOLDEN = 0.618034


def in_groups(labels: Sequence[str], sizes: Mapping[str, int]) -> tuple[list[int], list[str]]:
    """Return the position of each label, and what the legend calls them: with their sizes.

    ``sizes`` counts all rows, also those that are not drawn; groups come in its order.
    """
    names = list(sizes)
    texts = [f"{shorten(name)} ({sizes[name]:,})" for name in names[:MAX_GROUPS]]
    rest = names[MAX_GROUPS:]
    if rest:
        size = sum(sizes[name] for name in rest)
        texts.append(f"{len(rest)} more groups ({size:,})")
    places = {name: min(i, MAX_GROUPS) for i, name in enumerate(names)}
    return [places[label] for label in labels], texts


def point_places(
    coordinates: Sequence[Sequence[float]],
    axes: Sequence[str],
    groups: Sequence[int],
) -> tuple[list[tuple[float, float]], tuple[str, str]]:
    """Return places and names of axes: the first two coordinates; of one, groups get lanes."""
    if len(coordinates[0]) > 1:
        return [(point[0], point[1]) for point in coordinates], (axes[0], axes[1])
    # Multiples of the golden ratio fill a lane evenly, without chance. The first lane is on top.
    places = [
        (point[0], LANE * (i * GOLDEN % 1 - 0.5) - group)
        for i, (point, group) in enumerate(zip(coordinates, groups, strict=True))
    ]
    return places, (axes[0], "")


def agreement_table(names: Sequence[str], nmi: Sequence[Sequence[float]], words: str) -> Table:
    """Return the agreement of all pairs of labelings."""
    rows: list[list[Cell]] = [
        [name, *(Shade(value, f"{value:.2f}") for value in values)]
        for name, values in zip(names, nmi, strict=True)
    ]
    return Table(f"Normalised mutual information (NMI): {words}", ["", *names], rows)


def cross_table(
    caption: str, rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]]
) -> Table:
    """Return how many rows have which pair of labels, shaded by the share within each row."""
    shown: list[list[Cell]] = []
    for name, values in list(zip(rows, counts, strict=True))[:MAX_LABELS]:
        total = max(sum(values), 1)
        shown.append([name, *(Shade(v / total, f"{v:,}") for v in values[:MAX_LABELS])])
    if max(len(rows), len(columns)) > MAX_LABELS:
        caption = f"{caption} Shown: at most {MAX_LABELS} rows and columns."
    return Table(caption, ["", *columns[:MAX_LABELS]], shown)


def loadings_table(
    features: Sequence[str],
    weights: Sequence[float],
    loadings: Sequence[Sequence[float]],
    strength: Sequence[float] | None = None,
    told: str = "between groups",
) -> Table:
    """Return the features behind a subspace: how they count, their part in it and in its axes.

    ``strength`` is what each feature tells, from 0 to 1, under the heading ``told``; those that
    tell most and are in the subspace come first.
    """
    score = weights if strength is None else importance(weights, strength).tolist()
    order = sorted(range(len(features)), key=lambda j: -score[j])[:MAX_ROWS]
    order = [j for j in order if weights[j] >= MIN_SHARE] or order
    axes = loadings[:MAX_AXES]
    most = max(weights[j] for j in order)
    longest = max((abs(axis[j]) for axis in axes for j in order), default=1.0) or 1.0
    telling = [] if strength is None else [strength]
    rows: list[list[Cell]] = [
        [
            features[j],
            *(Bar(values[j], 1.0, share(values[j])) for values in telling),
            Bar(weights[j], most, share(weights[j])),
            # A loading that was dropped is 0; one that is small is 0.00.
            *(
                Bar(axis[j], longest, signed(axis[j]) if axis[j] else "0", signed=True)
                for axis in axes
            ),
        ]
        for j in order
    ]
    parts = [
        f"the leading {len(order)} of {len(features)} features" * (len(order) < len(features)),
        f"{len(axes)} of {len(loadings)} axes" * (len(axes) < len(loadings)),
    ]
    shown = f" Shown: {', '.join(filter(None, parts))}." if any(parts) else ""
    heads = ["feature", *[told] * len(telling), "part of the subspace"]
    first = "What each feature tells, its" if telling else "Each feature's"
    return Table(
        f"{first} part of the subspace, and its loading on each axis.{shown}",
        [*heads, *(f"axis {i + 1}" for i in range(len(axes)))],
        rows,
    )


def repeat_section(run: RunDict | None, otherwise: Block) -> Section:
    """Return how to get the same result again: from the record of the run, if there is one."""
    if not run:
        return Section("How to repeat it", [otherwise])
    blocks: list[Block] = []
    command, seconds, source = run.get("command"), run.get("seconds"), run.get("input")
    if command:
        blocks.append(Code(command))
    facts = [Fact("seed", str(run["seed"]))] if run.get("seed") is not None else []
    if seconds is not None:
        facts.append(Fact("time", f"{number(float(seconds), 2)} s"))
    if source:
        size = f"{counted(source['rows'], 'row')}, {counted(source['columns'], 'column')}"
        facts.append(Fact("input", str(source["name"]), size))
    if facts:
        blocks.append(Facts(facts))
    blocks += [Paragraph(str(note)) for note in run.get("notes", [])]
    record = {f"option {name}": value for name, value in (run.get("options") or {}).items()}
    record |= {f"version of {name}": value for name, value in (run.get("versions") or {}).items()}
    record |= {"SHA-256 of the input": source.get("sha256") if source else None}
    rows = [[name, _plain(value)] for name, value in record.items() if value not in (None, [])]
    if rows:
        table = Table("Options, versions and the input.", ["what", "value"], rows)
        blocks.append(Details("The record of the run", [table]))
    return Section("How to repeat it", blocks)


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
