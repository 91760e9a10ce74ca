"""How far several labelings of the same rows agree: ``compare_labelings(table)``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..evidence import independence_test
from ..frames.cells import check_cells, whole
from ..frames.table import columns_of, read_table
from ..linalg import Array, is_array_like
from ..metrics import nmi
from ..printable import one_line
from ..validation import check_choice, check_labels

#: Version of the dict of :meth:`Comparison.to_dict`.
FORMAT = 1
#: Up to which NMI a relation that is no chance is called what.
_GRADES = (
    (0.05, "hardly related"),
    (0.2, "weakly related"),
    (0.5, "clearly related"),
    (0.9, "strongly related"),
    (np.inf, "nearly the same"),
)


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

    def to_dict(self) -> dict[str, Any]:
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
            "pairs": [asdict(pair) for pair in self.pairs],
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


def compare_labelings(
    data: Any, labels: Any = None, *, missing: str = "error", random_state: int = 0
) -> Comparison:
    """Compare labelings of the same rows, each with each.

    Parameters
    ----------
    data : data frame (pandas, polars, Arrow), dict of columns, or list of labelings (n,)
        The table that holds the labelings, or these themselves.
    labels : list of column names, or labeling (n,), optional
        The labelings; by default all columns. If data is a labeling itself, the other one.
    missing : {"error", "drop"}, default="error"
        What to do with rows that lack a label.
    random_state : int, default=0
        Seed of the permutations behind the p-values.

    Returns
    -------
    Comparison
        Print it, or call ``to_dict`` and ``report``.

    Examples
    --------
    >>> from multifacet import compare_labelings
    >>> table = {"species": ["a", "a", "b", "b"], "site": [1, 1, 2, 2], "sex": list("fmfm")}
    >>> comparison = compare_labelings(table)
    >>> comparison.nmi.round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> compare_labelings([0, 0, 1, 1], ["a", "a", "b", "b"]).sentence
    'labeling 1 and labeling 2: the same grouping (NMI 1.00, ARI 1.00, p = 0.312).'
    """
    check_choice("missing", missing, ["error", "drop"])
    if columns_of(data) is None:
        data, labels = _as_table(data, labels), None
    table = read_table(data)
    names = table.find("labels", list(table.columns) if labels is None else labels)
    names = list(dict.fromkeys(names))
    if len(names) < 2:
        raise ValueError(
            f"labels={names} names {len(names)} labeling{'s' * (len(names) != 1)}: at least 2 are "
            "needed"
        )
    cells = [table.read(name) for name in names]
    remedy = "leave out their rows (missing='drop') or give them a label of their own"
    rows = ~check_cells(cells, table.n_rows, missing, remedy)
    labelings = {name: whole(one.values[rows]) for name, one in zip(names, cells, strict=True)}
    for name, values in labelings.items():
        check_labels(f"column {name!r}", values, int(rows.sum()))
    pairs = [
        _agreement(a, labelings[a], b, labelings[b], random_state)
        for a, b in combinations(labelings, 2)
    ]
    matrix = np.eye(len(names))
    matrix[np.triu_indices(len(names), 1)] = [pair.nmi for pair in pairs]
    return Comparison(labelings, np.maximum(matrix, matrix.T), pairs)


def _as_table(data: Any, other: Any) -> dict[str, Any]:
    """Return labelings that come without names as columns."""
    if other is None:
        columns = data.T if isinstance(data, np.ndarray) and data.ndim == 2 else data
    else:
        columns = [data, other]
    if not is_array_like(columns) or any(np.ndim(column) != 1 for column in columns):
        raise ValueError(
            "data holds no labelings: pass a table, or labelings such as "
            "compare_labelings([0, 0, 1], ['a', 'b', 'b'])"
        )
    return {f"labeling {i + 1}": column for i, column in enumerate(columns)}


def _agreement(a: str, first: Array, b: str, second: Array, seed: int) -> Agreement:
    rows, i = np.unique(first, return_inverse=True)
    columns, j = np.unique(second, return_inverse=True)
    counts = np.zeros((len(rows), len(columns)), dtype=int)
    np.add.at(counts, (i, j), 1)
    return Agreement(
        a=a,
        b=b,
        nmi=nmi(i, j),
        ari=float(adjusted_rand_score(i, j)),
        p_value=independence_test(i, j, random_state=seed).p_value,
        rows=[str(value) for value in rows],
        columns=[str(value) for value in columns],
        counts=counts.tolist(),
    )


def _groups(labels: Array) -> tuple[list[str], list[int]]:
    values, counts = np.unique(labels, return_counts=True)
    return [str(value) for value in values], counts.tolist()


def _told(pair: Agreement) -> str:
    """Return how far two labelings agree, in words and numbers."""
    if pair.ari == 1:
        word = "the same grouping"
    elif pair.p_value > 0.05:
        word = "no relation beyond chance"
    else:
        word = next(word for most, word in _GRADES if pair.nmi <= most)
    ari = round(pair.ari, 2) + 0.0  # no "-0.00"
    p = "< 0.001" if pair.p_value < 0.001 else f"= {pair.p_value:.3f}"
    return f"{pair.a} and {pair.b}: {word} (NMI {pair.nmi:.2f}, ARI {ari:.2f}, p {p})"
