"""One call on a table: ``find_views(frame, given="species")``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import signature
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from scipy.sparse import issparse

from ..engines.base import is_dask
from ..engines.cluster import on_cluster
from ..evidence import attempt, frontier
from ..files import open_partitions, read_path
from ..files.annotated import Representation, choose_representation, is_annotated
from ..files.binary import need
from ..finding.finder import ViewFinder
from ..finding.methods import as_method
from ..frames import Prepared, Roles, prepare
from ..frames.given import aligned
from ..frames.notes import InputWarning
from ..frames.preparation import decide_roles
from ..frames.table import described, listing
from ..linalg import Array
from ..progress import announce
from ..results.gallery import with_gallery
from ..results.repeats import telling_columns
from ..results.view import View
from ..results.views import Views
from ..validation import check_count, check_labelings
from ..wording import Argument, ArgumentError
from .partitions import partition_roles, prepare_partitions

#: Searches at most, if one after the other finds only what a feature says already.
MOST_SEARCHES = 4


@overload
def find_views(data: Any, *, dry_run: Literal[True], **options: Any) -> Roles: ...
@overload
def find_views(
    data: Any,
    *,
    rows: Any = None,
    given: Any = None,
    n_views: int | str = "auto",
    n_clusters: Any = "auto",
    features: Any = None,
    exclude: Any = None,
    categories: str = "reference",
    identifier: str | None = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    layer: str | None = None,
    use_rep: str | None = None,
    image_folder: str | PathLike[str] | None = None,
    keep_trivial: bool = False,
    random_state: int | None = 0,
    client: Any = None,
    dry_run: Literal[False] = False,
    **options: Any,
) -> Views: ...
def find_views(
    data: Any,
    *,
    rows: Any = None,
    given: Any = None,
    n_views: int | str = "auto",
    n_clusters: Any = "auto",
    features: Any = None,
    exclude: Any = None,
    categories: str = "reference",
    identifier: str | None = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    layer: str | None = None,
    use_rep: str | None = None,
    image_folder: str | PathLike[str] | None = None,
    keep_trivial: bool = False,
    random_state: int | None = 0,
    client: Any = None,
    dry_run: bool = False,
    **options: Any,
) -> Views | Roles:
    """Find other groupings of a table: good, different from what is given, and explained.

    Parameters
    ----------
    data : data frame, dict of columns, array, sparse matrix (n, d), AnnData or path
        The table, data frames of pandas, polars, Arrow or dask. Of named columns, numbers are
        features, and those that look like labels are compared with what is found; of an array,
        all are. A column whose cells are lists of equal length, as embeddings are, is taken apart
        into features ``name[0]``, ``name[1]``, ..., and the other columns only describe the rows.
        Texts and image files named in a column are shown with the groups. A Parquet, Arrow or NPY
        file is never read as a whole, so that it may be larger than memory, nor are several
        Parquet files: a folder, a pattern such as ``data/*.parquet``, or an address that fsspec
        opens. Nor are a dask data frame and a dask
        array: their views are those of up to 20,000 rows, drawn by their content, and ``assign``
        and ``predict`` label all rows where they are. The columns of ``obs`` of AnnData are
        references.
    rows : data frame, dict of columns or path, optional
        What is known of each row of ``data`` beside its features, such as embeddings: names,
        labels, texts, paths of images. Its columns are no features, and can be named in ``given``
        and ``identifier``; all columns of ``data`` are features then.
    given : column name, list of names, labels (n,), labelings (n, m) or list of labelings
        What is known already. Named columns are taken out of the features. Labels in pandas are
        matched with the rows of a pandas data frame by their index.
    n_views : int or "auto", default="auto"
        Number of views; "auto" stops when the next one is no better than chance.
    n_clusters : int, list of int, (int, int) or "auto", default="auto"
        Number of clusters: of all views, of each (a list), or chosen: from a range if a tuple of
        two, the least and the most, is passed.
    features : column name or list of names, optional
        The features, whatever they look like; by default what looks like measurements.
    exclude : column name or list of names, optional
        Columns that are no features.
    categories : {"reference", "use"}, default="reference"
        Columns that look like labels (text, truth values and numbers of few values) are only
        compared with what is found, or used as features. Where there are measurements, they
        then become latent scores (:mod:`multifacet.frames.latent`), since the gaps between
        their values would stand before everything else.
    identifier : column name, optional
        Column that names the rows.
    standardize : bool or "auto", default="auto"
        Scale every feature to mean 0 and standard deviation 1. "auto" does so unless the values
        show that all are on one scale, and how much each varies is information: counts and
        frequencies, pixels and ratings, principal components. Those are centred and keep their
        scales relative to each other; a warning says so and why.
    missing : {"error", "impute", "drop"}, default="error"
        What to do with missing values: name them and stop, fill in medians and most frequent
        values, or drop the rows. Rows without a given label are dropped in both cases. Columns
        that are no features may lack what they like.
    layer, use_rep : str, optional
        Of AnnData, the layer in place of X, or the representation in ``obsm`` in place of
        variables. By default, more than 100 variables go through principal components, those in
        ``obsm["X_pca"]`` if there are any; ``use_rep="X"`` takes the variables themselves.
    image_folder : str or path, optional
        Where image files (PNG, JPEG, GIF, WebP) that a column names are looked for; none outside
        is read. By default the folder of the file if ``rows`` or ``data`` is one, otherwise the
        working directory, or anywhere if the path is complete.
    keep_trivial : bool, default=False
        Keep views that only repeat features of few values (:attr:`View.repeats`), after all
        others. Otherwise the search goes on beside them, and they are left out if it finds more.
    random_state : int or None, default=0
        Seed.
    client : distributed.Client or str, optional
        Where dask collections are computed, or the address of a scheduler; by default the current
        client, or threads. With a client, Parquet files are read by the workers, as a dask data
        frame would be.
    dry_run : bool, default=False
        Return what the columns would be used for, and search for nothing.
    **options
        Further parameters of :class:`ViewFinder`, such as a ``checkpoint`` for a long search.

    Returns
    -------
    Views
        Print it, iterate over it, or call ``table``, ``plot``, ``report`` and ``save``. ``assign``
        puts the labels into the table, ``predict`` tells the groups of new rows. With ``dry_run``,
        the :class:`multifacet.frames.Roles` of the columns.

    Examples
    --------
    >>> from multifacet import find_views
    >>> from multifacet.datasets import load_penguins
    >>> measurements, known = load_penguins(as_frame=True)
    >>> penguins = measurements.assign(species=known["species"])
    >>> views = find_views(penguins, given="species", n_views=1, n_refits=0)
    >>> views[0].labels.shape
    (333,)
    >>> print(find_views(measurements.join(known), given="species", dry_run=True))
    333 rows, 6 columns
      given      species            3 values
      feature    bill_length_mm     numbers
      feature    bill_depth_mm      numbers
      feature    flipper_length_mm  numbers
      feature    body_mass_g        numbers
      reference  sex                2 values  few values
    """
    _refuse_unknown(options)
    for k in [] if isinstance(n_clusters, str) else np.atleast_1d(n_clusters).tolist():
        check_count("n_clusters", k, low=2)
    if client is not None and isinstance(data, str | PathLike):
        data = open_partitions(data)
    image_folder = image_folder or _folder_of(data if rows is None else rows)
    data, features, cells = _as_table(data, features, layer, use_rep)
    if rows is not None:
        _refuse_rows(data, cells)
        rows = read_path(rows) if isinstance(rows, str | PathLike) else rows
        data, given = described(data, rows), aligned(given, rows)
    columns = {
        "given": given,
        "features": features,
        "exclude": exclude,
        "categories": categories,
        "identifier": identifier,
    }
    with on_cluster(client, data):
        if dry_run:
            return (partition_roles if is_dask(data) else decide_roles)(data, **columns)
        prepared = (prepare_partitions if is_dask(data) else prepare)(
            data, **columns, standardize=standardize, missing=missing, latent=True
        )
    prepared = replace(prepared, shown=replace(prepared.shown, folder=image_folder))
    finder = ViewFinder(n_views, n_clusters, random_state=random_state, **options)
    return replace(views_of(prepared, finder, keep_trivial=keep_trivial), cells=cells)


def views_of(prepared: Prepared, finder: ViewFinder, *, keep_trivial: bool = True) -> Views:
    """Return the views that a finder finds in a table, in the terms of the table.

    Parameters
    ----------
    prepared : Prepared
        The table, as :func:`multifacet.frames.prepare` returns it.
    finder : ViewFinder
        How to search; it is fitted.
    keep_trivial : bool, default=True
        Keep views that only repeat features, after all others.

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
    check_labelings(prepared.given or None, prepared.X.shape[0], prepared.given_names)
    looked_at = prepared.excerpt()
    known = check_labelings(looked_at.given or None, looked_at.X.shape[0], prepared.given_names)
    views = _fitted(looked_at, finder, known)
    rejected = finder.rejected_
    if not keep_trivial:
        views = _beyond_features(looked_at, finder, known, views)
    views = _trivial_last(views, keep_trivial)
    seen = _numbered(prepared, [*views, *([] if rejected is None else [rejected])])
    if prepared.drawn is not None:
        seen = [view.told(prepared.X, prepared.drawn) for view in seen]
        seen = [*_readable(prepared, seen[: len(views)]), *seen[len(views) :]]
    return _told(prepared, finder, seen[: len(views)], seen[-1] if rejected is not None else None)


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
    return _told(prepared, finder, _readable(prepared, found), rejected)


def _told(
    prepared: Prepared, finder: ViewFinder, views: list[View], rejected: View | None
) -> Views:
    """Return views that are in the terms of their table, with what novelty costs."""
    looked_at = prepared.excerpt()
    known = check_labelings(looked_at.given or None, looked_at.X.shape[0], prepared.given_names)
    path = None
    if known and views and as_method(finder.method).has_frontier:
        announce(finder.verbose, "frontier")
        first = views[0]
        path, notes = attempt(
            "What novelty costs in quality",
            lambda: frontier(
                looked_at.X,
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
        None if rejected is None else _readable(prepared, [rejected])[0],
        finder.significance,
        prepared.references,
        prepared.roles,
    )


def _numbered(prepared: Prepared, views: Sequence[View]) -> list[View]:
    """Return views with numbers in their order, without those of columns: earlier views."""
    taken = {*prepared.given_names, *prepared.references}
    free = (name for name in map("view {}".format, count(1)) if name not in taken)
    return [view.renamed(name) for view, name in zip(views, free, strict=False)]


def _readable(prepared: Prepared, views: Sequence[View]) -> list[View]:
    """Return views in the terms of their table."""
    told = [view.readable(prepared.X, prepared.encoding, prepared.index) for view in views]
    return [with_gallery(view, prepared.shown, prepared.index) for view in told]


def _fitted(
    prepared: Prepared, finder: ViewFinder, known: list[Array], used: Array | None = None
) -> list[View]:
    """Search beside what is known, in all or some features; return readable views."""
    if used is None or used.all():
        finder.fit(prepared.X, given=known or None)
        return _readable(prepared, finder.views_)
    finder.fit(prepared.X[:, np.flatnonzero(used)], given=known or None)
    return _readable(prepared, [_in_all_features(view, used) for view in finder.views_])


def _in_all_features(view: View, used: Array) -> View:
    """Return a view that was found in some features as one of all of them."""

    def widened(part: Array) -> Array:
        wide = np.zeros((*part.shape[:-1], len(used)), dtype=part.dtype)
        wide[..., used] = part
        return wide

    return replace(
        view,
        components=widened(view.components),
        feature_weights=widened(view.feature_weights),
        mean=None if view.mean is None else widened(view.mean),
        landmarks=None if view.landmarks is None else widened(view.landmarks),
    )


def _beyond_features(
    prepared: Prepared, finder: ViewFinder, known: list[Array], views: list[View]
) -> list[View]:
    """Search on beside views that only repeat a feature, until there are enough that do not.

    Who has the column knows it, so the next search looks at all columns that do not tell the same
    by themselves. If those that are left do so together, it avoids what they tell.
    """
    wanted = finder.n_views if isinstance(finder.n_views, int) else 1
    # Not as a clone, which copies what listens to progress. The checkpoint is of the first search.
    again = ViewFinder(**(finder.get_params(deep=False) | {"checkpoint": None}))
    found, used = list(views), np.ones(prepared.X.shape[1], dtype=bool)
    for _ in range(MOST_SEARCHES - 1):
        trivial = [view for view in found if view.repeats]
        if not trivial or sum(not view.repeats for view in found) >= wanted:
            break
        left = used & ~_telling(prepared, trivial)
        if (left == used).all():
            known = [*known, *(view.labels for view in trivial)]
        used = left
        if not used.any() or not (issparse(prepared.X) or isinstance(prepared.X, np.ndarray)):
            break
        found = _fitted(prepared, again, known, used)
    if found == views or all(view.repeats for view in found):
        return views
    _warn_of_trivial([view for view in views if view.repeats], len(views) + len(found))
    return found


def _telling(prepared: Prepared, trivial: list[View]) -> Array:
    """Mark the features (d,) of the columns that views repeat, and of others that say the same."""
    encoding = prepared.encoding
    X, names = encoding.plain(prepared.X), set()
    for view in trivial:
        names |= {*view.repeats}
        names |= {*telling_columns(view.labels, view.explanation.strength, X, encoding)}
    marked = np.zeros(X.shape[1], dtype=bool)
    marked[[j for column in encoding.columns if column.name in names for j in column.features]] = 1
    return marked


def _trivial_last(views: list[View], keep: bool) -> list[View]:
    """Return views in their order, those that only repeat features at the end or not at all."""
    real = [view for view in views if not view.repeats]
    trivial = [view for view in views if view.repeats]
    if not (real and trivial):
        return views
    if keep:
        return [*real, *trivial]
    _warn_of_trivial(trivial, len(views))
    return real


def _warn_of_trivial(trivial: list[View], count: int) -> None:
    """Say how many of all views are left out, and which columns they repeat."""
    names = listing(list(dict.fromkeys(name for view in trivial for name in view.repeats)))
    message = f"left out {len(trivial)} of {count} views, which only repeat {names}"
    warnings.warn(f"{message} (keep_trivial=True keeps them)", UserWarning, stacklevel=4)


def _as_table(
    data: Any, features: Any, layer: str | None, use_rep: str | None
) -> tuple[Any, Any, Representation | None]:
    """Return data and features; of annotated data, a data frame, and where its features are."""
    data = read_path(data) if isinstance(data, str | PathLike) else data
    if is_annotated(data):
        cells, note = choose_representation(data, layer, use_rep, features)
        if note:
            warnings.warn(InputWarning(note), stacklevel=3)
        pd = need("pandas", "anndata", "AnnData")
        features = pd.DataFrame(cells.columns(data), index=data.obs_names)
        return pd.concat([features, data.obs], axis=1), cells.names, cells
    for name, value in (("layer", layer), ("use_rep", use_rep)):
        if value is not None:
            raise ArgumentError(Argument.of(name, value), " is for AnnData: leave it out")
    return data, features, None


def _refuse_rows(data: Any, cells: Representation | None) -> None:
    """Raise if columns that describe rows cannot be put beside data."""
    if is_dask(data):
        raise ValueError("rows is for data in memory or in a file: join its columns to data")
    if cells is not None:
        raise ValueError("rows is for data without columns of its own: put its columns into obs")


def _folder_of(data: Any) -> str | None:
    """Return the folder of a file; None of anything else, or of what is elsewhere."""
    if not isinstance(data, str | PathLike) or "://" in fspath(data):
        return None
    path = Path(data)
    return str(path if path.is_dir() else path.parent)


def _refuse_unknown(options: dict[str, Any]) -> None:
    """Raise for options that nobody knows, with the name that was perhaps meant."""
    own = [p.name for p in signature(find_views).parameters.values() if p.kind is p.KEYWORD_ONLY]
    known = {*own, *ViewFinder().get_params()}
    unknown = sorted(set(options) - known)
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        meant = f": did you mean {close[0]}?" if close else ""
        raise TypeError(f"find_views has no option {', '.join(unknown)}{meant}")
