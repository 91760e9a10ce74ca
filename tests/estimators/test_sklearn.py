"""The contract of scikit-learn, with no check skipped or excused."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import multifacet
from multifacet.kernels import Gaussian, Polynomial

ESTIMATORS = [
    multifacet.KDAC,
    multifacet.LinearKDAC,
    multifacet.EmbeddingKDAC,
    multifacet.SupervisedKDR,
    multifacet.UnsupervisedKDR,
    multifacet.SemiSupervisedKDR,
]
TRANSFORMERS = [cls for cls in ESTIMATORS if hasattr(cls, "transform")]


#: Checks that fit the same small data in up to twenty forms: containers, types, ways of calling.
MANY_FITS = {
    "check_array_api_input",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_preserve_dtypes",
}
#: What these leave to be chosen, where a choice takes seconds: less, but not nothing. All other
#: checks have it chosen as by default.
LESS_TO_CHOOSE = {
    multifacet.SupervisedKDR: {"n_components": 1, "whitening": 0.7},
    multifacet.ViewFinder: {"n_views": 1, "n_clusters": 2},
}


def few_starts(cls):
    """Return an instance with few starts: scikit-learn fits each some fifty times."""
    return cls(n_starts=2) if "n_starts" in cls().get_params() else cls()


def all_checks():
    # Numbers of views and clusters are left open, as by default; less work for each.
    finder = multifacet.ViewFinder(n_starts=2, n_refits=0)
    for instance in [*map(few_starts, ESTIMATORS), finder, multifacet.ISAAC()]:
        cls = type(instance)
        for estimator, check in estimator_checks_generator(instance):
            if check.func.__name__ in MANY_FITS:
                estimator = clone(estimator).set_params(**LESS_TO_CHOOSE.get(cls, {}))
            yield pytest.param(estimator, check, id=f"{cls.__name__}-{check.func.__name__}")


@pytest.mark.filterwarnings("ignore::UserWarning")  # on data made to be odd
@pytest.mark.parametrize(("estimator", "check"), list(all_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)  # raises on failure; a SkipTest would show as skipped


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_clone_dump_and_load(cls, wine, tmp_path):
    X, y = wine
    model = clone(cls(random_state=0)).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    for method in ("transform", "predict"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(model, method)(X), getattr(again, method)(X))


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("cls", TRANSFORMERS)
def test_data_frames_and_names(cls, wine):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = wine
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    model = cls(n_components=2, random_state=0).set_output(transform="pandas").fit(frame, y)
    out = model.transform(frame)
    prefix = cls.__name__.lower()
    assert list(out.columns) == [f"{prefix}0", f"{prefix}1"] == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"alcohol": "water"}))
    assert isinstance(model.set_output(transform="polars").transform(frame), pl.DataFrame)
    polars_model = cls(n_components=2, random_state=0).fit(pl.from_pandas(frame), y)
    np.testing.assert_allclose(polars_model.components_, model.components_)


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("cls", TRANSFORMERS)
def test_transform_is_a_projection_row_by_row(cls, wine):
    X, y = wine
    model = cls(n_components=2, random_state=0)
    together = model.fit_transform(X, y)
    np.testing.assert_allclose(together, model.transform(X), atol=1e-12)
    alone = np.vstack([model.transform(row[None]) for row in X[:10]])
    np.testing.assert_allclose(together[:10], alone, atol=1e-12)
    np.testing.assert_allclose(together, (X - model.mean_) @ model.components_.T, atol=1e-12)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)
    assert model.feature_weights_.sum() == pytest.approx(1)


def test_pipeline_and_grid_search(wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), multifacet.SupervisedKDR(), KNeighborsClassifier())
    grid = {
        "supervisedkdr__n_components": [1, 2],
        "supervisedkdr__kernel": [Gaussian(3.0), Polynomial(2), "linear"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.9


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("cls", TRANSFORMERS)
def test_float32_and_sparse(cls, wine):
    X, y = wine
    parameters = {"n_components": 2, "random_state": 0}
    if "init" in cls().get_params():
        # One start and a wide kernel: rounding cannot decide between several optima.
        parameters |= {"init": "spectral", "bandwidth": "median"}
    dense = cls(**parameters).fit(X, y)
    single = cls(**parameters).fit(X.astype(np.float32), y)
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    sparse = cls(**parameters).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.transform(csr_matrix(X)), sparse.transform(X), atol=1e-9)
    overlap = np.linalg.norm(dense.components_ @ sparse.components_.T) ** 2 / 2
    assert overlap > 0.99


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_one_seed_one_result(cls, wine):
    X, y = wine
    parameters = {"random_state": 3} | LESS_TO_CHOOSE.get(cls, {})
    jobs = [{"n_jobs": 1}, {"n_jobs": 2}] if "n_jobs" in cls().get_params() else [{}, {}]
    first, second = (cls(**parameters, **extra).fit(X, y) for extra in jobs)
    for name in ("components_", "embedding_", "labels_"):
        if hasattr(first, name):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_fit_leaves_arguments_and_the_global_generator_alone(wine):
    X, y = wine
    before, given = X.copy(), y.copy()
    np.random.seed(5)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    model = multifacet.KDAC(n_starts=2, random_state=0)
    parameters = model.get_params()
    model.fit(X, given=given)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(given, y)
    assert model.get_params() == parameters
