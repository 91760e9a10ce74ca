"""Tables in partitions: a sample to search in, and an encoding learnt from all rows, in one pass.

What counts values is exact: categories, means, spreads, missing cells. What needs all values at
once comes from the sample: medians, and the quantiles behind ``standardize="auto"``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..engines.base import is_dask
from ..engines.cluster import gathered
from ..engines.contents import tree
from ..frames import MAX_CATEGORIES, Encoding, Prepared, Roles, prepare
from ..frames.encoding import Column
from ..frames.notes import InputError, InputWarning, Note
from ..frames.preparation import decide_roles
from ..frames.scaling import ONE_SCALE, are_uncorrelated, look_like_components, products
from ..linalg import Array
from .survey import ColumnSummary, MatrixSummary, Survey, parts_of, survey

#: Column in which labels travel with the rows.
LABELS = "__given_{}__"
#: Spreads up to this share of the mean are rounding.
ROUNDING = 10 * float(np.finfo(float).eps)


def prepare_partitions(
    data: Any,
    *,
    given: Any = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    latent: bool = False,
    **said: Any,
) -> Prepared:
    """Do as :func:`multifacet.frames.prepare`, but with a sample of a table in partitions.

    Parameters
    ----------
    data : dask data frame or dask array of shape (n, d)
        The table.
    given, standardize, missing, latent : object
        As in :func:`multifacet.frames.prepare`; labels may be dask series or arrays as well.
    **said
        Its ``features``, ``exclude``, ``categories`` and ``identifier``.

    Returns
    -------
    Prepared
        Features of up to 20,000 rows, drawn by their content, and the encoding of all.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from multifacet.tables.partitions import prepare_partitions
    >>> birds = dd.from_pandas(pd.DataFrame({"mass": [1, 3, 2, 4], "sex": list("fmmf")}))
    >>> prepared = prepare_partitions(birds, categories="use", standardize=True)
    >>> prepared.encoding.mean.tolist(), prepared.X.shape
    ([2.5, 0.5], (4, 2))
    """
    found, sample, known, labels = _surveyed(data, given)
    features = decide_roles(sample, given=known, **said).features
    _refuse_bad_cells(found, labels, {*features}, missing)
    how: dict[str, Any] = {"standardize": standardize, "missing": missing, "latent": latent}
    base = prepare(sample, given=known, **how, **said)
    if found.matrix is None:
        encoding = _completed(base.encoding, found.columns)
    else:
        encoding = _completed_matrix(base.encoding, found.matrix)
    rows = sample.iloc[base.rows] if hasattr(sample, "iloc") else sample[base.rows]
    roles, X = _of_all_rows(base.roles, found), encoding.transform(rows)
    if _are_components(data, encoding, X, found):
        encoding = encoding.on_one_scale("components")
        X = encoding.transform(rows)
        for note in encoding.notes:
            warnings.warn(InputWarning(note), stacklevel=2)
    return replace(base, X=X, encoding=encoding, roles=roles)


def partition_roles(data: Any, *, given: Any = None, **said: Any) -> Roles:
    """Return what :func:`prepare_partitions` would take the columns for, told from its sample.

    Parameters
    ----------
    data, given, **said : object
        As in :func:`prepare_partitions`.
    """
    found, sample, known, _ = _surveyed(data, given)
    return _of_all_rows(decide_roles(sample, given=known, **said), found)


def _surveyed(data: Any, given: Any) -> tuple[Survey, Any, Any, set[str]]:
    """Return the survey, its sample, what is given there, and the columns that hold labels."""
    data, given, carried = _with_labels(data, given)
    found = survey(data, beside=carried)
    n_rows = sum(found.sizes)
    if n_rows < 2:
        raise ValueError(f"data has too few rows ({n_rows}): at least 2 are needed")
    sample = found.drawn.rows
    if carried:
        known = [np.asarray(sample[name]) for name in carried]
        return found, sample.drop(columns=carried), known, {*carried}
    known = _sampled_labels(given, found)
    return found, sample, known, {*_names(known)}


def _of_all_rows(roles: Roles, found: Survey) -> Roles:
    """Return roles that a sample tells with the numbers of rows and of missing cells of all."""
    absent = {name: one.n_rows - one.n_present for name, one in found.columns.items()}
    columns = [replace(column, missing=absent.get(column.name, 0)) for column in roles.columns]
    return replace(roles, columns=columns, n_rows=sum(found.sizes))


def _with_labels(data: Any, given: Any) -> tuple[Any, Any, list[str]]:
    """Return data with labels in partitions as further columns, what else is given, their names."""
    several = given if isinstance(given, list | tuple) else [given]
    if not any(is_dask(one) for one in several):
        return data, given, []
    if not (hasattr(data, "columns") and all(is_dask(one) for one in several)):
        raise ValueError(
            "given is in chunks: pass names of columns of a dask data frame, dask series of the "
            "same partitions, or labels in memory"
        )
    columns = {LABELS.format(i): one for i, one in enumerate(several)}
    return data.assign(**columns), None, list(columns)


def _names(columns: Any) -> list[str]:
    """Return names of columns, none if labels are passed in their place."""
    if isinstance(columns, str):
        return [columns]
    listed = isinstance(columns, list | tuple) and all(isinstance(one, str) for one in columns)
    return list(columns) if listed else []


def _sampled_labels(given: Any, found: Survey) -> Any:
    """Return labels in memory of the rows that were drawn; names of columns stay names."""
    names = _names(given)
    if given is None or (names and all(name in found.columns for name in names)):
        return given
    positions, n_rows = found.drawn.positions(found.sizes), sum(found.sizes)
    if names and len(names) != n_rows:
        return given  # which is said to be no column
    if isinstance(given, list | tuple) and np.ndim(given[0]) > 0:
        return [_taken_labels(one, positions, n_rows) for one in given]
    return _taken_labels(given, positions, n_rows)


def _taken_labels(labels: Any, positions: Array, n_rows: int) -> Any:
    if len(labels) != n_rows:
        raise ValueError(f"given has {len(labels)} labels for {n_rows} rows")
    return np.asarray(labels)[positions]


def _refuse_bad_cells(found: Survey, labels: set[str], features: set[str], missing: str) -> None:
    """Raise for infinite values, and for missing ones that are not allowed, in any partition."""
    if found.matrix is not None and found.matrix.bad is not None:
        row, column = found.matrix.bad
        fact = f"column {column} has a value in row {row} that is missing or infinite"
        raise ValueError(f"{fact}: drop such rows of sparse chunks first; both are counted from 0")
    for name in (name for name in found.columns if name in features | labels):
        one = found.columns[name]
        absent = one.n_rows - one.n_present
        kinds: list[tuple[str, list[int], int, Any]] = []
        if name in features:
            kinds.append(("infinite", one.infinite, len(one.infinite), "replace"))
        if missing == "error":
            remedy = "label or drop" if name in labels else "impute or drop"
            kinds.append(("missing", one.missing, absent, remedy))
        for what, rows, count, remedy in kinds:
            if rows:
                plural = "s" * (count > 1)
                shown = ", ".join(map(str, rows)) + ", ..." * (count > len(rows))
                fact = f"column {name!r} has {what} values in row{plural} {shown}: "
                raise InputError(Note(fact, remedy, after="; rows are counted from 0"))


def _are_components(data: Any, encoding: Encoding, X: Array, found: Survey) -> bool:
    """Tell whether columns are uncorrelated in all rows, to so many digits that someone made it so.

    A sample cannot show that, but that they are not; only otherwise all rows are read once more.
    """
    if encoding.scaling != "units" or found.matrix is not None:
        return False
    columns = [found.columns[one.name] for one in encoding.columns if one.features]
    if any(one.n_present < one.n_rows for one in columns):
        return False
    n_rows = sum(found.sizes)
    if not look_like_components(X, encoding.mean, encoding.scale, n_rows):
        return False
    from dask import delayed

    multiply = delayed(partial(_products, encoding=encoding))
    gram = gathered(tree(_added, [multiply(part) for part in parts_of(data)]))
    return are_uncorrelated(gram, n_rows)


def _products(part: Any, encoding: Encoding) -> Array:
    """Return X'X (d, d) of the features of a partition."""
    d = len(encoding.feature_names)
    return products(encoding.transform(part)) if part.shape[0] else np.zeros((d, d))


def _added(parts: list[Array]) -> Array:
    return np.sum(parts, axis=0)


def _completed(encoding: Encoding, columns: dict[str, ColumnSummary]) -> Encoding:
    """Return an encoding of a sample with the categories, means and spreads of all rows."""
    described: list[Column] = []
    names: list[str] = []
    mean: list[float] = []
    scale: list[float] = []
    for column in encoding.columns:
        if not column.features:
            described.append(column)
            continue
        column, centre, spread = _described(column, columns[column.name])
        first = len(names)
        names += [f"{column.name}={v}" for v in column.categories[-len(spread) :]] or [column.name]
        mean.extend(centre)
        scale.extend(spread * np.sqrt(len(spread)))
        described.append(replace(column, features=list(range(first, len(names)))))
    full = replace(
        encoding,
        columns=described, feature_names=names, mean=np.array(mean), scale=np.array(scale),
    )  # fmt: skip
    if encoding.scaling in ONE_SCALE:
        return full.on_one_scale(encoding.scaling)
    if encoding.scaling == "told" and not encoding.mean.any() and (encoding.scale == 1).all():
        return replace(full, mean=np.zeros(len(names)), scale=np.ones(len(names)))
    return full


def _completed_matrix(encoding: Encoding, known: MatrixSummary) -> Encoding:
    """Return an encoding of a sparse sample with the spreads of all rows; zeros stay zeros."""
    spread = np.sqrt(known.squares / known.n_rows)
    varying = np.flatnonzero(spread > ROUNDING * np.abs(known.mean))
    columns = [replace(column, features=[]) for column in encoding.columns]
    for place, j in enumerate(varying):
        columns[j] = replace(columns[j], features=[place])
    full = replace(
        encoding,
        columns=columns, feature_names=[columns[j].name for j in varying],
        mean=np.zeros(len(varying)), scale=spread[varying],
    )  # fmt: skip
    if encoding.scaling in ONE_SCALE:
        return full.on_one_scale(encoding.scaling)
    plain = encoding.scaling == "told" and bool((encoding.scale == 1).all())
    return replace(full, scale=np.ones(len(varying))) if plain else full


def _described(column: Column, known: ColumnSummary) -> tuple[Column, Array, Array]:
    """Return a column with what all rows tell of it, and means and spreads of its features."""
    place = f"column {column.name!r}"
    if column.kind != "category":
        if not known.numeric:
            raise ValueError(
                f"{place} holds numbers in some rows and text in others: convert it, or leave it "
                "out"
            )
        known = known if column.fill is None else known.filled(float(column.fill))
        spread = np.sqrt(known.squares / known.n_present)
        return column, np.array([known.mean]), np.array([spread])
    if "number" in known.kinds or "boolean" in known.kinds:
        raise ValueError(
            f"{place} holds text in some partitions and numbers in others: convert it, or leave "
            "it out"
        )
    counts = known.counts
    if counts is None or len(counts) > MAX_CATEGORIES:
        many = f"more than {MAX_CATEGORIES if counts is None else len(counts) - 1}"
        raise InputError(
            Note(
                f"{place} has {many} different values: group them, or ", "left out", (column.name,)
            )
        )
    categories = [value for value in known.order or sorted(counts) if value in counts]
    fill, n = None, known.n_present
    if column.fill is not None:
        fill, n = max(categories, key=counts.__getitem__), known.n_rows
        counts = counts + Counter({fill: n - known.n_present})
    shares = np.array([counts[value] / n for value in categories])
    filled = replace(column, categories=categories, fill=fill)
    if column.shares:
        levels = [0.0, 1.0] if len(categories) == 2 else []
        filled = replace(filled, levels=levels, shares=shares.tolist())
    shares = shares[1:] if len(categories) == 2 else shares
    return filled, shares, np.sqrt(shares * (1 - shares))
