"""How far several labelings of the same rows agree: ``compare_labelings(table)``."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..evidence import independence_test
from ..frames.cells import check_cells, whole
from ..frames.table import Columns, columns_of, read_table
from ..linalg import Array, is_array_like
from ..metrics import nmi
from ..results.comparison import Agreement, Comparison
from ..validation import check_choice, check_labels
from ..wording import Argument, ArgumentError


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
        plural = "s" * (len(names) != 1)
        raise ArgumentError(
            Argument.of("labels", names),
            f" names {len(names)} labeling{plural}: at least 2 are needed",
        )
    cells = [table.read(name) for name in names]
    rows = ~check_cells(cells, table.n_rows, missing, "label or drop")
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


def _as_table(data: Any, other: Any) -> Columns:
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
