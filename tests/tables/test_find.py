"""One call on a table: its views, in its terms."""

from __future__ import annotations

import re

import numpy as np
import pytest

from multifacet import find_views
from multifacet.datasets import (
    load_penguins,
    make_moons_views,
)
from multifacet.kernels import Custom
from multifacet.metrics import nmi
from multifacet.results.views import Views

pd = pytest.importorskip("pandas")
RANDOM = np.random.default_rng(0).normal(size=331).tolist()


@pytest.fixture(scope="module")
def penguins():
    measurements, known = load_penguins(as_frame=True)
    return measurements.assign(species=known["species"], sex=known["sex"])


@pytest.fixture(scope="module")
def found(penguins):
    return find_views(penguins, given="species", method="kdac", n_refits=2)


def test_one_call_on_a_data_frame(penguins, found):
    view = found[0]
    assert nmi(view.labels, penguins["sex"]) > 0.5
    assert nmi(view.labels, penguins["species"]) < 0.1
    assert found.roles.references == list(found.references) == ["sex"]
    assert "sex" not in view.sentence
    assert list(found.given) == ["species"]
    assert len(found) == len(list(found)) == found.labelings.shape[1]
    assert "given species" in str(found)
    assert view.sentence in str(found)


def test_the_table_the_figure_and_the_notebook(found):
    rows = pd.DataFrame(found.table())
    assert rows.loc[0, "clusters"] == 2
    assert sum(rows.loc[0, "sizes"]) == 333
    assert "your column sex (agreement" in rows.loc[0, "beside"]
    html = found._repr_html_()
    assert html.startswith("<table>")
    assert "<script" not in html
    pytest.importorskip("matplotlib")
    assert len(found.plot().axes) == 2 * len(found) + 1


def test_what_is_saved_is_what_is_loaded(found, tmp_path):
    path = found.save(tmp_path / "penguins")
    assert path.name == "penguins.npz"
    again = Views.load(path)
    assert str(again) == str(found)
    assert again.table() == found.table()
    np.testing.assert_array_equal(again.labelings, found.labelings)
    np.testing.assert_array_equal(again[0].projection, found[0].projection)
    np.testing.assert_array_equal(again.frontier.quality, found.frontier.quality)
    np.testing.assert_array_equal(again.given["species"], found.given["species"])
    assert again[0].settings == found[0].settings
    assert str(again.rejected) == str(found.rejected)
    assert again.roles == found.roles
    assert again.references["sex"].names == ["female", "male"]
    np.testing.assert_array_equal(again.references["sex"].values, found.references["sex"].values)


def test_files_that_hold_no_views_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Views.load(tmp_path / "nothing.npz")
    other = tmp_path / "other.npz"
    np.savez(other, numbers=np.arange(3))
    with pytest.raises(ValueError, match="does not hold views"):
        Views.load(other)
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, meta=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="does not hold views"):
        Views.load(pickled)


def test_new_rows_can_be_encoded_after_loading(penguins, found, tmp_path):
    again = Views.load(found.save(tmp_path / "v.npz"))
    rows = again.encoding.transform(penguins.head(5))
    assert rows.shape == (5, len(again.encoding.feature_names))


class Fragile:
    """A kernel that fails in a certain stage of the work."""

    def __init__(self, stage):
        self.stage, self.broken = stage, False
        self.kernel = Custom(
            self.value, self.slope, self.curvature, form="difference", nonnegative=True
        )

    def __call__(self, event):
        self.broken = event["stage"] == self.stage

    def value(self, beta):
        if self.broken:
            raise ArithmeticError("no more")
        return np.exp(-beta)

    def slope(self, beta):
        return -self.value(beta)

    def curvature(self, beta):
        return self.value(beta)


@pytest.mark.parametrize(
    ("stage", "missing"),
    [("stability", "Stability"), ("frontier", "What novelty costs in quality")],
)
def test_evidence_that_fails_takes_no_view_with_it(stage, missing, tmp_path):
    X, labelings = make_moons_views(100, random_state=0)
    fragile = Fragile(stage)
    options = {"n_clusters": 2, "n_components": 2, "novelty_weight": 1.0, "n_refits": 1}
    views = find_views(
        X, given=labelings[:, 0], n_views=1, kernel=fragile.kernel, verbose=fragile, **options
    )
    note = f"{missing} could not be measured (ArithmeticError: no more)."
    assert views[0].notes == [note]
    assert (views[0].stability is None) == (stage == "stability")
    assert (views.frontier is None) == (stage == "frontier")
    for told in (str(views), views.to_dict()["views"][0]["evidence"]):
        assert note in told
    assert Views.load(views.save(tmp_path / "views.npz"))[0].notes == [note]


def test_nothing_found_reads_well():
    X = np.random.default_rng(0).standard_normal((150, 5))
    views = find_views(X, n_refits=3)
    assert len(views) == 0
    assert str(views).startswith("No view beyond chance in 150 rows.\n  seen, not believed: ")
    assert views.rejected.p_value > 0.05
    assert views.labelings.shape == (150, 0)
    assert "No view" in views._repr_html_()
    pytest.importorskip("matplotlib")
    assert views.plot().get_suptitle() == "no further view found"


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"given": "specie"}, "given='specie' is not a column: did you mean 'species'"),
        ({"one": "a"}, {"given": "one"}, "given 'one' has the single value a"),
        (
            {"id": [f"bird {i}" for i in range(333)]},
            {"given": "id"},
            "given 'id' has 333 different values for 333 rows: it looks like an identifier",
        ),
        (
            {"ring": [f"r{i // 2}" for i in range(333)]},
            {"given": "species", "features": ["ring"]},
            "column 'ring' has 167 different values: group them",
        ),
        ({"mass": [np.nan] * 2 + RANDOM}, {"given": "species"}, "'mass' has 2 missing values"),
        ({}, {"given": "species", "standardise": True}, None),
    ],
    ids=["misspelt", "single value", "identifier", "many values", "missing", "unknown option"],
)
def test_wrong_uses_are_said_clearly(penguins, change, options, message):
    if message is None:
        with pytest.raises(TypeError, match="no option standardise: did you mean standardize"):
            find_views(penguins, **options)
        return
    with pytest.raises(ValueError, match=message):
        find_views(penguins.assign(**change), **options)


def test_identifiers_and_other_frames(penguins):
    pl = pytest.importorskip("polars")
    table = pl.DataFrame(
        {name: penguins[name].to_numpy() for name in penguins}
        | {"bird": [f"bird {i}" for i in range(len(penguins))]}
    )
    options = {"n_views": 1, "n_clusters": 2, "n_refits": 0, "n_starts": 2}
    views = find_views(table, given="species", identifier="bird", **options)
    assert views.index[7] == "bird 7"
    columns = {name: penguins[name].to_numpy() for name in penguins}
    same = find_views(columns, given="species", **options)
    np.testing.assert_array_equal(same.labelings, views.labelings)


def test_a_table_is_not_searched_for_one_group():
    with pytest.raises(ValueError, match="n_clusters=1 must be at least 2"):
        find_views(np.eye(20), n_views=1, n_clusters=1)


def test_given_labels_are_matched_by_their_index(penguins):
    options = {"n_views": 1, "n_clusters": 2, "method": "linear"}
    table, species = penguins.drop(columns=["species", "sex"]), penguins["species"]
    expected = find_views(table, given=species, **options)
    for given in (
        species.iloc[::-1],
        species.sample(frac=1, random_state=0).to_frame(),
        [species.iloc[::-1]],
        pd.concat([species, species.set_axis(species.index + 1000)]),
    ):
        views = find_views(table, given=given, **options)
        np.testing.assert_array_equal(views.labelings, expected.labelings)
        np.testing.assert_array_equal(*(next(iter(v.given.values())) for v in (views, expected)))
    by_order = find_views(table, given=species.iloc[::-1].to_numpy(), **options)
    assert (by_order.given["given"] != expected.given["species"]).any()


def test_given_labels_of_other_rows_are_refused(penguins):
    table, species = penguins.drop(columns=["species", "sex"]), penguins["species"]
    other = species.set_axis(species.index + 100)
    message = r"no label for 100 of 333 rows of data, such as that with the index 0: .*to_numpy"
    with pytest.raises(ValueError, match=message):
        find_views(table, given=other)
    with pytest.raises(ValueError, match="index of its own, in which names repeat"):
        find_views(table, given=species.set_axis([0] * len(species)))


def test_columns_are_decided_on_without_a_search(penguins):
    table = penguins.assign(no=range(1, 334), study="a", tag=[f"N{i}" for i in range(333)])
    roles = find_views(table, given="species", dry_run=True)
    assert roles.features == list(penguins)[:4]
    assert (roles.identifier, roles.references) == ("tag", ["sex"])
    told = {one["name"]: (one["use"], one["why"]) for one in roles.table()}
    assert told["study"] == ("left out", "constant")
    assert told["no"] == ("left out", "different in every row")
    assert find_views(table, categories="use", dry_run=True).features[-2:] == ["species", "sex"]
    assert find_views(np.eye(20), dry_run=True).features == [f"x{j}" for j in range(20)]


LINEAR = {"n_views": 1, "n_clusters": 2, "method": "linear", "n_refits": 0}


def test_columns_beside_the_features_may_lack_values(penguins):
    sex = penguins["sex"].where(np.arange(333) % 7 > 0)
    views = find_views(penguins.assign(sex=sex), given="species", **LINEAR)
    assert len(views.index) == 333
    (known, beside) = sorted(views.relations(views[0]), key=lambda one: one.column == "sex")
    assert (known.column, beside.column) == ("species", "sex")
    there = sex.notna().to_numpy()
    complete = find_views(penguins, given="species", **LINEAR)
    np.testing.assert_array_equal(complete.labelings, views.labelings)
    assert views.references["sex"].present.tolist() == there.tolist()


def test_a_view_that_is_a_column_is_called_so():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 120)
    table = {
        "x": rng.normal(size=120) + 9 * kind,
        "y": rng.normal(size=120) + 9 * kind,
        "z": rng.normal(size=120),
        "sp": np.where(kind, "blue", "orange"),
        "site": rng.choice(list("abc"), 120),
        "length": 3.0 * kind + rng.normal(size=120),
        "noise": rng.normal(size=120),
    }
    views = find_views(table, exclude=["length", "noise"], **LINEAR)
    assert "    nearly your column sp (agreement 1.00), tells 7" in str(views)
    assert "nearly your column sp (agreement 1.00)" in views._repr_html_()
    found = {one.column: one for one in views.relations(views[0])}
    assert found["sp"].agreement == pytest.approx(1)
    assert found["length"].numbers
    assert 0.5 < found["length"].agreement < 0.9
    for name in ("site", "noise"):
        assert abs(found[name].agreement) < 0.05
        assert found[name].p_value > 0.01
    alone = find_views({name: table[name] for name in ("x", "y", "z", "site")}, **LINEAR)
    assert "no relation to your column site" in str(alone)


def test_views_that_only_repeat_a_feature_come_last_or_not_at_all():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 200)
    table = {
        "female": rng.permutation(np.tile([0, 1], 100)),
        "x": rng.normal(size=200) + 5 * kind,
        "y": rng.normal(size=200) + 5 * kind,
    }
    options = {"categories": "use", "n_views": 2, "n_clusters": 2, "method": "linear"}
    kept = find_views(table, keep_trivial=True, **options)
    assert [view.repeats for view in kept] == [[], ["female"]]
    assert [view.name for view in kept] == ["view 1", "view 2"]
    assert "only repeats the feature female" in str(kept)
    views = find_views(table, **(options | {"n_views": 1}))
    assert nmi(views[0].labels, kind) > 0.9
    assert views[0].repeats == []


def test_columns_of_few_values_do_not_keep_the_groups_of_the_rest_from_being_found():
    def answers(distance):
        rng = np.random.default_rng(0)
        kind = rng.integers(0, 2, 200)
        table = {name: rng.choice(["yes", "no"], 200) for name in ("owns", "urban", "insured")}
        return kind, table | {name: rng.normal(size=200) + distance * kind for name in "xyz"}

    options = {"categories": "use", "n_views": 1, "n_clusters": 2, "n_refits": 0}
    kind, table = answers(2.0)
    first = find_views(table, keep_trivial=True, **options)
    assert first[0].repeats == []
    assert nmi(first[0].labels, kind) > 0.5
    kind, table = answers(1.5)  # fainter, so that columns as they are come first
    as_they_are = options | {"standardize": False}
    assert find_views(table, keep_trivial=True, **as_they_are)[0].repeats
    with pytest.warns(UserWarning, match="left out 1 of 2 views, which only repeat 'owns'"):
        views = find_views(table, **as_they_are)
    assert views[0].repeats == []
    assert nmi(views[0].labels, kind) > 0.5
    assert views[0].components.shape[1] == len(views[0].feature_weights) == 6
    again = views.predict(table)
    assert nmi(np.asarray(again).ravel(), views[0].labels) > 0.95


def test_groups_that_measurements_and_a_column_tell_are_avoided_once_the_column_is_known():
    rng = np.random.default_rng(0)
    species, stage = rng.integers(0, 2, (2, 200))
    table = {
        "species": np.where(species, "blue", "orange"),
        "width": rng.normal(size=200) + 12 * species,
        "length": rng.normal(size=200) + 7 * stage,
        "depth": rng.normal(size=200) + 7 * stage,
    }
    options = {"categories": "use", "n_views": 1, "n_clusters": 2, "n_refits": 0}
    assert find_views(table, keep_trivial=True, **options)[0].repeats == ["species"]
    with pytest.warns(UserWarning, match="which only repeat 'species'"):
        views = find_views(table, **options)
    assert nmi(views[0].labels, stage) > 0.9


@pytest.fixture(scope="module")
def answers():
    """Answers to six questions that two kinds of people give otherwise, and two measurements."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)
    likely = np.where(kind, 0.9, 0.1)
    table = {f"q{i}": np.where(rng.random(300) < likely, "yes", "no") for i in range(6)}
    table["region"] = rng.choice(["north", "south", "west"], 300)
    table["age"] = rng.normal(size=300)
    table["income"] = rng.normal(size=300) + 1.5 * kind
    options = {"n_views": 1, "n_clusters": 2, "n_refits": 0}
    return table, kind, find_views(table, categories="use", **options)


def test_groups_that_categories_tell_together_are_found_and_told_in_their_words(answers):
    _, kind, views = answers
    assert views[0].repeats == []
    assert nmi(views[0].labels, kind) > 0.7
    assert re.search(r"mostly q\d=(yes|no) \(\d\d %\)", views[0].sentence)
    shares = views[0].groups[0]["profile"]["region"]["shares"]
    rows = views[0].labels == 0
    assert shares["west"] == pytest.approx((answers[0]["region"][rows] == "west").mean(), abs=1e-6)


def test_views_with_categories_label_rows_again_after_loading(answers, tmp_path):
    table, _, views = answers
    views.save(tmp_path / "views.npz")
    loaded = Views.load(tmp_path / "views.npz")
    some = {name: column[[250, 3, 17]] for name, column in table.items()}
    for one in (views, loaded):
        np.testing.assert_array_equal(np.asarray(one.predict(table))[:, 0], views[0].labels)
        np.testing.assert_array_equal(
            np.asarray(one.predict(some))[:, 0], views[0].labels[[250, 3, 17]]
        )


def test_filling_in_says_where_and_what_it_costs(penguins):
    gaps = penguins.copy()
    gaps.iloc[:3, 0] = np.nan
    gaps.iloc[100:180, 1] = np.nan
    said = r"filled in 83 missing values: 'bill_depth_mm' 80 \(24%\), 'bill_length_mm' 3 \(1%\); so"
    with pytest.warns(UserWarning, match=said):
        find_views(gaps, given="species", missing="impute", **LINEAR)
    few = penguins.copy()
    few.iloc[:3, 0] = np.nan
    with pytest.warns(UserWarning, match=r"'bill_length_mm' 3 \(1%\); missing='drop' leaves"):
        find_views(few, given="species", missing="impute", **LINEAR)
