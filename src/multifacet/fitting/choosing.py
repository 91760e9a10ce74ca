"""The choice of settings of a supervised reduction, on held-out rows of a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..engines.choose import few_rows
from ..engines.metric import Metric
from ..engines.threads import ordered_map
from ..kernels import Kernel, typical_distance, with_bandwidth
from ..linalg import Array, orthonormalise
from ..problems import Gamma
from ..solvers import ISM
from .climbing import climbed, held_out_scores
from .held_out import PLAN, HeldOutPlan, HeldOutSelection, Setting
from .sampled import Rows

#: Maps rows (m, r), Gamma and q to where W (r, q) may begin.
Starts = Callable[[Array, Gamma, int], Sequence[Array]]


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
        folds = self.folds()
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

    def settled(self, metric: Metric, W: Array, sigma: float | None) -> Array:
        """Return the W (r, q), in a metric, at which a climb from W on the whole sample ends."""
        sums = few_rows((metric @ self.rows.Z.T).T, with_bandwidth(self.kernel, sigma))
        return ISM(0).solve(sums, self.rows.gamma, W).W

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

    def folds(self) -> list[tuple[Rows, Rows]]:
        """Return pairs of learning and held-out rows of the sample."""
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
        self._gammas = [learning.gamma for learning, _ in folds]
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
        W = self._choice.climbed(self._stretched[i], self._gammas[i], sigma, W, self.q)
        basis = orthonormalise(self._metrics[i] @ W)
        places, new = learning.Z @ basis, out.Z @ basis
        plan = self._choice.plan
        return W, held_out_scores(places, learning.target, new, out.target, plan)


def _smoothed_best(settings: list[Setting]) -> tuple[Setting, float]:
    """Return the best setting of a path by the mean with its neighbours, and that mean.

    A single score is higher than it deserves; that of a wide summit is not.
    """
    scores = np.array([one.score for one in settings])
    padded = np.concatenate([scores[:1], scores, scores[-1:]])
    smooth = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    top = int(np.argmax(smooth))
    return settings[top], float(smooth[top])
