"""Agreement between labelings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from multifacet import compare_labelings
from multifacet.datasets import load_penguins

SPECIES, SEX = load_penguins()[1].T
TABLE = {"species": SPECIES, "sex": SEX, "big": SPECIES == "Gentoo", "code": SEX == "male"}


@pytest.fixture(scope="module")
def comparison():
    return compare_labelings(TABLE)


def test_the_numbers_are_those_of_scikit_learn(comparison):
    for pair in comparison.pairs:
        a, b = TABLE[pair.a], TABLE[pair.b]
        expected = normalized_mutual_info_score(a, b, average_method="geometric")
        assert pair.nmi == pytest.approx(expected, abs=1e-12)
        assert pair.ari == pytest.approx(adjusted_rand_score(a, b))
    assert len(comparison.pairs) == 6
    np.testing.assert_allclose(comparison.nmi, comparison.nmi.T)
    np.testing.assert_array_equal(np.diag(comparison.nmi), 1)


def test_the_table_counts_rows(comparison):
    pair = comparison.pairs[0]
    assert (pair.a, pair.b) == ("species", "sex")
    for i, row in enumerate(pair.rows):
        for j, column in enumerate(pair.columns):
            assert pair.counts[i][j] == ((row == SPECIES) & (column == SEX)).sum()


def test_relations_and_chance_are_told_apart(comparison):
    p_values = {(pair.a, pair.b): pair.p_value for pair in comparison.pairs}
    assert p_values["species", "sex"] > 0.05
    assert p_values["species", "big"] < 0.01
    assert "sex and code: the same grouping (NMI 1.00" in comparison.sentence
    assert "no relation beyond chance" in comparison.sentence
    assert "species and big: strongly related (NMI 0.79" in str(comparison)


@pytest.mark.parametrize(
    ("flipped", "words"),
    [
        (0, "the same grouping"),
        (2, "nearly the same"),
        (40, "strongly related"),
        (120, "clearly related"),
        (250, "weakly related"),
        (390, "hardly related"),
        (499, "no relation beyond chance"),
    ],
)
def test_relations_are_graded(flipped, words):
    a = np.arange(1000) % 2
    b = np.where(np.arange(1000) < flipped, 1 - a, a)
    pair = compare_labelings({"a": a, "b": b})
    assert pair.sentence.startswith(f"a and b: {words} (NMI ")
    assert ", p " in pair.sentence


def test_labelings_need_no_table():
    named = compare_labelings({"labeling 1": SPECIES, "labeling 2": SEX})
    for data in ([(SPECIES, SEX)], [[SPECIES, SEX]], [SPECIES, SEX], [np.array([SPECIES, SEX]).T]):
        assert compare_labelings(*data).to_dict() == named.to_dict()
    with pytest.raises(ValueError, match=r"such as compare_labelings\(\[0, 0, 1\]"):
        compare_labelings([1, 2, 3])


def test_the_dict_is_strict_json(comparison):
    document = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert document["kind"] == "comparison"
    assert document["n_rows"] == 333
    groups = {one["name"]: one["groups"] for one in document["labelings"]}
    assert groups["big"] == {"False": 214, "True": 119}
    assert [pair["counts"] for pair in document["pairs"]] == [p.counts for p in comparison.pairs]


def test_columns_are_chosen_and_incomplete_rows_can_be_left_out():
    incomplete = np.where(np.arange(333) < 5, None, SEX)
    table = TABLE | {"seen": incomplete, "mass": np.linspace(1, 2, 333)}
    dropped = compare_labelings(table, ["species", "seen"], missing="drop")
    assert dropped.n_rows == 328
    whole = compare_labelings({"a": SPECIES[5:], "b": SEX[5:]})
    assert dropped.pairs[0].nmi == whole.pairs[0].nmi


@pytest.mark.parametrize(
    ("change", "labels", "message"),
    [
        ({}, ["species"], r"labels=\['species'\] names 1 labeling: at least 2 are"),
        ({}, ["sex", "sex"], r"labels=\['sex'\] names 1 labeling"),
        ({}, ["specie", "sex"], "labels='specie' is not a column: did you mean 'species'"),
        ({"mass": np.linspace(1, 2, 333)}, None, "column 'mass' holds measurements such as 1"),
        ({"id": np.arange(333)}, None, "column 'id' has 333 different values .* identifier"),
        ({"one": np.ones(333)}, None, "column 'one' has the single value 1"),
        ({"gap": [None, *SEX[1:]]}, None, "column 'gap' has 1 missing value in row 0: drop"),
    ],
)
def test_what_is_no_labeling_is_said(change, labels, message):
    with pytest.raises(ValueError, match=message):
        compare_labelings(TABLE | change, labels)
    with pytest.raises(ValueError, match="missing='impute' is not known"):
        compare_labelings(TABLE, missing="impute")
