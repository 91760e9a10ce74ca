"""The views of a table: what :func:`multifacet.find_views` returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np

from ..documents import ViewRow, ViewsDocument
from ..engines.base import is_dask
from ..evidence import Frontier
from ..files import read_path
from ..files.annotated import Representation, is_annotated
from ..frames import Encoding, Reference, Roles
from ..frames.table import OnDisk
from ..linalg import Array
from ..printable import one_line
from .annotated import with_views
from .archive import FORMAT, pack, unpack
from .assigned import with_labels
from .partitioned import Teller, assigned, placed, predicted
from .relations import Relation, beside, nested_in, relations
from .storage import read_archive, write_archive
from .summary import belief, describe_views, leading_features, repeating
from .verdicts import SIGNIFICANCE, verdict
from .view import View


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
    references : dict of str to Reference
        Columns that were no features, with which every view is compared.
    roles : Roles or None
        What every column was for; print it. None in a view from an older file.
    cells : Representation or None
        Of AnnData, where the features were from.

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
    references: dict[str, Reference] = field(repr=False, default_factory=dict)
    roles: Roles | None = field(repr=False, default=None)
    cells: Representation | None = field(repr=False, default=None)

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
        data : data frame (pandas, polars, dask), Arrow table, dict of columns or AnnData
            The table in which the views were found, or one that shares rows with it; it is not
            changed. Rows are found by the column that was the ``identifier``, otherwise by the
            index in pandas, and by their positions elsewhere. Those of dask, of which only some
            were looked at, are told by :meth:`predict` instead, when they are computed.

        Returns
        -------
        object of the type of data
            Rows that the views are not about, because they were dropped or are new, have missing
            labels. AnnData has labels in ``obs``, places in ``obsm``, what tells groups apart in
            ``varm``, and words and numbers in ``uns``, all under names with ``multifacet``.

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
        if is_annotated(data):
            return with_views(data, self)
        labels = {view.name: view.labels for view in self.views}
        return with_labels(data, labels, self.index, self.rows, self.encoding.identifier)

    def predict(self, data: Any) -> Array:
        """Return the groups of rows, old or new, in every view.

        Parameters
        ----------
        data : data frame, dict of columns, array, sparse matrix of m rows, AnnData, or path
            Rows with the columns in which the views were found, in any order; others are ignored.
            They are encoded and scaled as those were. Missing values are imputed if those were,
            otherwise refused. Of AnnData, components that were computed for the search are
            applied to the variables; a representation in ``obsm`` is taken as it is.
            Of dask collections nothing is computed yet: the result is a dask array, and that of
            :meth:`transform` a list of them.

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
        if is_annotated(data):
            names = [column.name for column in self.encoding.columns if column.features]
            data = (self.cells or Representation(names)).columns(data)
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

    def relations(self, view: View) -> list[Relation]:
        """Return how far a view agrees with every column that was no feature, the closest first.

        Parameters
        ----------
        view : View
            One of these views, or ``rejected``.

        Returns
        -------
        list of Relation
            One for each column that was given or is in :attr:`references`.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import load_penguins
        >>> measurements, known = load_penguins(as_frame=True)
        >>> birds = measurements.join(known)
        >>> views = find_views(birds, n_views=1, n_clusters=2, method="linear", n_refits=0)
        >>> [one.column for one in views.relations(views[0])]
        ['species', 'sex']
        """
        if id(view) not in self._compared:
            known = {name: Reference.of(labels) for name, labels in self.given.items()}
            found = relations(view.labels, known | self.references)
            self._compared[id(view)] = (view, found)  # with the view, whose id none then has
        return self._compared[id(view)][1]

    @cached_property
    def _compared(self) -> dict[int, tuple[View, list[Relation]]]:
        """What was compared so far: it takes a while, and is asked for often."""
        return {}

    def beside(self, view: View) -> str:
        """Say which columns a view is related to: "nearly your column sex (agreement 0.96)".

        And whether it only divides the groups of an earlier view, or of what was given, further.
        """
        earlier = self.views[: self._position(view)]
        known = {one.name: one.labels for one in earlier}
        if not self.references and self.given:  # of which the numbers are told already
            return nested_in(view.labels, known | self.given)
        told = nested_in(view.labels, known), beside(self.relations(view))
        return ", ".join(filter(None, told))

    def _position(self, view: View) -> int:
        """Return how many views were found before one; all, if it is none of them."""
        return next((i for i, one in enumerate(self.views) if one is view), len(self.views))

    @property
    def believed(self) -> list[View]:
        """The views of which chance can be ruled out, or of which nobody asked."""
        return [view for view in self.views if self.verdict(view) != "chance"]

    def table(self) -> list[ViewRow]:
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
                "beside": self.beside(view),
                "repeats": ", ".join(view.repeats),
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
        path = _named(Path(path))
        write_archive(path, *pack(self))
        return path

    @classmethod
    def load(cls, path: str | Path) -> Views:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file, by the name that it has or was saved under.
        """
        path = Path(path)
        path = path if path.exists() else _named(path)
        meta, arrays = read_archive(path, "views", FORMAT)
        try:
            return cls(**unpack(meta, arrays))
        except ValueError as error:
            raise ValueError(f"{str(path)!r} is damaged: {error}; save the views again") from error

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
            told = (self.beside(view), repeating(view))
            lines += [f"    {one_line(words)}" for words in told if words]
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
                ". ".join(filter(None, [self.beside(view), repeating(view)])),
            )
            for view in self.views
        ]
        head = "".join(f"<th>{escape(name)}</th>" for name in (*heads, "beside your columns"))
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in row) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _side_by_side(labelings: list[Array], n: int) -> Array:
    """Return labelings (n,) as columns (n, m), also if there are none."""
    return np.column_stack([np.zeros((n, 0), dtype=np.intp), *labelings])


def _named(path: Path) -> Path:
    """Return a path that ends in ``.npz``."""
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
