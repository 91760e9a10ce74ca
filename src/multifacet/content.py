"""Rows that are chosen by what they hold: the same ones however a table comes.

Every row has a key, a hash of its values, and the rows of the smallest keys are drawn. So rows need
neither numbers nor an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack

from .linalg import Array

#: Rows of a sample.
DRAWN = 20_000
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

    def positions(self, sizes: Sequence[int]) -> Array:
        """Return the positions (m,) of the rows among all, for partitions of these sizes."""
        first = np.concatenate([[0], np.cumsum(sizes)])
        return first[self.places[:, 0]] + self.places[:, 1]


def draw(part: Any, number: int, size: int, keys: Array | None = None) -> Drawn:
    """Return the rows that a partition, a table of any kind, contributes to a sample.

    Their keys are passed unless it is an array or a CSR matrix.
    """
    keys = _parted_keys(row_keys(part) if keys is None else keys, number)
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


def row_keys(part: Any) -> Array:
    """Return a key (n,) for each row of an array or a CSR matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.content import row_keys
    >>> X = np.random.default_rng(0).standard_normal((5, 2))
    >>> bool((row_keys(X)[::-1] == row_keys(X[::-1])).all())
    True
    """
    if issparse(part):  # values times random numbers, added up in the order of the columns
        rng = np.random.default_rng(0)
        told = part.tocsr().astype(float) @ rng.standard_normal((part.shape[1], 2))
    else:
        told = np.asarray(part, dtype=float)
    return column_keys(told.T, len(told))


def column_keys(columns: Iterable[Array], n: int) -> Array:
    """Return a key (n,) for each row of columns (n,) of numbers or texts.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.content import column_keys, row_keys
    >>> X = np.random.default_rng(0).standard_normal((5, 2))
    >>> bool((column_keys(X.T, 5) == row_keys(X)).all())
    True
    """
    keys = np.zeros(n, dtype=np.uint64)
    for column in columns:
        bits = _bits_of_texts(column) if column.dtype == object else _bits_of_numbers(column)
        keys = _mixed(keys * _FACTORS[0] + _mixed(bits))
    return keys


def _bits_of_numbers(column: Array) -> Array:
    numbers = column.astype(float) + 0.0  # with one zero, and one that is missing
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)


def _bits_of_texts(column: Array) -> Array:
    values = column.tolist()
    known = {
        text: int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest())
        for text in set(values)
    }
    return np.fromiter((known[text] for text in values), dtype=np.uint64, count=len(values))


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
