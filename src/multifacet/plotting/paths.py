"""Figures of choices: what novelty, a setting or few features cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import COLOURS, MARKERS, annotate, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_frontier(frontier: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what novelty costs: cluster quality against dependence on what is known.

    Parameters
    ----------
    frontier : object
        With arrays ``weights``, ``quality`` and ``dependence`` of equal length (m,), and optionally
        ``chosen``, the index of the solution that was taken.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        Points joined in the order of the novelty weight, some with the weight beside them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from multifacet.plotting import plot_frontier
    >>> path = SimpleNamespace(weights=[0, 1, 2], quality=[2, 1.9, 1.5], dependence=[1, 0.3, 0.1])
    >>> len(plot_frontier(path).get_lines()[0].get_xdata())
    3
    """
    ax = new_axes(5.5, 4.0) if ax is None else ax
    weights = np.asarray(frontier.weights, dtype=float)
    order = np.argsort(weights, kind="stable")
    points = np.column_stack([frontier.dependence, frontier.quality]).astype(float)
    ax.plot(*points[order].T, "o-", color=COLOURS[0], markersize=5, linewidth=1.2)
    chosen = getattr(frontier, "chosen", None)
    if chosen is not None:
        label = f"chosen: weight {weights[chosen]:.3g}"
        ax.plot(*points[chosen], "*", color=COLOURS[1], markersize=16, label=label)
        ax.legend(loc="lower right", frameon=False)
    ax.margins(0.12)
    annotate(ax, points[order], [f"{weight:.3g}" for weight in weights[order]])
    ax.set_xlabel("dependence on what is known (less is more novel)")
    ax.set_ylabel("cluster quality")
    ax.set_title("quality and novelty, by novelty weight", loc="left")
    return ax


def plot_path(selection: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how well held-out rows are predicted along the bandwidths, one line per whitening.

    Parameters
    ----------
    selection : object
        With ``path``, settings that have ``n_components``, ``whitening``, ``bandwidth``, ``score``
        and ``error``, and ``chosen``, one of them. Only those with as many dimensions are drawn; if
        no bandwidth was chosen, the path is that of the dimensions.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        Scores with one standard error up and down, the chosen setting as a star.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.plotting import plot_path
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> ax = plot_path(SupervisedKDR(1).fit(X, labelings[:, 0]).selection_)
    >>> ax.get_xlabel()
    'bandwidth'
    """
    ax = new_axes(5.5, 4.0) if ax is None else ax
    chosen = selection.chosen
    alike = [one for one in selection.path if one.n_components == chosen.n_components]
    what = "bandwidth" if len(alike) > 1 else "n_components"
    drawn = alike if len(alike) > 1 else selection.path
    for i, share in enumerate(sorted({one.whitening for one in drawn})):
        line = sorted(
            (getattr(one, what), one.score, one.error) for one in drawn if one.whitening == share
        )
        place, score, error = np.array(line, dtype=float).T
        ax.errorbar(
            place,
            score,
            error,
            capsize=2,
            linewidth=1.2,
            markersize=4,
            color=COLOURS[i % len(COLOURS)],
            marker=MARKERS[i % len(MARKERS)],
            label=f"whitening {share:g}",
        )
    ax.plot(getattr(chosen, what), chosen.score, "*", color="black", markersize=14, label="chosen")
    if what == "bandwidth":
        _logarithmic(ax)
    ax.set_xlabel("bandwidth" if what == "bandwidth" else "dimensions")
    ax.set_ylabel("held-out score")
    ax.set_title("prediction of held-out rows", loc="left")
    ax.legend(frameon=False)
    return ax


def plot_sparsity(sparsity: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what fewer loadings cost: how well held-out rows are predicted with so many.

    Parameters
    ----------
    sparsity : object
        With ``path``, steps that have ``n_loadings``, ``n_features``, ``score`` and ``error``, and
        ``chosen``, one of them.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        Scores with one standard error up and down, and the number of features beside some of them.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.plotting import plot_sparsity
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> ax = plot_sparsity(SupervisedKDR(1, sparsity=0.01).fit(X, labelings[:, 0]).sparsity_)
    >>> ax.get_xlabel()
    'loadings that are not zero'
    """
    ax = new_axes(5.5, 4.0) if ax is None else ax
    path, chosen = sparsity.path, sparsity.chosen
    points = np.array([[one.n_loadings, one.score] for one in path], dtype=float)
    errors = [one.error for one in path]
    ax.errorbar(
        points[:, 0], points[:, 1], errors, capsize=2, marker="o", markersize=4, color=COLOURS[0]
    )
    label = f"chosen: {chosen.n_features} features"
    ax.plot(chosen.n_loadings, chosen.score, "*", color=COLOURS[1], markersize=14, label=label)
    _logarithmic(ax)
    ax.margins(0.12)
    annotate(ax, points, [str(one.n_features) for one in path])
    ax.set_xlabel("loadings that are not zero")
    ax.set_ylabel("held-out score")
    ax.set_title("the price of few features, by their number", loc="left")
    ax.legend(loc="lower right", frameon=False)
    return ax


def _logarithmic(ax: Axes) -> None:
    """Make the axis of x logarithmic, with so few plain numbers that they do not run together."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_locator(NullLocator())
