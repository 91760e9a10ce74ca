"""One scale for all columns, or one each: decided from their values, in clear cases only."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_sample_image,
    load_wine,
)
from sklearn.decomposition import PCA
from sklearn.feature_extraction.image import extract_patches_2d

from multifacet import Views, find_views
from multifacet.datasets import load_penguins
from multifacet.files import open_table
from multifacet.frames import Encoding, prepare
from multifacet.frames.notes import InputWarning
from multifacet.frames.scaling import Profile

SEEDS = range(5)


def quietly(data, **options):
    """Prepare without the warnings that say what was decided."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        return prepare(data, **options)


def scaling(data, **options):
    return quietly(data, **options).encoding.scaling


def word_counts(seed, n=300, d=60, length=60):
    """Texts of several lengths; some words are in most of them, most words in few."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(2, d + 2) * np.exp(rng.normal(0, 0.5, (3, d)))
    shares /= shares.sum(axis=1, keepdims=True)
    lengths = 5 + rng.poisson(length * np.exp(rng.normal(0, 0.3, n)))
    topics = rng.integers(0, 3, n)
    drawn = [rng.multinomial(m, shares[t]) for m, t in zip(lengths, topics, strict=True)]
    counts = np.array(drawn, dtype=float)
    return counts[:, counts.any(axis=0)]


def word_frequencies(seed):
    counts = word_counts(seed)
    return counts / counts.sum(axis=1, keepdims=True)


def images(seed, n=300, side=8):
    """Bright disks on black ground, mostly in the middle: the corners are nearly always black."""
    rng = np.random.default_rng(seed)
    places = rng.normal(0.5, 0.15, (n, 2, 1, 1))
    grid = np.linspace(0, 1, side)
    squares = (grid[:, None] - places[:, 0]) ** 2 + (grid - places[:, 1]) ** 2
    pixels = np.round(255 * np.clip(4 - 12 * np.sqrt(squares), 0, 1)).reshape(n, -1)
    return pixels[:, pixels.any(axis=0)]


def ratings(seed):
    rng = np.random.default_rng(seed)
    return np.clip(np.round(rng.normal(rng.uniform(2.5, 3.5, 20), 1.2, (300, 20))), 1, 5)


def components(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 12)) @ rng.standard_normal((12, 12))
    return PCA(8).fit_transform(X)


def embeddings(seed):
    """Rows of unit length: some directions say more than others."""
    X = np.random.default_rng(seed).standard_normal((200, 40)) * np.linspace(1, 4, 40) + 1
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def mixed_units(seed, d=20):
    """Positive measurements in units of their own, some of them whole numbers, some often zero."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(3, size=(300, d)) * 10 ** rng.uniform(-2, 4, d)
    X[:, : d // 4] = np.ceil(X[:, : d // 4] + 1 / X[:, : d // 4])
    X[:, d // 4 : d // 2] *= rng.random((300, d // 2 - d // 4)) < 0.4
    return X


def lengths_of_parts(seed, d=20):
    """Measurements in one unit: legs and wings, with spreads as different as their sizes."""
    rng = np.random.default_rng(seed)
    means = 10 ** rng.uniform(0, 2.5, d)
    return rng.normal(means, 0.1 * means, (300, d))


def costs_and_visits(seed):
    """Mostly zero, but in two units."""
    rng = np.random.default_rng(seed)
    visits = rng.poisson(0.4, (300, 8))
    return np.hstack([visits, rng.poisson(0.4, (300, 8)) * rng.gamma(2, 150, (300, 8))])


ONE_SCALE = [
    (word_counts, "counts"),
    (word_frequencies, "counts"),
    (images, "range"),
    (ratings, "range"),
    (components, "components"),
    (embeddings, "lengths"),
]
OWN_SCALES = [mixed_units, lengths_of_parts, costs_and_visits]
EVERY = [*ONE_SCALE, *((make, "units") for make in OWN_SCALES)]
#: What all cells together tell, and not the values of single columns.
COMPUTED = ("components", "lengths")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("make", "expected"), EVERY)
def test_kinds_of_tables(make, expected, seed):
    assert scaling(make(seed)) == expected


@pytest.mark.parametrize(("make", "expected"), EVERY)
def test_order_and_unit_do_not_matter(make, expected):
    X, rng = make(0), np.random.default_rng(1)
    for _ in range(5):
        other = rng.permutation(rng.permutation(X), axis=1) * 10 ** rng.uniform(-3, 3)
        assert scaling(other) == expected


@pytest.mark.parametrize(("make", "expected"), EVERY)
@pytest.mark.parametrize("unit", [1e-150, 1e140])
def test_an_extreme_unit_changes_nothing(make, expected, unit):
    X = make(0)
    prepared = quietly(X * unit)
    assert prepared.encoding.scaling == expected
    np.testing.assert_allclose(prepared.X, quietly(X).X, atol=1e-9)


def test_words_that_are_in_very_few_texts_are_counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.02, (400, 50))
    assert (X > 0).mean(axis=0).max() < 0.05
    assert scaling(X[:, X.any(axis=0)]) == "counts"


@pytest.mark.parametrize(("make", "expected"), [pair for pair in EVERY if pair[1] not in COMPUTED])
@pytest.mark.parametrize("outlier", [-999, 1e6])
def test_an_outlier_does_not_decide(make, expected, outlier):
    X = make(0)
    X[7, 3] = outlier
    assert scaling(X) == expected


@pytest.mark.parametrize(("make", "expected"), EVERY)
def test_a_column_in_another_unit_decides(make, expected):
    """One feature whose scale cannot be compared is enough: it would rule, or vanish."""
    masses = np.random.default_rng(2).normal(4200, 800, 1000)
    X = make(0)
    assert scaling(np.column_stack([X, masses[: len(X)]])) == "units"


@pytest.mark.parametrize(("make", "expected"), ONE_SCALE)
def test_few_columns_are_no_evidence(make, expected):
    assert scaling(make(0)[:, -2:]) == "units"


@pytest.mark.parametrize(("make", "expected"), ONE_SCALE)
def test_one_scale_keeps_what_columns_are_to_each_other(make, expected):
    X = make(0)
    prepared = quietly(X)
    spread = X.std(axis=0)
    np.testing.assert_allclose(prepared.X.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(prepared.X.var(axis=0).mean(), 1)
    np.testing.assert_allclose(
        prepared.X.std(axis=0) / spread, prepared.X[:, 0].std() / spread[0], rtol=1e-9
    )
    np.testing.assert_allclose(prepared.encoding.transform(X), prepared.X, atol=1e-10)


@pytest.mark.parametrize("make", OWN_SCALES)
def test_units_are_standardised_as_by_true(make):
    X = make(0)
    told = prepare(X, standardize=True)
    np.testing.assert_array_equal(quietly(X).X, told.X)
    assert (told.encoding.scaling, told.encoding.notes) == ("told", [])


@pytest.mark.parametrize(("make", "expected"), ONE_SCALE)
@pytest.mark.parametrize("standardize", [True, False])
def test_who_is_told_does_not_decide(make, expected, standardize):
    X = make(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = prepare(X, standardize=standardize)
    wanted = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    np.testing.assert_allclose(prepared.X, wanted, atol=1e-8)
    assert prepared.encoding.notes == []


def test_categories_and_truth_values_have_no_unit():
    counts = {f"word {j}": column for j, column in enumerate(word_counts(0).T)}
    sites = np.array(["a", "b", "c"])[np.arange(300) % 3]
    assert scaling(counts) == "counts"
    assert scaling(counts | {"site": sites}) == "counts"  # which is no feature unless asked for
    assert scaling(counts | {"site": sites}, categories="use") == "units"
    assert scaling(counts | {"long": np.arange(300) % 2 == 0}, categories="use") == "units"
    assert scaling({"site": sites, "shop": np.roll(sites, 1)}) == "units"


def test_indicators_among_the_numbers_are_no_components():
    """Those of one category are orthogonal, but not without their means."""
    indicators = (np.arange(200)[:, None] % 7 // [2, 4, 6] == 1).astype(float)
    own = np.eye(4)[np.arange(200) % 4]
    assert scaling(indicators) == scaling(own) == "units"


def test_a_designed_experiment_is_not_components():
    """Its columns are uncorrelated by design, and in units of their own."""
    levels = np.meshgrid([20, 40, 60], [1, 5], [0.1, 0.2, 0.3, 0.4])
    assert scaling(np.column_stack([one.ravel() for one in levels])) == "units"


def test_components_are_known_from_rounded_numbers_but_not_from_some_rows():
    X = components(0)
    assert scaling(np.round(X, 2)) == scaling(X.astype(np.float32)) == "components"
    assert scaling(X[:-10]) == "units"
    assert scaling(X / X.std(axis=0)) == "units"  # somebody has scaled them already


def test_rows_of_one_length_are_known_from_rounded_numbers_and_some_rows():
    X = embeddings(0)
    assert scaling(X.astype(np.float16)) == scaling(np.round(X, 4)) == "lengths"
    assert scaling(X[:50]) == scaling(-7 * X) == "lengths"
    assert scaling(X[:, :-1]) == "units"


def test_lengths_that_are_alike_for_other_reasons_are_not_taken_for_one():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((300, 500))
    far = noise + 1e5 * rng.standard_normal(500)
    shares = rng.dirichlet(np.ones(5), 300)  # sums of 1, not squares
    assert scaling(noise) == scaling(far) == scaling(shares) == "units"


def test_embeddings_beside_a_category_have_scales_of_their_own():
    """Three indicators add the same to all lengths, but not in the unit of the embedding."""
    columns = {f"x{j}": column for j, column in enumerate(embeddings(0).T)}
    colour = {"colour": np.tile(["red", "green", "blue", "grey"], 50)}
    assert scaling(columns) == "lengths"
    assert scaling({**columns, **colour}, categories="use") == "units"


def test_rows_of_one_length_keep_their_angles():
    X = embeddings(0)
    found = quietly(X).X
    np.testing.assert_allclose(
        (found @ found.T) * X.var(axis=0).mean(), (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    )


def test_a_correlated_pair_of_narrow_columns_is_seen():
    X = components(0)
    X[:, -1] = 0.5 * X[:, -2] + 0.1 * X[:, -1]
    assert scaling(X) == "units"


@pytest.mark.parametrize(("make", "expected"), EVERY)
def test_sparse_tables_stay_sparse(make, expected):
    """What needs a look at several columns at once is not asked of them."""
    X = make(0)
    prepared = quietly(csr_matrix(X))
    assert prepared.encoding.scaling == ("units" if expected in COMPUTED else expected)
    assert prepared.X.nnz == np.count_nonzero(X)
    assert not prepared.encoding.mean.any()
    if expected in ("counts", "range"):
        np.testing.assert_allclose(prepared.encoding.scale, quietly(X).encoding.scale)


@pytest.mark.parametrize(("make", "expected"), EVERY)
def test_tables_on_disk_are_read_in_blocks(make, expected, tmp_path):
    once = make(0)
    X = np.tile(once, (2 + 2**18 // once.size, 1))  # more numbers than a block has
    np.save(tmp_path / "rows.npy", X)
    found = quietly(open_table(tmp_path / "rows.npy"))
    assert isinstance(found.X, np.memmap)
    assert found.encoding.scaling == expected
    np.testing.assert_allclose(found.X, quietly(X).X, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_profiles_of_sparse_columns_are_those_of_all_values(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 4, rng.integers(1, 30)) * rng.integers(0, 2)
    there = values[values != 0]
    assert Profile.of(there, zeros=len(values) - len(there)) == Profile.of(values)


# What is said


@pytest.mark.parametrize(("make", "expected"), ONE_SCALE)
def test_one_scale_is_warned_of(make, expected):
    with pytest.warns(InputWarning, match="keep their scales .* pass standardize=True$") as caught:
        prepared = prepare(make(0))
    assert caught[0].message.note == prepared.encoding.notes[0]


def test_own_scales_are_noted_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = prepare(lengths_of_parts(0))
    (note,) = prepared.encoding.notes
    assert str(note) == "every feature has standard deviation 1, since units may differ"


def test_skewed_positive_columns_get_a_note():
    rng = np.random.default_rng(0)
    columns = {
        "income": rng.lognormal(10, 1, 300),
        "size": rng.normal(170, 10, 300),
        "debt": rng.lognormal(10, 1, 300) * (rng.random(300) < 0.8),  # which has no logarithm
        "rating": np.minimum(rng.geometric(0.5, 300), 5),
        "group": np.where(rng.random(300) < 0.1, 50, 1) + rng.normal(0, 0.1, 300),
    }
    with pytest.warns(InputWarning, match="^'income' is positive and skewed.*logarithms"):
        prepared = prepare(columns)
    assert prepared.encoding.skewed == ["income"]
    assert prepared.encoding.notes[1].columns == ("income",)
    np.testing.assert_allclose(prepared.X, prepare(columns, standardize=True).X)


def test_what_was_decided_is_kept_in_files(tmp_path):
    X = images(0)
    with pytest.warns(InputWarning, match="pixels and ratings"):
        views = find_views(X, n_views=1, n_clusters=2, method="linear", n_refits=0)
    loaded = Views.load(views.save(tmp_path / "views.npz"))
    assert loaded.encoding.scaling == "range"
    assert loaded.encoding.notes == views.encoding.notes
    np.testing.assert_array_equal(loaded.encoding.transform(X), views.encoding.transform(X))


def test_encodings_of_older_files_do_not_say_why():
    description = quietly(images(0)).encoding.to_dict()
    for name in ("scaling", "skewed"):
        del description[name]
    older = Encoding.from_dict(description)
    assert (older.scaling, older.skewed, older.notes) == ("told", [], [])
    with pytest.raises(ValueError, match="scaling 'guessed' is not known"):
        Encoding.from_dict(description | {"scaling": "guessed"})


# Data sets


@pytest.mark.parametrize(
    "load",
    [load_iris, load_wine, load_breast_cancer, load_diabetes],
    ids=lambda load: load.__name__,
)
def test_measurements_are_standardised(load):
    assert scaling(load().data) == "units"


def test_penguins_are_standardised():
    assert scaling(load_penguins()[0]) == "units"


@pytest.mark.filterwarnings("ignore:left out")
def test_digits_and_pieces_of_photographs_are_pixels():
    assert scaling(load_digits().data) == "range"
    for name in ("china.jpg", "flower.jpg"):
        picture = load_sample_image(name).mean(axis=2)
        pieces = extract_patches_2d(picture, (6, 6), max_patches=500, random_state=0)
        assert scaling(pieces.reshape(500, -1)) == "range"


@pytest.mark.parametrize(
    ("name", "n_labels", "expected"),
    [
        ("webkb_1041x139", 2, "components"),
        ("faces_624x20", 2, "units"),
        ("faces_624x66", 4, "units"),
        ("kdac_synthetic1_600x6", 0, "units"),
        ("large_gauss_200", 2, "units"),
        ("large_gauss_1000", 2, "units"),
        ("moon_400", 2, "units"),
        ("moon_noise_200", 2, "units"),
        ("small_gauss_40", 1, "units"),
        ("cancer_683x9", 1, "units"),
    ],
)
def test_shared_data(load_shared, name, n_labels, expected):
    X, _ = load_shared(name, n_labels)
    assert scaling(X) == expected
