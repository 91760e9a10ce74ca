"""A sample of rows in partitions, drawn by what they hold: the same however the data are cut.

Every row has a key, a hash of its values, and the rows of the smallest keys are drawn. So rows need
neither numbers nor an order, and one pass over the partitions draws them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse, vstack

from ..linalg import Array
from .blocks import FOLD
from .cluster import gathered

T = TypeVar("T")

#: Rows of a sample.
DRAWN = 20_000
#: Rows in memory whose keys are made at once.
BLOCK_ROWS = 65_536
#: Factors of the finaliser of splitmix64, which spreads every bit over all others.
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of the smallest keys, in the order of these.

    Attributes
    ----------
    keys : array of shape (m,)
        Their keys.
    rows : array, CSR matrix or data frame of m rows
        The rows.
    places : array of int of shape (m, 2)
        Number of the partition, and position in it.
    """

    keys: Array
    rows: Any
    places: Array

    def first(self, size: int) -> Drawn:
        """Return the rows of the smallest keys."""
        order = np.argsort(self.keys, kind="stable")[:size]
        return Drawn(self.keys[order], _taken(self.rows, order), self.places[order])


def draw(part: Any, number: int, size: int) -> Drawn:
    """Return the rows that a partition, a table of any kind, contributes to a sample."""
    keys = _parted_keys(row_keys(part), number)
    places = np.column_stack([np.full(len(keys), number), np.arange(len(keys))])
    return Drawn(keys, part, places).first(size)


def join(parts: Sequence[Drawn], size: int) -> Drawn:
    """Return the sample of several samples."""
    filled = [part for part in parts if len(part.keys)] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    keys = np.concatenate([part.keys for part in filled])
    places = np.concatenate([part.places for part in filled])
    return Drawn(keys, _stacked([part.rows for part in filled]), places).first(size)


def sampled(parts: Sequence[Any], size: int = DRAWN) -> Drawn:
    """Return the sample of partitions that are yet to be read."""
    from dask import delayed

    look = delayed(partial(draw, size=size))
    nodes = [look(part, number) for number, part in enumerate(parts)]
    return gathered(tree(partial(join, size=size), nodes))


def sampled_here(X: Any, size: int = DRAWN) -> Drawn:
    """Return the sample of rows in memory that :func:`sampled` draws from any partitions of them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The rows.
    size : int, default=20000
        How many are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines.contents import sampled_here
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> bool((sampled_here(X, 5).rows == sampled_here(X[::-1], 5).rows).all())
    True
    """
    blocks = range(0, max(X.shape[0], 1), BLOCK_ROWS)
    drawn = draw(X[:BLOCK_ROWS], 0, size)
    for number, start in enumerate(blocks[1:], start=1):
        drawn = join([drawn, draw(X[start : start + BLOCK_ROWS], number, size)], size)
    return drawn


def row_keys(part: Any) -> Array:
    """Return a key (n,) for each row of an array, a CSR matrix or a pandas data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines.contents import row_keys
    >>> X = np.random.default_rng(0).standard_normal((5, 2))
    >>> bool((row_keys(X)[::-1] == row_keys(X[::-1])).all())
    True
    """
    if hasattr(part, "iloc"):
        from pandas.util import hash_pandas_object

        return hash_pandas_object(part, index=False).to_numpy()
    if issparse(part):  # values times random numbers, added up in the order of the columns
        rng = np.random.default_rng(0)
        told = part.tocsr().astype(float) @ rng.standard_normal((part.shape[1], 2))
    else:
        told = np.asarray(part, dtype=float)
    keys = np.zeros(len(told), dtype=np.uint64)
    for column in told.T:
        bits = (column + 0.0).view(np.uint64)  # with one zero
        keys = _mixed(keys * _FACTORS[0] + _mixed(bits))
    return keys


def tree(function: Callable[[list[T]], T], nodes: Sequence[Any]) -> Any:
    """Return the node that joins others, in groups, these in groups, and so on."""
    from dask import delayed

    nodes = list(nodes)
    join_some = delayed(function)
    while len(nodes) > 1:
        nodes = [join_some(nodes[i : i + FOLD]) for i in range(0, len(nodes), FOLD)]
    return nodes[0]


def _parted_keys(keys: Array, number: int) -> Array:
    """Return keys in which rows that repeat differ: all but the first of them in a partition.

    With one key they would be drawn all or none.
    """
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))[: len(keys)]
    runs = np.diff(np.append(starts, len(keys)))
    repeats = np.arange(len(keys)) - np.repeat(starts, runs)
    told_apart = _mixed(ranked + _mixed(repeats.astype(np.uint64) * _STEP + np.uint64(number)))
    parted = np.empty_like(keys)
    parted[order] = np.where(repeats > 0, told_apart, ranked)
    return parted


def _mixed(bits: Array) -> Array:
    """Return 64 bits (n,) of which each depends on all (splitmix64)."""
    bits = bits + _STEP
    bits = (bits ^ (bits >> np.uint64(30))) * _FACTORS[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _FACTORS[1]
    return bits ^ (bits >> np.uint64(31))


def _taken(rows: Any, order: Array) -> Any:
    return rows.iloc[order] if hasattr(rows, "iloc") else rows[order]


def _stacked(parts: list[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)
