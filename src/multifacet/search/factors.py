"""Two groupings whose product is one grouping of many groups.

Ten kinds in five colours are fifty groups, each where its kind and its colour put it: the means of
the groups are sums of two effects. So the way from one colour to another is the same for every
kind, and ways that occur more than once tell which groups share a kind or a colour.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln
from scipy.stats import beta

from ..linalg import Array
from ..metrics import nmi
from .judge import chance_nmi
from .nested import group_means, settled
from .plan import SearchPlan
from .residual import GroupResidual

#: Squares of the difference between two ways that count as the same, as shares of their own: wide
#: ones bear noise, narrow ones tell many groups in few dimensions apart.
SAME_WAY = (0.2, 0.1, 0.05, 0.02, 0.01)
#: Groups beyond which the ways between all pairs are too many to compare.
MOST_GROUPS = 60
#: Turns of rows after those of means.
TURNS = 2


def factors(means: Array, sizes: Array, interaction: float) -> tuple[Array, Array] | None:
    """Return two groupings (k,) of groups whose effects add up to their means, None if none do.

    Parameters
    ----------
    means : array of shape (k, r)
        Means of the groups.
    sizes : array of shape (k,)
        Rows of each.
    interaction : float
        Share of the spread between the means that the sum of both effects may leave open.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.factors import factors
    >>> rng = np.random.default_rng(0)
    >>> kinds, colours = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> means = rng.normal(size=(4, 6))[kinds] + rng.normal(size=(3, 6))[colours]
    >>> sorted(len(np.unique(one)) for one in factors(means, np.ones(12), 0.1))
    [3, 4]
    """
    k = len(means)
    if not 4 <= k <= MOST_GROUPS:
        return None
    pairs = np.column_stack(np.triu_indices(k, 1))
    for same in SAME_WAY:
        kinds = _kinds_of_ways(means, pairs, same)
        counts = np.bincount(kinds[kinds >= 0], minlength=2)
        # Those who differ in one grouping only are in one group of the other.
        one, other = (
            _joined(k, pairs[kinds == kind]) for kind in np.argsort(-counts, kind="stable")[:2]
        )
        if _is_product(means, sizes, one, other, interaction):
            return one, other
    return None


def _is_product(means: Array, sizes: Array, one: Array, other: Array, interaction: float) -> bool:
    """Whether two groupings (k,) of groups are coarser, and their effects add up."""
    numbers = int(one.max()) + 1, int(other.max()) + 1
    if not (min(numbers) > 1 and max(numbers) < len(means)):
        return False
    left = means - np.average(means, axis=0, weights=sizes)
    total = float(sizes @ (left**2).sum(axis=1))
    for groups in (one, other) * TURNS:
        left = _without(left, groups, sizes)
    return float(sizes @ (left**2).sum(axis=1)) <= interaction * total


def row_factors(points: Array, groups: Array, interaction: float) -> tuple[Array, Array] | None:
    """Return the :func:`factors` of groups (m,) of points (m, r), as groupings (m,) of rows."""
    found = factors(*group_means(points, groups), interaction)
    if found is None:
        return None
    one, other = (part[groups] for part in found)
    flat = np.ones(len(points))
    for _ in range(TURNS):
        one = settled(_without(points, other, flat), one)
        other = settled(_without(points, one, flat), other)
    return one, other


def _kinds_of_ways(means: Array, pairs: Array, share: float) -> Array:
    """Return which kind of way leads from one to the other of each pair (P, 2); -1 if it is single.

    Ways are of one kind if they are the same elsewhere, or sides of one triangle of such ways.
    """
    ways = means[pairs[:, 1]] - means[pairs[:, 0]]
    squares = (ways**2).sum(axis=1)
    products = ways @ ways.T
    # Opposite directions are the same way.
    apart = squares[:, None] + squares - 2 * np.abs(products)
    same = apart <= share * np.minimum(squares[:, None], squares)
    same &= (pairs[:, None, :, None] != pairs[None, :, None, :]).all(axis=(2, 3))
    again = same.any(axis=1)
    number = np.full((len(means), len(means)), -1)
    number[pairs[again, 0], pairs[again, 1]] = np.flatnonzero(again)
    number = np.maximum(number, number.T)
    first, second = (list(side) for side in np.nonzero(same))
    for a, b in pairs[again]:
        for c in np.flatnonzero((number[a] >= 0) & (number[b] >= 0)):
            first += [number[a, b], number[a, b]]
            second += [number[a, c], number[b, c]]
    P = len(pairs)
    links = coo_matrix((np.ones(len(first)), (first, second)), shape=(P, P))
    kinds = connected_components(links, directed=False)[1]
    kinds = np.where(again, kinds, -1)
    known = kinds >= 0
    kinds[known] = np.unique(kinds[known], return_inverse=True)[1]
    return kinds


def _joined(k: int, edges: Array) -> Array:
    """Return groups (k,) of those that edges (e, 2) connect."""
    graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(k, k))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def are_independent(a: Array, b: Array, plan: SearchPlan) -> bool:
    """Whether two groupings (n,) may be factors of a product: all of their combinations occur.

    A small group here and another one there have a low NMI although no row is in both. They are
    three groups, and no product.
    """
    counts = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(counts, (a, b), 1.0)
    usual = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(a)
    if (counts < plan.combined * usual).any():
        return False
    return nmi(a, b) <= plan.independent + chance_nmi(a, b)


def in_cells(*labelings: Array) -> Array:
    """Return which combination (n,) of the groups of labelings (n,) each row is in, from 0."""
    return np.unique(np.column_stack(labelings), axis=0, return_inverse=True)[1].ravel()


def interaction_of(points: Array, a: Array, b: Array) -> float:
    """Return the share of the spread between the cells of two labelings that their sum leaves."""
    cells = in_cells(a, b)
    between = points - GroupResidual(points, [cells]).columns(np.arange(points.shape[1]))
    left = GroupResidual(between, [a, b]).columns(np.arange(points.shape[1]))
    total = float(((between - between.mean(axis=0)) ** 2).sum())
    return float((left**2).sum()) / max(total, 1e-300)


def chance_of_product(points: Array, a: Array, b: Array) -> float:
    """Return how often groups anywhere look as much like a product as cells of two labelings do.

    The share of the spread of k = a b means that no sum explains follows a beta law if they lie
    anywhere: it has (a - 1)(b - 1) of k - 1 degrees of freedom in each direction, of which there
    are as many as the spread is even. What counts is the best of all ways to arrange k groups in a
    rows and b columns.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.search.factors import chance_of_product
    >>> a, b = np.divmod(np.arange(200) % 4, 2)
    >>> noise = np.random.default_rng(0).normal(size=(200, 2))
    >>> corners, kite = np.array([[0, 0], [9, 0], [0, 9], [9, 9]]), [[0, 0], [9, 0], [0, 9], [6, 6]]
    >>> chance_of_product(noise + corners[2 * a + b], a, b) < 0.01
    True
    >>> chance_of_product(noise + np.array(kite)[2 * a + b], a, b) > 0.1
    True
    """
    shape = int(a.max()) + 1, int(b.max()) + 1
    means, _ = group_means(points, in_cells(a, b))
    means -= means.mean(axis=0)
    squares = np.linalg.svd(means, compute_uv=False) ** 2
    total = max(float(squares.sum()), 1e-300)
    k, q = len(means), total**2 / max(float((squares**2).sum()), 1e-300)
    placed = means.reshape(*shape, -1)
    left = placed - placed.mean(axis=0) - placed.mean(axis=1, keepdims=True)
    free = (shape[0] - 1) * (shape[1] - 1)
    law = beta(free * q / 2, (k - 1 - free) * q / 2)
    arrangements = gammaln(k + 1) - gammaln(shape[0] + 1) - gammaln(shape[1] + 1)
    if shape[0] == shape[1]:
        arrangements -= np.log(2)
    return float(np.exp(min(arrangements + law.logcdf((left**2).sum() / total), 0.0)))


def _without(points: Array, groups: Array, sizes: Array) -> Array:
    """Return points (k, r), which count by sizes (k,), without the means of groups (k,) of them."""
    member = np.eye(int(groups.max()) + 1)[groups] * sizes[:, None]
    weights = np.maximum(member.sum(axis=0), 1e-12)
    return points - (member.T @ points / weights[:, None])[groups]
