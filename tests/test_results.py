"""What a user holds afterwards: views and what can be done with them."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import Views, find_views
from multifacet.datasets import make_gaussian_views

QUICK = {"n_views": 1, "n_clusters": 2, "n_refits": 0, "n_starts": 2}


def table_with_gaps():
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    columns = dict(zip("abcd", X.T.copy(), strict=True))
    columns["a"][[3, 7]] = np.nan
    known = ["x", "y"] * 30
    known[11] = None
    return columns | {"known": known}


# Which rows


@pytest.mark.parametrize(
    ("missing", "dropped"), [("drop", [3, 7, 11]), ("impute", [11])], ids=["drop", "impute"]
)
def test_views_know_the_rows_that_they_are_about(missing, dropped, tmp_path):
    with pytest.warns(UserWarning, match="left out"):
        views = find_views(
            table_with_gaps(), given="known", missing=missing, **QUICK | {"method": "linear"}
        )
    kept = [i for i in range(60) if i not in dropped]
    assert views.rows.tolist() == views.index.tolist() == kept
    assert Views.load(views.save(tmp_path / "views")).rows.tolist() == kept


def rewritten(path, **changes):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files} | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_files_without_rows_are_read_and_wrong_rows_are_not(tmp_path):
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    path = find_views(X, **QUICK | {"method": "linear"}).save(tmp_path / "views")
    assert Views.load(rewritten(path, rows=None)).rows.tolist() == list(range(60))
    for rows in (np.arange(59), np.zeros(60, int), np.arange(60) - 1, np.arange(60.0)):
        with pytest.raises(ValueError, match=r"damaged: rows .*save the views again"):
            Views.load(rewritten(path, rows=rows))
