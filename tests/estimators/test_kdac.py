"""What the estimators find, and what they tell about it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from multifacet import (
    KDAC,
    EmbeddingKDAC,
    LinearKDAC,
    SemiSupervisedKDR,
    SupervisedKDR,
    UnsupervisedKDR,
)
from multifacet.datasets import load_penguins, make_gaussian_views, make_moons_views
from multifacet.engines import Exact
from multifacet.kernels import Custom, Gaussian, RelativeGaussian
from multifacet.metrics import cluster_quality, nmi
from multifacet.solvers import ISM

FIXED = {"bandwidth": 0.3, "novelty_weight": 1.0, "n_components": 2, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons_views(300, random_state=0)


@pytest.fixture(scope="module")
def fitted(moons):
    X, labelings = moons
    return KDAC(**FIXED).fit(X, given=labelings[:, 0])


def test_kdac_finds_the_other_grouping(moons, fitted):
    _, labelings = moons
    assert nmi(fitted.labels_, labelings[:, 1]) > 0.95
    assert nmi(fitted.labels_, labelings[:, 0]) < 0.05
    assert fitted.feature_weights_[2:4].sum() > 0.9


def test_kdac_attributes(moons, fitted):
    X, _ = moons
    assert fitted.labels_.shape == (300,)
    assert fitted.components_.shape == (2, 4)
    assert fitted.embedding_.shape == (300, 2)
    assert fitted.n_clusters_ == fitted.n_components_ == 2
    assert fitted.bandwidth_ == 0.3
    assert fitted.novelty_weight_ == 1.0
    assert fitted.objective_ == pytest.approx(fitted.quality_ - fitted.dependence_, rel=1e-6)
    quality = cluster_quality(fitted.transform(X), fitted.embedding_, kernel=Gaussian(0.3))
    assert fitted.quality_ == pytest.approx(quality, rel=1e-6)
    assert fitted.result_.reason.startswith("climb")
    assert set(fitted.result_.timings) == {"explore", "climb"}
    assert fitted.certificate_.residual == pytest.approx(fitted.result_.residual, rel=1e-3)
    assert fitted.certificate_.curvature is not None
    begun = {one.start.split()[0] for one in fitted.selection_.candidates}
    assert begun == {"feature", "component", "residual"}
    assert 1 <= fitted.n_iter_ <= 20


def test_predict_reproduces_training_labels_and_generalises(moons, fitted):
    X, _ = moons
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    nearby = X + 0.03 * np.random.default_rng(1).standard_normal(X.shape)
    assert nmi(fitted.predict(nearby), fitted.labels_) > 0.95
    alone = [fitted.predict(row[None])[0] for row in nearby[:20]]
    np.testing.assert_array_equal(alone, fitted.predict(nearby)[:20])
    assert set(fitted.predict(X + 1e6)) <= {0, 1}  # far away: no neighbour, but an answer


def test_several_given_labelings_avoid_all_of_them():
    X, labelings = make_gaussian_views(300, [2, 2, 2], rotate=False, random_state=1)
    given = labelings[:, :2]
    parameters = {"n_components": 2, "bandwidth": 0.6, "novelty_weight": 10.0, "random_state": 0}
    model = KDAC(**parameters).fit(X, given=given)
    assert nmi(model.labels_, labelings[:, 2]) > 0.9
    as_list = KDAC(**parameters).fit(X, given=[given[:, 0], given[:, 1].astype(str)])
    np.testing.assert_array_equal(model.labels_, as_list.labels_)
    pd = pytest.importorskip("pandas")
    as_frame = KDAC(**parameters).fit(X, given=pd.DataFrame(given, columns=["a", "b"]))
    np.testing.assert_array_equal(model.labels_, as_frame.labels_)


def test_names_of_labels_do_not_matter(moons):
    X, labelings = moons
    names = np.array(["zebra", "ant"])[labelings[:, 0]]
    parameters = {**FIXED, "n_starts": 3}
    a = KDAC(**parameters).fit(X, given=labelings[:, 0])
    b = KDAC(**parameters).fit(X, given=names)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-8)
    assert nmi(a.labels_, b.labels_) == pytest.approx(1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_given_it_is_plain_clustering(moons):
    X, labelings = moons
    model = KDAC(**FIXED).fit(X)
    assert model.dependence_ == 0
    assert max(nmi(model.labels_, column) for column in labelings.T) > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_paper_scale_and_unit_scale_are_the_same_problem_for_equal_clusters(moons):
    X, labelings = moons
    unit = KDAC(**{**FIXED, "novelty_weight": 15.0}, init="spectral")
    paper = KDAC(**{**FIXED, "novelty_weight": 0.1}, novelty_scale="paper", init="spectral")
    a, b = (m.fit(X, given=labelings[:, 0]) for m in (unit, paper))
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-6)
    auto = KDAC(novelty_scale="paper", init="spectral", random_state=0).fit(
        X, given=labelings[:, 0]
    )
    assert auto.novelty_weight_ == pytest.approx(3 * 2 / 300)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_start_of_your_own(moons):
    X, labelings = moons
    model = KDAC(**FIXED, init=3 * np.eye(4)[:, 2:]).fit(X, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) > 0.9
    assert [run.start for run in model.explorations_] == ["given"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_random_starts_and_the_best_of_them(moons):
    X, labelings = moons
    model = KDAC(**FIXED, init="random", n_starts=3).fit(X, given=labelings[:, 0])
    assert [run.start for run in model.explorations_] == ["random"] * 3
    best = max(run.solution.objective for run in model.explorations_)
    assert model.objective_ >= best - 1e-9


@pytest.mark.parametrize(
    "kernel",
    [
        RelativeGaussian(),
        Gaussian(0.2) + 0.01 * RelativeGaussian(),
        Custom(
            value=lambda b: 1 / (1 + b / 0.1),
            slope=lambda b: -10 / (1 + b / 0.1) ** 2,
            curvature=lambda b: 200 / (1 + b / 0.1) ** 3,
            form="difference",
            nonnegative=True,
        ),
    ],
    ids=["relative", "sum", "custom"],
)
def test_kernel_objects(moons, kernel):
    X, labelings = moons
    model = KDAC(kernel=kernel, novelty_weight=1.0, random_state=0).fit(X, given=labelings[:, 0])
    assert model.bandwidth_ is None
    assert nmi(model.labels_, labelings[:, 0]) < 0.1
    # Relative kernels scale a row by its neighbours, among which a row that is predicted finds
    # itself: rows at the border may change sides.
    moved = int((model.predict(X) != model.labels_).sum())
    assert moved <= (0 if isinstance(kernel, Custom) else 2)


def test_solver_and_engine_objects(moons):
    X, labelings = moons
    model = KDAC(
        **FIXED, n_starts=2, solver=ISM(max_iter=5), engine=Exact(memory="64 MiB"), n_jobs=1
    ).fit(X, given=labelings[:, 0])
    assert model.labels_.shape == (300,)


def test_recomputing_tiles_gives_the_same_clusters(moons):
    X, labelings = moons
    kept = KDAC(**FIXED, n_starts=3).fit(X, given=labelings[:, 0])
    small = Exact(memory="1 MiB", tile=64)  # a quarter of it does not hold the kernel matrix
    assert 8 * len(X) ** 2 > 2**20 / 4
    recomputed = KDAC(**FIXED, n_starts=3, engine=small).fit(X, given=labelings[:, 0])
    assert nmi(recomputed.labels_, kept.labels_) > 0.95
    assert recomputed.objective_ == pytest.approx(kept.objective_, rel=1e-2)


def test_progress_goes_to_a_callable_or_to_standard_error(moons, capsys):
    X, labelings = moons
    events = []
    KDAC(**FIXED, n_starts=3, verbose=events.append).fit(X, given=labelings[:, 0])
    stages = [event["stage"] for event in events]
    assert set(stages[:-2]) == {"select"}
    assert stages[-2:] == ["explore", "climb"]
    assert events[0]["best"].n_clusters == 2
    KDAC(**FIXED, n_starts=2, verbose=1).fit(X, given=labelings[:, 0])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "multifacet: stage select, done 1" in printed.err


def test_nothing_is_printed_by_default(moons, capsys):
    X, labelings = moons
    KDAC(**FIXED, n_starts=2).fit(X, given=labelings[:, 0])
    assert capsys.readouterr() == ("", "")


def test_missing_convergence_is_always_a_warning():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="SupervisedKDR did not converge to a stationary"):
        model = SupervisedKDR(2, kernel="polynomial", solver=ISM(1, max_polish=1)).fit(scale(X), y)
    assert not model.result_.converged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SupervisedKDR(2).fit(scale(X), y)


def test_penguins_given_species_the_other_grouping_is_sex():
    X, labelings = load_penguins()
    model = KDAC(random_state=0).fit(scale(X), given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) > 0.5
    assert nmi(model.labels_, labelings[:, 0]) < 0.05


def test_linear_kdac_is_the_closed_form():
    X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    model = LinearKDAC(n_components=2, novelty_weight=3.0, random_state=0)
    model.fit(X, given=labelings[:, 0])
    Z = X - X.mean(axis=0)
    Y = (labelings[:, :1] == [0, 1]) / np.sqrt(100)
    M = Z.T @ Z - 3.0 * Z.T @ Y @ Y.T @ Z
    assert model.objective_ == pytest.approx(np.linalg.eigvalsh(M)[-2:].sum())
    assert nmi(model.labels_, labelings[:, 1]) > 0.9
    assert model.dependence_ < 0.05 < 0.5 < model.quality_ <= 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert LinearKDAC().fit(X).dependence_ == 0


def test_embedding_kdac_is_the_closed_form():
    X, labelings = make_gaussian_views(150, [2, 2], random_state=0)
    model = EmbeddingKDAC(bandwidth=0.6, novelty_weight=5.0, random_state=0)
    model.fit(X, given=labelings[:, 0])
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 0.36))
    root = 1 / np.sqrt(K.sum(axis=1))
    H = np.eye(150) - 1 / 150
    Y = (labelings[:, :1] == [0, 1]) / np.sqrt(75)
    M = H @ (root[:, None] * K * root - 5.0 * Y @ Y.T) @ H
    assert model.objective_ == pytest.approx(np.linalg.eigvalsh(M)[-2:].sum(), rel=1e-6)
    assert nmi(model.labels_, labelings[:, 1]) > 0.9
    assert nmi(model.predict(X), model.labels_) > 0.8
    assert not hasattr(model, "components_")
    assert not hasattr(model, "transform")


def test_supervised_regression_finds_the_direction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    direction = np.array([1, -1, 0, 0, 0, 0]) / np.sqrt(2)
    y = np.sin(2 * X @ direction) + 0.1 * rng.standard_normal(120)
    for target_kernel in ("auto", "linear", "gaussian"):
        model = SupervisedKDR(1, target_kernel=target_kernel).fit(X, y)
        assert abs(model.components_[0] @ direction) > 0.95
    whole = np.round(100 * y)  # many whole numbers are a real target, not hundreds of classes
    assert abs(SupervisedKDR(1).fit(X, whole).components_[0] @ direction) > 0.95
    few = np.round(y)
    assert SupervisedKDR(target_kernel="gaussian").fit(X, few).n_components_ == 1
    several = SupervisedKDR().fit(X, np.column_stack([X[:, 2], X[:, 3] ** 2]))
    assert several.n_components_ == 2
    assert several.feature_weights_[[2, 3]].sum() > 0.95


def test_supervised_starts():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    spectral = SupervisedKDR(2).fit(X, y)
    random = SupervisedKDR(2, init="random", n_starts=4, random_state=0).fit(X, y)
    given = SupervisedKDR(2, init=spectral.components_.T).fit(X, y)
    assert random.objective_ <= spectral.objective_ * (1 + 1e-6)
    assert given.objective_ == pytest.approx(spectral.objective_)
    strings = SupervisedKDR(2).fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_allclose(strings.components_, spectral.components_)
    events = []
    SupervisedKDR(2, verbose=events.append).fit(X, y)
    assert events[0]["stage"] == "solve"


def test_unsupervised_wine():
    X, y = load_wine(return_X_y=True)
    model = UnsupervisedKDR(3, random_state=0).fit(scale(X))
    assert nmi(model.labels_, y) >= 0.85
    np.testing.assert_array_equal(model.predict(scale(X)), model.labels_)


@pytest.mark.parametrize("seed", range(3))
def test_semi_supervised_labels_follow_the_scores(seed):
    X, labelings = make_gaussian_views(240, [3, 3], random_state=seed)
    rng = np.random.default_rng(seed)
    for view in (0, 1):
        scores = np.eye(3)[labelings[:, view]] + 0.3 * rng.standard_normal((240, 3))
        model = SemiSupervisedKDR(3, n_components=2, random_state=0).fit(X, scores)
        assert nmi(model.labels_, labelings[:, view]) >= 0.95
        assert nmi(model.labels_, labelings[:, 1 - view]) < 0.1
        np.testing.assert_array_equal(model.fit_predict(X, scores), model.labels_)


def test_one_cluster_is_allowed():
    X, _ = make_gaussian_views(50, [2, 2], random_state=0)
    assert set(KDAC(1, n_starts=1).fit(X).labels_) == {0}
