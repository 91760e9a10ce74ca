"""What leads a supervised reduction: settings chosen on a sample of rows, and a path there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..engines.metric import Metric
from ..kernels import Kernel, with_bandwidth
from ..linalg import Array, orthonormalise
from ..validation import check_choice, check_real
from ..wording import Argument, ArgumentError
from .choosing import HeldOutChoice
from .climbing import natural_starts
from .held_out import PLAN, HeldOutSelection
from .sampled import Rows, Target

#: Rows from which the spread within classes is estimated.
METRIC_ROWS = 20_000


@dataclass(frozen=True)
class Asked:
    """What a user asks of a supervised reduction; where there are several values, one is chosen.

    Attributes
    ----------
    kernel : Kernel
        Its bandwidth may be missing.
    bandwidth : float or None
        The bandwidth, unless one is chosen; None for kernels without one.
    automatic : bool
        Whether a bandwidth is chosen.
    dimensions, shares : sequence
        Numbers of dimensions and shares of whitening.
    followed : bool
        Whether W follows a path from a wide bandwidth.
    sampled : bool
        Whether the sample is needed later, whatever is chosen.
    n_threads : int
        Threads; they do not change anything.
    """

    kernel: Kernel
    bandwidth: float | None
    automatic: bool
    dimensions: Sequence[int]
    shares: Sequence[float]
    followed: bool
    sampled: bool
    n_threads: int

    @property
    def undecided(self) -> bool:
        """Whether anything is to be chosen on held-out rows."""
        return self.automatic or len(self.dimensions) > 1


@dataclass(frozen=True)
class Led:
    """What was chosen, and where a path led.

    Attributes
    ----------
    kernel : Kernel
        With its bandwidth.
    n_components, whitening, bandwidth : int, float, float or None
        The settings.
    selection : HeldOutSelection or None
        How they were chosen.
    metric : Metric or None
        Whitening of all features; None if there is none.
    W : array of shape (d, q) or None
        Where the path ends on the sample, in that metric.
    approach : sequence of float
        Bandwidths that are still before the last one, on all rows.
    choice : HeldOutChoice or None
        With the sample, if there was one.
    """

    kernel: Kernel
    n_components: int
    whitening: float
    bandwidth: float | None
    selection: HeldOutSelection | None = None
    metric: Metric | None = field(default=None, repr=False)
    W: Array | None = field(default=None, repr=False)
    approach: Sequence[float | None] = ()
    choice: HeldOutChoice | None = field(default=None, repr=False)


def whitening_shares(whitening: Any, automatic: bool) -> Sequence[float]:
    """Return the shares of whitening to compare, or the one that was asked for, checked."""
    if isinstance(whitening, str):
        check_choice("whitening", whitening, ["auto"])
        return PLAN.whitening if automatic else (0.0,)
    share = check_real("whitening", whitening, positive=False)
    if share > 1:
        raise ArgumentError(Argument.of("whitening", share), " must be at most 1")
    return (share,)


def lead(X: Any, target: Target, asked: Asked) -> Led:
    """Choose whatever is to be chosen, and go along the path, on a sample of the rows of X (n, d).

    With too few rows to hold some of them out, the papers' settings are taken.
    """
    q, share, width = asked.dimensions[0], asked.shares[0], asked.bandwidth
    if len(asked.dimensions) > 1:
        q = min(papers_dimension(target), X.shape[1])
    if not (asked.undecided or asked.followed or share or asked.sampled):
        return Led(with_bandwidth(asked.kernel, width), q, share, width)
    size = PLAN.rows if X.shape[1] <= PLAN.rows else PLAN.wide_rows
    rows = Rows.draw(X, target, size, PLAN.rows_of_each(size, target.values.shape[1]))
    choice = HeldOutChoice(rows, asked.kernel, natural_starts, asked.n_threads)
    possible = [q for q in asked.dimensions if q <= rows.Z.shape[1]]
    selection = None
    if asked.undecided and possible and target.can_be_held_out:
        bandwidth = "auto" if asked.automatic else width
        selection = choice.select(X.shape[0], possible, asked.shares, bandwidth)
        q, share = selection.chosen.n_components, selection.chosen.whitening
        width = selection.bandwidth
    metric, W, approach = None, None, list[float | None]()
    if share:
        metric = _all_features(X, target, rows, share)
    if asked.followed and q <= rows.Z.shape[1]:
        W, approach = _followed(choice, X.shape, q, share, width)
        W = W if metric is None else metric.divided(W)
    kernel = with_bandwidth(asked.kernel, width)
    return Led(kernel, q, share, width, selection, metric, W, approach, choice)


def _all_features(X: Any, target: Target, rows: Rows, share: float) -> Metric:
    """Return the whitening of all features, from more rows than the sample if features are few."""
    if len(rows.Z) < X.shape[0] and rows.Z.shape[1] == X.shape[1]:
        rows = Rows.draw(X, target, METRIC_ROWS)
    return rows.lifted(rows.whitening(share))


def _followed(
    choice: HeldOutChoice, shape: tuple[int, int], q: int, share: float, width: float | None
) -> tuple[Array, list[float | None]]:
    """Return the basis (d, q) to which a path leads on the sample, and bandwidths still to come.

    Few rows of more features are all in the sample, in fewer coordinates: W comes to rest there.
    """
    n_rows, n_features = shape
    metric = choice.rows.whitening(share)
    widths, approach = choice.descent(metric, q, width), list[float | None]()
    if len(choice.rows.Z) < n_rows:  # local optima of the sample are not those of all rows
        end = max(1, len(widths) - PLAN.approach)
        widths, approach = widths[:end], widths[end - 1 : -1]
    W = choice.start(metric, q, widths)
    if choice.rows.Z.shape[1] < n_features and len(choice.rows.Z) == n_rows:
        W = choice.settled(metric, W, width)  # here Phi is small, with all features it is not
    return choice.rows.lift(orthonormalise(metric @ W)), approach


def papers_dimension(target: Target) -> int:
    """Return the number of classes, or one more than the number of real targets."""
    return target.values.shape[1] + (target.classes is None)
