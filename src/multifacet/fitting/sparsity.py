"""What axes of few features cost in the prediction of held-out rows: the path, and the choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

from ..documents import SparseStepDict
from ..linalg import Array
from ..validation import check_choice, check_count, check_real
from ..wording import Argument, ArgumentError
from .held_out import Scored
from .sampled import Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A price that is always worth fewer features, unless someone names another.
SMALL_PRICE = 0.01


@dataclass(frozen=True)
class SparseStep(Scored):
    """Axes with so many loadings, and how well they predict rows that they have not seen.

    Attributes
    ----------
    n_loadings, n_features : int
        Loadings of all axes that are not zero, and features that have one.
    features : array of int of shape (n_features,)
        Positions of these features, among those that vary.
    score, error : float
        Mean over held-out rows and its standard error, as in :class:`Setting`.
    scores : array
        That of each held-out row.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> path = SupervisedKDR(1, sparsity="auto").fit(X, labelings[:, 0]).sparsity_.path
    >>> path[0].n_loadings, path[-1].n_loadings
    (4, 1)
    """

    n_loadings: int
    n_features: int
    features: Array = field(repr=False, compare=False)
    score: float
    error: float
    scores: Array = field(repr=False, compare=False)


@dataclass(frozen=True)
class SparsityPath:
    """What fewer loadings cost, and how many were kept.

    Attributes
    ----------
    path : list of SparseStep
        From all loadings to one per axis, or to as many as were asked for.
    chosen : SparseStep
        The one that was taken.
    n_components : int
        Number of axes.

    Examples
    --------
    >>> from multifacet import SupervisedKDR
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> sparsity = SupervisedKDR(1, sparsity="auto").fit(X, labelings[:, 0]).sparsity_
    >>> sparsity.price < 0.05
    True
    """

    path: list[SparseStep]
    chosen: SparseStep
    n_components: int

    @property
    def price(self) -> float:
        """What the held-out score loses against axes of all features; negative if it gains."""
        return self.path[0].score - self.chosen.score

    def table(self) -> list[SparseStepDict]:
        """Return the path as rows of a table, ready for a data frame."""
        return [
            {
                "n_loadings": one.n_loadings,
                "n_features": one.n_features,
                "score": one.score,
                "error": one.error,
            }
            for one in self.path
        ]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the path; see :func:`multifacet.plotting.plot_sparsity`."""
        from ..plotting import plot_sparsity

        return plot_sparsity(self, ax=ax)

    def __str__(self) -> str:
        one, dense = self.chosen, self.path[0]
        axes = f"{self.n_components} ax{'i' if self.n_components == 1 else 'e'}s"
        return (
            f"{one.n_features} of {dense.n_features} features, {one.n_loadings} of "
            f"{dense.n_loadings} loadings on {axes}: held-out score {one.score:.3f} ± "
            f"{one.error:.3f}, with all features {dense.score:.3f}"
        )


def fewest(path: list[SparseStep], allowed: float | str | int) -> int:
    """Return the position of the step with the fewest loadings that costs no more than allowed.

    "auto" allows one standard error of the difference to the best step, or 0.01 if that is more; a
    real number so much of the score with all features; and a whole number takes the last step.
    """
    if isinstance(allowed, int):
        return len(path) - 1
    if isinstance(allowed, float):
        return max(i for i, one in enumerate(path) if path[0].score - one.score <= allowed)
    best = max(path, key=lambda one: one.score)
    return max(
        i
        for i, one in enumerate(path)
        if best.score - one.score <= SMALL_PRICE or not best.gains(one, 1.0)
    )


def check_sparsity(sparsity: Any, target: Target) -> float | str | int | None:
    """Return what a user allows: a price, features per axis, "auto" or None."""
    if sparsity is None:
        return None
    if not target.can_be_held_out:
        raise ArgumentError(
            Argument.of("sparsity", sparsity),
            f" holds rows out, for which {len(target.values)} rows are too few: leave it at None",
        )
    if isinstance(sparsity, str):
        return check_choice("sparsity", sparsity, ["auto"])
    if isinstance(sparsity, Integral):
        return check_count("sparsity", sparsity, low=1)
    return check_real("sparsity", sparsity, positive=False)
