"""The Palmer penguins: one table, two groupings (species and sex).

Collected by Kristen Gorman and the Palmer Station, Antarctica LTER, and made available by Horst,
Hill and Gorman (2020), palmerpenguins, doi:10.5281/zenodo.3960218, under CC0. Shipped here are
the 333 rows without missing values and the four measurements.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any, Literal, overload

import numpy as np

from ..linalg import Array

LABELS = ("species", "sex")
FEATURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


@overload
def load_penguins(*, as_frame: Literal[False] = False) -> tuple[Array, Array]: ...
@overload
def load_penguins(*, as_frame: Literal[True]) -> tuple[Any, Any]: ...
@overload
def load_penguins(*, as_dict: Literal[True]) -> dict[str, Array]: ...
def load_penguins(*, as_frame: bool = False, as_dict: bool = False) -> Any:
    """Return the measurements of 333 penguins and their species and sex.

    Parameters
    ----------
    as_frame : bool, default=False
        Return pandas data frames with names (pandas must be installed).
    as_dict : bool, default=False
        Return one dict of columns, measurements and labels alike, which needs no pandas.

    Returns
    -------
    X : array or DataFrame of shape (333, 4)
        Columns bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g; not scaled.
    labelings : array of str or DataFrame of shape (333, 2)
        Species (3 values) and sex (2 values).

    Examples
    --------
    >>> from multifacet.datasets import load_penguins
    >>> X, labelings = load_penguins()
    >>> X.shape, sorted(set(labelings[:, 1].tolist()))
    ((333, 4), ['female', 'male'])
    >>> list(load_penguins(as_dict=True))
    ['bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g', 'species', 'sex']
    """
    text = files(__package__).joinpath("penguins.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    labelings = np.array([[row[name] for name in LABELS] for row in rows])
    X = np.array([[float(row[name]) for name in FEATURES] for row in rows])
    if as_dict:
        return dict(zip(FEATURES + LABELS, [*X.T, *labelings.T], strict=True))
    if not as_frame:
        return X, labelings
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'as_frame=True needs pandas: pip install "multifacet[pandas]", or use as_dict=True'
        ) from error
    return pd.DataFrame(X, columns=list(FEATURES)), pd.DataFrame(labelings, columns=list(LABELS))
