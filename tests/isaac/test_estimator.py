"""ISAAC at its public surface: subspaces, clusters, new rows, views, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_matrix

from multifacet import ISAAC, ViewFinder, find_views
from multifacet.cli import main
from multifacet.datasets import make_gaussian_views, make_independent_views
from multifacet.metrics import match_labelings
from multifacet.results.views import Views


def mixed_views(n=250, seed=0):
    """Two planes of three and five clusters, and a noise feature, mixed by a random matrix."""
    X, labelings = make_gaussian_views(n, [3, 5], n_noise=1, rotate=False, random_state=seed)
    mixing = np.random.default_rng(seed).standard_normal((5, 5))
    return X @ mixing.T, labelings, mixing


@pytest.fixture(scope="module")
def data():
    return mixed_views()


@pytest.fixture(scope="module")
def model(data):
    return ISAAC(random_state=0).fit(data[0])


def test_subspaces_and_clusters_are_found(model, data):
    _, labelings, mixing = data
    assert sorted(len(one.members) for one in model.subspaces_) == [1, 2, 2]
    assert match_labelings(labelings, model.labelings_[:, :2]).score > 0.99
    assert sorted(model.n_clusters_[:2]) == [3, 5]
    # What a subspace reads of the true coordinates: all of one plane, next to nothing else.
    blocks = np.repeat([0, 1, 2], [2, 2, 1])
    for one in model.subspaces_:
        power = (model.components_[one.members] @ mixing) ** 2
        shares = np.bincount(blocks, power.sum(axis=0)) / power.sum()
        assert shares.max() > 0.99


def test_a_subspace_without_clusters_comes_last(model):
    assert model.n_views_ == 2
    assert model.n_clusters_[2] == 1
    assert not model.labelings_[:, 2].any()
    saved = [one.saved_bits for one in model.subspaces_]
    assert saved == sorted(saved, reverse=True)
    assert saved[2] == 0


def test_attributes_fit_together(model, data):
    X = data[0]
    np.testing.assert_array_equal(model.labels_, model.labelings_[:, 0])
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict_labelings(X), model.labelings_)
    sources = model.transform(X)
    np.testing.assert_allclose(sources, (X - model.mean_) @ model.components_.T, atol=1e-9)
    np.testing.assert_allclose(sources.std(axis=0), 1.0, atol=1e-9)
    for one in model.subspaces_:
        np.testing.assert_allclose(one.basis @ one.basis.T, np.eye(len(one.basis)), atol=1e-9)
        assert one.feature_weights.sum() == pytest.approx(1)
        # The basis holds all that the components of the subspace depend on.
        rows = model.components_[one.members]
        np.testing.assert_allclose(rows @ one.basis.T @ one.basis, rows, atol=1e-8)
    assert model.cost_path_[0][0] == (1,) * 5
    assert model.coding_cost_ == min(bits for _, bits in model.cost_path_)


def test_new_rows_are_assigned_like_old_ones(data):
    X, labelings, _ = data
    model = ISAAC(random_state=0).fit(X[:200])
    found = model.predict_labelings(X[200:])[:, : model.n_views_]
    assert match_labelings(labelings[200:], found).score > 0.99
    alone = np.vstack([model.predict_labelings(row[None]) for row in X[200:210]])
    np.testing.assert_array_equal(model.predict_labelings(X[200:210]), alone)


def test_units_do_not_matter(data):
    X, units = data[0][:100, :3], np.array([1e6, 1e-3, 50.0])
    here, there = (ISAAC(random_state=0).fit(one) for one in (X, (X + 7) * units))
    np.testing.assert_array_equal(here.labelings_, there.labelings_)


def test_one_seed_one_result_and_pickle(model, data):
    again = pickle.loads(pickle.dumps(ISAAC(random_state=0).fit(data[0])))
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.predict_labelings(data[0]), model.labelings_)
    assert again.coding_cost_ == model.coding_cost_


def test_progress_is_reported(data):
    events = []
    model = ISAAC(random_state=0, verbose=events.append)
    sources = model.fit_transform(data[0][:100])
    np.testing.assert_allclose(sources, model.transform(data[0][:100]), atol=1e-9)
    stages = [event["stage"] for event in events]
    assert stages[0] == "components"
    assert {"merge", "clusters"} <= set(stages)


def test_repeated_features_are_read_in_all_of_them(data):
    """Six features of rank five: nothing is lost, and the copy shares the weight."""
    X, labelings, _ = data
    model = ISAAC(random_state=0).fit(np.column_stack([X, X[:, 0]]))
    assert model.components_.shape == (5, 6)
    assert match_labelings(labelings, model.labelings_).score > 0.99
    np.testing.assert_allclose(model.components_[:, 0], model.components_[:, 5], atol=1e-8)


def test_more_features_than_rows():
    X, labelings = make_gaussian_views(240, [3, 3], random_state=1)
    rng = np.random.default_rng(0)
    wide = X @ rng.standard_normal((4, 300)) + 1e-3 * rng.standard_normal((240, 300))
    assert ISAAC(random_state=0).fit(wide[:30]).components_.shape == (3, 300)
    model = ISAAC(n_components=4, random_state=0).fit(wide)
    assert match_labelings(labelings, model.labelings_).score > 0.99
    assert model.subspaces_[0].feature_weights.shape == (300,)


def test_one_feature():
    x = np.concatenate([np.random.default_rng(0).normal(c, 1, 100) for c in (0, 8)])[:, None]
    model = ISAAC(random_state=0).fit(x)
    assert model.n_clusters_ == [2]
    assert model.labelings_.shape == (200, 1)


def test_nothing_in_noise():
    X = np.random.default_rng(0).standard_normal((300, 3))
    model = ISAAC(random_state=0).fit(X)
    assert model.n_views_ == 0
    assert not model.labels_.any()
    assert len(model.subspaces_) == 3


def test_constant_features_are_left_out_and_said(data):
    X = data[0][:100, :3]
    with pytest.warns(UserWarning, match="left out 1 constant feature: 2"):
        model = ISAAC(random_state=0).fit(np.insert(X, 2, 3.3, axis=1))
    assert not model.components_[:, 2].any()
    without = ISAAC(random_state=0).fit(X)
    np.testing.assert_array_equal(model.labelings_, without.labelings_)
    np.testing.assert_array_equal(np.delete(model.components_, 2, axis=1), without.components_)


def test_as_published():
    """Planes along the features, as in the paper's data, are found to the letter as well."""
    X, labelings = make_gaussian_views(300, [3, 4], rotate=False, random_state=0)
    model = ISAAC(faithful=True, random_state=0).fit(X)
    assert [len(one.members) for one in model.subspaces_] == [2, 2]
    assert match_labelings(labelings, model.labelings_).score > 0.95
    np.testing.assert_array_equal(model.predict_labelings(X), model.labelings_)
    assert model.cost_path_[0][0] == (1, 1, 1, 1)
    assert model.coding_cost_ == min(bits for _, bits in model.cost_path_)
    again = ISAAC(faithful=True, random_state=0).fit(X)
    np.testing.assert_array_equal(again.labelings_, model.labelings_)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (r"contains NaN: column 1 in row 3; drop or impute", lambda X: poke(X, np.nan)),
        (r"contains infinity: column 1 in row 3", lambda X: poke(X, np.inf)),
        (r"n_samples=9.: at least 10 are needed", lambda X: X[:9]),
        (r"all rows of X are identical", lambda X: np.ones_like(X)),
    ],
)
def test_bad_data(data, message, change):
    with pytest.raises(ValueError, match=message):
        ISAAC().fit(change(data[0]))


def poke(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


def test_bad_options(data):
    with pytest.raises(TypeError, match=r"X is sparse.*toarray"):
        ISAAC().fit(csr_matrix(data[0]))
    with pytest.raises(ValueError, match="n_components=6 must be between 1 and 5: X has 5"):
        ISAAC(n_components=6).fit(data[0])
    with pytest.raises(ValueError, match="n_components='all' is not known"):
        ISAAC(n_components="all").fit(data[0])


@pytest.fixture(scope="module")
def views(data):
    return find_views(data[0], method="isaac")


def test_as_views(views, data, tmp_path):
    X, labelings, _ = data
    assert len(views) == 2
    assert match_labelings(labelings, views.labelings).score > 0.99
    for view in views:
        np.testing.assert_allclose(view.components @ view.components.T, np.eye(2), atol=1e-9)
        assert view.feature_weights.sum() == pytest.approx(1)
        assert np.isfinite(view.code_length)
        assert view.separation > 1.5
        assert view.stability is None
        assert view.p_value is None
    assert views[1].novelty < 0.05
    again = Views.load(views.save(tmp_path / "views"))
    assert [view.code_length for view in again] == [view.code_length for view in views]
    assert views.report(tmp_path / "report.html").stat().st_size > 1000
    finder = ViewFinder(1, method="isaac", random_state=0).fit(X)
    assert finder.n_views_ == 1
    assert finder.rejected_ is None


def test_views_refuse_what_isaac_cannot_do(data):
    X, labelings, _ = data
    with pytest.raises(ValueError, match="method='isaac' finds all views at once and cannot avoid"):
        find_views(X, given=labelings[:, 0], method="isaac")
    with pytest.raises(ValueError, match="n_clusters=3 but method='isaac' chooses"):
        find_views(X, n_clusters=3, method="isaac")
    with pytest.raises(ValueError, match="refines subspaces of KDAC, not of method='isaac'"):
        find_views(X, method="isaac", strategy="simultaneous")


def test_no_views_in_noise():
    assert len(find_views(np.random.default_rng(0).standard_normal((200, 2)), method="isaac")) == 0


def test_command_line(tmp_path):
    X, _ = make_independent_views(200, ["blobs", "blobs"], n_clusters=[2, 3], random_state=0)
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header="a,b,c,d", comments="")
    out = tmp_path / "out"
    call = ["find", str(tmp_path / "t.csv"), "--method", "isaac", "-o", str(out)]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.output
    header = (out / "labels.csv").read_text().splitlines()[0]
    assert header.endswith("view 1,view 2")
