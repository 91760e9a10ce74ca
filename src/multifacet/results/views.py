"""The views of a table: what :func:`multifacet.find_views` returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np

from ..documents import ViewsDocument
from ..engines.base import is_dask
from ..evidence import Frontier
from ..files import check_shape, read_path
from ..frames import Encoding
from ..frames.table import OnDisk
from ..linalg import Array
from ..printable import one_line
from .assigned import with_labels
from .partitioned import Teller, assigned, placed, predicted
from .plain import as_text
from .storage import check_array, pack_views, read_archive, unpack_views, write_archive
from .summary import belief, describe_views, leading_features
from .verdicts import SIGNIFICANCE, verdict
from .view import View

#: Version of the file format of :meth:`Views.save`.
FORMAT = 2


@dataclass(frozen=True, eq=False)
class Views:
    """The views of a table: a sequence of :class:`View`, best read by printing it.

    Attributes
    ----------
    views : list of View
        The views.
    index : array of shape (n,)
        Identifiers of the rows.
    rows : array of int of shape (n,)
        Positions, in the data, of the rows that the views are about; fewer than the data has if
        some were dropped.
    given : dict of str to array of shape (n,)
        What was given, by name.
    encoding : Encoding
        How columns of the table became features; encodes new rows.
    frontier : Frontier or None
        Quality against novelty of the first view; None if nothing was given.
    rejected : View or None
        The next view, which was no better than chance; None if the number of views was fixed.
    significance : float
        p-value up to which a view is called beyond chance.

    Examples
    --------
    >>> from multifacet import find_views
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> views = find_views(X, given=labelings[:, 0], n_views=1, n_clusters=2, method="linear")
    >>> len(views), views.labelings.shape, views[0].name
    (1, (60, 1), 'view 1')
    """

    views: list[View]
    index: Array = field(repr=False)
    rows: Array = field(repr=False)
    given: dict[str, Array] = field(repr=False)
    encoding: Encoding = field(repr=False)
    frontier: Frontier | None = field(repr=False, default=None)
    rejected: View | None = field(repr=False, default=None)
    significance: float = field(repr=False, default=SIGNIFICANCE)

    def __len__(self) -> int:
        return len(self.views)

    def __iter__(self) -> Iterator[View]:
        return iter(self.views)

    @overload
    def __getitem__(self, position: int) -> View: ...
    @overload
    def __getitem__(self, position: slice) -> list[View]: ...
    def __getitem__(self, position: Any) -> Any:
        return self.views[position]

    @property
    def labelings(self) -> Array:
        """Labels of all views, shape (n, number of views)."""
        return _side_by_side([view.labels for view in self.views], len(self.index))

    def to_frame(self) -> Any:
        """Return the labels as a pandas data frame: one row per row, one column per view.

        Its index is :attr:`index`, the names of the rows that the views are about.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
        >>> views = find_views(X, n_views=2, n_clusters=2, method="linear")
        >>> views.to_frame().columns.tolist()
        ['view 1', 'view 2']
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'a data frame needs pandas: pip install "multifacet[pandas]", or use labelings and '
                "index"
            ) from error
        names = pd.Index(self.index, name=self.encoding.identifier)
        return pd.DataFrame({view.name: view.labels for view in self.views}, index=names)

    def assign(self, data: Any) -> Any:
        """Return a table with the labels in it: one further column per view, by its name.

        Parameters
        ----------
        data : data frame (pandas, polars, dask), Arrow table or dict of columns
            The table in which the views were found, or one that shares rows with it; it is not
            changed. Rows are found by the column that was the ``identifier``, otherwise by the
            index in pandas, and by their positions elsewhere. Those of dask, of which only some
            were looked at, are told by :meth:`predict` instead, when they are computed.

        Returns
        -------
        object of the type of data
            Rows that the views are not about, because they were dropped or are new, have missing
            labels.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import load_penguins
        >>> birds, _ = load_penguins(as_frame=True)
        >>> views = find_views(birds, n_views=1, n_clusters=2, method="linear")
        >>> views.assign(birds).columns.tolist()[3:]
        ['body_mass_g', 'view 1']
        """
        if is_dask(data):
            return assigned(self._teller, data)
        labels = {view.name: view.labels for view in self.views}
        return with_labels(data, labels, self.index, self.rows, self.encoding.identifier)

    def predict(self, data: Any) -> Array:
        """Return the groups of rows, old or new, in every view.

        Parameters
        ----------
        data : data frame, dict of columns, array, sparse matrix of m rows, or path
            Rows with the columns in which the views were found, in any order; others are ignored.
            They are encoded and scaled as those were. Missing values are imputed if those were,
            otherwise refused. Of dask collections nothing is computed yet: the result is a dask
            array, and that of :meth:`transform` a list of them.

        Returns
        -------
        array of int of shape (m, number of views)
            Group of each row in each view, as in :attr:`labelings`; see :meth:`View.predict`. No
            row depends on the others, nor on what was given.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import load_penguins
        >>> birds, _ = load_penguins(as_frame=True)
        >>> views = find_views(birds.iloc[:300], n_views=1, n_clusters=2, method="linear")
        >>> views.predict(birds.iloc[300:]).shape
        (33, 1)
        """
        if is_dask(data):
            return predicted(self._teller, data)
        found = [
            _side_by_side([view.predict(X) for view in self.views], X.shape[0])
            for X in self._encoded(data)
        ]
        return np.concatenate([np.zeros((0, len(self.views)), dtype=np.intp), *found])

    def transform(self, data: Any) -> list[Array]:
        """Return where rows, old or new, lie in every view.

        Parameters
        ----------
        data : object
            As in :meth:`predict`.

        Returns
        -------
        list of arrays of shape (m, q)
            Coordinates of the rows in each view, as in :attr:`View.projection`.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import load_penguins
        >>> birds, _ = load_penguins(as_frame=True)
        >>> views = find_views(birds.iloc[:300], n_views=1, n_clusters=2, method="linear")
        >>> [points.shape for points in views.transform(birds.iloc[300:])]
        [(33, 2)]
        """
        if is_dask(data):
            return placed(self._teller, data)
        found = [[view.transform(X) for view in self.views] for X in self._encoded(data)]
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    @property
    def _teller(self) -> Teller:
        return Teller.of(self.encoding, self.views)

    def _encoded(self, data: Any) -> Iterator[Any]:
        """Yield the features of rows: of all at once, or of some thousand of those on disk."""
        data = read_path(data) if isinstance(data, str | PathLike) else data
        if not isinstance(data, OnDisk):
            yield self.encoding.transform(data)
            return
        first = 0
        for batch in data.batches():
            try:
                X = self.encoding.transform(batch)
            except ValueError as error:  # which counts rows from the first of the batch
                raise ValueError(f"in the rows from {first} on, {error}") from error
            yield X
            first += X.shape[0]

    def verdict(self, view: View) -> str:
        """Return in one word how far to believe a view: firm, fair, weak or chance.

        Parameters
        ----------
        view : View
            One of these views, or ``rejected``.

        Returns
        -------
        str
            See :func:`multifacet.results.verdicts.verdict`; empty if nothing is known.
        """
        return verdict(view.p_value, view.stability, view.novelty, self.significance)

    @property
    def believed(self) -> list[View]:
        """The views of which chance can be ruled out, or of which nobody asked."""
        return [view for view in self.views if self.verdict(view) != "chance"]

    def table(self) -> list[dict[str, Any]]:
        """Return one dict per view, ready for a data frame: numbers, features, sentence."""
        return [
            {
                "view": view.name,
                "verdict": self.verdict(view),
                "clusters": view.n_clusters,
                "sizes": np.bincount(view.labels).tolist(),
                "features": ", ".join(leading_features(view, self.encoding.feature_names)),
                "separation": view.separation,
                "stability": view.stability,
                "p_value": view.p_value,
                "novelty": view.novelty,
                "independence": view.independence,
                "sentence": view.sentence,
            }
            for view in self.views
        ]

    def plot(self) -> Any:
        """Draw each view in its subspace, its loadings, and the frontier; return the figure."""
        from ..plotting import plot_views

        return plot_views(self.views, frontier=self.frontier)

    def to_dict(self) -> ViewsDocument:
        """Return everything as lists, dicts, text and finite numbers, ready for JSON.

        Returns
        -------
        dict
            The ``sentence`` that answers, the labels that were ``given``, the ``views`` with their
            evidence, groups, typical rows, loadings and coordinates (of at most 2000 rows, those in
            ``points``), the ``agreement`` between all labelings and the ``frontier``.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
        >>> views = find_views(X, n_views=1, n_clusters=2, n_refits=0)
        >>> views.to_dict()["sentence"]
        '1 grouping was found in 60 rows and 4 features.'
        """
        return describe_views(self)

    def report(self, path: str | Path) -> Path:
        """Write a report to be read: one file with everything inside.

        Parameters
        ----------
        path : str or Path
            File to write; its suffix chooses the format: ``.html``, ``.md`` or ``.json``.

        Returns
        -------
        Path
            The file written.
        """
        from ..report import render

        return render(self.to_dict(), path)

    def save(self, path: str | Path) -> Path:
        """Write everything to one ``.npz`` file: arrays and JSON, nothing executable.

        Parameters
        ----------
        path : str or Path
            File to write; ``.npz`` is appended if it is missing.

        Returns
        -------
        Path
            The file written.
        """
        path = Path(path)
        path = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
        arrays: dict[str, Array] = {"index": _plain(self.index), "rows": self.rows}
        for i, labels in enumerate(self.given.values()):
            arrays[f"given{i}"] = _plain(labels)
        kept = [*self.views, *([] if self.rejected is None else [self.rejected])]
        described, packed = pack_views(kept)
        arrays |= packed
        path_of = self.frontier
        if path_of is not None:
            arrays |= {f"frontier_{name}": getattr(path_of, name) for name in _FRONTIER_ARRAYS}
        meta = {
            "format": FORMAT,
            "given": list(self.given),
            "encoding": self.encoding.to_dict(),
            "views": described,
            "n_views": len(self.views),
            "significance": self.significance,
            "frontier": None if path_of is None else {"chosen": path_of.chosen},
        }
        write_archive(path, meta, arrays)
        return path

    @classmethod
    def load(cls, path: str | Path) -> Views:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        meta, arrays = read_archive(Path(path), "views", FORMAT)
        try:
            return cls._unpacked(meta, arrays)
        except ValueError as error:
            raise ValueError(f"{str(path)!r} is damaged: {error}; save the views again") from error

    @classmethod
    def _unpacked(cls, meta: dict[str, Any], arrays: dict[str, Array]) -> Views:
        """Return the views that a file holds; raise if its parts do not belong together."""
        check_shape(meta, _META)
        views = unpack_views(meta["views"], arrays)
        n, d = arrays.get("index", _NONE).size, len(meta["encoding"]["feature_names"])
        for name in ("index", *(f"given{i}" for i in range(len(meta["given"])))):
            check_array(arrays, name, (n,), "biufUSmM")
        if any(len(v.labels) != n or len(v.feature_weights) != d for v in views):
            raise ValueError(f"not all views are of {n} rows and {d} features")
        if not 0 <= meta["n_views"] <= len(views):
            raise ValueError(f"n_views is {meta['n_views']} for {len(views)} views")
        path_of = None
        if meta["frontier"] is not None:
            path_of = _unpacked_frontier(arrays, meta["frontier"]["chosen"])
        given = {name: arrays[f"given{i}"] for i, name in enumerate(meta["given"])}
        encoding = Encoding.from_dict(meta["encoding"])
        places = {place for column in encoding.columns for place in column.features}
        if not places <= set(range(d)) or not len(encoding.mean) == len(encoding.scale) == d:
            raise ValueError(f"the encoding is not one of {d} features")
        count = meta["n_views"]
        rejected = views[count] if len(views) > count else None
        rows = _unpacked_rows(arrays, n)
        level = meta.get("significance", SIGNIFICANCE)  # which older files have not
        return cls(views[:count], arrays["index"], rows, given, encoding, path_of, rejected, level)

    def __str__(self) -> str:
        known = one_line(f", given {', '.join(self.given)}" if self.given else "")
        found = len(self.believed)
        if found:
            lines = [f"{found} view{'s' * (found > 1)} of {len(self.index)} rows{known}"]
        else:
            lines = [f"No view beyond chance in {len(self.index)} rows{known}."]
        for view in [*self.views, *([] if self.rejected is None else [self.rejected])]:
            doubt = "" if view in self.believed else "seen, not believed: "
            lines += [f"  {doubt}{view}", f"    {self._belief(view)}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _belief(self, view: View) -> str:
        """Say how far to believe a view; it avoids what was given and the views before it."""
        before = "view 1" if view.name == "view 2" else "the views before"
        return belief(view, "what is known" if self.given else before, self.significance)

    def _repr_html_(self) -> str:
        """Show the views as a table in notebooks."""
        if not self.views:
            return f"<p>{escape(str(self))}</p>"
        heads = ("view", "what it is about", "groups", "features", "how far to believe it")
        rows = [
            (
                view.name,
                view.sentence,
                " / ".join(map(str, np.bincount(view.labels))),
                ", ".join(leading_features(view, self.encoding.feature_names)),
                self._belief(view),
            )
            for view in self.views
        ]
        head = "".join(f"<th>{escape(name)}</th>" for name in heads)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in row) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _side_by_side(labelings: list[Array], n: int) -> Array:
    """Return labelings (n,) as columns (n, m), also if there are none."""
    return np.column_stack([np.zeros((n, 0), dtype=np.intp), *labelings])


_FRONTIER_ARRAYS = tuple(f.name for f in fields(Frontier) if f.name != "chosen")


#: In place of an array that is missing.
_NONE = np.zeros(0)
#: What a file of views holds beside arrays.
_META = {
    "given": [str],
    "encoding": {
        "columns": [
            {"name": str, "kind": str, "categories": [str], "features": [int], "fill": ...}
        ],
        "feature_names": [str],
        "mean": [float],
        "scale": [float],
        "identifier": (str, None),
        "scaling?": str,
        "skewed?": [str],
    },
    "views": list,
    "n_views": int,
    "significance?": float,
    "frontier": (None, {"chosen": (int, None)}),
}


def _unpacked_rows(arrays: dict[str, Array], n: int) -> Array:
    if "rows" not in arrays:  # older files do not say which rows were dropped
        return np.arange(n)
    rows = check_array(arrays, "rows", (n,), "iu")
    if (np.diff(rows, prepend=-1) <= 0).any():
        raise ValueError("rows are no positions in ascending order")
    return rows


def _unpacked_frontier(arrays: dict[str, Array], chosen: int | None) -> Frontier:
    m, rows = (arrays.get(f"frontier_{name}", _NONE).size for name in ("weights", "rows"))
    shapes = {"labels": (m, rows), "rows": (rows,)}
    known = {
        name: check_array(arrays, f"frontier_{name}", shapes.get(name, (m,)), "fiu")
        for name in _FRONTIER_ARRAYS
    }
    if chosen is not None and not 0 <= chosen < m:
        raise ValueError(f"the frontier has chosen {chosen} of {m} weights")
    return Frontier(**known, chosen=chosen)


def _plain(values: Array) -> Array:
    """Return values as an array that needs no pickle: objects become text."""
    return as_text(values) if values.dtype == object else values
