"""Rival methods keep the conventions; what each one computes is in test_baselines_methods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import estimator_checks_generator

import multifacet.baselines
from multifacet.baselines import (
    ADFT,
    CAMI,
    CIB,
    COALA,
    MSC,
    ConsKL,
    DecorrelatedKMeans,
    OrthogonalClustering,
    OrthogonalSubspaceClustering,
    Residual,
)
from multifacet.datasets import make_gaussian_views, make_moons_views
from multifacet.metrics import match_labelings, nmi

X, LABELINGS = make_gaussian_views(120, [2, 2, 2], random_state=0)
METHODS = ["kmeans", "spectral"]
TWO, TWO_LABELINGS = make_gaussian_views(120, [2, 3], rotate=False, random_state=1)
#: One instance of each method and of each of its modes, with little effort.
RIVALS = [
    ADFT(n_init=2),
    ADFT(metric="pairs", n_init=2),
    CAMI(n_init=3),
    CIB(n_init=2),
    CIB(mode="coordinated", n_init=3),
    COALA(omega=0.8),
    ConsKL(n_init=2),
    DecorrelatedKMeans(n_init=3),
    MSC(n_init=2, max_rounds=3),
    OrthogonalClustering(n_init=2),
    OrthogonalSubspaceClustering(n_init=2),
    Residual(n_init=2),
]
SEVERAL = [model for model in RIVALS if "n_views" in model.get_params()]


def seeded(model, **parameters):
    """Return a fresh copy with a seed, if the method has any use for one."""
    model = clone(model).set_params(**parameters)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def every_rival(models=RIVALS):
    return pytest.mark.parametrize("model", models, ids=str)


def all_checks():
    least = {"n_init": 1, "max_iter": 20, "max_rounds": 1}
    for cls in {type(model): None for model in RIVALS}:
        effort = {name: value for name, value in least.items() if name in cls().get_params()}
        for estimator, check in estimator_checks_generator(cls(**effort)):
            yield pytest.param(estimator, check, id=f"{cls.__name__}-{check.func.__name__}")


def test_every_method_is_covered():
    assert {type(model).__name__ for model in RIVALS} == set(multifacet.baselines.__all__)


#: COALA finds hidden groupings by luck only: see its own tests.
FINDERS = [model for model in RIVALS if not isinstance(model, COALA)]


@every_rival(FINDERS)
def test_every_rival_finds_the_hidden_grouping(model):
    # Three groups hidden beside two given ones, all features of unit variance.
    model = seeded(model, n_clusters=3).fit(TWO, given=TWO_LABELINGS[:, 0])
    assert nmi(model.labels_, TWO_LABELINGS[:, 1]) > 0.9
    assert nmi(model.labels_, TWO_LABELINGS[:, 0]) < 0.05


@every_rival()
def test_rivals_keep_the_contract(model):
    before, given = TWO.copy(), TWO_LABELINGS[:, 0].copy()
    model = seeded(model, n_clusters=3)
    parameters = model.get_params()
    first = model.fit(TWO, given=given).labels_
    assert first.dtype == np.intp
    assert first.shape == (120,)
    assert model.get_params() == parameters
    np.testing.assert_array_equal(seeded(model).fit_predict(TWO, given=given), first)
    # Names of labels, and a feature that says nothing, have no influence.
    padded = np.insert(TWO, 2, 7.0, axis=1)
    with pytest.warns(UserWarning, match="left out 1 constant feature: 2"):
        again = seeded(model).fit(padded, given=np.array(["b", "a"])[given])
    np.testing.assert_array_equal(again.labels_, first)
    np.testing.assert_array_equal(TWO, before)
    np.testing.assert_array_equal(given, TWO_LABELINGS[:, 0])


@every_rival()
def test_rivals_refuse_what_they_cannot_use(model):
    name = type(model).__name__
    with pytest.raises(TypeError, match=f"X is sparse, which {name} cannot use"):
        seeded(model).fit(csr_matrix(TWO))
    with pytest.warns(UserWarning, match="y is ignored: pass known labels as given="):
        seeded(model).fit(TWO, TWO_LABELINGS[:, 0])
    with pytest.raises(ValueError, match="given has 119 labels for 120 rows"):
        seeded(model).fit(TWO, given=TWO_LABELINGS[1:, 0])
    with pytest.raises(ValueError, match="n_clusters=121 must be between 1 and 120"):
        seeded(model, n_clusters=121).fit(TWO)
    with pytest.raises(ValueError, match=r"column 1 in row 5; drop or impute"):
        seeded(model).fit(np.where(np.arange(480).reshape(120, 4) == 21, np.nan, TWO))


@every_rival()
def test_rivals_find_one_cluster(model):
    assert not seeded(model, n_clusters=1).fit(TWO, given=TWO_LABELINGS[:, 0]).labels_.any()


@every_rival([model for model in FINDERS if not isinstance(model, ADFT)])
def test_rivals_avoid_several_given_labelings(model):
    axes, labelings = make_gaussian_views(150, [2, 2, 2], rotate=False, random_state=2)
    model = seeded(model).fit(axes, given=labelings[:, :2])
    assert nmi(model.labels_, labelings[:, 2]) > 0.9


@every_rival(SEVERAL)
def test_rivals_find_several_groupings_at_once(model):
    axes, labelings = make_gaussian_views(120, [3, 3], rotate=False, random_state=1)
    model = seeded(model, n_clusters=[3, 3], n_views=2).fit(axes)
    assert model.labelings_.shape == (120, 2)
    np.testing.assert_array_equal(model.labels_, model.labelings_[:, 0])
    assert match_labelings(labelings, model.labelings_).score > 0.9


@every_rival(SEVERAL)
def test_number_of_views_is_checked(model):
    with pytest.raises(ValueError, match="n_clusters has 3 entries for 2 views"):
        seeded(model, n_clusters=[2, 2, 2], n_views=2).fit(TWO)
    with pytest.raises(ValueError, match="n_views=0 must be at least 1"):
        seeded(model, n_views=0).fit(TWO)
    with pytest.raises(ValueError, match="n_views='many' is not known: use 'auto'"):
        seeded(model, n_views="many").fit(TWO)


WIDE = np.random.default_rng(0).normal(size=(10, 12))
HALF = np.repeat([0, 1], 5)


@pytest.mark.parametrize(
    ("message", "model", "data", "given"),
    [
        ("given has 2 labelings and ADFT inverts the metric of one", ADFT(), TWO, TWO_LABELINGS),
        ("X has 12 features for 10 rows, so no metric", ADFT(), WIDE, HALF),
        ("constant inside every given cluster", ADFT(metric="pairs"),
         np.column_stack([WIDE[:, 0], HALF]), HALF),
        (r"metric='rca' is not known: use 'fisher', 'pairs'", ADFT(metric="rca"), TWO, None),
        ("eta must be a non-negative number, got -1", CAMI(eta=-1), TWO, None),
        ("covariance='tied' is not known", CAMI(covariance="tied"), TWO, None),
        ("mode='additive' ties the means of Gaussians", CIB(likelihood="multinomial"), TWO, None),
        ("X has the negative value", CIB(mode="coordinated", likelihood="multinomial"), TWO, None),
        ("row 3 of X has no counts", CIB(mode="coordinated", likelihood="multinomial"),
         np.array([[1, 2], [3, 1], [2, 2], [0, 0]]), None),
        ("omega must be a non-negative number", COALA(omega=-0.1), TWO, None),
        ("metric='cosine' is not defined", COALA(metric="cosine"), np.eye(3)[:, :2], None),
        ("X has 12 features for 10 rows, so S", ConsKL(), WIDE, HALF),
        ("novelty must be a non-negative number", ConsKL(novelty=-1), TWO, None),
        ("decorrelation must be a non-negative", DecorrelatedKMeans(decorrelation=-1), TWO, None),
        ("X has n_features=1 that vary, but MSC", MSC(), WIDE[:, :1], HALF),
        ("bandwidth='auto' is not known: use 'median'", MSC(bandwidth="auto"), TWO, None),
        ("explained_variance=90 must be at most 1",
         OrthogonalClustering(explained_variance=90), TWO, None),
        ("given explains all of X", OrthogonalSubspaceClustering(), WIDE[:, :1], HALF),
        ("n_views=3 but nothing is left of X after 2",
         OrthogonalSubspaceClustering(n_views=3), WIDE[:, :2], None),
    ],
)  # fmt: skip
def test_each_rival_says_what_it_cannot_take(message, model, data, given):
    with pytest.raises(ValueError, match=message):
        model.fit(data, given=given)


def test_too_many_rows_for_all_distances():
    with pytest.raises(ValueError, match="X has 20001 rows and COALA keeps all distances"):
        COALA().fit(np.arange(20001.0)[:, None])


@pytest.mark.filterwarnings("ignore::UserWarning")  # on data made to be odd
@pytest.mark.parametrize(("estimator", "check"), list(all_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_finds_the_grouping_that_is_left(method):
    # With two of three groupings given, the third is all that is left.
    for left in range(3):
        given = np.delete(LABELINGS, left, axis=1)
        model = Residual(2, method=method, n_init=2, random_state=0).fit(X, given=given)
        assert nmi(model.labels_, LABELINGS[:, left]) > 0.9
        assert model.labels_.dtype == np.intp


def test_spectral_follows_shapes():
    moons, labelings = make_moons_views(250, random_state=0)
    view = moons[:, 2:4]
    scores = {m: nmi(Residual(2, method=m, random_state=0).fit_predict(view), labelings[:, 1])
              for m in METHODS}  # fmt: skip
    assert scores["spectral"] > 0.95 > scores["kmeans"]


def test_nothing_given_is_plain_clustering():
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(Residual(3, random_state=0).fit(X).labels_, expected)


def test_unbalanced_labelings_are_removed_together():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 300)
    second = np.where(rng.random(300) < 0.3, 1 - first, first)  # leans on the first
    hidden = rng.integers(0, 2, 300)
    data = np.column_stack([8 * first + 8 * second, 3 * hidden]) + 0.3 * rng.normal(size=(300, 2))
    model = Residual(2, n_init=2, random_state=0)
    assert nmi(model.fit_predict(data, given=[first, second]), hidden) > 0.95
    # Taking out one labeling leaves what the other adds, which outweighs the hidden one.
    assert nmi(model.fit_predict(data, given=first), hidden) < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_one_result_and_arguments_left_alone(method):
    before, given = X.copy(), LABELINGS[:, 0].copy()
    model = Residual(3, method=method, random_state=5)
    first = model.fit(X, given=given).labels_
    np.testing.assert_array_equal(clone(model).fit_predict(X, given=given), first)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(given, LABELINGS[:, 0])


@pytest.mark.parametrize("method", METHODS)
def test_one_cluster(method):
    assert not Residual(1, method=method).fit(X, given=LABELINGS[:, 0]).labels_.any()


@pytest.mark.parametrize(
    ("message", "parameters", "given"),
    [
        (r"method='ward' is not known: use 'kmeans', 'spectral'", {"method": "ward"}, None),
        (r"n_clusters=121 must be between 1 and 120", {"n_clusters": 121}, None),
        (r"n_clusters=120 but method='spectral' needs more rows than clusters",
         {"n_clusters": 120, "method": "spectral"}, None),
        (r"n_init=0 must be at least 1", {"n_init": 0}, None),
        (r"given has 119 labels for 120 rows", {}, LABELINGS[1:, 0]),
        (r"given has the single value", {}, np.zeros(120, int)),
    ],
)  # fmt: skip
def test_bad_input(message, parameters, given):
    with pytest.raises(ValueError, match=message):
        Residual(**parameters).fit(X, given=given)


def test_nothing_left():
    data = np.column_stack([LABELINGS[:, 0] * 2.0, 1 - LABELINGS[:, 0]]) + 5
    with pytest.raises(ValueError, match="given explains all of X"):
        Residual().fit(data, given=LABELINGS[:, 0])
