"""Figures of views: groups in their subspaces, and the features behind them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..explain import Explanation
from ..linalg import Array
from .base import COLOURS, MARKERS, NAME_WIDTH, new_axes, new_figure, printed, shorten
from .paths import plot_frontier

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Axes of a view are drawn in greys, since colours stand for clusters.
GREYS = ("#333333", "#8C8C8C", "#CCCCCC")
#: More points hide each other and bloat the file.
MAX_POINTS = 5000
#: A longer legend would be larger than the picture.
MAX_LEGEND = 10


def plot_view(
    projection: Any,
    labels: Any,
    *,
    ax: Axes | None = None,
    title: str = "",
    axis_labels: Sequence[str] | None = None,
) -> Axes:
    """Draw a grouping in its own subspace.

    Parameters
    ----------
    projection : array-like of shape (n, q)
        Coordinates of the rows. One coordinate gives a stacked histogram, more give a scatter plot
        of the first two, thinned evenly to 5000 rows.
    labels : array-like of shape (n,)
        The grouping.
    ax : Axes, optional
        Where to draw; by default a new figure.
    title : str
        Title of the axes.
    axis_labels : sequence of str, optional
        Names of the coordinates.

    Returns
    -------
    Axes
        The axes; ``ax.figure.savefig(...)`` saves them.

    Examples
    --------
    >>> from multifacet.datasets import make_moons_views
    >>> from multifacet.plotting import plot_view
    >>> X, labelings = make_moons_views(100, random_state=0)
    >>> ax = plot_view(X[:, 2:], labelings[:, 1], title="moons")
    >>> ax.get_title(loc="left")
    'moons'
    """
    ax = new_axes(5.5, 4.0) if ax is None else ax
    projection = np.asarray(projection)
    values, groups = np.unique(np.asarray(labels), return_inverse=True)
    if projection.ndim != 2 or len(projection) != len(groups):
        raise ValueError(
            f"projection has shape {projection.shape}, expected ({len(groups)}, q) as there are "
            f"{len(groups)} labels"
        )
    sizes = np.bincount(groups)
    names = [f"group {value} ({size})" for value, size in zip(values, sizes, strict=True)]
    draw = _histogram if projection.shape[1] == 1 else _scatter
    draw(ax, projection, groups, [printed(name) for name in names])
    given = list(axis_labels or [])
    drawn = [*given, *(f"axis {i + 1}" for i in range(len(given), 2))]
    ax.set_xlabel(printed(drawn[0], 60))
    ax.set_ylabel("rows" if projection.shape[1] == 1 else printed(drawn[1], 60))
    ax.set_title(printed(title, 80), loc="left")
    if len(names) <= MAX_LEGEND:
        # Beside the axes: inside, it would hide points.
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        for handle in filter(None, legend.legend_handles):
            handle.set_alpha(1.0)
    return ax


def plot_loadings(
    explanation: Explanation, *, ax: Axes | None = None, max_features: int = 12
) -> Axes:
    """Draw how much of each feature is in the readable axes of a view.

    Parameters
    ----------
    explanation : Explanation
        Of the view, with d features and q rotated axes; at most three axes are drawn.
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_features : int, default=12
        Most features to show: those with the largest share in the axes drawn.

    Returns
    -------
    Axes
        Horizontal bars, one per feature and axis.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import explain
    >>> from multifacet.plotting import plot_loadings
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> ax = plot_loadings(explain(X, X[:, 0] > 0, np.eye(2, 4)))
    >>> len(ax.patches)
    8
    """
    ax = new_axes(5.0, 4.0) if ax is None else ax
    loadings = explanation.loadings[: len(GREYS)]
    q = len(loadings)
    shown = np.argsort(-(loadings**2).sum(axis=0), kind="stable")[:max_features]
    position, height = np.arange(len(shown)), 0.8 / q
    for i, (axis, grey) in enumerate(zip(loadings, GREYS, strict=False)):
        offset = (i - (q - 1) / 2) * height
        ax.barh(position + offset, axis[shown], height, color=grey, label=f"axis {i + 1}")
    ax.axvline(0.0, color="black", linewidth=0.8)
    _name_features(ax, explanation, shown, "loading")
    if q > 1:
        # Above the axes: no corner is free of bars for sure.
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=q, frameon=False)
    return ax


def plot_strength(
    explanation: Explanation, *, ax: Axes | None = None, max_features: int = 12
) -> Axes:
    """Draw how far each feature tells the groups of a view apart.

    Parameters
    ----------
    explanation : Explanation
        Of the view, with d features.
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_features : int, default=12
        Most features to show: those that tell most.

    Returns
    -------
    Axes
        Horizontal bars, one per feature.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.explain import explain
    >>> from multifacet.plotting import plot_strength
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> ax = plot_strength(explain(X, X[:, 2] > 0, np.eye(4)))
    >>> ax.get_yticklabels()[0].get_text()
    'x2'
    """
    ax = new_axes(5.0, 4.0) if ax is None else ax
    shown = np.argsort(-explanation.strength, kind="stable")[:max_features]
    ax.barh(np.arange(len(shown)), explanation.strength[shown], 0.8, color=GREYS[0])
    _name_features(ax, explanation, shown, "variance between groups")
    ax.set_xlim(0.0, 1.0)
    return ax


def plot_views(views: Sequence[Any], *, frontier: Any = None) -> Figure:
    """Draw all views in one figure: each in its subspace, beside the features behind it.

    Parameters
    ----------
    views : sequence of objects
        With attributes ``name``, ``labels`` (n,), ``components`` (q, d), ``projection`` (n, q),
        ``explanation``, and the numbers ``stability`` and ``p_value``, which may be None or NaN. A
        view without components is drawn in its embedding, beside what each feature tells.
    frontier : object, optional
        Drawn in the last row, see :func:`plot_frontier`.

    Returns
    -------
    Figure
        One row per view.

    Examples
    --------
    >>> from multifacet.plotting import plot_views
    >>> figure = plot_views([])
    >>> figure.get_suptitle()
    'no further view found'
    """
    rows = len(views) + (frontier is not None)
    figure = new_figure(11.0, 3.4 * rows or 0.6)
    if not len(views):
        figure.suptitle("no further view found")
    grid = figure.add_gridspec(max(rows, 1), 2, width_ratios=(1.25, 1.0))
    for i, view in enumerate(views):
        found, points = view.explanation, np.asarray(view.projection)
        ax, beside = (figure.add_subplot(grid[i, column]) for column in (0, 1))
        if len(view.components):
            points = points @ found.rotation.T
            names = [_axis_label(found, axis) for axis in range(len(found.loadings))]
            plot_loadings(found, ax=beside)
        else:
            names = [f"embedding {axis + 1}" for axis in range(points.shape[1])]
            plot_strength(found, ax=beside)
        plot_view(points, view.labels, ax=ax, title=_view_title(view), axis_labels=names)
    if frontier is not None:
        plot_frontier(frontier, ax=figure.add_subplot(grid[-1, :]))
    return figure


def _name_features(ax: Axes, explanation: Explanation, shown: Array, what: str) -> None:
    """Write names beside horizontal bars, the first on top, and what the bars are below."""
    ax.set_yticks(np.arange(len(shown)), [printed(explanation.feature_names[i]) for i in shown])
    ax.invert_yaxis()
    d = len(explanation.feature_names)
    ax.set_xlabel(what if len(shown) == d else f"{what} ({len(shown)} of {d} features)")


def _scatter(ax: Axes, projection: Array, groups: Array, names: list[str]) -> None:
    n = len(projection)
    rows = np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(int)
    # Crowded points show through each other, few are solid.
    alpha = min(0.85, 20 / math.sqrt(len(rows)))
    for c, name in enumerate(names):
        inside = rows[groups[rows] == c]
        ax.scatter(
            projection[inside, 0],
            projection[inside, 1],
            s=14,
            color=COLOURS[c % len(COLOURS)],
            marker=MARKERS[c // len(COLOURS) % len(MARKERS)],
            alpha=alpha,
            linewidths=0,
            label=name,
        )


def _histogram(ax: Axes, projection: Array, groups: Array, names: list[str]) -> None:
    n, k = len(projection), len(names)
    ax.hist(
        [projection[groups == c, 0] for c in range(k)],
        bins=min(50, max(10, math.isqrt(n))),
        stacked=True,
        color=[COLOURS[c % len(COLOURS)] for c in range(k)],
        label=names,
    )


def _view_title(view: Any) -> str:
    parts = [shorten(str(view.name), 40)]
    if _is_number(view.stability):
        parts.append(f"stability {view.stability:.2f}")
    if _is_number(view.p_value):
        p = view.p_value
        parts.append("p < 0.001" if p < 0.001 else f"p = {p:.2g}")
    return ", ".join(parts)


def _axis_label(explanation: Explanation, axis: int) -> str:
    """Name an axis by the two features with the largest loadings, a minus where it points down."""
    loadings = explanation.loadings[axis]
    top = np.argsort(-np.abs(loadings), kind="stable")[:2]
    # The second one is named if the axis is not mostly the first.
    top = top[np.abs(loadings[top]) >= 0.5 * np.abs(loadings[top[0]])]
    names = [shorten(explanation.feature_names[i], NAME_WIDTH) for i in top]
    signs = ["\N{MINUS SIGN}" if loadings[i] < 0 else "" for i in top]
    listed = ",\n".join(sign + name for sign, name in zip(signs, names, strict=True))
    return f"axis {axis + 1}: {listed}"


def _is_number(value: Any) -> bool:
    return value is not None and not math.isnan(value)
