"""New rows in the views that were found: their groups and their places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import View, ViewFinder, Views, find_views
from multifacet.datasets import make_gaussian_views, make_independent_views
from multifacet.files import open_table
from multifacet.metrics import nmi
from multifacet.results import Found
from multifacet.results.rule import KEPT, Rule, spread_rows
from multifacet.search import Settings
from multifacet.search.sources import every_source

pd = pytest.importorskip("pandas")


def frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def ellipses(n):
    """Two groups that overlap along two features."""
    rng = np.random.default_rng(0)
    truth = rng.choice(2, n)
    X = rng.standard_normal((n, 4)) + 3.0 * truth[:, None] * [1, 0.8, 0, 0]
    return X @ np.diag([1, 3, 0.5, 1]), truth


def steps(n):
    rng = np.random.default_rng(0)
    truth = rng.choice(2, n, p=[0.7, 0.3])
    X = rng.standard_normal((n, 5))
    X[:, 3] = 0.3 * X[:, 3] + 4 * truth
    return X, truth


def curves(n):
    rng = np.random.default_rng(0)
    X, labelings = make_independent_views(n, ["moons"], random_state=rng)
    return np.hstack([X, rng.uniform(size=(n, 2))]), labelings[:, 0]


# Every method


@pytest.mark.parametrize("make", [ellipses, steps, curves], ids=lambda make: make.__name__)
@pytest.mark.parametrize("method", ["auto", "kdac", "linear", "embedding", "isaac"])
def test_every_method_labels_the_rows_that_it_has_seen_as_before(make, method, tmp_path):
    X, _ = make(240)
    options = {} if method == "isaac" else {"n_clusters": 2}
    if method not in ("linear", "embedding", "isaac"):
        options["n_refits"] = 0
    views = find_views(frame(X), n_views=1, method=method, **options)
    again = Views.load(views.save(tmp_path / "views"))
    for told in (views, again):
        np.testing.assert_array_equal(told.predict(frame(X)), views.labelings)
        np.testing.assert_allclose(told.transform(frame(X))[0], views[0].projection, atol=1e-9)
        assert len(told[0].plot().axes) == 2


@pytest.mark.parametrize("source", ["kernel", "mixture", "compact", "step"])
def test_groups_of_every_kind_are_told_for_new_rows(source, monkeypatch):
    def only(*parts):
        return [one for one in every_source(*parts) if one.name == source]

    monkeypatch.setattr("multifacet.finding.methods.auto.every_source", only)
    X, truth = steps(1000)  # more rows than the search looks at
    views = find_views(frame(X[:700]), n_views=1, n_clusters=2, n_refits=0)
    assert views[0].selection["candidates"][0]["source"] == source
    assert nmi(views[0].labels, truth[:700]) > 0.9
    np.testing.assert_array_equal(views.predict(frame(X[:700])), views.labelings)
    assert nmi(views.predict(frame(X[700:]))[:, 0], truth[700:]) > 0.9


@pytest.mark.parametrize("method", ["auto", "kdac", "linear", "embedding", "isaac"])
def test_more_rows_than_are_kept_are_labelled_nearly_as_before(method):
    n = KEPT + 400
    X, labelings = make_independent_views(n + 300, ["blobs", "moons"], random_state=0)
    options = {"n_refits": 0} if method in ("auto", "kdac") else {}
    given = None if method == "isaac" else labelings[:n, 0]
    views = find_views(frame(X[:n]), given=given, n_views=1, method=method, **options)
    assert len(views[0].rule.labels) <= KEPT
    told = views.predict(frame(X[:n]))[:, 0]
    assert (told == views[0].labels).mean() >= 0.95
    for group in range(views[0].n_clusters):
        assert (told[views[0].labels == group] == group).mean() >= 0.9
    if method in ("auto", "kdac"):
        assert nmi(views.predict(frame(X[n:]))[:, 0], labelings[n:, 1]) > 0.95


def test_groups_of_several_kinds_at_once_and_none():
    X, labelings = make_independent_views(300, ["blobs", "rings"], random_state=0)
    views = find_views(X[:200], n_views=2, n_clusters=2, n_refits=0)
    told = views.predict(X[200:])
    assert told.shape == (100, 2)
    assert max(nmi(told[:, 0], labelings[200:, j]) for j in (0, 1)) > 0.95
    assert [points.shape[0] for points in views.transform(X[200:])] == [100, 100]
    nothing = replace(views, views=[])
    assert nothing.predict(X[200:]).shape == (100, 0)
    assert nothing.transform(X[200:]) == []
    assert views.predict(X[:0].reshape(0, 4)).shape == (0, 2)


# Rows by themselves, in the terms of the table


@pytest.fixture(scope="module", params=["kdac", "embedding"])
def found(request):
    X, labelings = make_independent_views(240, ["blobs", "moons"], random_state=0)
    colours = np.random.default_rng(0).choice(["red", "green", "blue"], 200)
    table = frame(X[:200]).assign(colour=pd.Categorical(colours), big=X[:200, 0] > 0)
    options = {"n_views": 1, "n_clusters": 2, "method": request.param, "categories": "use"}
    options |= {"n_refits": 0} if request.param == "kdac" else {}
    views = find_views(table, given=labelings[:200, 0], keep_trivial=True, **options)
    new = frame(X[200:]).assign(colour="red", big=False)
    return views, table, new


def test_a_row_does_not_depend_on_the_others(found):
    views, _, new = found
    together = views.predict(new)
    apart = [views.predict(new.iloc[[i]])[0] for i in range(len(new))]
    np.testing.assert_array_equal(together, apart)
    places = [views.transform(new.iloc[[i]])[0][0] for i in range(len(new))]
    np.testing.assert_allclose(views.transform(new)[0], places, atol=1e-12)


def test_columns_are_found_by_name_in_any_order_and_form(found):
    pl = pytest.importorskip("polars")
    views, table, new = found
    expected = views.predict(new)
    shuffled = new[new.columns[::-1]].assign(unused="text")
    np.testing.assert_array_equal(views.predict(shuffled), expected)
    np.testing.assert_array_equal(views.predict(new.to_dict("list")), expected)
    np.testing.assert_array_equal(views.predict(pl.from_pandas(new)), expected)
    assert set(np.unique(expected)) <= set(np.unique(views[0].labels))
    assert "colour" in table


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda new: new.drop(columns="f1"), "data has no column 'f1': the columns are 'f0', 'f2'"),
        (
            lambda new: new.drop(columns=["f1", "colour"]),
            "data has no column 'f1', 'colour': all of these are needed",
        ),
        (lambda new: new.assign(colour="violet"), "unknown value 'violet' in row 0: known are"),
        (lambda new: new.assign(f0="much"), "holds categories such as 'much', but held numbers"),
        (lambda new: new.assign(f0=np.nan), "'f0' has 40 missing values in rows 0, 1, .* impute"),
        (lambda new: new.assign(f0=np.inf), "'f0' has 40 infinite values"),
        (lambda new: new.to_numpy(), "6 columns without names, .*'f0', 'f1'"),
    ],
    ids=["a column", "columns", "category", "text", "missing", "infinite", "array"],
)
def test_rows_of_another_kind_are_refused_by_a_sentence(found, change, message):
    views, _, new = found
    for call in (views.predict, views.transform):
        with pytest.raises(ValueError, match=message):
            call(change(new))


@pytest.mark.filterwarnings("ignore:filled in")
def test_missing_values_are_imputed_if_they_were():
    X, _ = make_gaussian_views(80, [2, 2], rotate=False, random_state=0)
    holes = frame(X)
    holes.iloc[3, 0] = np.nan
    views = find_views(holes, missing="impute", n_views=1, n_clusters=2, method="linear")
    np.testing.assert_array_equal(views.predict(holes), views.labelings)
    filled = holes.fillna({"f0": holes["f0"].median()})
    np.testing.assert_array_equal(views.predict(filled), views.labelings)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy"])
def test_files_are_labelled_in_batches(suffix, tmp_path):
    pytest.importorskip("pyarrow")
    X, _ = make_gaussian_views(100, [2, 2], rotate=False, random_state=0)
    path, table = tmp_path / f"rows.{suffix}", frame(X)

    def write(table):
        if suffix == "npy":
            np.save(path, table.to_numpy())
        else:
            getattr(table, f"to_{suffix}")(path, index=False)

    def opened():
        return path if suffix == "csv" else open_table(path, batch_rows=32)

    write(table)
    views = find_views(path, n_views=1, n_clusters=2, method="linear")
    for data in (path, str(path), opened()):
        np.testing.assert_array_equal(views.predict(data), views.labelings)
        np.testing.assert_allclose(views.transform(data)[0], views[0].projection, atol=1e-5)
    write(table.assign(f1=np.where(np.arange(100) == 70, np.nan, table["f1"])))
    if suffix != "csv":
        with pytest.raises(ValueError, match=r"in the rows from 64 on, column .* in row 6:"):
            views.predict(opened())


def test_sparse_rows():
    X, _ = make_gaussian_views(90, [2, 2], rotate=False, random_state=0)
    for method in ("linear", "embedding"):
        views = find_views(csr_matrix(X), n_views=1, n_clusters=2, method=method)
        np.testing.assert_array_equal(views.predict(csr_matrix(X)), views.labelings)
        np.testing.assert_allclose(
            views.transform(csr_matrix(X))[0], views[0].projection, atol=1e-9
        )


# Views that were changed, and files of former times


@pytest.mark.parametrize("method", ["linear", "embedding"])
def test_changed_groups_are_those_that_are_predicted(method):
    X, _ = make_gaussian_views(200, [4, 2], rotate=False, random_state=0)
    view = ViewFinder(1, 4, method=method, random_state=0).fit(X[:150]).views_[0]
    merged = view.relabelled(np.minimum(view.labels, 1), X[:150])
    np.testing.assert_array_equal(merged.predict(X[:150]), merged.labels)
    # Rows at a boundary may change sides, since another rule may be the simplest one now.
    assert (merged.predict(X[150:]) == np.minimum(view.predict(X[150:]), 1)).mean() >= 0.95
    own = view.relabelled(X[:150, 0] > 0, X[:150])
    np.testing.assert_array_equal(own.predict(X[:150]), own.labels)


def without(path, *parts):
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files if not name.endswith(parts)}
    np.savez(path, **kept)
    return path


@pytest.mark.parametrize("method", ["linear", "embedding"])
def test_older_files_are_read_and_say_why_they_label_nothing(method, tmp_path):
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    views = find_views(X, n_views=1, n_clusters=2, method=method)
    path = without(views.save(tmp_path / "views"), "_mean", "_landmarks", "_places")
    older = Views.load(path)
    np.testing.assert_array_equal(older.labelings, views.labelings)
    for call in (older.predict, older.transform):
        with pytest.raises(ValueError, match=r"'view 1' comes from a file .* find the views again"):
            call(X)
    if method == "embedding":
        with pytest.raises(ValueError, match="damaged: it has no view0_places"):
            Views.load(without(views.save(tmp_path / "views"), "_places"))


def test_what_has_told_the_labels_is_kept(tmp_path):
    """Not learnt again from what it has told, which would be another rule."""
    X, _ = ellipses(200)
    views = find_views(X, n_views=1, n_clusters=2, method="linear")
    features = views.encoding.transform(X)
    view = views[0].told(features, np.arange(200))
    np.testing.assert_array_equal(view.labels, views[0].predict(features))
    path = replace(views, views=[view]).save(tmp_path / "views")
    new = 3 * np.random.default_rng(1).standard_normal((500, 4))
    np.testing.assert_array_equal(Views.load(path).predict(new), views.predict(new))
    with np.load(path) as file:
        kept = dict(file)
    for name, broken, message in [
        ("scores", kept["view0_rule_scores"][:, :-1], "scores have the shape"),
        ("scores", kept["view0_rule_scores"] * np.nan, "not finite"),
        ("labels", kept["view0_rule_labels"] + 2, "not from 0 to 1"),
    ]:
        np.savez(path, **(kept | {f"view0_rule_{name}": broken}))
        with pytest.raises(ValueError, match=message):
            Views.load(path)
    np.savez(path, **kept)
    lacking = without(path, "_rule_labels")
    with pytest.raises(ValueError, match="it has no view0_rule_labels"):
        Views.load(lacking)


def test_a_group_that_the_rule_never_tells_stays():
    points = np.array([[0.0], [0.0], [0.0], [5.0], [5.0]])
    found = Found([0, 0, 1, 2, 2], np.eye(1), Settings(3))
    view = View.of(points, found, name="two in one place")
    told = view.told(np.vstack([points, [[4.0]]]), np.arange(5))
    assert told.labels[:5].tolist() == [0, 0, 1, 2, 2]
    assert told.labels[5] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X[:, :3], r"float64 in shape \(60, 3\), but 'view 1' was found in 4 features"),
        (lambda X: X[0], r"shape \(4,\)"),
        (lambda X: X.astype(str), "pass numbers"),
        (lambda X: np.where(X[2, 1] == X, np.nan, X), "NaN: column 'x1' in row 2"),
        (
            frame,
            "X is of type DataFrame, .*: pass the table to the predict or transform of all views",
        ),
    ],
    ids=["width", "one row", "text", "missing", "frame"],
)
def test_a_view_knows_features_only(change, message):
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    view = ViewFinder(1, 2, method="linear", random_state=0).fit(X).views_[0]
    with pytest.raises(ValueError, match=message):
        view.predict(change(X))


# The estimator


def test_the_finder_predicts_and_transforms():
    X, labelings = make_independent_views(300, ["blobs", "moons"], random_state=0)
    finder = ViewFinder(2, 2, n_refits=0, random_state=0).fit(X[:200])
    np.testing.assert_array_equal(finder.predict(X[:200]), finder.labels_)
    np.testing.assert_array_equal(finder.predict_labelings(X[:200]), finder.labelings_)
    assert nmi(finder.predict(X[200:]), labelings[200:, 0]) > 0.95
    expected = np.hstack([view.projection for view in finder.views_])
    np.testing.assert_allclose(finder.transform(X[:200]), expected, atol=1e-9)
    assert len(finder.get_feature_names_out()) == expected.shape[1]
    with pytest.raises(ValueError, match="3 features"):
        finder.predict(X[:, :3])


def test_views_refined_together_predict_too():
    X, _ = make_independent_views(150, ["blobs", "moons"], random_state=0)
    finder = ViewFinder(2, 2, strategy="simultaneous", n_refits=0, random_state=0).fit(X)
    np.testing.assert_array_equal(finder.predict_labelings(X), finder.labelings_)


# The rule


def test_the_rule_is_the_simplest_that_tells_all():
    rng = np.random.default_rng(0)
    blobs = rng.standard_normal((100, 2)) + 10 * (np.arange(100) % 2)[:, None]
    assert Rule.learn(blobs, np.arange(100) % 2).scores.shape == (2, 3)
    stretched = rng.standard_normal((200, 2)) * [10, 0.1] + [[0, 1]] * (np.arange(200) % 2)[:, None]
    assert Rule.learn(stretched, np.arange(200) % 2).scores.shape == (2, 3)
    angle, radius = rng.uniform(0, 6.28, 200), 1 + 4 * (np.arange(200) % 2)
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert Rule.learn(rings, np.arange(200) % 2).scores.shape == (2, 6)
    noise = rng.standard_normal((50, 2))
    labels = rng.choice(3, 50)
    rule = Rule.learn(noise, labels)
    assert rule.scores.shape == (50, 3)
    np.testing.assert_array_equal(rule.predict(noise), labels)


def test_small_groups_are_not_forgotten():
    labels = np.repeat([0, 1, 2], [30_000, 20_000, 3])
    rows = spread_rows(labels, 1000)
    assert len(rows) <= 1001
    assert np.unique(labels[rows]).tolist() == [0, 1, 2]


def test_one_place_or_one_group_is_no_reason_to_fail():
    rule = Rule.learn(np.zeros((4, 2)), np.array([0, 0, 0, 1]))
    assert rule.predict(np.zeros((2, 2))).tolist() == [0, 0]
    found = Found(np.zeros(6, int), np.eye(1, 3), Settings(1))
    view = View.of(np.random.default_rng(0).standard_normal((6, 3)), found, name="all")
    assert view.predict(np.ones((2, 3))).tolist() == [0, 0]
