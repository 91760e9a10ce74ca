"""Bad input gets one clear sentence that names the argument, the value and the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import (
    ISAAC,
    KDAC,
    EmbeddingKDAC,
    LinearKDAC,
    SemiSupervisedKDR,
    SupervisedKDR,
    ViewFinder,
    find_views,
    reduce_table,
)
from multifacet.datasets import make_gaussian_views, make_independent_views

X, LABELINGS = make_gaussian_views(60, [2, 2], random_state=0)
Y = LABELINGS[:, 0]


def with_value(value, row=3, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad


def expect_error(message, call):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (r"contains NaN: column 1 in row 3; drop or impute", with_value(np.nan)),
        (r"contains infinity: column 1 in row 3", with_value(np.inf)),
        (r"contains NaN: column 1 in row 3", csr_matrix(with_value(np.nan))),
        (r"Complex data not supported", X.astype(complex)),
        (r"0 sample\(s\)", np.zeros((0, 4))),
        (r"0 feature\(s\)", np.zeros((10, 0))),
        (r"too few rows .n_samples=1.: at least 3 are needed", X[:1]),
        (r"Expected 2D array", X[:, 0]),
        (r"n_clusters=2 but X has only 1 different rows", np.ones((10, 3))),
        (r"could not convert string to float", np.array([["a", "b"], ["c", "d"]])),
    ],
)
def test_data(message, data):
    with pytest.raises(ValueError, match=message):
        KDAC().fit(data)


def test_data_frames_name_their_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(with_value(np.nan), columns=["bill", "mass", "wing", "depth"])
    frame.loc[7, "mass"] = np.nan
    expect_error(r"column 'mass' in rows 3, 7; drop or impute", lambda: KDAC().fit(frame))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species="gentoo", island="x")
    expect_error(r"columns 'species', 'island' of X are not numeric", lambda: KDAC().fit(frame))


@pytest.mark.parametrize(
    ("message", "given"),
    [
        (r"given has 59 labels for 60 rows", Y[:-1]),
        (r"given has the single value np.int64\(1\)|single value", np.ones(60, int)),
        (r"given has 60 different values for 60 rows: it looks like an identifier", np.arange(60)),
        (r"given has missing labels in 1 of 60 rows, .* row 2", [0, 1, None, *Y[3:].tolist()]),
        (r"given has missing labels in 2 of 60 rows", np.where(np.arange(60) < 2, np.nan, Y)),
        (r"given holds measurements such as", np.random.default_rng(0).normal(size=60).repeat(1)),
        (r"given is the text 'species': pass the labels themselves", "species"),
        (r"given\[1\] has 59 labels for 60 rows", [Y, Y[:-1]]),
        (r"given column 1 has the single value", np.column_stack([Y, np.zeros(60, int)])),
        (r"given has 3 dimensions", np.zeros((60, 1, 1))),
        (r"given is empty", np.zeros((60, 0))),
    ],
)
@pytest.mark.parametrize("cls", [KDAC, LinearKDAC, EmbeddingKDAC])
def test_given(cls, message, given):
    expect_error(message, lambda: cls().fit(X, given=given))


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        (r"n_clusters=61 must be between 1 and 60: X has 60 rows", {"n_clusters": 61}),
        (r"n_clusters=0", {"n_clusters": 0}),
        (r"n_clusters must be a whole number, got 2.5", {"n_clusters": 2.5}),
        (r"n_components=5 must be between 1 and 4: X has 4 features", {"n_components": 5}),
        (r"n_components='all' is not known", {"n_components": "all"}),
        (r"kernel='rbf' is not known: use one of 'gaussian', 'linear'", {"kernel": "rbf"}),
        (r"bandwidth must be a positive number, got -1", {"bandwidth": -1}),
        (r"bandwidth='mean' is not known: use 'auto', 'median'", {"bandwidth": "mean"}),
        (r"bandwidth=0.5 has no effect on kernel='linear'", {"kernel": "linear", "bandwidth": 0.5}),
        (r"bandwidth=1e-09 is so small that 60 of 60 rows", {"bandwidth": 1e-9}),
        (r"novelty_weight must be a non-negative number", {"novelty_weight": -1.0}),
        (r"novelty_weight='strong'", {"novelty_weight": "strong"}),
        (r"novelty_scale='raw' is not known: use 'unit', 'paper'", {"novelty_scale": "raw"}),
        (r"init='kmeans' is not known: use 'auto', 'spectral', 'random'", {"init": "kmeans"}),
        (r"init has shape \(3, 2\), expected \(4, 2\)", {"init": np.zeros((3, 2))}),
        (r"init has rank 0", {"init": np.zeros((4, 2))}),
        (r"solver='newton' is not known", {"solver": "newton"}),
        (r"engine='gpu' is not known", {"engine": "gpu"}),
        (r"max_iter=0 must be at least 1", {"max_iter": 0}),
        (r"n_starts=0", {"n_starts": 0}),
        (r"n_init=0", {"n_init": 0}),
        (r"tol must be a positive number", {"tol": 0}),
    ],
)
def test_parameters(message, parameters):
    expect_error(message, lambda: KDAC(**parameters).fit(X, given=Y))


def test_unknown_parameters_are_errors():
    with pytest.raises(TypeError):
        KDAC(sigma=1.0)


def test_too_few_different_rows():
    data = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0]]), 10, axis=0)
    expect_error(r"n_clusters=3 but X has only 2 different rows", lambda: KDAC(3).fit(data))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_duplicated_rows_are_fine():
    data = np.repeat(X[:20], 5, axis=0)
    model = KDAC(random_state=0, n_starts=2).fit(data, given=np.repeat(Y[:20], 5))
    labels = model.labels_.reshape(20, 5)
    assert (labels == labels[:, :1]).all()
    assert np.isfinite(model.embedding_).all()


def test_constant_features_are_said_and_harmless():
    data = np.column_stack([X, np.full(60, 7.0)])
    for cls in (KDAC, LinearKDAC, EmbeddingKDAC):
        with pytest.warns(UserWarning, match=r"left out 1 constant feature: 4"):
            model = cls(random_state=0).fit(data, given=Y)
        plain = cls(random_state=0).fit(X, given=Y)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        np.testing.assert_array_equal(model.predict(data), plain.predict(X))
    with pytest.warns(UserWarning, match="left out 1 constant"):
        model = KDAC(random_state=0).fit(data, given=Y)
    assert model.feature_weights_[4] == 0
    assert model.components_.shape == (model.n_components_, 5)
    np.testing.assert_allclose(
        model.transform(data), KDAC(random_state=0).fit_transform(X, given=Y)
    )


@pytest.mark.parametrize("cls", [KDAC, LinearKDAC])
def test_all_components_leave_nothing_to_avoid(cls):
    with pytest.warns(UserWarning, match="n_components=4 keeps all 4 features, so given has no"):
        cls(n_components=4, random_state=0).fit(X, given=Y)


def test_labels_in_the_wrong_place_are_said():
    with pytest.warns(UserWarning, match="y is ignored: pass known labels as given="):
        LinearKDAC().fit(X, Y)


def test_text_targets():
    text = np.array(["low", "high"])[Y]
    expect_error(r"y holds text", lambda: SemiSupervisedKDR().fit(X, text))
    expect_error(r"y holds text", lambda: SupervisedKDR().fit(X, np.column_stack([text, text])))
    expect_error(
        r"NaN or infinity, first in row 0", lambda: SupervisedKDR().fit(X, [None, *text[1:]])
    )
    expect_error(r"first in row 0", lambda: SemiSupervisedKDR().fit(X, [None, *Y[1:].tolist()]))


def test_dates_are_not_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["day"] = pd.date_range("2026-01-01", periods=60)
    expect_error(r"column 'day' of X is not numeric", lambda: KDAC().fit(frame))


@pytest.mark.parametrize("cls", [SupervisedKDR, SemiSupervisedKDR])
@pytest.mark.parametrize(
    ("message", "y"),
    [
        (r"requires y to be passed", None),
        (r"y has 59 values for 60 rows", Y[:-1]),
        (r"single class|constant", np.zeros(60, int)),
        (r"constant", np.zeros(60) + 0.5),
        (
            r"Input y contains NaN or infinity, first in row 4",
            np.where(np.arange(60) == 4, np.nan, 1.0),
        ),
        (r"y has 3 dimensions", np.zeros((60, 1, 1))),
    ],
)
def test_targets(cls, message, y):
    expect_error(message, lambda: cls().fit(X, y))


def test_options_of_the_reducers():
    expect_error(
        r"target_kernel='rbf' is not known", lambda: SupervisedKDR(target_kernel="rbf").fit(X, Y)
    )
    classes = np.array(["a", "b"])[Y]
    expect_error(
        r"for real targets", lambda: SupervisedKDR(target_kernel="gaussian").fit(X, classes)
    )
    expect_error(r"init='auto'", lambda: SupervisedKDR(init="auto").fit(X, Y))
    expect_error(r"all rows of X are identical", lambda: SupervisedKDR().fit(np.ones((60, 2)), Y))
    expect_error(r"score_weight", lambda: SemiSupervisedKDR(score_weight=-1).fit(X, Y))


def test_generators():
    expect_error(r"views has 'cubes'", lambda: make_independent_views(10, ["cubes"]))
    expect_error(r"moons come in two", lambda: make_independent_views(10, ["moons"], n_clusters=3))
    expect_error(
        r"n_clusters has 1 entries for 2 views", lambda: make_independent_views(10, n_clusters=[2])
    )
    expect_error(r"weights has 1 entries", lambda: make_independent_views(10, weights=[None]))
    expect_error(r"must be 2 positive", lambda: make_independent_views(10, weights=[[1, -1], None]))
    expect_error(r"must be positive", lambda: make_independent_views(10, n_clusters=0))


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (1e-300, r"no feature of X varies by more than \d\.\de-300, too small to be squared"),
        (1e-160, r"no feature of X varies by more than \d\.\de-160, too small to be squared"),
        (1e160, r"column \d holds values up to \d\.\de\+160, too large to be squared"),
        (1e200, r"column \d holds values up to \d\.\de\+200, too large to be squared"),
    ],
)
@pytest.mark.parametrize("cls", [KDAC, LinearKDAC, EmbeddingKDAC, ISAAC, ViewFinder])
def test_numbers_without_squares(cls, scale, message):
    expect_error(message, lambda: cls().fit(scale * X))


@pytest.mark.parametrize(("scale", "word"), [(1e-300, "small"), (1e200, "large")])
@pytest.mark.parametrize("standardize", [True, False])
def test_tables_of_numbers_without_squares(scale, word, standardize):
    expect_error(
        rf"column 0 .* too {word} to be squared: use another unit",
        lambda: find_views(scale * X, standardize=standardize),
    )


class Sliced:
    """An object that numpy would take apart item by item, as AnnData is."""

    def __len__(self):
        return 70

    def __getitem__(self, item):
        return self


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda data: find_views(data, given="group"), "data"),
        (lambda data: reduce_table(data, target="group"), "data"),
        (lambda data: KDAC().fit(data), "X"),
        (lambda data: ViewFinder().fit(data), "X"),
    ],
)
def test_objects_that_are_no_table_are_refused_at_once(call, name):
    expect_error(rf"{name} is of type Sliced: pass a data frame", lambda: call(Sliced()))


def test_codes_of_many_classes_are_told_from_numbers():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(150) % 30)
    X = np.hstack([rng.standard_normal((30, 3))[codes], rng.standard_normal((150, 2))])
    with pytest.warns(UserWarning, match=r"30 whole numbers from 0 to 29 .* y\.astype\(str\)"):
        SupervisedKDR(1, bandwidth=2.0).fit(X, codes)
    told = SupervisedKDR(3, bandwidth=2.0).fit(X, codes.astype(str))  # warnings are errors
    assert np.abs(told.components_[:, 3:]).max() < 0.5
    counts = rng.poisson(40, 150)  # with gaps
    for numbers in (codes.astype(float), counts):
        SupervisedKDR(1, bandwidth=2.0).fit(X, numbers)
    SupervisedKDR(1, bandwidth=2.0, target_kernel="gaussian").fit(X, codes)
