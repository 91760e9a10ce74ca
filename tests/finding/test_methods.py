"""Ways to find views: what each uses, and ways of one's own."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet import ViewFinder, find_views
from multifacet.datasets import make_gaussian_views
from multifacet.metrics import nmi
from multifacet.search import Proposal, Source, judge


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussian_views(120, [2, 2], rotate=False, random_state=0)


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("linear", {"kernel": "linear"}),
        ("linear", {"bandwidth": 1.0}),
        ("linear", {"solver": "stiefel"}),
        ("linear", {"engine": "lowrank"}),
        ("linear", {"n_refits": 5}),
        ("embedding", {"n_components": 2}),
        ("embedding", {"n_starts": 4}),
        ("isaac", {"kernel": "linear"}),
        ("isaac", {"novelty_weight": 3.0}),
    ],
)
def test_an_option_without_effect_is_refused(gaussians, method, option):
    name = next(iter(option))
    with pytest.raises(ValueError, match=f"{name}=.* has no effect on method='{method}'"):
        ViewFinder(1, method=method, **option).fit(gaussians[0])


@pytest.mark.parametrize("method", ["linear", "embedding", "isaac"])
def test_no_refits_may_be_asked_of_every_method(gaussians, method):
    assert ViewFinder(1, method=method, n_refits=0, random_state=0).fit(gaussians[0]).views_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("engine", ["exact", "lowrank"])
@pytest.mark.parametrize("method", ["kdac", "embedding"])
def test_the_engine_is_the_one_asked_for(gaussians, method, engine):
    X, labelings = gaussians
    options = {"method": method, "engine": engine, "n_refits": 0, "random_state": 0}
    finder = ViewFinder(1, 2, **options).fit(X, given=labelings[:, 0])
    assert nmi(finder.labels_, labelings[:, 1]) > 0.9
    with pytest.raises(ValueError, match="engine='abacus' is not known"):
        ViewFinder(1, 2, **(options | {"engine": "abacus"})).fit(X)


class Halves(Source):
    """Cuts the sample at the median of each feature."""

    name = "halves"

    def propose(self, sample):
        d = sample.X.shape[1]
        for j in range(d):
            labels = (sample.X[:, j] > np.median(sample.X[:, j])).astype(int)
            axis = np.eye(d)[:, [j]]
            candidate = judge(sample, axis, labels, start=f"feature {j}", source=self.name)
            yield Proposal([candidate], total=d)


def test_a_source_of_ones_own(gaussians):
    X, labelings = gaussians
    views = find_views(X, given=labelings[:, 0], n_views=1, method=Halves())
    assert nmi(views[0].labels, labelings[:, 1]) > 0.8
    assert views[0].labels.shape == (120,)
    assert views[0].components.shape == (1, 4)
    assert views[0].selection["candidates"][0]["source"] == "halves"
    assert views[0].p_value < 0.05


def test_an_unknown_method():
    with pytest.raises(
        ValueError, match="method='kdak' is not known: use 'auto', 'kdac', 'linear'"
    ):
        ViewFinder(method="kdak").fit(np.eye(10))
