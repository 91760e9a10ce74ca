"""Groups along one feature: a gap, a shoulder, or a heap at one value."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ...linalg import Array
from ..distinct import best_unimodal
from ..em import expected
from ..judge import judge
from ..residual import GroupResidual
from ..sample import Sample
from .base import Proposal, Source

#: Steps of k-means and of EM along a line.
LINE_STEPS = 20
#: Smallest standard deviation of a component along a line, as a share of that of all rows.
NARROWEST = 0.05


class StepSource(Source):
    """Mixtures along single features, as they are and without the means of what is given."""

    name = "step"
    kind = "steps along one feature"

    def propose(self, sample: Sample) -> Iterator[Proposal]:
        """Yield the steps of each number of groups that one unimodal law describes worst."""
        axes, values = self._lines(sample)
        if not len(values):
            return
        spread = values.std(axis=1, keepdims=True)
        lines = (values - values.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-12)
        plain = np.array([best_unimodal(line) for line in lines])
        numbers = sample.numbers_of_groups(sample.plan.mixture_clusters)
        for k in numbers:
            labels, likelihoods, which = _groups_along(lines, k, sample.plan.cuts)
            order = np.argsort(plain[which] - likelihoods, kind="stable")
            found, seen = [], set()
            for run in order:
                key = labels[run].tobytes()
                if key in seen or len(np.unique(labels[run])) < k:
                    continue
                seen.add(key)
                W = axes[:, [which[run]]]
                found.append(
                    judge(sample, W, labels[run], start="feature", source=self.name,
                          smallest=sample.plan.small_group)
                )  # fmt: skip
                if len(found) == sample.plan.steps_kept:
                    break
            if found:
                yield Proposal(found, len(numbers), optional=False)

    def turn(self, sample: Sample) -> int:
        """Return 1 for hundreds of features: each says little, and all together take long."""
        return int(sample.X.shape[1] > sample.plan.most_directions)

    def freedom(self, sample: Sample) -> float:
        """Choosing one of m lines is worth log2(m) dimensions."""
        lines = min(sample.X.shape[1], sample.plan.start_features)
        return float(np.log2(max(2 * lines, 2)))

    def _lines(self, sample: Sample) -> tuple[Array, Array]:
        """Return directions (d, c) and values (c, m) of the features with most variance left."""
        residual = GroupResidual(sample.X, sample.labelings)
        axes, left = residual.features(sample.plan.start_features)
        if not sample.labelings:
            return axes, left.T
        return np.hstack([axes, axes]), np.vstack([sample.project(axes).T, left.T])


def along(lines: Array, k: int) -> Array:
    """Return the groups (c, m) of k-means along each of c lines (c, m), from even quantiles."""
    centres = np.quantile(lines, (np.arange(k) + 0.5) / k, axis=1)  # (k, c)
    groups = np.zeros(lines.shape, dtype=np.intp)
    for _ in range(LINE_STEPS):
        before, groups = groups, np.abs(lines - centres[:, :, None]).argmin(axis=0)
        if np.array_equal(before, groups):
            break
        member = (groups == np.arange(k)[:, None, None]).astype(float)
        sizes = member.sum(axis=2)
        sums = np.einsum("kcm,cm->kc", member, lines)
        centres = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
    return groups


def _groups_along(lines: Array, k: int, cuts: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Return groups (R, m), log-likelihoods per row (R,) and the line of each run (R,).

    From k-means, and from cuts for two groups; with one width for all and with one each.
    """
    first = [along(lines, k)]
    if k == 2:
        first += [(lines > np.quantile(lines, cut, axis=1)[:, None]).astype(int) for cut in cuts]
    which = np.tile(np.arange(len(lines)), len(first))
    parts = [
        _line_mixtures(lines[which], np.vstack(first), k, shared=shared) for shared in (True, False)
    ]
    labels, likelihoods = (np.concatenate(part) for part in zip(*parts, strict=True))
    return labels, likelihoods, np.tile(which, 2)


def _line_mixtures(x: Array, labels: Array, k: int, *, shared: bool) -> tuple[Array, Array]:
    """Fit k Gaussians to each row of x (R, m); return groups in order (R, m), and likelihoods."""
    x = x.astype(np.float32)  # only looked at
    shares = (labels == np.arange(k)[:, None, None]).astype(np.float32)  # (k, R, m)
    for _ in range(LINE_STEPS):
        sizes = shares.sum(axis=2) + 1e-9  # (k, R)
        means = np.einsum("kRm,Rm->kR", shares, x) / sizes
        squares = (x - means[:, :, None]) ** 2
        sums = np.einsum("kRm,kRm->kR", shares, squares)
        widths = sums.sum(axis=0) / x.shape[1] if shared else sums / sizes
        widths = np.maximum(np.broadcast_to(widths, sizes.shape), NARROWEST**2)
        level = np.log(sizes / x.shape[1]) - 0.5 * np.log(2 * np.pi * widths)
        joint = level[:, :, None] - 0.5 * squares / widths[:, :, None]
        total, shares = expected(joint)
    return _in_order(x, joint, means), total.mean(axis=1)


def _in_order(x: Array, joint: Array, means: Array) -> Array:
    """Return groups (R, m) as intervals: a boundary where the next component becomes likelier.

    Where widths differ the wide component is likelier on both sides of the narrow one; groups
    along a line are its parts between two means.
    """
    order = np.argsort(means, axis=0)
    groups, runs = np.zeros(x.shape, dtype=np.intp), np.arange(len(x))
    for here, there in pairwise(order):
        low, high = means[here, runs][:, None], means[there, runs][:, None]
        likelier = joint[there, runs] > joint[here, runs]
        groups += (x >= high) | ((x > low) & likelier)
    return groups
