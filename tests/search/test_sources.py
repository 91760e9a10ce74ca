"""Sources from outside, written from the page on contributing, and what is said of wrong ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from multifacet import find_views
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import nmi
from multifacet.search import Proposal, Source, judge


class RandomPlanes(Source):
    """k-means in random planes, without the means of known groups."""

    name = "random planes"

    def __init__(self, n_planes=30):
        self.n_planes = n_planes

    def propose(self, sample):
        rng = np.random.default_rng(sample.seed)
        asked = sample.settings.n_clusters
        for i in range(self.n_planes):
            W = np.linalg.qr(rng.normal(size=(sample.X.shape[1], 2)))[0]
            rest = sample.project(W)
            for labels in sample.labelings:
                rest = rest - means(rest, labels)[labels]
            found = []
            for k in [asked] if asked else range(2, 5):
                labels = KMeans(k, n_init=3, random_state=sample.seed).fit_predict(rest)
                found.append(judge(sample, W, labels, start=f"plane {i}", source=self.name))
            yield Proposal(found, total=self.n_planes)

    def label(self, sample, candidate, X):
        # Known groups of X are not passed, so the centres are those of rows with their means.
        centres = means(sample.X @ candidate.W, candidate.labels)
        return pairwise_distances_argmin(X @ candidate.W, centres)


def means(rows, labels):
    return np.array([rows[labels == c].mean(axis=0) for c in np.unique(labels)])


@pytest.mark.parametrize("n_clusters", ["auto", 2])
@pytest.mark.parametrize("n_rows", [120, 600])  # all rows are in the sample, or not
def test_a_source_from_outside_finds_the_other_grouping(n_rows, n_clusters):
    X, known = make_gaussian_views(n_rows, [2, 2], random_state=1)
    views = find_views(
        X, given=known[:, 0], n_views=1, n_clusters=n_clusters, method=RandomPlanes()
    )
    assert nmi(views[0].labels, known[:, 1]) > 0.9


class Fixed(Source):
    """Proposes what it was made with."""

    name = "fixed"

    def __init__(self, W=None, labels=None, propose=None, label=None):
        self.W = np.eye(4)[:, :2] if W is None else W
        self.labels = np.arange(120) % 2 if labels is None else labels
        self._propose, self._label = propose, label

    def propose(self, sample):
        if self._propose is not None:
            return self._propose(sample)
        labels = sample.labelings[0] if sample.labelings else self.labels
        return iter([Proposal([judge(sample, self.W, labels, start="fixed", source="fixed")])])

    def label(self, sample, candidate, X):
        return super().label(sample, candidate, X) if self._label is None else self._label(X)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"propose": lambda sample: None}, "source 'fixed' proposed no candidate"),
        ({"propose": lambda sample: iter(())}, "source 'fixed' proposed no candidate"),
        ({"propose": lambda sample: [3]}, "source 'fixed' yields 3: yield Proposal objects"),
        ({"propose": lambda sample: [Proposal([])]}, "source 'fixed' yields Proposal"),
        ({"W": np.eye(3)}, r"W has shape \(3, 3\): .* each of the 4 features"),
        ({"W": np.ones(4)}, r"W has shape \(4,\)"),
        ({"W": np.full((4, 1), np.nan)}, "finite numbers"),
        ({"labels": np.zeros(119, dtype=int)}, r"labels have shape \(119,\) .* the 120 rows"),
        ({"labels": np.zeros(120)}, "type float64"),
        ({"labels": -np.ones(120, dtype=int)}, "numbered from 0"),
        (
            {"label": lambda X: [0, 1]},
            r"source 'fixed' labels 120 rows by an array of shape \(2,\)",
        ),
    ],
)
def test_what_a_source_does_wrong_is_said(wrong, message):
    X, _ = make_gaussian_views(120, [2, 2], random_state=1)
    with pytest.raises((TypeError, ValueError), match=message):
        find_views(X, n_views=1, method=Fixed(**wrong))


@pytest.mark.parametrize("options", [{"n_clusters": 3}, {"given": np.arange(120) % 2}])
def test_what_nobody_asked_for_is_no_view(options):
    X, _ = make_gaussian_views(120, [2, 2], random_state=1)
    assert len(find_views(X, n_views=1, method=Fixed(), **options)) == 0
