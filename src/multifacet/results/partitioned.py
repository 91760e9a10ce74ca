"""Groups and places of rows in partitions: told where the rows are, when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..frames import Encoding
from ..frames.table import read_table
from ..linalg import Array
from .rule import Rule
from .view import View


@dataclass(frozen=True, eq=False)
class Teller:
    """Tells groups and places of rows in some views, without the rows in which they were found.

    Attributes
    ----------
    encoding : Encoding
        How columns become features.
    views : list of View
        The views, without labels.
    rules : list of Rule
        What tells the groups of each.
    """

    encoding: Encoding
    views: list[View]
    rules: list[Rule]

    @classmethod
    def of(cls, encoding: Encoding, views: Sequence[View]) -> Teller:
        """Return what workers need to know of some views."""
        bare = [
            replace(view, labels=view.labels[:0], projection=view.projection[:0], groups=[])
            for view in views
        ]
        return cls(encoding, bare, [view.rule for view in views])

    def groups(self, part: Any) -> Array:
        """Return the groups (m, number of views) of the rows of a partition."""
        found = np.zeros((part.shape[0], len(self.views)), dtype=np.intp)
        if part.shape[0]:
            X = self._features(part)
            for j, (view, rule) in enumerate(zip(self.views, self.rules, strict=True)):
                found[:, j] = rule.predict(view.transform(X))
        return found

    def places(self, part: Any, number: int) -> Array:
        """Return where the rows of a partition lie in one of the views."""
        view = self.views[number]
        if not part.shape[0]:
            return np.zeros((0, width(view)))
        return view.transform(self._features(part)).astype(float)

    def with_labels(self, part: Any) -> Any:
        """Return a partition of a data frame with one further column for each view.

        Rows with missing cells, if those are not imputed, have missing labels.
        """
        import pandas as pd

        used = [column for column in self.encoding.columns if column.features]
        complete = np.ones(len(part), dtype=bool)
        if used[0].fill is None:
            table = read_table(part)
            for column in used:
                if column.name in table.columns:  # reading the features says which are not
                    complete &= ~table.read(column.name).missing
        groups = self.groups(part if complete.all() else part.iloc[complete])
        columns = {}
        for view, labels in zip(self.views, groups.T, strict=True):
            column = pd.array(np.zeros(len(part), dtype=np.int64), dtype="Int64")
            column[complete], column[~complete] = labels, pd.NA
            columns[view.name] = column
        return part.assign(**columns)

    def _features(self, part: Any) -> Any:
        try:
            return self.encoding.transform(part)
        except ValueError as error:  # which counts rows from the first of the partition
            begins = f"row {part.index[0]!r}" if hasattr(part, "iloc") else "such rows"
            raise ValueError(f"in the partition that begins with {begins}, {error}") from error


def width(view: View) -> int:
    """Return in how many coordinates the rows of a view lie."""
    return view.projection.shape[1]


def predicted(teller: Teller, data: Any) -> Any:
    """Return the groups of rows of a dask collection as a dask array (m, number of views)."""
    return _mapped(teller.groups, data, len(teller.views), np.intp)


def placed(teller: Teller, data: Any) -> list[Any]:
    """Return where rows of a dask collection lie in each view, as dask arrays (m, q)."""
    widths = map(width, teller.views)
    return [_mapped(partial(teller.places, number=i), data, q, float) for i, q in enumerate(widths)]


def assigned(teller: Teller, data: Any) -> Any:
    """Return a dask data frame with the labels of all views in it."""
    if not hasattr(data, "columns"):
        raise ValueError(
            f"data is a dask {type(data).__name__} without names of columns: pass a dask data "
            "frame, or use predict"
        )
    taken = [view.name for view in teller.views if view.name in data.columns]
    if taken:
        raise ValueError(f"data has a column {taken[0]!r} already: drop or rename it")
    import pandas as pd

    none = pd.array([], dtype="Int64")
    meta = data._meta.assign(**{view.name: none for view in teller.views})
    return data.map_partitions(teller.with_labels, meta=meta)


def _mapped(task: Any, data: Any, columns: int, dtype: Any) -> Any:
    """Return what a task makes of each partition: a dask array (m, columns)."""
    from ..engines.chunked import lazily

    if not hasattr(data, "columns"):
        return lazily(task, data.rechunk({1: -1}), columns, dtype)
    import pandas as pd

    meta = pd.DataFrame(np.empty((0, columns), dtype=dtype))
    return data.map_partitions(partial(_as_frame, task=task), meta=meta).to_dask_array()


def _as_frame(part: Any, task: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(task(part))
