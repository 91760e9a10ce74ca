"""Settings of a supervised reduction, chosen by how well held-out rows are predicted.

On a sample of the rows, W is learned on all folds but one, and the rows of that one are predicted
from their nearest neighbours in the subspace. Bandwidths are visited from wide to narrow, each W
beginning where the last one ended: at a wide bandwidth the objective has few optima, and what they
lead to is followed from there.

The other setting is *whitening*: how far rows are stretched to spread evenly within a class before
W is looked for. HSIC prefers directions along which rows spread widely, be it between classes or
within them; whitening takes out the latter, as linear discriminant analysis does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..documents import SettingDict
from ..linalg import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class HeldOutPlan:
    """Every constant of the choice.

    Attributes
    ----------
    rows, wide_rows, rows_per_class : int
        Rows of the sample, of one with more features than ``rows``, and as many of each class at
        least, if there are so many.
    even_part : int
        Each class also has at least the ``even_part``-th part of what it would have if all classes
        were of one size. Of two rows in a hundred too few would be left to be held out.
    folds, predictions : int
        Folds of the sample; they are drawn twice if fewer rows than ``predictions`` are held out.
    whitening : tuple of float
        Shares that are compared.
    widest, step, points : float, float, int
        Bandwidths: the first one in units of the typical distance at the start, the factor to the
        next one, and their number.
    first_steps, steps, tol : int, int, float
        Steps of W at the first and at each other bandwidth, and the residual at which it rests.
    neighbours, rows_per_neighbour : int
        Neighbours that predict a row, fewer in small samples.
    behind, patience : float, int
        A path ends after so many settings that are behind the best by so many standard errors.
    approach : int
        Bandwidths before the last one, on a path that ends on more rows than the sample.
    dimensions : tuple of int
        Numbers of dimensions that are compared.
    """

    rows: int = 600
    wide_rows: int = 300
    rows_per_class: int = 12
    even_part: int = 3
    folds: int = 3
    predictions: int = 500
    whitening: tuple[float, ...] = (0.0, 0.7, 0.95)
    widest: float = 2.0
    step: float = 2**-0.5
    points: int = 11
    first_steps: int = 20
    steps: int = 10
    tol: float = 1e-3
    neighbours: int = 15
    rows_per_neighbour: int = 20
    behind: float = 2.0
    patience: int = 2
    approach: int = 2
    dimensions: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 11, 16)

    def rows_of_each(self, size: int, n_classes: int) -> int:
        """Return how many rows of each class a sample of some size has at least."""
        return max(self.rows_per_class, size // (self.even_part * n_classes))


PLAN = HeldOutPlan()


class Scored:
    """Something that was judged on the same held-out rows as others of its kind."""

    scores: Array

    def gains(self, other: Scored, errors: float) -> bool:
        """Whether this one predicts better than another by so many standard errors."""
        gain = self.scores - other.scores
        return bool(gain.mean() > errors * gain.std() / np.sqrt(len(gain)))


@dataclass(frozen=True)
class Setting(Scored):
    """One setting, and how well it predicts rows that it has not seen.

    Attributes
    ----------
    n_components : int
        Dimension of the subspace.
    whitening : float
        Share of the spread within classes that was taken out.
    bandwidth : float or None
        Bandwidth in the folds; None for kernels without one.
    score, error : float
        Mean over held-out rows, and its standard error: the share of a row's neighbours that are
        of its class, or the share of the variance of real targets that they explain.
    scores : array
        That of each held-out row, in an order that is the same for all settings.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> first = SupervisedKDR(1).fit(X, labelings[:, 0]).selection_.path[0]
    >>> first.whitening, first.score > 0.5
    (0.0, True)
    """

    n_components: int
    whitening: float
    bandwidth: float | None
    score: float
    error: float
    scores: Array = field(repr=False, compare=False)


@dataclass(frozen=True)
class HeldOutSelection:
    """What was chosen on held-out rows, and the path that led there.

    Attributes
    ----------
    path : list of Setting
        Every setting that was tried, in order.
    chosen : Setting
        The one that was taken.
    bandwidth : float or None
        Its bandwidth for all rows: they are more than in the folds, which allows a narrower one.
    rows : array of int of shape (m,)
        Rows of the data on which settings were compared.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], random_state=0)
    >>> selection = SupervisedKDR(1).fit(X, labelings[:, 0]).selection_
    >>> selection.chosen.n_components, selection.chosen.score > 0.9
    (1, True)
    """

    path: list[Setting]
    chosen: Setting
    bandwidth: float | None
    rows: Array = field(repr=False)

    def table(self) -> list[SettingDict]:
        """Return the path as rows of a table, ready for a data frame."""
        return [
            {
                "n_components": one.n_components,
                "whitening": one.whitening,
                "bandwidth": one.bandwidth,
                "score": one.score,
                "error": one.error,
            }
            for one in self.path
        ]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the path; see :func:`multifacet.plotting.plot_path`."""
        from ..plotting import plot_path

        return plot_path(self, ax=ax)

    def __str__(self) -> str:
        one = self.chosen
        dimensions = f"{one.n_components} dimension{'s' * (one.n_components > 1)}"
        width = "" if self.bandwidth is None else f", bandwidth {self.bandwidth:.3g}"
        return (
            f"{dimensions}{width}, whitening {one.whitening:g}: held-out score {one.score:.3f} "
            f"± {one.error:.3f}, chosen among {len(self.path)} settings on {len(self.rows)} rows"
        )
