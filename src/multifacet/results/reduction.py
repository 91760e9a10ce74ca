"""A table in few dimensions: what :func:`multifacet.reduce_table` returns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..documents import ColourDict, HeldOutDict, ReductionDocument, SparsityDict
from ..frames import Encoding
from ..linalg import Array
from ..printable import one_line
from ..validation import are_classes

#: Version of the dict of :meth:`Reduction.to_dict`.
FORMAT = 1
#: Rows that :meth:`Reduction.to_dict` keeps for the picture.
MAX_POINTS = 2000


@dataclass(frozen=True, eq=False)
class Reduction:
    """A table in few dimensions, each a readable mixture of its features.

    Attributes
    ----------
    guided_by : {"target", "scores", "nothing"}
        What the dimensions were asked to depend on.
    guides : dict of str to array of shape (n,)
        The target or the scores, by name.
    index : array of shape (n,)
        Identifiers of the rows.
    encoding : Encoding
        How columns of the table became features; encodes new rows.
    components : array of shape (q, d)
        Orthonormal basis of the subspace, rotated to few large entries (varimax); with
        ``sparsity`` axes of unit length, most of whose entries are zero.
    projection : array of shape (n, q)
        The rows in the subspace.
    feature_weights : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    strength : array of shape (d,)
        How far each feature tells the target or, without one, the clusters: the share of their
        variance that lies between ten slices of the feature.
    kernel : str
        Kernel used.
    bandwidth : float or None
        Its bandwidth.
    dependence : float or None
        HSIC of the projection with the target or the scores.
    labels : array of int of shape (n,) or None
        Clusters found; None if there was a target.
    converged : bool
        Whether the subspace is a stationary point.
    sentence : str
        The reduction in one sentence.
    axes : list of str
        A sentence for each axis: the features that it is made of, and what it tells.
    sparsity : dict or None
        With ``sparsity``: "path", what fewer loadings cost, and "chosen", the step taken.
    held_out : dict or None
        With a target: "scores", how well held-out rows are told from their neighbours in these
        dimensions and in those of rivals, and "confusion" between classes.

    Examples
    --------
    >>> from multifacet import reduce_table
    >>> from multifacet.datasets import load_penguins
    >>> X, labelings = load_penguins()
    >>> table = {"bill": X[:, 0], "depth": X[:, 1], "species": labelings[:, 0]}
    >>> reduction = reduce_table(table, target="species", n_components=1, n_folds=0)
    >>> reduction.guided_by, reduction.components.shape
    ('target', (1, 2))
    """

    guided_by: str
    guides: dict[str, Array] = field(repr=False)
    index: Array = field(repr=False)
    encoding: Encoding = field(repr=False)
    components: Array = field(repr=False)
    projection: Array = field(repr=False)
    feature_weights: Array = field(repr=False)
    strength: Array = field(repr=False)
    kernel: str
    bandwidth: float | None
    dependence: float | None
    labels: Array | None = field(repr=False)
    converged: bool
    sentence: str
    axes: list[str] = field(default_factory=list, repr=False)
    sparsity: SparsityDict | None = field(default=None, repr=False)
    held_out: HeldOutDict | None = field(default=None, repr=False)

    @property
    def gain(self) -> str:
        """How well held-out rows are told, and how much better than by rivals, in a sentence."""
        return "" if self.held_out is None else gain_sentence(self.held_out)

    def to_dict(self) -> ReductionDocument:
        """Return lists, numbers and text only, ready for JSON and for the report."""
        n, q = self.projection.shape
        rows = np.linspace(0, n - 1, min(n, MAX_POINTS)).astype(int)
        labels = self.labels
        sizes: list[int] = [] if labels is None else np.bincount(labels).tolist()
        return {
            "kind": "reduction",
            "format": FORMAT,
            "n_rows": n,
            "n_features": self.components.shape[1],
            "features": list(self.encoding.feature_names),
            "guided_by": self.guided_by,
            "names": list(self.guides),
            "n_components": q,
            "kernel": self.kernel,
            "bandwidth": self.bandwidth,
            "loadings": self.components.tolist(),
            "feature_weights": self.feature_weights.tolist(),
            "strength": self.strength.tolist(),
            "dependence": self.dependence,
            "clusters": None if labels is None else {"sizes": sizes},
            "sentence": self.sentence,
            "axes": self.axes,
            "sparsity": self.sparsity,
            "held_out": self.held_out,
            "converged": self.converged,
            "points": {
                "index": self.index[rows].tolist(),
                "coordinates": self.projection[rows].tolist(),
                "colour": self._colour(rows),
                "sampled_from": n,
            },
        }

    def _colour(self, rows: Array) -> ColourDict:
        """Return what tells the points apart: the clusters if there are any, else the target."""
        if self.labels is not None:
            name, values, classes = "cluster", self.labels, True
        else:
            name, values = next(iter(self.guides.items()))
            classes = are_classes(values)
        drawn = values[rows].tolist()
        if not classes:
            return {"name": name, "kind": "number", "values": drawn}
        # Of all rows, also those that are not drawn.
        sizes = dict(Counter(str(value) for value in values.tolist()).most_common())
        return {"name": name, "kind": "category", "values": drawn, "groups": sizes}

    def report(self, path: str | Path) -> Path:
        """Write the report: HTML, Markdown or JSON, by the suffix of the path."""
        from ..report import render

        return render(self.to_dict(), path)

    def __str__(self) -> str:
        words = filter(None, (self.sentence, *self.axes, self.gain))
        return "\n".join(one_line(text) for text in words)


def gain_sentence(told: HeldOutDict) -> str:
    """Say how well held-out rows are told, and how much better than by rivals."""
    ours, *rivals = told["scores"]
    rows = f"{told['n_rows']:,} rows held out"
    what = f"{rows} are told right"
    if told["measure"] != "accuracy":
        what = f"the variance of {rows} is told"
    gaps = [(one["method"], round(100 * (ours["score"] - one["score"]), 1)) for one in rivals]
    gains = [
        f"{abs(gap):.1f} points {'more' if gap > 0 else 'less'} than in those of {method}"
        if gap
        else f"the same as in those of {method}"
        for method, gap in gaps
    ]
    share = f"{ours['score']:.1%} ± {ours['error']:.1%}"
    text = f"{share} of {what} by their neighbours in these dimensions"
    return ", ".join([text, *gains])
