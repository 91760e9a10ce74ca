"""Samples of rows that are chosen by their content, from memory or from partitions in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..content import DRAWN, Drawn, draw, join
from .blocks import FOLD, chunk_rows
from .cluster import gathered

T = TypeVar("T")


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

    Returns
    -------
    Drawn
        With positions in X as places, in a single partition.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.engines.contents import sampled_here
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> bool((sampled_here(X, 5).rows == sampled_here(X[::-1], 5).rows).all())
    True
    """
    n, step = X.shape[0], chunk_rows(*X.shape)  # as rows in chunks are cut
    drawn = draw(X[:step], 0, size)
    for number, start in enumerate(range(step, n, step), start=1):
        drawn = join([drawn, draw(X[start : start + step], number, size)], size)
    positions = drawn.places @ [step, 1]
    return Drawn(drawn.keys, drawn.rows, np.column_stack([np.zeros_like(positions), positions]))


def tree(function: Callable[[list[T]], T], nodes: Sequence[Any]) -> Any:
    """Return the node that joins others, in groups, these in groups, and so on."""
    from dask import delayed

    nodes = list(nodes)
    join_some = delayed(function)
    while len(nodes) > 1:
        nodes = [join_some(nodes[i : i + FOLD]) for i in range(0, len(nodes), FOLD)]
    return nodes[0]
