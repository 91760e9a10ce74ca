"""The report of a comparison of labelings."""

from __future__ import annotations

from ..documents import ComparisonDocument, LabelingDict, PairDict
from .blocks import Block, Details, Fact, Facts, Page, Paragraph, Section, Table
from .pieces import agreement_table, cross_table, repeat_section
from .words import chance, counted, listed, number, sizes

#: Pairs shown at once; further ones are folded.
OPEN_PAIRS = 3


def comparison_page(document: ComparisonDocument) -> Page:
    """Lay out the dict of :meth:`multifacet.results.Comparison.to_dict`."""
    labelings, pairs = document["labelings"], document["pairs"]
    names = [labeling["name"] for labeling in labelings]
    words = "0 where one labeling tells nothing about the other, 1 where they are the same."
    ordered = sorted(pairs, key=lambda pair: -pair["nmi"])
    shown: list[Block] = [Section(_title(p), _pair_blocks(p)) for p in ordered[:OPEN_PAIRS]]
    shown += [Details(_title(p), _pair_blocks(p)) for p in ordered[OPEN_PAIRS:]]
    same = Paragraph("The same labels give the same result.")
    sections = [
        Section("Agreement", [agreement_table(names, document["nmi"], words)]),
        Section("Pair by pair", shown),
        Section("The labelings", [_labelings_table(labelings)]),
        repeat_section(document.get("run"), same),
    ]
    title = f"Do {listed(names)} agree?"
    rows = Paragraph(f"{counted(document['n_rows'], 'row')}, {counted(len(names), 'labeling')}.")
    return Page(title, [Paragraph(document["sentence"], "lead"), rows], sections)


def _title(pair: PairDict) -> str:
    return f"{pair['a']} and {pair['b']}"


def _pair_blocks(pair: PairDict) -> list[Block]:
    facts = Facts(
        [
            Fact("NMI", f"{pair['nmi']:.2f}", "0 is none, 1 is the same grouping"),
            Fact("adjusted Rand index", number(pair["ari"], 2), "0 is what chance gives"),
            Fact("p-value", chance(pair["p_value"]), "how often unrelated labelings agree as well"),
        ]
    )
    caption = f"Rows by {pair['a']} (down) and {pair['b']} (across), shaded by share of the row."
    return [facts, cross_table(caption, pair["rows"], pair["columns"], pair["counts"])]


def _labelings_table(labelings: list[LabelingDict]) -> Table:
    rows = [[one["name"], str(len(one["groups"])), sizes(one["groups"])] for one in labelings]
    return Table("Groups and their sizes.", ["labeling", "groups", "sizes"], rows)
