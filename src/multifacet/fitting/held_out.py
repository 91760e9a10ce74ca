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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.base import PairSums
from ..engines.choose import few_rows
from ..engines.metric import Metric
from ..engines.threads import ordered_map
from ..kernels import Kernel, typical_distance, with_bandwidth
from ..linalg import Array, leading_eigenpairs, orthonormalise
from ..problems import Gamma
from ..solvers import Point, ascend, evaluate
from .sampled import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Maps rows (m, r), Gamma and q to where W (r, q) may begin.
Starts = Callable[[Array, Gamma, int], Sequence[Array]]


@dataclass(frozen=True)
class HeldOutPlan:
    """Every constant of the choice.

    Attributes
    ----------
    rows, wide_rows, rows_per_class : int
        Rows of the sample, of one with more features than ``rows``, and as many of each class at
        least, if there are so many.
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


PLAN = HeldOutPlan()


@dataclass(frozen=True)
class Setting:
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

    def gains(self, other: Setting, errors: float) -> bool:
        """Whether this one predicts better than another by so many standard errors."""
        gain = self.scores - other.scores
        return bool(gain.mean() > errors * gain.std() / np.sqrt(len(gain)))


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

    def table(self) -> list[dict[str, Any]]:
        """Return the path as rows of a table, ready for a data frame."""
        names = ("n_components", "whitening", "bandwidth", "score", "error")
        return [{name: getattr(one, name) for name in names} for one in self.path]

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


@dataclass(frozen=True, eq=False)
class HeldOutChoice:
    """Chooses settings on a sample of rows.

    Attributes
    ----------
    rows : Rows
        The sample.
    kernel : Kernel
        Its bandwidth may be missing.
    starts : callable
        Where W may begin.
    n_threads : int
        Threads; they do not change anything.
    plan : HeldOutPlan
        Constants.
    """

    rows: Rows
    kernel: Kernel
    starts: Starts
    n_threads: int
    plan: HeldOutPlan = PLAN

    def select(
        self,
        n_rows: int,
        dimensions: Sequence[int],
        shares: Sequence[float],
        bandwidth: float | str | None,
    ) -> HeldOutSelection:
        """Compare dimensions, shares of whitening and, if it is "auto", bandwidths.

        Parameters
        ----------
        n_rows : int
            Rows for which the choice is made.
        dimensions : sequence of int
            From few to many; more are tried while they gain.
        shares : sequence of float
            Shares of whitening.
        bandwidth : float, None or "auto"
            The bandwidth; None for kernels without one.
        """
        folds = self._folds()
        path: list[Setting] = []
        best: Setting | None = None
        waiting = 0
        for q in dimensions:
            trails = [_Trail(self, folds, share, q) for share in shares]
            walked = [self._walk(trail, bandwidth) for trail in trails]
            path += [one for settings in walked for one in settings]
            champion = max((_smoothed_best(one) for one in walked), key=lambda pair: pair[1])[0]
            if bandwidth == "auto" and champion.bandwidth is not None:
                trail = trails[list(shares).index(champion.whitening)]
                finer = trail.around(champion.bandwidth, self.plan.step)
                path += finer
                champion = max([champion, *finer], key=lambda one: one.score)
            if best is None or champion.gains(best, 1.0):
                best, waiting = champion, 0
            else:
                waiting += 1
            if waiting == self.plan.patience:
                break
        assert best is not None
        width = best.bandwidth
        if bandwidth == "auto" and width is not None:
            width *= self._narrower(n_rows, best.n_components)
        return HeldOutSelection(path, best, width, self.rows.positions)

    def start(self, metric: Metric, q: int, bandwidths: Sequence[float | None]) -> Array:
        """Return the W (r, q), in a metric, to which a path leads on the whole sample."""
        Z = (metric @ self.rows.Z.T).T
        W: Array | None = None
        for sigma in bandwidths:
            W = self.climbed(Z, self.rows.gamma, sigma, W, q)
        assert W is not None
        return W

    def descent(self, metric: Metric, q: int, last: float | str | None) -> list[float | None]:
        """Return bandwidths from wide to narrow, down to the last one if it is a number."""
        if last is None:
            return [None]
        Z = (metric @ self.rows.Z.T).T
        spread = typical_distance(Z @ self.starts(Z, self.rows.gamma, q)[0])
        wide = float(f"{self.plan.widest * spread:.6g}")  # so that rounding errors do not show
        widths: list[float | None] = [wide * self.plan.step**i for i in range(self.plan.points)]
        if isinstance(last, str):
            return widths
        n_wider = max(0, int(np.ceil(np.log(last / wide) / np.log(self.plan.step) - 1e-9)))
        return [last * self.plan.step**-i for i in range(n_wider, -1, -1)]

    def climbed(
        self, Z: Array, gamma: Gamma, sigma: float | None, W: Array | None, q: int
    ) -> Array:
        """Return the W to which the objective rises from W, or from the best start."""
        sums = few_rows(Z, with_bandwidth(self.kernel, sigma))
        if W is not None:
            return climbed(sums, gamma, W, self.plan.steps, self.plan.tol).W
        starts = self.starts(Z, gamma, q)
        tops = [climbed(sums, gamma, W, self.plan.first_steps, self.plan.tol) for W in starts]
        return max(tops, key=lambda top: top.objective).W

    def _narrower(self, n_rows: int, q: int) -> float:
        """Return the factor by which so many rows make the bandwidth narrower than in the folds.

        That of a density estimate shrinks by the power 1 / (q + 4) of the rows. On digits and
        breast cancer the best bandwidth was seen to shrink by about half of that power.
        """
        learning = len(self.rows.Z) * (1 - 1 / self.plan.folds)
        return float((learning / n_rows) ** (0.5 / (q + 4)))

    def _folds(self) -> list[tuple[Rows, Rows]]:
        plan = self.plan
        repeats = 1 if len(self.rows.Z) >= plan.predictions else 2
        return [pair for seed in range(repeats) for pair in self.rows.split(plan.folds, seed)]

    def _walk(self, trail: _Trail, bandwidth: float | str | None) -> list[Setting]:
        """Return the settings along a path, until they fall behind the best one for good."""
        settings: list[Setting] = []
        waiting = 0
        widths = self.descent(self.rows.whitening(trail.share), trail.q, bandwidth)
        for sigma in widths:
            settings.append(trail.follow(sigma))
            best = max(settings, key=lambda one: one.score)
            waiting = waiting + 1 if best.gains(settings[-1], self.plan.behind) else 0
            if bandwidth == "auto" and waiting == self.plan.patience:
                break
        return settings if bandwidth == "auto" else settings[-1:]


class _Trail:
    """The folds, each with the W that it has reached, on the way from wide to narrow."""

    def __init__(
        self, choice: HeldOutChoice, folds: list[tuple[Rows, Rows]], share: float, q: int
    ) -> None:
        self.q, self.share, self._choice, self._folds = q, share, choice, folds
        self._metrics = [learning.whitening(share) for learning, _ in folds]
        self._stretched = [
            (metric @ learning.Z.T).T
            for metric, (learning, _) in zip(self._metrics, folds, strict=True)
        ]
        self._reached: dict[float | None, list[Array]] = {}

    def follow(self, sigma: float | None, origin: float | None = None) -> Setting:
        """Go on to a bandwidth, from the last one or from another that was visited."""
        plan = self._choice.plan
        last = origin if origin is not None else next(reversed(self._reached), None)
        begun = self._reached.get(last, [None] * len(self._folds))
        found = list(
            ordered_map(
                lambda i: self._fold(i, sigma, begun[i]),
                range(len(self._folds)),
                # Small folds spend more time in Python, which threads do not share.
                self._choice.n_threads if len(self._choice.rows.Z) >= plan.predictions else 1,
            )
        )
        self._reached[sigma] = [W for W, _ in found]
        scores = np.concatenate([scores for _, scores in found])
        error = float(scores.std() / np.sqrt(len(scores)))
        return Setting(self.q, self.share, sigma, float(scores.mean()), error, scores)

    def around(self, middle: float, step: float) -> list[Setting]:
        """Return settings half a step wider, if there is a wider one, and narrower."""
        wider = [one for one in self._reached if one is not None and one > middle]
        found = [self.follow(middle * step**-0.5, min(wider))] if wider else []
        return [*found, self.follow(middle * step**0.5, middle)]

    def _fold(self, i: int, sigma: float | None, W: Array | None) -> tuple[Array, Array]:
        learning, out = self._folds[i]
        W = self._choice.climbed(self._stretched[i], learning.gamma, sigma, W, self.q)
        basis = orthonormalise(self._metrics[i] @ W)
        plan = self._choice.plan
        k = max(3, min(plan.neighbours, len(learning.Z) // plan.rows_per_neighbour))
        told = _nearest_mean(learning.Z @ basis, learning.target.values, out.Z @ basis, k)
        if out.target.classes is not None:
            return W, told[np.arange(len(told)), out.target.classes]
        return W, 1.0 - ((told - out.target.values) ** 2).mean(axis=1)


def climbed(sums: PairSums, gamma: Gamma, W: Array, steps: int, tol: float) -> Point:
    """Return the point to which the objective rises from W in some steps, in its own basin."""

    def at(W: Array) -> Point:
        return evaluate(sums, gamma, W)

    return ascend(at(W), at, [], max_iter=steps, tol=tol, caution=0.3)[0]


def _nearest_mean(rows: Array, values: Array, new: Array, k: int) -> Array:
    """Return the mean value (m, t) of the k rows (n, q) nearest to each new one (m, q)."""
    k = min(k, len(rows))
    distances = (rows**2).sum(axis=1) - 2 * (new @ rows.T)  # but for a constant of each new row
    return values[np.argpartition(distances, k - 1, axis=1)[:, :k]].mean(axis=1)


def _smoothed_best(settings: list[Setting]) -> tuple[Setting, float]:
    """Return the best setting of a path by the mean with its neighbours, and that mean.

    A single score is higher than it deserves; that of a wide summit is not.
    """
    scores = np.array([one.score for one in settings])
    padded = np.concatenate([scores[:1], scores, scores[-1:]])
    smooth = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    top = int(np.argmax(smooth))
    return settings[top], float(smooth[top])


def natural_starts(Z: Array, gamma: Gamma, q: int) -> list[Array]:
    """Return the spectral start, filled up by the widest directions where it ends, and these alone.

    Phi_0 has as many directions as there are classes less one.
    """
    told = Z.T @ (gamma.factors * np.sqrt(np.abs(gamma.weights)))
    left, values, _ = np.linalg.svd(told, full_matrices=False)
    leading = left[:, : min(q, int((values > 1e-8 * max(values[0], 1e-300)).sum()))]
    rest = Z - (Z @ leading) @ leading.T
    more = q - leading.shape[1]
    starts = [principal(Z, q)]
    filled = np.hstack([leading, principal(rest, more)]) if more else leading
    return [orthonormalise(filled), *starts]


def principal(Z: Array, q: int) -> Array:
    """Return the q widest directions (r, q) of centred rows (m, r)."""
    return leading_eigenpairs(Z.T @ Z, q)[1]
