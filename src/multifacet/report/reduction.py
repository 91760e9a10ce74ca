"""The report of a dimension reduction."""

from __future__ import annotations

from ..documents import HeldOutDict, ReductionDocument, SparseStepDict, SparsityDict
from ..results.reduction import gain_sentence
from .blocks import (
    Bar,
    Block,
    Cell,
    Fact,
    Facts,
    Line,
    Mark,
    Page,
    Paragraph,
    Scatter,
    Section,
    Table,
)
from .figures import SHADES
from .pieces import cross_table, in_groups, loadings_table, point_places, repeat_section
from .words import axis_names, counted, number, share


def reduction_page(document: ReductionDocument) -> Page:
    """Lay out the dict of :meth:`multifacet.results.Reduction.to_dict`."""
    features, dimensions = document["n_features"], document["n_components"]
    title = f"{counted(features, 'feature')} in {counted(dimensions, 'dimension')}"
    told = "groups" if document["clusters"] else " and ".join(document["names"])
    table = loadings_table(
        document["features"],
        document["feature_weights"],
        document["loadings"],
        document.get("strength"),
        f"tells {told}",
    )
    axes: list[Block] = [Paragraph(f"{text}.") for text in document.get("axes", [])]
    sections = [
        Section("The rows in the subspace", [*axes, *_points_blocks(document)]),
        Section("The features behind it", [table]),
    ]
    sparsity, told_apart = document.get("sparsity"), document.get("held_out")
    if sparsity is not None:
        sections.append(Section("The price of few features", _sparsity_blocks(sparsity)))
    if told_apart is not None:
        sections.append(Section("Held-out rows", _held_out_blocks(told_apart)))
    if document["clusters"] is not None:
        sections.append(Section("Groups", [_sizes_table(document["clusters"]["sizes"])]))
    same = Paragraph("The same table, options and seed give the same result.")
    sections.append(repeat_section(document.get("run"), same))
    return Page(title, _answer(document), sections)


def _answer(document: ReductionDocument) -> list[Block]:
    facts = [
        Fact("rows", number(document["n_rows"])),
        Fact("guided by", document["guided_by"], ", ".join(document["names"])),
        Fact("kernel", document["kernel"]),
    ]
    if document["bandwidth"] is not None:
        facts.append(Fact("bandwidth", number(document["bandwidth"])))
    if document["dependence"] is not None:
        remark = "HSIC of the subspace with what guided it"
        facts.append(Fact("dependence", number(document["dependence"]), remark))
    blocks: list[Block] = [Paragraph(document["sentence"], "lead"), Facts(facts)]
    if not document["converged"]:
        blocks.append(
            Paragraph("The search stopped before it had converged: allow more iterations.")
        )
    return blocks


def _points_blocks(document: ReductionDocument) -> list[Block]:
    points, colour = document["points"], document["points"]["colour"]
    ordered = colour is not None and colour["kind"] == "number"
    drawn = len(points["coordinates"])
    caption = "Every point is a row"
    if colour is None:
        groups, names = [0] * drawn, ["rows"]
    else:
        caption += f", coloured by {colour['name']}"
        if ordered:
            groups, names = _in_steps(colour["values"])
        else:
            groups, names = in_groups([str(value) for value in colour["values"]], colour["groups"])
    caption += "."
    if drawn < points["sampled_from"]:
        caption += f" {drawn:,} of {points['sampled_from']:,} rows are drawn"
        caption += "; the legend counts all." if colour and not ordered else "."
    axes = axis_names(document["loadings"], document["features"])
    places = point_places(points["coordinates"], axes, groups)
    hints = [str(name) for name in points["index"]]
    return [Scatter(caption, *places, groups, names, ordered=ordered, hints=hints)]


def _sparsity_blocks(sparsity: SparsityDict) -> list[Block]:
    path, chosen = sparsity["path"], sparsity["chosen"]
    dense, taken = path[0], path[chosen]
    text = (
        f"{counted(taken['n_features'], 'feature')} of {dense['n_features']:,} and "
        f"{counted(taken['n_loadings'], 'loading')} of {dense['n_loadings']:,} are left; all "
        f"others are exactly zero. The held-out score is {_plus_minus(taken)}, and "
        f"{_plus_minus(dense)} with all of them."
    )
    figure = Line(
        "How well held-out rows are predicted with so many loadings; the number of features is "
        "written beside them, and the star was taken.",
        [(one["n_loadings"], one["score"]) for one in path],
        ("loadings that are not zero", "held-out score"),
        [counted(one["n_features"], "feature") for one in path],
        chosen,
    )
    return [Paragraph(text), figure]


def _plus_minus(one: SparseStepDict) -> str:
    return f"{one['score']:.3f} ± {one['error']:.3f}"


def _held_out_blocks(told: HeldOutDict) -> list[Block]:
    rows: list[list[Cell]] = [
        [
            one["method"],
            Bar(max(one["score"], 0.0), 1.0, share(max(one["score"], 0.0))),
            f"± {100 * one['error']:.1f} %",
        ]
        for one in told["scores"]
    ]
    caption = (
        f"{told['n_rows']:,} rows in {told['n_folds']} folds, each reduced by what the other folds "
        "tell and predicted from its nearest neighbours there."
    )
    blocks: list[Block] = [
        Paragraph(f"{gain_sentence(told)}."),
        Table(caption, ["reduction", told["measure"], "standard error"], rows),
    ]
    confusion = told["confusion"]
    if confusion is not None:
        names = confusion["classes"]
        words = "Rows held out: the class that they have (down) and the one that was told (across)."
        blocks.append(cross_table(words, names, names, confusion["counts"]))
    return blocks


def _in_steps(values: list[float | None]) -> tuple[list[int], list[str]]:
    """Return numbers as steps of equal width; rows without a number count as the lowest."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    width = (high - low) / SHADES or 1.0
    steps = [0 if v is None else min(int((v - low) / width), SHADES - 1) for v in values]
    names = [f"{number(low + i * width)} to {number(low + (i + 1) * width)}" for i in range(SHADES)]
    return steps, names


def _sizes_table(sizes: list[int]) -> Table:
    rows: list[list[Cell]] = [
        [Mark(c, f"group {c}"), Bar(size, max(sizes), f"{size:,}"), share(size / sum(sizes))]
        for c, size in enumerate(sizes)
    ]
    return Table("Sizes of the groups.", ["group", "rows", "share"], rows)
