"""One call on a table: ``find_views(frame, given="species")``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import signature
from os import PathLike
from typing import Any

import numpy as np

from ..engines.base import is_dask
from ..evidence import attempt, frontier
from ..files import read_path
from ..finding.finder import ViewFinder
from ..finding.methods import as_method
from ..frames import Prepared, prepare
from ..frames.roles import warn_of_identifiers
from ..progress import announce
from ..results.view import View
from ..results.views import Views
from ..validation import check_count, check_labelings
from .partitions import prepare_partitions


def find_views(
    data: Any,
    *,
    given: Any = None,
    n_views: int | str = "auto",
    n_clusters: Any = "auto",
    exclude: Any = None,
    identifier: str | None = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    random_state: int | None = 0,
    **options: Any,
) -> Views:
    """Find other groupings of a table: good, different from what is given, and explained.

    Parameters
    ----------
    data : data frame (pandas, polars, Arrow), dict of columns, array, sparse matrix (n, d), or path
        The table. Boolean and categorical columns are encoded. A Parquet, Arrow or NPY file is
        never read as a whole, so that it may be larger than memory, nor are several Parquet files:
        a folder, a pattern such as ``data/*.parquet``, or an address that fsspec opens. Nor are a
        dask data frame and a dask array: their views are those of up to 20,000 rows, drawn by
        their content, and ``assign`` and ``predict`` label all rows where they are.
    given : column name, list of names, labels (n,), labelings (n, m) or list of labelings
        What is known already. Named columns are taken out of the features. Labels in pandas are
        matched with the rows of a pandas data frame by their index.
    n_views : int or "auto", default="auto"
        Number of views; "auto" stops when the next one is no better than chance.
    n_clusters : int, sequence of int or "auto", default="auto"
        Number of clusters: of all views, of each, or chosen.
    exclude : column name or list of names, optional
        Columns left out.
    identifier : column name, optional
        Column that names the rows.
    standardize : bool or "auto", default="auto"
        Scale every feature to mean 0 and standard deviation 1. "auto" does so unless the values
        show that all are on one scale, and how much each varies is information: counts and
        frequencies, pixels and ratings, principal components. Those are centred and keep their
        scales relative to each other; a warning says so and why.
    missing : {"error", "impute", "drop"}, default="error"
        What to do with missing values: name them and stop, fill in medians and most frequent
        values, or drop the rows. Rows without a given label are dropped in both cases.
    random_state : int or None, default=0
        Seed.
    **options
        Further parameters of :class:`ViewFinder`, such as a ``checkpoint`` for a long search.

    Returns
    -------
    Views
        Print it, iterate over it, or call ``table``, ``plot``, ``report`` and ``save``. ``assign``
        puts the labels into the table, ``predict`` tells the groups of new rows.

    Examples
    --------
    >>> from multifacet import find_views
    >>> from multifacet.datasets import load_penguins
    >>> measurements, known = load_penguins(as_frame=True)
    >>> penguins = measurements.assign(species=known["species"])
    >>> views = find_views(penguins, given="species", n_views=1, n_refits=0)
    >>> views[0].labels.shape
    (333,)
    """
    _refuse_unknown(options)
    for k in [] if isinstance(n_clusters, str) else np.atleast_1d(n_clusters).tolist():
        check_count("n_clusters", k, low=2)
    data = read_path(data) if isinstance(data, str | PathLike) else data
    prepared = (prepare_partitions if is_dask(data) else prepare)(
        data,
        given=given,
        exclude=exclude,
        identifier=identifier,
        standardize=standardize,
        missing=missing,
    )
    if not is_dask(data):
        warn_of_identifiers(data, prepared.encoding)
    finder = ViewFinder(n_views, n_clusters, random_state=random_state, **options)
    return views_of(prepared, finder)


def views_of(prepared: Prepared, finder: ViewFinder) -> Views:
    """Return the views that a finder finds in a table, in the terms of the table.

    Parameters
    ----------
    prepared : Prepared
        The table, as :func:`multifacet.frames.prepare` returns it.
    finder : ViewFinder
        How to search; it is fitted.

    Returns
    -------
    Views
        As :func:`find_views` returns them.

    Examples
    --------
    >>> from multifacet import ViewFinder
    >>> from multifacet.tables.find import views_of
    >>> from multifacet.frames import prepare
    >>> prepared = prepare({"mass": [1, 2, 1, 8, 9, 7], "age": [3, 1, 2, 2, 3, 1]})
    >>> views = views_of(prepared, ViewFinder(1, 2, method="linear", random_state=0))
    >>> views.rows.tolist()
    [0, 1, 2, 3, 4, 5]
    """
    known = check_labelings(prepared.given or None, prepared.X.shape[0], prepared.given_names)
    finder.fit(prepared.X, given=known or None)
    return told_views(prepared, finder, finder.views_, finder.rejected_)


def told_views(
    prepared: Prepared, finder: ViewFinder, found: Sequence[View], rejected: View | None = None
) -> Views:
    """Return views that a finder has found in the terms of their table.

    Parameters
    ----------
    prepared, finder : object
        As in :func:`views_of`.
    found : sequence of View
        What it has found; if anything was given, what novelty costs is measured for the first.
    rejected : View, optional
        What it has seen and not believed.

    Returns
    -------
    Views
        As :func:`find_views` returns them.
    """
    known = check_labelings(prepared.given or None, prepared.X.shape[0], prepared.given_names)
    table = (prepared.X, prepared.encoding, prepared.index)
    views = [view.readable(*table) for view in found]
    path = None
    if known and views and as_method(finder.method).has_frontier:
        announce(finder.verbose, "frontier")
        first = views[0]
        path, notes = attempt(
            "What novelty costs in quality",
            lambda: frontier(
                prepared.X,
                known,
                first.settings,
                first.components.T,
                kernel=finder.kernel,
                solver=finder.solver,
            ),
        )
        views[0] = replace(first, notes=first.notes + notes)
    given_labels = dict(zip(prepared.given_names, prepared.given, strict=True))
    return Views(
        views,
        prepared.index,
        prepared.rows,
        given_labels,
        prepared.encoding,
        path,
        None if rejected is None else rejected.readable(*table),
        finder.significance,
    )


def _refuse_unknown(options: dict[str, Any]) -> None:
    """Raise for options that nobody knows, with the name that was perhaps meant."""
    own = [p.name for p in signature(find_views).parameters.values() if p.kind is p.KEYWORD_ONLY]
    known = {*own, *ViewFinder().get_params()}
    unknown = sorted(set(options) - known)
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        meant = f": did you mean {close[0]}?" if close else ""
        raise TypeError(f"find_views has no option {', '.join(unknown)}{meant}")
