"""What estimators and engines say to each other: which rows, which operations, by which name."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from multifacet import (
    KDAC,
    EmbeddingKDAC,
    LinearKDAC,
    SemiSupervisedKDR,
    SupervisedKDR,
    UnsupervisedKDR,
)
from multifacet.datasets import make_gaussian_views
from multifacet.engines import Engine, Exact, LowRank, as_engine
from multifacet.engines.choose import EXACT_ROWS, Auto
from multifacet.kernels import Linear
from multifacet.metrics import nmi
from multifacet.solvers import ISM

DENSE, SPARSE = np.zeros((20, 3)), csr_matrix((20, 3))


class Chunks:
    """Looks like rows of dask, without dask."""

    __module__ = "dask.array.core"
    shape = (20, 3)


@pytest.fixture(scope="module")
def views():
    return make_gaussian_views(80, [2, 2], random_state=0)


# -- which rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [Exact(), LowRank(), Auto()], ids=repr)
def test_rows_in_memory_are_accepted(engine):
    assert engine.accepts(DENSE) is None
    assert engine.accepts(SPARSE) is None


@pytest.mark.parametrize("engine", [Exact(), LowRank()], ids=repr)
def test_rows_in_chunks_are_refused_with_a_remedy(engine):
    sentence = engine.accepts(Chunks())
    assert sentence.startswith(f"{type(engine).__name__} needs rows in memory")
    assert "use engine='auto' or 'dask'" in sentence
    with pytest.raises(ValueError, match="needs rows in memory"):
        engine.attach(Chunks(), None)


def test_dask_takes_rows_of_every_kind():
    da = pytest.importorskip("dask.array", reason="the extra 'dask' is not installed")
    from multifacet.engines import Dask

    wide = da.zeros((20, 1001), chunks=(10, -1))
    for engine in (Dask(), Auto()):
        for rows in (wide, wide.map_blocks(csr_matrix), DENSE, SPARSE):
            assert engine.accepts(rows) is None


# -- which operations -----------------------------------------------------------------------


class Counting(Engine):
    """The exact engine without some operations; nothing may be attached where they are needed."""

    def __init__(self, *without: str) -> None:
        self.operations = Engine.operations - set(without)
        self.attached = 0

    def __repr__(self) -> str:
        return "Counting()"

    def attach(self, X, kernel, *, mean=None, n_jobs=None):
        self.attached += 1
        return Exact().attach(X, kernel, mean=mean, n_jobs=n_jobs)


class Curved(ISM):
    """A solver that asks for more than ISM does."""

    needs = frozenset({"hessian"})


@pytest.mark.parametrize(
    ("solver", "without", "message"),
    [
        (Curved(), ["hessian"], r"solver=Curved\(.*\) needs hessian, which engine=Counting\(\)"),
        ("grassmann", ["hessian"], r"solver='grassmann' needs hessian, which engine=Counting\(\)"),
        ("ism", ["hessian"], r"the certificate needs hessian, which engine=Counting\(\)"),
        ("ism", ["hessian", "curvature_bound"], "the certificate needs curvature_bound and hessi"),
        ("ism", ["embedding"], r"engine=Counting\(\) does not offer embedding, but every engine"),
    ],
)
def test_a_missing_operation_is_said_before_the_work(views, solver, without, message):
    X, labelings = views
    engine = Counting(*without)
    for model, y in ((SupervisedKDR(1), labelings[:, 0]), (KDAC(2), None)):
        with pytest.raises(ValueError, match=message):
            model.set_params(solver=solver, engine=engine).fit(X, y)
    assert engine.attached == 0


def test_who_needs_less_takes_an_engine_that_offers_less(views):
    X, labelings = views
    engine = Counting("hessian", "curvature_bound")
    EmbeddingKDAC(2, engine=engine, random_state=0).fit(X, given=labelings[:, 0])
    assert engine.attached == 1


def test_an_engine_without_the_protocol_is_told_what_it_lacks(views):
    class Old:
        def attach(self, X, kernel, *, mean=None, n_jobs=None):
            raise AssertionError("not asked for")

    with pytest.raises(ValueError, match=r"engine=.*Old.* derive its class from multifacet"):
        SupervisedKDR(1, engine=Old()).fit(views[0], views[1][:, 0])


@pytest.mark.parametrize("engine", ["gpu", None, 3, Exact])
def test_unknown_engines(engine):
    with pytest.raises(ValueError, match=r"is not known: use one of 'auto', 'dask', 'exact'"):
        as_engine(engine)


# -- by which name --------------------------------------------------------------------------

FAST = {"n_components": 1, "bandwidth": 2.0, "max_iter": 3, "random_state": 0}
ESTIMATORS = {
    "KDAC": (KDAC(2, novelty_weight=3.0, init="spectral", **FAST), {"given": 0}),
    "EmbeddingKDAC": (EmbeddingKDAC(2, bandwidth=2.0, random_state=0), {"given": 0}),
    "SupervisedKDR": (SupervisedKDR(1, bandwidth=2.0), {"y": 1}),
    "UnsupervisedKDR": (UnsupervisedKDR(2, init="spectral", **FAST), {}),
    "SemiSupervisedKDR": (SemiSupervisedKDR(2, init="spectral", **FAST), {"y": 1}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_takes_every_engine(views, name):
    """docs/big-data.md: by name or as an object."""
    X, labelings = views
    model, labels = ESTIMATORS[name]
    known = {role: labelings[:, column] for role, column in labels.items()}
    found = {}
    for engine in ("auto", "exact", "lowrank", Exact(memory="64 MiB"), LowRank(rank=80)):
        fitted = model.set_params(engine=engine).fit(X, **known)
        found[repr(engine)] = getattr(fitted, "labels_", None), fitted
    first_labels, first = found.pop("'auto'")
    for labels, fitted in found.values():
        assert fitted.objective_ == pytest.approx(first.objective_, rel=1e-3)
        assert labels is None or nmi(labels, first_labels) == pytest.approx(1.0)


def test_the_closed_form_by_features_needs_no_engine(views):
    assert "engine" not in LinearKDAC().get_params()
    assert LinearKDAC(2, random_state=0).fit(views[0]).labels_.shape == (80,)


def test_auto_chooses_by_the_number_of_rows_and_says_so(caplog):
    assert isinstance(Auto().choose(EXACT_ROWS, 10)[0], Exact)
    assert isinstance(Auto().choose(EXACT_ROWS + 1, 10)[0], LowRank)
    X = np.random.default_rng(0).standard_normal((50, 3))
    with caplog.at_level(logging.INFO, logger="multifacet"):
        Auto().attach(X, Linear())
    assert "exact engine: 50 rows are few enough" in caplog.text
