from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import ortho_group

from multifacet.datasets import make_independent_views
from multifacet.explain import Explanation, explain, varimax


def plane(d, *features):
    """Basis of the span of some features."""
    return np.eye(d)[list(features)]


@pytest.fixture
def penguin_like():
    """Mass is high and depth is low in cluster 1; age is noise."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [70, 50])
    X = rng.standard_normal((120, 3)) + np.outer(labels, [2.5, -2.0, 0.0])
    return pd.DataFrame(X, columns=["mass", "depth", "age"]), labels


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("q", [1, 2, 4])
def test_varimax_recovers_sparse_loadings(q, seed):
    rng = np.random.default_rng(seed)
    sparse = np.zeros((12, q))
    for i, features in enumerate(np.array_split(rng.permutation(12), q)):
        sparse[features, i] = rng.uniform(0.5, 1, len(features)) * rng.choice([-1, 1])
    sparse /= np.linalg.norm(sparse, axis=0)
    mixing = ortho_group.rvs(q, random_state=seed) if q > 1 else np.array([[-1.0]])
    R = varimax(sparse @ mixing)
    np.testing.assert_allclose(R.T @ R, np.eye(q), atol=1e-12)
    agreement = np.abs(sparse.T @ (sparse @ mixing @ R))
    order = agreement.argmax(axis=1)
    assert sorted(order) == list(range(q))
    np.testing.assert_allclose(agreement[:, order], np.eye(q), atol=1e-4)


def test_effects_and_strength_against_a_loop():
    rng = np.random.default_rng(1)
    X, labels = rng.standard_normal((60, 4)) * [1, 5, 0.1, 1] + 7, rng.integers(0, 3, 60)
    X[:, 3] = 2.0
    found = explain(X, labels, plane(4, 0, 1))
    for c in range(3):
        for i in range(3):
            a, b = X[labels == c, i], X[labels != c, i]
            pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / 58
            expected = (a.mean() - b.mean()) / np.sqrt(pooled) * (1 - 3 / (4 * 58 - 1))
            assert found.effects[c, i] == pytest.approx(expected, rel=1e-10)
    between = sum(
        (labels == c).sum() * (X[labels == c].mean(axis=0) - X.mean(axis=0)) ** 2 for c in range(3)
    )
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(found.strength[:3], between[:3] / total[:3], rtol=1e-10)
    assert found.strength[3] == 0
    assert not found.effects[:, 3].any()


def test_loadings_are_a_readable_basis_of_the_same_subspace():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 5)) * [1, 3, 1, 2, 1]
    components = ortho_group.rvs(2, random_state=0) @ plane(5, 1, 3)
    found = explain(X, X[:, 1] > 0, components)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(found.loadings, found.rotation @ components)
    # Feature 1 varies more than feature 3, so its axis is first; both point upwards.
    np.testing.assert_allclose(found.loadings, plane(5, 1, 3), atol=1e-6)
    np.testing.assert_allclose(found.weights, [0, 0.5, 0, 0.5, 0], atol=1e-12)


def test_sentence_names_features_and_their_signs(penguin_like):
    X, labels = penguin_like
    found = explain(X, labels, plane(3, 0, 1))
    assert found.cluster_names == ["low mass, high depth", "high mass, low depth"]
    assert found.sentence == (
        "2 groups: high mass, low depth in group 1 (50 rows) against group 0 (70); "
        f"these two alone tell {found.told:.0%} of rows".replace("%", " %")
    )
    assert 0.9 < found.told < 1
    # A feature that differs, but is not in the subspace, is not behind the view.
    assert "depth" not in explain(X, labels, plane(3, 0, 2)).sentence


def test_many_groups_are_summed_up():
    labels = np.repeat(np.arange(6), 20)
    X = np.random.default_rng(6).standard_normal((120, 2)) + np.outer(labels, [5, 0])
    assert explain(X, labels, plane(2, 0)).sentence == (
        "6 groups told apart by x0 (20 rows each); it alone tells 99 % of rows"
    )
    assert "(19 to 20 rows each)" in explain(X[1:], labels[1:], plane(2, 0)).sentence


def test_sentence_tells_differences_in_original_units(penguin_like):
    X, labels = penguin_like
    found = explain(X, labels, plane(3, 0), units=[1000, 1, 1])
    difference = 1000 * (X["mass"][labels == 1].mean() - X["mass"][labels == 0].mean())
    number = float(found.sentence.split("mass (+")[1].split(")")[0])
    assert number == pytest.approx(difference, rel=5e-3)
    assert found.cluster_names[0] == f"low mass (-{number:.0f})"


def test_equal_levels_are_named_once_and_the_middle_is_average():
    rng = np.random.default_rng(3)
    labels = np.repeat(["a", "b", "c"], 40)
    level = np.repeat([-3.0, 0.0, 3.0], 40)
    X = rng.standard_normal((120, 3)) + np.outer(level, [1, 1, 0])
    found = explain(X, labels, plane(3, 0, 1))
    assert found.cluster_names[1] == "near average"
    assert sorted(found.cluster_names[2].split(" ")) == ["and", "high", "x0", "x1"]
    first, _, last, told = found.sentence.split("; ")
    assert first.startswith("3 groups: high")
    assert first.endswith("in group c (40 rows)")
    assert last.endswith("in group a (40 rows)")
    assert told.startswith("these two alone tell 9")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((50, 0), ["all sex=male", "all sex=female"]),
        ((48, 15), ["mostly sex=male (96 %)", "mostly sex=female (70 %)"]),
        ((20, 3), ["more often sex=male (40 %)", "mostly sex=female (94 %)"]),
        ((28, 26), ["group 0", "group 1"]),
    ],
)
def test_indicators_are_properties_not_levels(counts, expected):
    rows = np.arange(50)
    male = np.concatenate([rows < counts[0], rows < counts[1]]).astype(float)
    X = np.column_stack([(male - male.mean()) / male.std(), np.tile(rows % 7, 2)])
    labels = np.repeat([0, 1], 50)
    names = ["sex=male", "age"]
    opposites = {"sex=male": "sex=female"}
    found = explain(X, labels, plane(2, 0), feature_names=names, units=[2, 2], opposites=opposites)
    assert found.cluster_names == expected
    assert np.isfinite(found.effects).all()


def test_a_group_has_the_value_that_most_of_its_rows_have():
    """It is not called by a value that it has not, where another one is usual in it."""
    place = np.repeat(["home", "work", "none", "home"], [98, 100, 100, 2])
    labels = np.repeat([0, 1, 2, 1], [98, 100, 100, 2])
    values = ["home", "none", "work"]
    X = np.column_stack([place == value for value in values]).astype(float)
    found = explain(X, labels, np.eye(3), feature_names=[f"net={value}" for value in values])
    assert "not net=" not in found.sentence
    assert found.cluster_names[1].startswith("mostly net=work (98 %)")
    assert found.cluster_names[2] == "all net=none"


@pytest.mark.parametrize("seed", range(3))
def test_no_level_is_claimed_where_means_agree(seed):
    X, labelings = make_independent_views(
        400, ["blobs", "rings"], n_clusters=[2, 4], n_noise=2, random_state=seed
    )
    found = explain(X, labelings[:, 1], plane(6, 2, 3))
    assert np.abs(found.effects[:, 2:4]).max() < 0.5
    assert "4 groups that differ in shape, not in level, in the plane of x" in found.sentence
    assert "x2" in found.sentence
    assert "x3" in found.sentence
    assert found.cluster_names == ["group 0", "group 1", "group 2", "group 3"]
    assert "level, along x2" in explain(X, labelings[:, 1], plane(6, 2)).sentence


def test_a_mixture_of_weak_features_is_not_called_a_shape():
    rng = np.random.default_rng(4)
    labels, d = np.repeat([0, 1], 200), 100
    direction = np.ones(d) / 10
    X = rng.standard_normal((400, d)) + np.outer(labels, 3.0 * direction)
    names = np.array(["".join(letters) for letters in product("abcdefghij", repeat=2)])
    found = explain(X, labels, direction[None])
    assert np.abs(found.effects).max() < 0.6
    keep = np.abs(found.effects).max(axis=0) < 0.5
    axis = direction[None, keep] / np.linalg.norm(direction[keep])
    weak = explain(X[:, keep], labels, axis, feature_names=names[keep])
    assert weak.sentence.startswith("2 groups told apart by a mixture of features")
    numbered = explain(X[:, keep], labels, axis)
    assert numbered.sentence.startswith(f"2 groups along a direction of all {keep.sum()} features")
    same = explain(rng.standard_normal((400, d)), labels, direction[None], feature_names=names)
    assert "not in level, in a mixture led by" in same.sentence


def crab_like(n=300, noise=0.3, seed=0):
    """Two kinds of all sizes, of which one is 5 % wider than the other at the same length."""
    rng = np.random.default_rng(seed)
    size, wide = rng.uniform(18, 45, n), rng.integers(0, 2, n)
    columns = {
        "length": size,
        "width": 1.14 * size * (1 + 0.05 * wide),
        "depth": 0.45 * size,
        "front": 0.5 * size,
    }
    table = pd.DataFrame(columns) + noise * rng.standard_normal((n, 4))
    return table, wide


def discriminant(Z, labels):
    """Unit vector of the direction that tells two groups best."""
    shift = Z[labels == 1].mean(axis=0) - Z[labels == 0].mean(axis=0)
    direction = np.linalg.solve(np.cov(Z.T), shift)
    return (direction / np.linalg.norm(direction))[None]


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_in_shape_at_the_same_size_is_told_as_such(seed):
    table, wide = crab_like(seed=seed)
    units = table.std(ddof=0).to_numpy()
    Z = ((table - table.mean()) / units).to_numpy()
    found = explain(Z, wide, discriminant(Z, wide), feature_names=list(table.columns), units=units)
    assert np.abs(found.effects).max() < 0.5  # by itself, nothing differs
    assert found.sentence.startswith("2 groups: width (+")
    assert " large for its length in group 1 (" in found.sentence
    assert found.cluster_names[0].startswith("width (-")
    assert found.cluster_names[0].endswith(") small for its length")
    # At the mean length of 31.5, 5 % are 1.8.
    amount = float(found.sentence.split("(+")[1].split(")")[0])
    assert amount == pytest.approx(0.05 * 1.14 * table["length"].mean(), rel=0.1)
    assert found.told > 0.9
    assert "these two alone tell 9" in found.sentence


def test_size_is_told_where_it_is_size_that_differs():
    table, _ = crab_like()
    large = (table["length"] > 31).astype(int).to_numpy()
    Z = ((table - table.mean()) / table.std(ddof=0)).to_numpy()
    found = explain(Z, large, np.full((1, 4), 0.5), feature_names=list(table.columns))
    assert "for its" not in found.sentence
    assert found.cluster_names == ["low length", "high length"]


def test_features_high_in_the_same_group_are_levels_even_if_they_oppose_each_other():
    # As sex among penguins: heavier and deeper bills in every species, but heavy species have
    # shallow ones.
    rng = np.random.default_rng(5)
    species, sex = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    X = (
        np.outer(species, [3.0, -3.0])
        + np.outer(sex, [1.5, 1.5])
        + 0.5 * rng.standard_normal((400, 2))
    )
    found = explain(X, sex, np.eye(2), feature_names=["mass", "bill"], units=[1, 1])
    assert found.cluster_names[1].startswith("high ")
    assert "for its" not in found.sentence
    assert {contrast.feature for contrast in found.contrasts} == {0, 1}
    assert found.told > 0.95


def test_three_groups_may_differ_in_size_and_in_shape():
    table, wide = crab_like(450)
    groups = np.where(table["length"] > 33, 2, wide)
    Z = ((table - table.mean()) / table.std(ddof=0)).to_numpy()
    found = explain(Z, groups, np.eye(4), feature_names=list(table.columns))
    # Which of two lengths is told in relation to the other is a matter of taste.
    wide_one = ("width large for its length", "length small for its width")
    assert found.cluster_names[1].startswith(wide_one)
    assert "high " in found.cluster_names[2]
    assert len({*found.cluster_names}) == 3


@pytest.mark.parametrize("seed", range(4))
def test_neither_the_order_of_rows_nor_of_columns_matters(seed):
    rng = np.random.default_rng(seed)
    table, wide = crab_like(200, seed=seed)
    table["twin"] = table["width"]  # as good as the other, so only its name can decide
    Z = (table - table.mean()) / table.std(ddof=0)
    direction = np.full((1, 5), 1 / np.sqrt(5))
    expected = explain(Z, wide, direction)
    rows, columns = rng.permutation(200), rng.permutation(5)
    again = explain(Z.iloc[rows, columns], wide[rows], direction)
    assert again.sentence == expected.sentence
    assert again.cluster_names == expected.cluster_names
    assert again.told == expected.told


def test_the_share_of_rows_told_is_of_the_named_features_alone():
    rng = np.random.default_rng(7)
    labels = np.repeat([0, 1], [190, 10])  # a large group is not told by its size
    X = rng.standard_normal((200, 2)) + np.outer(labels, [1.0, 0.0])
    found = explain(X, labels, plane(2, 0))
    right = ((X[:, 0] > 0.5) == labels).mean()
    assert found.told == pytest.approx(right, abs=0.08)


def test_one_cluster_has_nothing_to_tell():
    X = np.random.default_rng(5).standard_normal((20, 2))
    found = explain(X, np.zeros(20), plane(2, 0))
    assert found.sentence == "1 group of 20 rows"
    assert not found.effects.any()


def test_sparse_and_float32_agree_with_dense(penguin_like):
    X, labels = penguin_like
    expected = explain(X, labels, plane(3, 0, 1), feature_names=["x0", "x1", "x2"])
    for other in (csr_matrix(X.to_numpy()), X.to_numpy().astype(np.float32)):
        found = explain(other, labels, plane(3, 0, 1))
        np.testing.assert_allclose(found.effects, expected.effects, rtol=1e-5)
        assert found.sentence == expected.sentence


def test_dict_survives_json(penguin_like):
    X, labels = penguin_like
    found = explain(X, labels, plane(3, 0, 1))
    back = Explanation.from_dict(json.loads(json.dumps(found.to_dict())))
    assert back.to_dict() == found.to_dict()
    assert isinstance(back.loadings, np.ndarray)
    np.testing.assert_array_equal(back.effects, found.effects)


def test_wrong_shapes_are_named():
    X, labels = np.eye(4), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"labels has shape \(3,\), expected \(4,\)"):
        explain(X, labels[:3], plane(4, 0))
    with pytest.raises(ValueError, match=r"components has shape \(1, 3\), expected \(q, 4\)"):
        explain(X, labels, plane(3, 0))
    with pytest.raises(ValueError, match="feature_names has 1 names for 4 features"):
        explain(X, labels, plane(4, 0), feature_names=["a"])
    with pytest.raises(ValueError, match=r"units has shape \(2,\), expected \(4,\)"):
        explain(X, labels, plane(4, 0), units=[1, 2])


def test_rows_at_one_value_are_said_to_be_there():
    rng = np.random.default_rng(0)
    income = np.where(np.arange(90) < 30, 0.0, rng.uniform(1, 5, 90))
    X = np.column_stack([income, rng.normal(size=90)])
    found = explain(X, income == 0, plane(2, 0), feature_names=["income", "age"])
    assert found.sentence.startswith("2 groups: all at the least income in group True (30 rows)")
    found = explain(-X, income == 0, plane(2, 0), feature_names=["income", "age"])
    assert found.sentence.startswith("2 groups: all at the most income in group True (30 rows)")


def test_features_that_tell_no_more_than_a_guess_are_not_said_to_tell():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [190, 10])
    X = rng.normal(size=(200, 2)) + np.outer(labels, [1.2, 0.0])
    found = explain(X, labels, plane(2, 0), feature_names=["mass", "age"])
    assert 0.7 < found.told < 0.95  # fewer rows than the larger group has
    assert found.sentence.endswith("it alone does not tell them")
