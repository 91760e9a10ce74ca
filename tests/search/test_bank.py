"""Automatic settings at the public surface: what is chosen, why, and what stays fixed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multifacet import KDAC
from multifacet.datasets import make_independent_views, make_moons_views
from multifacet.kernels import median_distance
from multifacet.metrics import nmi
from multifacet.solvers import ISM


@pytest.fixture(scope="module")
def moons():
    return make_moons_views(250, n_noise=2, random_state=0)


@pytest.fixture(scope="module")
def chosen(moons):
    X, labelings = moons
    return KDAC(random_state=0).fit(X, given=labelings[:, 0])


def test_everything_automatic_finds_the_moons(moons, chosen):
    _, labelings = moons
    assert nmi(chosen.labels_, labelings[:, 1]) > 0.95
    assert nmi(chosen.labels_, labelings[:, 0]) < 0.05
    assert chosen.feature_weights_[2:4].sum() > 0.6


@pytest.mark.parametrize(
    ("views", "k", "options"),
    [
        (("blobs", "rings"), (2, 2), {"n_noise": 8}),
        (("blobs", "rings"), (2, 2), {"n_noise": 8, "rotate": True}),
        (("moons", "blobs"), (2, 3), {"n_noise": 16, "rotate": True}),
        (("blobs", "spirals"), (3, 2), {}),
        (("blobs", "moons"), (2, 2), {"weights": [None, [0.75, 0.25]]}),
    ],
    ids=[
        "rings among noise",
        "rotated rings among noise",
        "rotated blobs",
        "spirals",
        "unbalanced",
    ],
)
def test_shapes_among_noise_and_rotated(views, k, options):
    X, labelings = make_independent_views(500, views, n_clusters=k, random_state=3, **options)
    model = KDAC(k[1], random_state=0).fit(X, given=labelings[:, 0])
    assert nmi(model.labels_, labelings[:, 1]) > 0.9


def test_the_number_of_clusters_is_chosen():
    X, labelings = make_independent_views(
        400, ["moons", "blobs"], n_clusters=[2, 5], random_state=1
    )
    model = KDAC("auto", random_state=0).fit(X, given=labelings[:, 0])
    assert model.n_clusters_ == 5
    assert nmi(model.labels_, labelings[:, 1]) > 0.95


@pytest.mark.parametrize(
    ("fixed", "attribute"),
    [
        ({"bandwidth": 0.2}, "bandwidth_"),
        ({"novelty_weight": 7.0}, "novelty_weight_"),
        ({"n_components": 3}, "n_components_"),
        ({"n_clusters": 3}, "n_clusters_"),
    ],
)
def test_what_is_fixed_stays_fixed(moons, fixed, attribute):
    X, labelings = moons
    model = KDAC(**fixed, n_starts=2, random_state=0).fit(X, given=labelings[:, 0])
    (value,) = fixed.values()
    assert getattr(model, attribute) == value
    assert {getattr(c, attribute[:-1]) for c in model.selection_.candidates} == {value}


def test_candidates_are_kept_and_say_why(chosen):
    selection = chosen.selection_
    ranks = [c.rank for c in selection.candidates]
    assert ranks == sorted(ranks, reverse=True)
    assert selection.chosen.bandwidth == chosen.bandwidth_
    assert selection.chosen.stability is not None
    rows = selection.table()
    assert len(rows) == len(selection.candidates) > 20
    assert rows[0]["separation"] == selection.chosen.separation
    assert "W" not in rows[0]
    assert f"the best of {len(rows)} candidates by separation" in str(selection)
    reasons = {row["rejected"] for row in rows}
    assert "" in reasons
    assert reasons <= {"", "fragment", "repeats what is given"}


def test_what_repeats_the_given_grouping_is_rejected(moons):
    X, labelings = moons
    model = KDAC(random_state=0, n_starts=4).fit(X, given=labelings[:, 1])
    repeats = [c for c in model.selection_.candidates if c.novelty > 0.2]
    assert all(c.rejected for c in repeats)
    assert nmi(model.labels_, labelings[:, 0]) > 0.95


def test_without_separation_the_papers_settings_are_taken():
    X = np.random.default_rng(4).standard_normal((400, 4))
    model = KDAC(random_state=0, n_starts=3).fit(X, given=np.arange(400) % 2)
    assert not model.selection_.found
    assert model.n_components_ == 2
    assert model.novelty_weight_ == 10.0
    assert model.bandwidth_ == pytest.approx(median_distance(X))
    assert {run.start for run in model.explorations_} == {"spectral"}
    assert "has clearly separated" in str(model.selection_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_limits_and_tolerance_reach_the_final_climb(moons):
    X, labelings = moons
    lengths = []
    for options in ({"max_iter": 1}, {"tol": 0.2}, {}):
        model = KDAC(2, random_state=0, n_starts=2, **options).fit(X, given=labelings[:, 0])
        assert model.selection_.found
        lengths.append(len(model.result_.history))
    assert lengths[0] <= 6
    assert lengths[1] < lengths[2]


def test_one_name_of_a_solver_is_the_solver(moons):
    X, labelings = moons
    runs = [
        KDAC(2, random_state=0, n_starts=2, solver=solver).fit(X, given=labelings[:, 0])
        for solver in ("ism", ISM())
    ]
    np.testing.assert_array_equal(runs[0].components_, runs[1].components_)


def test_one_seed_gives_one_result_whatever_the_threads(moons):
    X, labelings = moons
    runs = [
        KDAC(random_state=5, n_starts=4, n_jobs=jobs).fit(X, given=labelings[:, 0])
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(runs[0].labels_, runs[1].labels_)
    np.testing.assert_array_equal(runs[0].components_, runs[1].components_)


def test_the_first_candidate_comes_early_through_the_callback(moons):
    X, labelings = moons
    events = []
    KDAC(random_state=0, verbose=events.append).fit(X, given=labelings[:, 0])
    assert events[0]["stage"] == "select"
    assert events[0]["done"] == 1
    assert events[0]["best"].labels.shape == (250,)
    best = [event["best"].rank for event in events if event["stage"] == "select"]
    assert best == sorted(best)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_large_data_are_searched_on_a_subsample():
    X, labelings = make_moons_views(3000, random_state=0)
    model = KDAC(random_state=0, n_starts=4, max_iter=1).fit(X, given=labelings[:, 0])
    assert len(model.selection_.rows) == 400
    assert nmi(model.labels_, labelings[:, 1]) > 0.95


def test_kernels_without_bandwidth_and_sparse_data(moons):
    from scipy.sparse import csr_matrix

    X, labelings = moons
    model = KDAC(kernel="polynomial", n_starts=2, random_state=0).fit(X, given=labelings[:, 0])
    assert model.bandwidth_ is None
    assert {c.bandwidth for c in model.selection_.candidates} == {None}
    sparse = KDAC(random_state=0).fit(csr_matrix(X), given=labelings[:, 0])
    assert nmi(sparse.labels_, labelings[:, 1]) > 0.95


@pytest.mark.parametrize("init", ["spectral", "random"])
def test_other_starts_are_searched_alone(moons, init):
    X, labelings = moons
    model = KDAC(init=init, n_starts=3, random_state=0).fit(X, given=labelings[:, 0])
    assert {c.start.split(",")[0] for c in model.selection_.candidates} == {init}


def test_an_array_as_start_fixes_the_dimension(moons):
    X, labelings = moons
    model = KDAC(init=np.eye(6)[:, 2:4], random_state=0).fit(X, given=labelings[:, 0])
    assert model.n_components_ == 2
    assert nmi(model.labels_, labelings[:, 1]) > 0.95


def test_a_product_of_two_groupings_is_taken_apart():
    # Four clusters at the corners of a square: with nothing given, two views of two clusters.
    rng = np.random.default_rng(0)
    labelings = rng.integers(0, 2, (300, 2))
    X = np.hstack([8.0 * labelings, np.zeros((300, 2))]) + rng.standard_normal((300, 4))
    model = KDAC("auto", random_state=0).fit(X / X.std(axis=0))
    assert model.n_clusters_ == 2
    assert max(nmi(model.labels_, truth) for truth in labelings.T) > 0.95


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
def test_the_papers_rules_by_name(moons):
    X, labelings = moons
    model = KDAC(
        n_components="eigengap", bandwidth="quality", solver=ISM(max_iter=5), random_state=0
    ).fit(X, given=labelings[:, 0])
    assert 1 <= model.n_components_ < 6
    assert model.selection_.rule == "quality"
    reasons = {c.rejected for c in model.selection_.candidates}
    assert reasons <= {"", "second-order inequality does not hold"}
    widths = {c.bandwidth for c in model.selection_.candidates}
    assert len(widths) == 6
    assert model.bandwidth_ in widths


def test_eigengap_finds_the_dimension_of_a_clear_case():
    # Four clusters at the corners of a tetrahedron span three dimensions; the rest is tiny noise.
    rng = np.random.default_rng(0)
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 3.0
    labels = np.repeat(np.arange(4), 40)
    X = np.hstack([corners[labels], np.zeros((160, 4))]) + 0.1 * rng.standard_normal((160, 7))
    model = KDAC(4, n_components="eigengap", n_starts=2, random_state=0).fit(X)
    assert model.n_components_ == 3


def test_unknown_words_are_errors(moons):
    X, _ = moons
    for name in ("n_clusters", "n_components", "bandwidth", "novelty_weight"):
        with pytest.raises(ValueError, match=f"{name}='best' is not known: use 'auto'"):
            KDAC(**{name: "best"}).fit(X)
