"""Views beside the columns of a table: whether a view is something that is known already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np
from scipy.stats import chi2, f
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score

from ..documents import RelationDict
from ..frames import Reference
from ..linalg import Array
from ..search.judge import entropy
from .plain import rounded
from .verdicts import SIGNIFICANCE, how_related

#: More rows tell an agreement no better.
MAX_ROWS = 20_000
#: Agreement up to which two groupings have next to nothing in common, and from which they are one.
NOTHING, THE_SAME = 0.05, 0.9
#: Share of the entropy of one grouping that another tells, from which it divides it further.
NESTED = 0.8
#: Columns that a sentence names, of labels and of numbers each: their agreements are on different
#: scales, so that the closest of one kind would hide the other.
MAX_NAMED = 3


@dataclass(frozen=True)
class Relation:
    """How far a view agrees with a column.

    Attributes
    ----------
    column : str
        The column.
    agreement : float
        0 is what chance gives, 1 is all: mutual information with labels, adjusted for chance; of
        numbers, the share of their variance that lies between the groups, adjusted likewise.
    numbers : bool
        Whether the column holds numbers rather than labels.
    p_value : float
        How often groups without any relation to the column agree as well.
    nested : {"finer", "coarser", ""}
        Whether the view divides the groups of the column further, or the other way round.
    """

    column: str
    agreement: float
    numbers: bool
    p_value: float
    nested: str = ""

    def to_dict(self) -> RelationDict:
        """Return numbers and text only."""
        return {
            "column": self.column,
            "agreement": rounded(self.agreement),
            "numbers": self.numbers,
            "p_value": rounded(self.p_value),
        }


def relations(labels: Array, columns: Mapping[str, Reference]) -> list[Relation]:
    """Compare groups with columns; return the closest first.

    Parameters
    ----------
    labels : array of int of shape (n,)
        Group of each row.
    columns : mapping of str to Reference
        The columns, by name. Rows in which a column lacks its value do not count for it.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.frames import Reference
    >>> from multifacet.results.relations import relations
    >>> sex = Reference(np.array([0, 0, 0, 1, 1, 1, -1]), ["f", "m"])
    >>> mass = Reference(np.array([5.0, 4.0, 6.0, 9.0, 8.0, 7.0, np.nan]))
    >>> found = relations(np.array([0, 0, 0, 1, 1, 1, 1]), {"sex": sex, "mass": mass})
    >>> [(one.column, round(one.agreement, 2)) for one in found]
    [('sex', 1.0), ('mass', 0.71)]
    """
    rows = _some_rows(len(labels))
    found = [_relation(name, labels[rows], column, rows) for name, column in columns.items()]
    return sorted(found, key=lambda one: -one.agreement)


def nested_in(labels: Array, known: Mapping[str, Array]) -> str:
    """Say of which known groupings (n,) groups (n,) are a finer or coarser version.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.results.relations import nested_in
    >>> four = np.repeat([0, 1, 2, 3], 25)
    >>> nested_in(four, {"view 1": four // 2})
    'a finer version of view 1'
    """
    rows = _some_rows(len(labels))
    codes = {name: np.unique(one[rows], return_inverse=True)[1] for name, one in known.items()}
    found = {name: nesting(labels[rows], one) for name, one in codes.items()}
    return ", ".join(f"a {kind} version of {name}" for name, kind in found.items() if kind)


def _some_rows(n: int) -> Array:
    return np.linspace(0, n - 1, min(n, MAX_ROWS)).round().astype(int)


def _relation(name: str, labels: Array, column: Reference, rows: Array) -> Relation:
    there = column.present[rows]
    groups = np.unique(labels[there], return_inverse=True)[1]
    values = column.values[rows][there]
    numbers = column.names is None
    if len(groups) < 3 or groups.max() < 1 or values.min() == values.max():
        return Relation(name, 0.0, numbers, 1.0)
    agreement, p_value = (_of_numbers if numbers else _of_labels)(groups, values)
    nested = "" if numbers else nesting(groups, values)
    return Relation(name, agreement, numbers, p_value, nested)


def nesting(groups: Array, others: Array) -> str:
    """Return whether groups (n,) divide others (n,) further ("finer"), or the other way round.

    Neither ("") if they are as many or nearly the same, or if the coarser ones do not follow from
    the finer beyond what chance gives.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.results.relations import nesting
    >>> four = np.repeat([0, 1, 2, 3], 25)
    >>> nesting(four, four // 2), nesting(four // 2, four), nesting(four, four)
    ('finer', 'coarser', '')
    """
    same_number = len(np.unique(groups)) == len(np.unique(others))
    if same_number or adjusted_mutual_info_score(groups, others) > THE_SAME:
        return ""
    # Relative to the smaller of both entropies: that of the coarser one.
    if adjusted_mutual_info_score(groups, others, average_method="min") < NESTED:
        return ""
    return "finer" if entropy(groups) > entropy(others) else "coarser"


def _of_labels(groups: Array, codes: Array) -> tuple[float, float]:
    """Return the mutual information adjusted for chance, and the p-value of the G-test."""
    free = groups.max() * (len(np.unique(codes)) - 1)
    g = 2 * len(codes) * mutual_info_score(groups, codes)
    return float(adjusted_mutual_info_score(groups, codes)), float(chi2.sf(g, free))


def _of_numbers(groups: Array, values: Array) -> tuple[float, float]:
    """Return the share of variance between groups adjusted for chance, and that of the F-test."""
    sizes = np.bincount(groups)
    values = values - values.mean()
    between = float((np.bincount(groups, values) ** 2 / sizes).sum())
    within = float((values**2).sum()) - between
    one, other = len(sizes) - 1, len(values) - len(sizes)
    if other < 1 or within <= 0:
        return (0.0, 1.0) if other < 1 else (1.0, 0.0)
    share = 1 - (within / other) / ((within + between) / (one + other))
    return max(share, 0.0), float(f.sf(between / one / (within / other), one, other))


def beside(found: Sequence[Relation]) -> str:
    """Say which columns a view is related to; nothing if there is none to compare with.

    Examples
    --------
    >>> from multifacet.results.relations import Relation, beside
    >>> beside([Relation("sp", 0.96, False, 0.0), Relation("site", 0.01, False, 0.4)])
    'nearly your column sp (agreement 0.96)'
    >>> beside([Relation("site", 0.01, False, 0.4)])
    'no relation to your column site'
    >>> shares = zip(["genes", "counts", "score"], [0.28, 0.22, 0.17])
    >>> numbers = [Relation(name, share, True, 0.0) for name, share in shares]
    >>> beside([numbers[0], numbers[1], Relation("batch", 0.2, False, 0.0), numbers[2]])[-32:]
    ', tells 17% of your column score'
    """
    if not found:
        return ""
    # Of many columns, one is close by chance.
    real = [o for o in found if o.agreement > NOTHING and o.p_value <= SIGNIFICANCE / len(found)]
    if not real:
        return (
            "no relation to any column"
            if len(found) > 1
            else (f"no relation to your column {found[0].column}")
        )
    alike = groupby(_closest(real), key=_word)
    return ", ".join(_told(word, list(group)) for word, group in alike)


def _closest(found: Sequence[Relation]) -> list[Relation]:
    """Return the closest columns of labels and of numbers, in their order."""
    first = [[o for o in found if o.numbers == kind][:MAX_NAMED] for kind in (False, True)]
    return [one for one in found if any(one is other for other in chain(*first))]


def _word(one: Relation) -> str:
    """Say how close a column is; nothing of numbers, of which a share is told."""
    if one.numbers:
        return ""
    if one.nested:
        return f"a {one.nested} version of"
    return "nearly" if one.agreement > THE_SAME else f"{how_related(one.agreement)} to"


def _told(word: str, group: list[Relation]) -> str:
    """Return what is said of columns that are as close as each other."""
    if not word:
        parts = [f"tells {one.agreement:.0%} of your column {one.column}" for one in group]
        return ", ".join(parts)
    first, *others = [f"{one.column} (agreement {one.agreement:.2f})" for one in group]
    return ", ".join([f"{word} your column{'s' * bool(others)} {first}", *others])
