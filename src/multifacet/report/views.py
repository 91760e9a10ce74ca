"""The report of views: the answer in words, then every view, then how they came about."""

from __future__ import annotations

from collections import Counter

from ..documents import FrontierDict, RoleDict, RunDict, SelectionDict, ViewDict, ViewsDocument
from ..explain import beyond_guessing, only_numbered
from ..results.verdicts import SEPARATION_SCALE, STABILITY_SCALE
from .blocks import Block, Cell, Details, Line, Page, Paragraph, Section, Table
from .gallery import answer_gallery
from .pieces import MAX_ROWS, agreement_table, repeat_section
from .view import view_blocks
from .words import capitalised, counted, listed, number, share, shorten, sizes, told

TERMS = {
    "agreement": "Mutual information of a grouping and a column, adjusted for chance: 0 is what "
    "chance gives, 1 if they are the same.",
    "separation": "How much better the groups hold together than they hang on to each other: the "
    "mean log ratio of internal to external conductance in a graph of near neighbours. "
    f"{SEPARATION_SCALE}.",
    "NMI": "Normalised mutual information of two groupings: 0 if one tells nothing about the "
    "other, 1 if they are the same.",
    "stability": "How far the same groups come back when the search is repeated on parts of the "
    f"rows: {STABILITY_SCALE}.",
    "chance": "How often data without any groups, searched in the same way, look as separated.",
    "between groups": "Which part of a feature's variance lies between the groups: 0 % if they are "
    "alike in it, 100 % if it tells them apart without fail.",
    "part of the subspace": "How much a feature contributes to the subspace in which the groups "
    "were found; all parts sum to 100 %. It says where was looked, not what was found: features "
    "that tell nothing apart can be in it.",
    "found from": "Where the search for a candidate began, such as a pair of features by their "
    'numbers, counted from 0; "explored" if it went on from there before it was judged.',
    "fragment": "A candidate of which a group is only a few rows split off from another; it is "
    "turned down.",
    "loading": "How much of a feature is in an axis; the sign tells which way it points.",
}


#: Columns in the table of what they were used for.
MAX_COLUMNS = 40
_KEPT = "Features kept their scales relative to each other, since"
#: Why features have the scale that was chosen for them.
SCALES = {
    "units": "Every feature was given standard deviation 1, since units may differ.",
    "counts": f"{_KEPT} many columns are mostly 0, as counts and frequencies are.",
    "range": f"{_KEPT} many columns fill one range, as pixels and ratings do.",
    "components": f"{_KEPT} they are uncorrelated, as principal components are.",
    "lengths": f"{_KEPT} all rows have the same length, as embeddings have.",
}


def views_page(document: ViewsDocument) -> Page:
    """Lay out the dict of :meth:`multifacet.Views.to_dict`."""
    views, rejected = document["views"], document["rejected"]
    sections = [
        Section(f"{capitalised(view['name'])} in detail", view_blocks(document, view))
        for view in views
    ]
    if rejected is not None:
        sections.append(_rejected_section(document, rejected))
    if len(document["agreement"]["names"]) > 1:
        sections.append(_agreement_section(document))
    if document["frontier"] is not None:
        sections.append(_frontier_section(document["frontier"], views[0]["name"]))
    if document.get("roles"):
        sections.append(_columns_section(document))
    sections.append(_settings_section(views, rejected, document.get("scaling", "told")))
    same = Paragraph(
        "The same table, options and seed give the same result, whatever the number of threads."
    )
    sections.append(repeat_section(document.get("run"), same))
    terms = Table("What the numbers mean.", ["word", "meaning"], list(TERMS.items()))
    sections.append(Section("Words used here", [terms]))
    return Page(_page_title(document), _answer(document), sections)


def _page_title(document: ViewsDocument) -> str:
    run = document.get("run") or RunDict()
    source = run.get("input")
    place = (source and source["name"]) or "the table"
    return f"What {'else ' * bool(document['given'])}is in {place}?"


def _answer(document: ViewsDocument) -> list[Block]:
    """Return what was given, what was found, how good, how different, how sure, which features."""
    blocks: list[Block] = [Paragraph(document["sentence"], "lead")]
    for given in document["given"]:
        blocks.append(Paragraph(f"Given: {given['name']}: {sizes(given['groups'])}."))
    for view in document["views"]:
        texts = [f"{told(view['sentence'])}.", view["evidence"], _features(document, view)]
        texts += [f"{capitalised(words)}." for words in _beside(view)]
        doubt = ": seen, not believed" * (view.get("verdict") == "chance")
        title = f"{capitalised(view['name'])}{doubt}"
        said = [Paragraph(text) for text in texts if text]
        blocks.append(Section(title, [*said, *answer_gallery(view)]))
    if document["rejected"] is not None:
        next_one = "A further grouping" if document["views"] else "The best candidate"
        words = f"{next_one} was looked at and not believed. {document['rejected']['evidence']}"
        blocks.append(Paragraph(words, "note"))
    return blocks


def _features(document: ViewsDocument, view: ViewDict) -> str:
    weights, contrasts = view["feature_weights"], view.get("contrasts")
    if contrasts is None:  # written before features were named by what they tell
        return ""
    if contrasts:
        named = listed([one["name"] for one in contrasts])
        if not beyond_guessing(view.get("told"), list(Counter(view["labels"]).values())):
            return f"What differs most: {named}. Alone, that does not tell the groups."
        return (
            f"What tells them apart: {named}. Without any other feature, that puts "
            f"{share(view.get('told') or 0.0)} of the rows into their group."
        )
    if not view["loadings"]:
        return "It was found in all features at once."
    if only_numbered(document["features"], weights):
        return "No feature tells them apart by itself: each is a little part of it."
    order = sorted(range(len(weights)), key=lambda j: -weights[j])[:4]
    shown = [j for j in order if weights[j] >= 0.05] or order[:1]
    words = [f"{document['features'][j]} ({share(weights[j])})" for j in shown]
    return (
        "No feature tells them apart by itself. The subspace in which they were found is made of "
        f"{listed(words)}."
    )


def _beside(view: ViewDict) -> list[str]:
    """Say which columns of the table a view agrees with, or only repeats."""
    beside, repeats = view.get("beside", ""), view.get("repeats", [])
    words = [f"beside the columns that were no features: {beside}"] if beside else []
    return [*words, f"it only repeats {listed(repeats)}, which was a feature"] if repeats else words


def _rejected_section(document: ViewsDocument, view: ViewDict) -> Section:
    words = Paragraph(f"{told(view['sentence'])}. {view['evidence']}")
    blocks = view_blocks(document, view)
    if document["views"]:
        return Section("Not believed", [words, Details("Show it nevertheless", blocks)])
    return Section("The best one, not believed", [words, *blocks])


def _agreement_section(document: ViewsDocument) -> Section:
    names, nmi = document["agreement"]["names"], document["agreement"]["nmi"]
    words = "0 where one grouping tells nothing about the other, 1 where they are the same."
    return Section("How the groupings agree", [agreement_table(names, nmi, words)])


def _columns_section(document: ViewsDocument) -> Section:
    roles = document.get("roles", [])
    others: list[list[Cell]] = [
        [one["name"], one["use"], _holds(one), one["why"]]
        for one in roles
        if one["use"] != "feature"
    ]
    features = [one["name"] for one in roles if one["use"] == "feature"]
    shown = listed([shorten(name) for name in features[:MAX_ROWS]])
    more = f" and {len(features) - MAX_ROWS:,} more" * (len(features) > MAX_ROWS)
    blocks: list[Block] = [Paragraph(f"Features: {shown}{more}.")]
    if others:
        heads = ["column", "use", "holds", "why"]
        blocks.append(Table("What the other columns were used for.", heads, others[:MAX_COLUMNS]))
    return Section("What the columns were used for", blocks)


def _holds(role: RoleDict) -> str:
    """Say what is in a column, and how much is not."""
    return role["holds"] + (f", {role['missing']:,} missing" if role["missing"] else "")


def _frontier_section(path: FrontierDict, name: str) -> Section:
    order = sorted(range(len(path["weights"])), key=lambda i: path["weights"][i])
    places = [(path["dependence"][i], path["quality"][i]) for i in order]
    figure = Line(
        f"Solutions along the novelty weight, which is written beside them; the star is nearest to "
        f"{name}. The further left, the newer; the higher, the better the groups.",
        places,
        ("dependence on what is known", "cluster quality"),
        [f"weight {number(path['weights'][i])}" for i in order],
        None if path["chosen"] is None else order.index(path["chosen"]),
    )
    words = Paragraph(
        "Novelty has a price: groups that have nothing to do with what is known may be less clear. "
        "This is what would be found if novelty counted less, or more."
    )
    return Section("Quality and novelty", [words, figure])


def _settings_section(views: list[ViewDict], rejected: ViewDict | None, scaling: str) -> Section:
    blocks: list[Block] = [Paragraph(SCALES[scaling])] if scaling in SCALES else []
    for view in [*views, *([rejected] if rejected else [])]:
        title = capitalised(view["name"]) + (" (not believed)" if view is rejected else "")
        chosen = view["selection"]
        if chosen is None:
            text = f"Settings were given, or follow from the method: {_settings_text(view)}."
            blocks.append(Section(title, [Paragraph(text)]))
            continue
        parts = [f"{capitalised(chosen['sentence'])}."]
        if chosen["rejected"]:
            reasons = [f"{reason} ({count})" for reason, count in chosen["rejected"].items()]
            parts.append(f"Turned down: {listed(reasons)}.")
        parts.append(f"Candidates were judged on {counted(chosen['n_rows'], 'row')}.")
        best = Details("The best candidates", [_candidates_table(chosen)])
        blocks.append(Section(title, [Paragraph(" ".join(parts)), best]))
    return Section("How the settings were chosen", blocks)


def _candidates_table(chosen: SelectionDict) -> Table:
    rows: list[list[Cell]] = [
        [
            str(i + 1),
            number(one["separation"]),
            number(one["stability"], 2),
            number(one["novelty"], 2),
            str(one["n_clusters"]),
            str(one["n_components"]),
            number(one["bandwidth"]),
            number(one["novelty_weight"]),
            shorten(one["start"], 40),
            one["rejected"],
        ]
        for i, one in enumerate(chosen["candidates"])
    ]
    head = ["rank", "separation", "stability", "NMI", "groups", "dimensions", "bandwidth"]
    return Table(
        f"The first {len(rows)} of {chosen['n_candidates']:,} candidates, the best first.",
        [*head, "novelty weight", "found from", "turned down"],
        rows,
    )


def _settings_text(view: ViewDict) -> str:
    chosen = view["settings"]
    parts = [f"{chosen['n_clusters']} groups"]
    if chosen["n_components"] is not None:
        parts.append(counted(chosen["n_components"], "dimension"))
    if chosen["bandwidth"] is not None:
        parts.append(f"bandwidth {number(chosen['bandwidth'])}")
    if chosen["novelty_weight"] is not None:
        parts.append(f"novelty weight {number(chosen['novelty_weight'])}")
    return ", ".join(parts)
