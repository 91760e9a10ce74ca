"""One call on a table that reduces it to few readable dimensions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from multifacet import SupervisedKDR, find_views, reduce_table
from multifacet.datasets import load_penguins, make_gaussian_views
from multifacet.metrics import hsic, nmi
from multifacet.results.reduction import gain_sentence
from multifacet.tables.axes import axis_sentences
from multifacet.tables.reduce import _strength

MEASURED, KNOWN = load_penguins()
PENGUINS = {"bill": MEASURED[:, 0], "depth": MEASURED[:, 1], "flipper": MEASURED[:, 2]} | {
    "mass": MEASURED[:, 3],
    "species": KNOWN[:, 0],
}


@pytest.fixture(scope="module")
def by_species():
    return reduce_table(PENGUINS, target="species", n_components=2)


def scaled(*names):
    X = np.column_stack([PENGUINS[name] for name in names])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_the_subspace_is_that_of_the_estimator(by_species):
    X = scaled("bill", "depth", "flipper", "mass")
    model = SupervisedKDR(2, random_state=0).fit(X, PENGUINS["species"])
    W, V = by_species.components, model.components_
    np.testing.assert_allclose(W.T @ W, V.T @ V, atol=1e-10)  # the same up to a rotation
    np.testing.assert_allclose(by_species.projection, X @ W.T, atol=1e-10)
    assert (np.take_along_axis(W, np.abs(W).argmax(axis=1)[:, None], axis=1) > 0).all()
    assert by_species.labels is None
    assert by_species.bandwidth == model.bandwidth_
    codes = np.unique(PENGUINS["species"], return_inverse=True)[1]
    assert by_species.dependence == pytest.approx(hsic(by_species.projection, codes))


def test_a_real_target_is_no_class():
    reduction = reduce_table(PENGUINS, target="mass", exclude="species", n_components=1, n_folds=0)
    assert reduction.to_dict()["points"]["colour"]["kind"] == "number"
    assert abs(np.corrcoef(reduction.projection[:, 0], PENGUINS["mass"])[0, 1]) > 0.8
    assert reduction.sentence.startswith("1 dimension of 3 features that depends most on mass, led")
    expected = hsic(reduction.projection, PENGUINS["mass"])
    assert reduction.dependence == pytest.approx(expected)


def test_features_that_tell_the_target_lead_whatever_their_share():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(300, 1)), rng.normal(size=(300, 3))
    # A feature that tells the target, though not along a line, and has the smallest share.
    told = _strength(np.hstack([x, noise]), [x[:, 0] ** 2])
    assert told[0] > 0.6
    assert told[1:].max() < 0.1
    assert _strength(np.hstack([x, noise]), [np.where(x[:, 0] > 0, "a", "b")])[0] > 0.9
    table = {"x": x[:, 0], "y": x[:, 0] ** 2} | {f"n{j}": noise[:, j] for j in range(3)}
    reduction = reduce_table(table, target="y", n_components=3, n_folds=0)
    assert reduction.feature_weights[0] < 0.5
    assert reduction.sentence.endswith("most on y, led by x")
    np.testing.assert_allclose(reduction.strength, told)


def test_held_out_rows_are_told_beside_rivals(by_species):
    told = by_species.held_out
    scores = {one["method"]: one["score"] for one in told["scores"]}
    assert list(scores) == ["these dimensions", "PCA", "LDA"]
    assert scores["these dimensions"] > max(0.95, scores["PCA"])
    counts = np.array(told["confusion"]["counts"])
    assert told["n_rows"] == counts.sum() == 333
    assert scores["these dimensions"] == pytest.approx(np.trace(counts) / 333)
    sizes = np.unique(PENGUINS["species"], return_counts=True)[1]
    np.testing.assert_array_equal(counts.sum(axis=1), sizes)
    assert "of 333 rows held out are told right" in by_species.gain
    assert "points more than in those of PCA" in str(by_species)


def test_a_gain_of_nothing_is_no_gain():
    scores = [
        {"method": name, "score": score, "error": 0.01}
        for name, score in (("ours", 0.98), ("PCA", 0.9), ("LDA", 0.98001), ("PLS", 0.99))
    ]
    told = {"n_rows": 100, "n_folds": 3, "measure": "accuracy", "scores": scores}
    assert gain_sentence({**told, "confusion": None}) == (
        "98.0% ± 1.0% of 100 rows held out are told right by their neighbours in these dimensions, "
        "8.0 points more than in those of PCA, "
        "the same as in those of LDA, 1.0 points less than in those of PLS"
    )


def test_numbers_are_told_beside_rivals():
    table = PENGUINS | {"heavy": 2 * PENGUINS["mass"] + PENGUINS["bill"]}
    one = reduce_table(table, target="mass", exclude=["species", "heavy"], n_components=1)
    assert [row["method"] for row in one.held_out["scores"]] == ["these dimensions", "PCA", "PLS"]
    assert one.held_out["confusion"] is None
    assert 0.6 < one.held_out["scores"][0]["score"] < 0.9
    assert "of the variance of 333 rows held out is told" in one.gain
    both = reduce_table(
        table, target=["mass", "heavy"], exclude="species", n_components=1, n_folds=2
    )
    assert both.held_out["n_folds"] == 2
    assert both.held_out["scores"][0]["score"] > 0.6
    assert reduce_table(table, target="mass", n_components=1, n_folds=0).held_out is None


def test_axes_in_words_and_sparse():
    rng = np.random.default_rng(0)
    noise = {f"noise {j}": rng.normal(size=333) for j in range(6)}
    options = {"target": "species", "n_components": 2, "n_folds": 0}
    reduction = reduce_table(PENGUINS | noise, **options, sparsity=2)
    assert np.count_nonzero(reduction.components) == 4
    assert len(reduction.axes) == 2
    assert not any("noise" in text or "other feature" in text for text in reduction.axes)
    assert "(lowest)" in reduction.axes[0]
    document = reduction.to_dict()
    chosen = document["sparsity"]["path"][document["sparsity"]["chosen"]]
    assert chosen["n_loadings"] == 4
    assert chosen["n_features"] == np.count_nonzero(reduction.feature_weights)
    X = scaled("bill", "depth", "flipper", "mass")
    np.testing.assert_allclose(reduction.projection, X @ reduction.components[:, :4].T, atol=1e-10)


def test_few_rows_are_not_compared():
    few = {name: np.asarray(values)[::15] for name, values in PENGUINS.items()}
    assert reduce_table(few, target="species", n_components=1).held_out is None


def test_columns_that_name_rows_are_no_features():
    table = PENGUINS | {"Kunden-Nr": np.random.default_rng(0).permutation(333) + 1000}
    reduction = reduce_table(table, target="species", n_components=1, n_folds=0)
    assert "Kunden-Nr" not in reduction.encoding.feature_names
    options = {"given": "species", "n_views": 1, "n_clusters": 2, "method": "linear"}
    views = find_views(table, **options)
    assert views.encoding.identifier == "Kunden-Nr"
    assert views.index.tolist() == table["Kunden-Nr"].tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scores_and_clusters():
    X, labelings = make_gaussian_views(120, [2, 2], rotate=False, random_state=0)
    table = {f"x{j}": X[:, j] for j in range(4)} | {"score": labelings[:, 1] + 0.5}
    guided = reduce_table(table, scores=["score"], n_clusters=2, n_components=1)
    assert guided.guided_by == "scores"
    assert guided.sentence.startswith("1 dimension of 4 features guided by score, led by")
    assert nmi(guided.labels, labelings[:, 1]) > 0.9
    free = reduce_table(table, exclude="score", n_clusters=2, n_components=1)
    assert free.guided_by == "nothing"
    assert free.dependence is None
    assert max(nmi(free.labels, one) for one in labelings.T) > 0.9
    assert "2 groups" in free.sentence
    colour = free.to_dict()["points"]["colour"]
    assert (colour["name"], colour["kind"]) == ("cluster", "category")


def test_the_dict_is_strict_json_and_small(by_species):
    told = json.loads(json.dumps(by_species.to_dict(), allow_nan=False))["held_out"]
    assert told["n_rows"] == 333
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=2100), "b": rng.normal(size=2100)}
    table["y"] = table["a"] > 0
    reduction = reduce_table(table, target="y", n_components=1, n_folds=0)
    document = json.loads(json.dumps(reduction.to_dict(), allow_nan=False))
    assert document["kind"] == "reduction"
    assert document["features"] == ["a", "b"]
    assert document["n_rows"] == document["points"]["sampled_from"] == 2100
    assert len(document["points"]["coordinates"]) == len(document["points"]["index"]) == 2000
    assert document["feature_weights"][0] > 0.9
    assert str(reduction).startswith(document["sentence"] + "\nDimension 1 rises with a (")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "mas"}, "target='mas' is not a column: did you mean 'mass'"),
        ({"scores": ["bil"]}, "scores='bil' is not a column"),
        ({"target": []}, "target is empty"),
        ({"target": "mass", "scores": "bill"}, "target and scores exclude each other"),
        ({"target": "mass", "n_clusters": 3}, "n_clusters=3 has no effect with a target"),
        ({"scores": "species", "n_clusters": 2}, "y holds text where numbers are needed"),
        ({"target": "species", "n_components": 9}, "n_components=9 must be between 1 and 4"),
        ({"sparsity": 0.1}, "sparsity=0.1 needs a target"),
        ({"target": "species", "n_folds": 1}, "n_folds=1 must be 0, or 2 and more"),
    ],
)
def test_wrong_uses(options, message):
    with pytest.raises(ValueError, match=message):
        reduce_table(PENGUINS, **options)


def test_numbers_fall_by_a_negative_correlation_and_may_hardly_change():
    rng = np.random.default_rng(0)
    target = rng.normal(size=200)
    places = np.column_stack([-target + 0.3 * rng.normal(size=200), rng.normal(size=200)])
    first, second = axis_sentences(np.eye(2), places, ["a", "b"], {"mass": target})
    assert "mass falls along it (correlation -0.9" in first
    assert "mass hardly changes along it" in second
