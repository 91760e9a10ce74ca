"""What a user holds afterwards: views and what can be done with them."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import get_type_hints

import numpy as np
import pytest

from multifacet import ViewFinder, Views, compare_labelings, find_views, reduce_table
from multifacet.datasets import make_gaussian_views
from multifacet.documents import (
    CandidateDict,
    ComparisonDocument,
    FrontierDict,
    GroupDict,
    ReductionDocument,
    SelectionDict,
    ViewDict,
    ViewsDocument,
)
from multifacet.evidence import independence_test
from multifacet.frames import prepare
from multifacet.kernels import Gaussian
from multifacet.metrics import cluster_quality, nmi, novelty
from multifacet.report import check_document
from multifacet.results.measures import novelty_of
from multifacet.results.relations import nesting
from multifacet.tables.find import views_of

LINEAR = {"n_views": 1, "n_clusters": 2, "method": "linear"}


def table_with_gaps():
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    columns = dict(zip("abcd", X.T.copy(), strict=True))
    columns["a"][[3, 7]] = np.nan
    known = ["x", "y"] * 30
    known[11] = None
    return columns | {"known": known}


# Which rows


@pytest.mark.filterwarnings("ignore:filled in")
@pytest.mark.parametrize(
    ("missing", "dropped"), [("drop", [3, 7, 11]), ("impute", [11])], ids=["drop", "impute"]
)
def test_views_know_the_rows_that_they_are_about(missing, dropped, tmp_path):
    with pytest.warns(UserWarning, match="left out"):
        views = find_views(table_with_gaps(), given="known", missing=missing, **LINEAR)
    kept = [i for i in range(60) if i not in dropped]
    assert views.rows.tolist() == views.index.tolist() == kept
    assert Views.load(views.save(tmp_path / "views")).rows.tolist() == kept


def rewritten(path, **changes):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files} | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_files_without_rows_are_read_and_wrong_rows_are_not(tmp_path):
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    path = find_views(X, **LINEAR).save(tmp_path / "views")
    assert Views.load(rewritten(path, rows=None)).rows.tolist() == list(range(60))
    for rows in (np.arange(59), np.zeros(60, int), np.arange(60) - 1, np.arange(60.0)):
        with pytest.raises(ValueError, match=r"damaged: rows .*save the views again"):
            Views.load(rewritten(path, rows=rows))


def test_what_tells_groups_apart_is_kept_and_checked(tmp_path):
    X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    views = find_views(X, **LINEAR)
    path = views.save(tmp_path / "views")
    again = Views.load(path)[0]
    assert again.contrasts == views[0].contrasts
    assert again.explanation.contrasts == views[0].explanation.contrasts
    counts = again.contrasts[0]["counts"]
    assert [sum(row) for row in counts] == np.bincount(again.labels).tolist()
    with np.load(path) as file:
        meta = json.loads(bytes(file["meta"]))

    def changed(change):
        other = deepcopy(meta)
        change(other["views"][0])
        text = np.frombuffer(json.dumps(other).encode(), dtype=np.uint8)
        return Views.load(rewritten(path, meta=text))

    def older(view):
        del view["contrasts"], view["explanation"]["contrasts"], view["explanation"]["told"]

    assert changed(older)[0].explanation.told is None
    assert changed(older).table()[0]["features"]
    with pytest.raises(ValueError, match="name features that it does not have"):
        changed(lambda view: view["explanation"]["contrasts"][0].update(feature=9))
    with pytest.raises(ValueError, match="are not of 2 groups"):
        changed(lambda view: view["contrasts"][0].update(means=[1.0]))


# Other groups, names and words


@pytest.fixture(scope="module")
def searched():
    """A view of four groups with all its evidence, and what it was found in."""
    X, labelings = make_gaussian_views(120, [4, 2], rotate=False, random_state=0)
    prepared = prepare(
        dict(zip("abcd", X.T, strict=True)) | {"known": labelings[:, 1]}, given="known"
    )
    options = {"n_components": 2, "n_refits": 1, "n_starts": 2, "random_state": 0}
    views = views_of(prepared, ViewFinder(1, 4, **options))
    assert views[0].stability is not None
    assert views[0].selection is not None
    return prepared, views


def test_merged_groups_have_their_own_evidence_and_nothing_of_the_old(searched):
    prepared, views = searched
    view, given = views[0], list(views.given.values())
    merged = view.relabelled(
        np.minimum(view.labels, 2) + 5,
        prepared.X,
        given=given,
        encoding=prepared.encoding,
        index=prepared.index,
    )
    assert np.array_equal(merged.labels, np.minimum(view.labels, 2))
    assert merged.n_clusters == merged.settings.n_clusters == len(merged.groups) == 3
    assert [group["size"] for group in merged.groups] == np.bincount(merged.labels).tolist()
    assert (merged.name, merged.components) == (view.name, view.components)
    assert merged.stability is merged.p_value is merged.selection is merged.code_length is None
    assert merged.settings.novelty_weight is None
    plain = novelty(merged.labels, given[0])  # of which some is chance
    assert max(0.0, plain - 0.05) <= merged.novelty <= plain
    p_value = independence_test(merged.labels, given[0], random_state=0).p_value
    assert merged.independence == pytest.approx(p_value)
    kernel = Gaussian(view.settings.bandwidth)
    quality = cluster_quality(view.projection, merged.labels, kernel=kernel)
    assert merged.quality == pytest.approx(quality)
    assert merged.separation != view.separation
    assert "not known of these groups" in merged.notes[0]
    told = replace(merged, notes=[*merged.notes, "Independence could not be measured (why)."])
    twice = told.relabelled(np.minimum(merged.labels, 1), prepared.X, given=given)
    assert (twice.notes, twice.groups) == (merged.notes, [])  # now it was measured


def test_other_numbers_for_the_same_groups_keep_the_evidence(searched):
    prepared, views = searched
    view, given = views[0], list(views.given.values())
    turned = view.relabelled(3 - view.labels, prepared.X, given=given)
    for name in ("stability", "p_value", "settings", "selection", "notes", "quality", "separation"):
        assert getattr(turned, name) == getattr(view, name)
    assert turned.novelty == pytest.approx(view.novelty)
    np.testing.assert_allclose(turned.explanation.effects, view.explanation.effects[::-1])


@pytest.mark.parametrize("method", ["embedding", "isaac"])
def test_groups_of_every_method_can_be_changed(method):
    X, _ = make_gaussian_views(90, [3, 2], rotate=False, random_state=0)
    view = (
        ViewFinder(1, 3 if method != "isaac" else "auto", method=method, random_state=0)
        .fit(X)
        .views_[0]
    )
    merged = view.relabelled(view.labels > 0, X)
    assert merged.n_clusters == 2
    assert np.isfinite([merged.separation, merged.quality]).all()
    assert merged.quality <= 2
    assert merged.code_length is merged.p_value is None
    assert 0 <= merged.explanation.strength.min() <= merged.explanation.strength.max() <= 1


def test_a_view_can_be_read_in_the_units_of_its_table(searched):
    prepared, _ = searched
    found = ViewFinder(1, 4, method="linear", random_state=0).fit(prepared.X).views_[0]
    assert found.groups == []
    told = found.readable(prepared.X, prepared.encoding)
    assert told.explanation.feature_names == list("abcd")
    means = [group["profile"]["a"]["mean"] for group in told.groups]
    values = prepared.X[:, 0] * prepared.encoding.scale[0] + prepared.encoding.mean[0]
    assert means == pytest.approx([values[told.labels == c].mean() for c in range(4)])


def test_views_and_groups_take_other_names(searched):
    view = searched[1][0]
    named = view.renamed("kind", {2: "rare"})
    assert (str(named), named.groups[2]["name"]) == (f"kind: {view.sentence}", "rare")
    assert named.explanation.cluster_names[2] == "rare"
    assert [one["name"] for one in named.groups[:2]] == [one["name"] for one in view.groups[:2]]
    assert view.groups[2]["name"] != "rare"
    with pytest.raises(ValueError, match="a name for group 4, but 'view 1' has the groups 0 to 3"):
        view.renamed("kind", {4: "none"})


def test_groups_that_joint_refinement_changes_have_no_evidence_of_the_old():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))  # nothing is clear, so that groups move
    options = {"n_components": 1, "bandwidth": "median", "novelty_weight": 1.0, "n_starts": 2}
    one, other = (
        ViewFinder(2, 2, strategy=strategy, n_refits=1, random_state=0, **options).fit(X).views_
        for strategy in ("iterative", "simultaneous")
    )
    moved = [nmi(a.labels, b.labels) < 1 for a, b in zip(one, other, strict=True)]
    assert any(moved)
    for a, b, changed in zip(one, other, moved, strict=True):
        assert (b.stability, b.p_value) == ((None, None) if changed else (a.stability, a.p_value))
        assert any("not known of these groups" in note for note in b.notes) == changed


# Documents


def keys_of(kind):
    return set(get_type_hints(kind))


def test_documents_are_what_their_classes_say(searched):
    prepared, views = searched
    document = views.to_dict()
    assert set(document) == keys_of(ViewsDocument) - {"run"}
    view = document["views"][0]
    assert set(view) == keys_of(ViewDict)
    assert set(view["groups"][0]) == keys_of(GroupDict)
    assert set(view["selection"]) == keys_of(SelectionDict)
    assert set(view["selection"]["candidates"][0]) == keys_of(CandidateDict)
    assert set(document["frontier"]) == keys_of(FrontierDict)
    table = dict(zip("abcd", prepared.X.T, strict=True)) | {"known": prepared.given[0]}
    reduction = reduce_table(table, target="known", n_components=1).to_dict()
    assert set(reduction) == keys_of(ReductionDocument) - {"run"}
    comparison = compare_labelings([0, 0, 1, 1], [0, 1, 0, 1]).to_dict()
    assert set(comparison) == keys_of(ComparisonDocument) - {"run"}
    for one in (document, reduction, comparison):
        check_document(json.loads(json.dumps(one, allow_nan=False)))


def test_a_file_with_a_wrong_document_is_told_where():
    document = compare_labelings([0, 0, 1, 1], [0, 1, 0, 1]).to_dict()
    document["pairs"][0]["counts"][1] = "many"
    with pytest.raises(ValueError, match=r"pairs\[0\].counts\[1\] is 'many'"):
        check_document(document)


@pytest.mark.parametrize(
    ("p_value", "stability", "novelty", "word"),
    [
        (0.001, 0.95, 0.0, "firm"),
        (0.001, 0.6, 0.0, "fair"),
        (0.001, None, 0.0, "fair"),
        (0.001, 0.2, 0.0, "weak"),
        (0.001, 0.95, 0.4, "weak"),
        (0.2, 0.95, 0.0, "chance"),
        (None, 0.95, 0.0, "firm"),
        (None, None, 0.0, ""),
    ],
)
def test_one_word_says_how_far_to_believe(searched, p_value, stability, novelty, word):
    found = searched[1]
    view = replace(found[0], p_value=p_value, stability=stability, novelty=novelty)
    views = replace(found, views=[view])
    assert views.verdict(view) == word
    assert views.table()[0]["verdict"] == word == views.to_dict()["views"][0]["verdict"]
    assert (view in views.believed) == (word != "chance")
    assert ("seen, not believed" in str(views)) == (word == "chance")
    assert ("no other grouping beyond chance" in views.to_dict()["sentence"]) == (word == "chance")


def test_the_verdict_follows_the_significance_of_the_user(searched):
    found = searched[1]
    view = replace(found[0], p_value=0.03, stability=0.9, novelty=0.0)
    assert replace(found, views=[view]).verdict(view) == "firm"
    assert replace(found, views=[view], significance=0.01).verdict(view) == "chance"


def test_a_view_that_divides_an_earlier_one_further_is_called_so():
    rng = np.random.default_rng(0)
    coarse = np.repeat([0, 1], 100)
    fine = 2 * coarse + rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 6 * np.eye(4, 3)[fine]
    views = find_views(X, given=coarse, n_views=2, n_clusters=2, method="linear", n_refits=0)
    first, second = views
    divided = first.relabelled(2 * first.labels + rng.integers(0, 2, 200), X, given=[coarse])
    both = replace(views, views=[first, divided, second])
    assert "a finer version of view 1" in both.beside(divided)
    assert "version of view 1" not in both.beside(second)
    assert "version" not in both.beside(first)


def test_as_many_groups_are_no_finer_version():
    groups = np.repeat([0, 1, 2], [60, 54, 66])
    moved = groups.copy()
    moved[54:60] = 1
    assert nesting(moved, groups) == ""
    assert nesting(np.where(groups == 2, 2 + np.arange(180) % 2, groups), groups) == "finer"


def test_novelty_leaves_out_what_chance_gives():
    many, others = np.random.default_rng(0).integers(0, 12, (2, 100))
    assert novelty(many, others) > 0.25
    assert novelty_of(many, [others]) < 0.1
    assert novelty_of(many, [others, many]) == pytest.approx(1.0)
    assert novelty_of(many, []) == 0.0
