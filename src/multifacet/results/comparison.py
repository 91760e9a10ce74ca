"""How far labelings agree: what :func:`multifacet.compare_labelings` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..documents import ComparisonDocument, PairDict
from ..linalg import Array
from ..printable import one_line
from .verdicts import beyond_chance, equals, how_related

#: Version of the dict of :meth:`Comparison.to_dict`.
FORMAT = 1


@dataclass(frozen=True)
class Agreement:
    """How far two labelings agree.

    Attributes
    ----------
    a, b : str
        Their names.
    nmi : float
        Normalised mutual information: 0 is none, 1 is the same grouping.
    ari : float
        Adjusted Rand index: 0 is what chance gives, 1 is the same grouping.
    p_value : float
        How often labelings without any relation agree as well.
    rows, columns : list of str
        Labels of a and of b.
    counts : list of list of int
        Number of rows with each pair of labels.
    """

    a: str
    b: str
    nmi: float
    ari: float
    p_value: float
    rows: list[str]
    columns: list[str]
    counts: list[list[int]]

    def to_dict(self) -> PairDict:
        """Return lists, numbers and text only."""
        return {
            "a": self.a,
            "b": self.b,
            "nmi": self.nmi,
            "ari": self.ari,
            "p_value": self.p_value,
            "rows": self.rows,
            "columns": self.columns,
            "counts": self.counts,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several labelings and how far they agree; best read by printing it.

    Attributes
    ----------
    labelings : dict of str to array of shape (n,)
        The labelings, by name.
    nmi : array of shape (m, m)
        Normalised mutual information of all pairs.
    pairs : list of Agreement
        Every pair, with its contingency table.

    Examples
    --------
    >>> from multifacet import compare_labelings
    >>> comparison = compare_labelings([0, 0, 1, 1], [0, 1, 0, 1])
    >>> comparison.nmi
    array([[1., 0.],
           [0., 1.]])
    """

    labelings: dict[str, Array] = field(repr=False)
    nmi: Array
    pairs: list[Agreement] = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.labelings.values())))

    @property
    def sentence(self) -> str:
        """What the comparison says."""
        ordered = sorted(self.pairs, key=lambda pair: pair.nmi)
        if len(ordered) == 1:
            return f"{_told(ordered[0])}."
        return f"Most alike: {_told(ordered[-1])}. Least alike: {_told(ordered[0])}."

    def to_dict(self) -> ComparisonDocument:
        """Return lists, numbers and text only, ready for JSON and for the report."""
        return {
            "kind": "comparison",
            "format": FORMAT,
            "n_rows": self.n_rows,
            "labelings": [
                {"name": name, "groups": dict(zip(*_groups(labels), strict=True))}
                for name, labels in self.labelings.items()
            ],
            "nmi": self.nmi.tolist(),
            "pairs": [pair.to_dict() for pair in self.pairs],
            "sentence": self.sentence,
        }

    def report(self, path: str | Path) -> Path:
        """Write the report: HTML, Markdown or JSON, by the suffix of the path."""
        from ..report import render

        return render(self.to_dict(), path)

    def __str__(self) -> str:
        lines = [f"{len(self.labelings)} labelings of {self.n_rows} rows"]
        lines += [f"  {one_line(_told(pair))}" for pair in self.pairs]
        return "\n".join(lines)


def _groups(labels: Array) -> tuple[list[str], list[int]]:
    values, counts = np.unique(labels, return_counts=True)
    return [str(value) for value in values], counts.tolist()


def _told(pair: Agreement) -> str:
    """Return how far two labelings agree, in words and numbers."""
    if pair.ari == 1:
        word = "the same grouping"
    elif not beyond_chance(pair.p_value):
        word = "no relation beyond chance"
    else:
        word = how_related(pair.nmi)
    ari = round(pair.ari, 2) + 0.0  # no "-0.00"
    numbers = f"NMI {pair.nmi:.2f}, ARI {ari:.2f}, p {equals(pair.p_value)}"
    return f"{pair.a} and {pair.b}: {word} ({numbers})"
