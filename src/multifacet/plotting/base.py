"""What all figures share: colours, axes of their own, and words that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..linalg import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, told apart by the colour-blind; the faint yellow comes late.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#000000", "#F0E442"),
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: Characters of a feature's name on an axis.
NAME_WIDTH = 24


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, of no state of pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('figures need matplotlib: pip install "multifacet[plot]"') from error
    return Figure(figsize=(width, height), layout="constrained")


def new_axes(width: float, height: float) -> Axes:
    """Return axes in a figure of their own."""
    return new_figure(width, height).add_subplot()


def annotate(ax: Axes, points: Array, words: Sequence[str]) -> None:
    """Write a word beside each point (m, 2) that is not too near to another."""
    for i in _apart(points, 0.12):
        ax.annotate(
            words[i],
            points[i],
            xytext=(7, -4),
            textcoords="offset points",
            fontsize="small",
            color="0.3",
            va="top",
        )


def _apart(points: Array, distance: float) -> list[int]:
    """Return points that keep a distance, as a share of the range: first, last, then in between."""
    scaled = (points - points.min(axis=0)) / np.maximum(np.ptp(points, axis=0), 1e-300)
    kept: list[int] = []
    for i in (0, len(points) - 1, *range(1, len(points) - 1)):
        if all(np.abs(scaled[i] - scaled[j]).max() >= distance for j in kept):
            kept.append(i)
    return kept


def printed(text: str, width: int = NAME_WIDTH) -> str:
    """Shorten for a figure, and keep dollar signs from starting a formula."""
    return shorten(str(text), width).replace("$", r"\$")


def shorten(text: str, width: int) -> str:
    """Leave out the middle: long names often differ at their ends."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"
