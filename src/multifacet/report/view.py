"""One view in detail: its points, features, groups and typical rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..documents import GivenDict, Profile, ViewDict, ViewsDocument
from ..explain import only_numbered
from ..results.verdicts import (
    SEPARATION_SCALE,
    SIGNIFICANCE,
    VERDICTS,
    beyond_chance,
    how_stable,
)
from .blocks import (
    Bar,
    Block,
    Cell,
    Columns,
    Details,
    Fact,
    Facts,
    Line,
    Mark,
    Paragraph,
    Ridges,
    Scatter,
    Section,
    Shade,
    Table,
)
from .gallery import gallery_blocks
from .pieces import MAX_ROWS, cross_table, in_groups, loadings_table, point_places
from .words import SPACE, axis_names, capitalised, chance, number, share, spreads, told

#: Columns of the table of typical rows, and up to how many groups have more than one such row.
EXAMPLE_COLUMNS, FEW_GROUPS = 6, 6
#: Groups whose distributions are drawn.
MAX_HILLS = 8
#: Number at which the colours and shapes of given labels begin, in every view: the same label looks
#: the same throughout, and different from the groups, to be taken for what it is.
KNOWN = 10
#: Agreement from which a column that was no feature is shown beside a view.
RELATED = 0.05
#: Numbers of groups from which it is drawn how separated each of them is.
SHORTEST_PATH = 3
#: Effect size that gets the full colour: groups that hardly overlap.
FULL_EFFECT = 2.0


def view_blocks(document: ViewsDocument, view: ViewDict) -> list[Block]:
    """Return everything about a view that is not said in words."""
    blocks: list[Block] = [_facts(document, view), Columns(_scatters(document, view))]
    if view.get("contrasts"):
        blocks.append(Section("What tells them apart", [Columns(_ridges(view))]))
    groups, gallery = Section("Groups", [_groups_table(document, view)]), gallery_blocks(view)
    if gallery and only_numbered(document["features"], view["feature_weights"]):
        # Features without names say less than rows do.
        numbers = [*_features(document, view), *_group_tables(document, view)]
        blocks += [groups, *gallery, Details("The numbers behind it", numbers)]
    else:
        blocks += [*_features(document, view), groups, *gallery, *_group_tables(document, view)]
    blocks += _path(view)
    if view.get("relations"):
        blocks.append(Section("Beside the columns of the table", [_relations_table(view)]))
    for given in [*document["given"], *_references(document, view)]:
        title = f"{capitalised(view['name'])} and {given['name']}, row by row"
        blocks.append(Details(title, [_cross_table(view, given)]))
    return blocks


def _path(view: ViewDict) -> list[Block]:
    """Return how well versions with fewer and more groups are separated."""
    chosen = view["selection"]
    if chosen is None:
        return []
    steps = [
        (one["n_clusters"], one["separation"])
        for one in chosen.get("path", [])
        if one["separation"] is not None
    ]
    numbers = [k for k, _ in steps]
    if len(steps) < SHORTEST_PATH or view["n_clusters"] not in numbers:
        return []
    words = "Groups can be merged or divided further. This is how well they are separated then."
    low, high = chosen.get("plateau") or [view["n_clusters"]] * 2
    if low < high:
        words += f" From {low} to {high} groups it makes no difference but for chance."
    figure = Line(
        "Versions of the view by their number of groups; the star is the one that is shown.",
        [(float(k), value) for k, value in steps],
        ("groups", "separation"),
        [str(k) for k in numbers],
        numbers.index(view["n_clusters"]),
    )
    return [Section("Fewer groups and more", [Paragraph(words), figure])]


def _features(document: ViewsDocument, view: ViewDict) -> list[Block]:
    if not view["loadings"]:
        return []
    weights, loadings = view["feature_weights"], view["loadings"]
    table = loadings_table(document["features"], weights, loadings, view["strength"])
    return [Section("The features behind it", [table])]


def _group_tables(document: ViewsDocument, view: ViewDict) -> list[Block]:
    if not view["groups"]:
        return []
    return [
        Section("What they are like", [_profile_table(document, view)]),
        Section("Typical rows", [_examples_table(document, view)]),
    ]


def _references(document: ViewsDocument, view: ViewDict) -> list[GivenDict]:
    """Return the column that comes closest to a view, of those that were no features."""
    related = [one["column"] for one in view.get("relations", []) if one["agreement"] > RELATED]
    known = {one["name"]: one for one in document.get("references", [])}
    return [known[name] for name in related if name in known][:1]


def _relations_table(view: ViewDict) -> Table:
    rows: list[list[Cell]] = [
        [
            one["column"],
            "numbers" if one["numbers"] else "labels",
            Bar(max(one["agreement"], 0.0), 1.0, f"{max(one['agreement'], 0.0):.2f}"),
            chance(one["p_value"]),
        ]
        for one in view.get("relations", [])[:MAX_ROWS]
    ]
    return Table(
        "How far the groups agree with columns that were no features, the closest first: 0 is what "
        "chance gives, 1 is the same. Of numbers, the share of their variance between the groups.",
        ["column", "holds", "agreement", "p-value"],
        rows,
    )


def _facts(document: ViewsDocument, view: ViewDict) -> Facts:
    level = document.get("significance", SIGNIFICANCE)
    facts = [Fact("separation", number(view["separation"]), SEPARATION_SCALE)]
    word = view.get("verdict")
    if word:
        facts.insert(0, Fact("verdict", word, VERDICTS[word]))
    if view["independence"] is not None:
        amount = "some" if beyond_chance(view["independence"], level) else "no"
        remark = f"{amount} relation shows in a test (p-value {chance(view['independence'])})"
        known = "what is known" if document["given"] else "the views before"
        facts.append(Fact(f"NMI with {known}", f"{view['novelty']:.2f}", remark))
    if view["stability"] is not None:
        remark = f"{how_stable(view['stability'])}; 1 if always"
        facts.append(Fact("stability", f"{view['stability']:.2f}", remark))
    if view["p_value"] is not None:
        remark = "of data without groups look as separated"
        p = 100 * view["p_value"]
        value = f"{number(p, 2)}{SPACE}%" if p >= 0.1 else f"<{SPACE}0.1{SPACE}%"
        facts.append(Fact("chance", value, remark))
    return Facts(facts)


def _scatters(document: ViewsDocument, view: ViewDict) -> list[Block]:
    """Return the points coloured by the view, and by each of the given labelings."""
    rows, n = document["points"]["rows"], document["points"]["sampled_from"]
    drawn = ""
    if len(rows) < n:
        drawn = f" {len(rows):,} of {n:,} rows are drawn; the legend counts all."
    if len(view["coordinates"][0]) > 2:
        drawn += f" The first two of {len(view['coordinates'][0])} axes are shown."
    sizes = Counter(view["labels"])
    own = [f"group {view['labels'][i]}" for i in rows]
    own_sizes = {f"group {group}": sizes[group] for group in range(view["n_clusters"])}
    beside = [*document["given"], *_references(document, view)]
    known = [[given["labels"][i] for i in rows] for given in beside]
    index = document["index"]
    hints = [
        ", ".join([f"{index[i]}: {label}", *(labels[j] for labels in known)])
        for j, (i, label) in enumerate(zip(rows, own, strict=True))
    ]
    axes = axis_names(view["loadings"], document["features"]) or ["embedding 1", "embedding 2"]

    def figure(caption: str, labels: list[str], sizes: dict[str, int], **look: Any) -> Scatter:
        groups, names = in_groups(labels, sizes)
        places = point_places(view["coordinates"], axes, groups)
        return Scatter(caption, *places, groups, names, **look)

    caption = f"Every point is a row, in the subspace of {view['name']}.{drawn}"
    figures: list[Block] = [figure(caption, own, own_sizes, hints=hints)]
    for given, labels in zip(beside, known, strict=True):
        caption = f"The same points coloured by {given['name']}: does it explain the groups?"
        figures.append(figure(caption, labels, given["groups"], first=KNOWN))
    return figures


def _ridges(view: ViewDict) -> list[Block]:
    """Return how the features that are named are distributed in each group."""
    names = [f"group {group}" for group in range(view["n_clusters"])]
    figures: list[Block] = []
    for one in view.get("contrasts", []):
        axis, what = one["feature"], one["feature"]
        if one["given"] is not None:
            axis = f"{one['feature']}, at equal {one['given']}"
            what = f"{one['feature']} as it would be if all rows had the mean {one['given']}"
        caption = f"{what}: share of the rows of each group, its mean dashed."
        hills, means = one["counts"][:MAX_HILLS], one["means"][:MAX_HILLS]
        if len(hills) < len(names):
            caption += f" The first {len(hills)} of {len(names)} groups are shown."
        figures.append(
            Ridges(caption, axis, one["low"], one["high"], hills, means, names[: len(hills)])
        )
    return figures


def _cross_table(view: ViewDict, given: GivenDict) -> Table:
    pairs = Counter(zip(view["labels"], given["labels"], strict=True))
    groups, known = range(view["n_clusters"]), list(given["groups"])
    return cross_table(
        f"How many rows of each group have which {given['name']}.",
        [f"group {group}" for group in groups],
        known,
        [[pairs[group, label] for label in known] for group in groups],
    )


def _groups_table(document: ViewsDocument, view: ViewDict) -> Table:
    sizes = Counter(view["labels"])
    names = {group["label"]: told(group["name"]) for group in view["groups"]}
    most = max(sizes.values())
    rows: list[list[Cell]] = [
        [
            Mark(c, f"group {c}"),
            Bar(size, most, f"{size:,}"),
            share(size / document["n_rows"]),
            names.get(c, ""),
        ]
        for c, size in sorted(sizes.items())
    ]
    return Table(
        "Sizes of the groups, and how their means differ from those of all other rows.",
        ["group", "rows", "share", "what it is"],
        rows,
    )


def _profile_table(document: ViewsDocument, view: ViewDict) -> Table:
    groups = view["groups"]
    columns = list(groups[0]["profile"])[:MAX_ROWS]
    total = len(document["columns"])
    shown = (
        f" Shown: the leading {len(columns)} of {total} columns." if len(columns) < total else ""
    )
    rows: list[list[Cell]] = []
    for name in columns:
        # Categories have several features, of which none speaks for the whole.
        place = document["features"].index(name) if name in document["features"] else None
        effects = [0.0 if place is None else effects[place] for effects in view["effects"]]
        texts = _profile_texts([group["profile"][name] for group in groups])
        shades = [Shade(e / FULL_EFFECT, text) for e, text in zip(effects, texts, strict=True)]
        rows.append([name, *shades])
    return Table(
        "Mean and standard deviation of numbers, shares of categories, in the units of the table. "
        f"Orange is higher than in all other rows, blue is lower.{shown}",
        ["column", *(f"group {group['label']}" for group in groups)],
        rows,
    )


def _profile_texts(profiles: list[Profile]) -> list[str]:
    """Return what one column is like in each group."""
    # A column is of one kind in all groups.
    numbers = [one for one in profiles if "mean" in one]
    if numbers:
        return spreads([one["mean"] for one in numbers], [one["sd"] for one in numbers])
    return [
        f"{share(one['share'])} true" if "share" in one else _shares_text(one["shares"])
        for one in profiles
        if "mean" not in one
    ]


def _shares_text(shares: dict[str, float], most: int = 3) -> str:
    ordered = sorted(shares.items(), key=lambda pair: -pair[1])
    words = [f"{name} {share(value)}" for name, value in ordered[:most] if value > 0]
    return ", ".join(words) + (", \N{HORIZONTAL ELLIPSIS}" if len(ordered) > most else "")


def _examples_table(document: ViewsDocument, view: ViewDict) -> Table:
    names = list(view["groups"][0]["examples"][0]["values"])[:EXAMPLE_COLUMNS]
    rows: list[list[Cell]] = [
        [
            Mark(group["label"], f"group {group['label']}"),
            str(example["row"]),
            *(_value_text(example["values"][name]) for name in names),
        ]
        for group in view["groups"]
        for example in group["examples"][: None if len(view["groups"]) <= FEW_GROUPS else 1]
    ]
    return Table(
        "The rows nearest to the mean of each group in the features that set it apart, and their "
        "values in the leading columns.",
        ["group", document["identifier"] or "row", *names],
        rows,
    )


def _value_text(value: Any) -> str:
    return number(value, 5) if isinstance(value, float) else str(value)
