"""Categories as latent scores: without gaps, told again from the row alone, and reversible."""

import numpy as np
import pytest
from scipy.stats import kstest

from multifacet.frames import prepare
from multifacet.frames.encoding import Encoding
from multifacet.frames.latent import Ordered, Race, draws, row_keys

N = 3000


def mixed_table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "mass": rng.normal(size=n),
        "member": rng.choice(["No", "Yes"], n, p=[0.8, 0.2]).tolist(),
        "tagged": (rng.random(n) < 0.4).tolist(),
        "island": rng.choice(["Biscoe", "Dream", "Torgersen"], n, p=[0.6, 0.3, 0.1]).tolist(),
        "visits": rng.choice([0, 1, 3], n, p=[0.5, 0.3, 0.2]),
    }


@pytest.fixture(scope="module")
def prepared():
    return prepare(mixed_table(), categories="use", latent=True)


def some_rows(table, rows):
    return {name: [column[i] for i in rows] for name, column in table.items()}


def test_every_feature_is_a_normal_score(prepared):
    count = [1, 1, 1, 3, 3, 3, 1]  # the features of one column have variance 1 together
    for scores, c in zip(prepared.X.T, count, strict=True):
        assert kstest(scores * np.sqrt(c), "norm").pvalue > 1e-3


def test_scores_of_unrelated_columns_and_categories_are_uncorrelated(prepared):
    correlation = np.corrcoef(prepared.X, rowvar=False) - np.eye(prepared.X.shape[1])
    assert np.abs(correlation).max() < 4 / np.sqrt(N)


def test_scores_follow_their_category(prepared):
    plain = prepare(mixed_table(), categories="use").X
    for scores, values in zip(prepared.X.T, plain.T, strict=True):
        assert np.corrcoef(scores, values)[0, 1] > 0.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_can_be_told_from_scores(prepared, dtype):
    plain = prepare(mixed_table(), categories="use").X
    told = prepared.encoding.plain(prepared.X.astype(dtype))
    np.testing.assert_allclose(told, plain, atol=1e-5)


def test_scores_of_a_row_do_not_depend_on_other_rows(prepared):
    rows = [7, 2, 1500]
    again = prepared.encoding.transform(some_rows(mixed_table(), rows))
    np.testing.assert_array_equal(again, prepared.X[rows])


def test_scores_survive_a_description_in_json(prepared):
    read = Encoding.from_dict(prepared.encoding.to_dict())
    rows = some_rows(mixed_table(), [3, 4])
    np.testing.assert_array_equal(read.transform(rows), prepared.X[[3, 4]])


def test_a_description_without_shares_is_of_plain_values():
    encoding = prepare(mixed_table(50), categories="use").encoding
    described = encoding.to_dict()
    for column in described["columns"]:
        del column["levels"], column["shares"]
    table = mixed_table(50)
    read = Encoding.from_dict(described)
    np.testing.assert_array_equal(read.transform(table), encoding.transform(table))


@pytest.mark.parametrize(
    "change",
    [
        {"standardize": False},
        {"exclude": "mass"},  # nothing is measured
        {"latent": False},
    ],
)
def test_values_stay_as_they_are(change):
    said = {"categories": "use", "latent": True} | change
    encoding = prepare(mixed_table(200), **said).encoding
    assert not any(column.shares for column in encoding.columns)


def test_values_stay_if_measurements_do_not_tell_rows_apart():
    table = mixed_table(200) | {"mass": np.arange(200) % 10 + 0.5}
    encoding = prepare(table, features=["mass", "member"], latent=True).encoding
    assert not any(column.shares for column in encoding.columns)


def test_a_number_never_seen_lies_between_its_neighbours():
    visits = Ordered((0.0, 1.0, 3.0), (0.5, 0.3, 0.2))
    drawn = np.full((3, 1), 0.5)
    one, two, three = visits.scores(np.array([[1.0], [2.0], [3.0]]), drawn).ravel()
    assert one < two < three


def test_rare_categories_can_be_told_from_single_precision():
    race = Race((0.999, 0.0005, 0.0005))
    keys = row_keys([np.arange(2000.0)], 2000)
    for category in range(3):
        indicators = np.tile(np.eye(3)[category], (2000, 1))
        scores = race.scores(indicators, draws(keys, 0, 3)).astype(np.float32)
        np.testing.assert_array_equal(race.values(scores), indicators)


def test_keys_do_not_depend_on_how_numbers_are_stored():
    values = np.array([0.1, -0.0, 2.0])
    same = row_keys([values.astype(np.float32) + np.float32(0)], 3)
    np.testing.assert_array_equal(row_keys([values], 3), same)
