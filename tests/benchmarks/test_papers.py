"""The quick form of the papers' tables: it runs, and says what it should."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.__main__ import PAPERS, main
from benchmarks.papers.claims import Results, summary
from benchmarks.papers.folds import cross_validate, in_folds, wine
from benchmarks.papers.limit import Limited
from benchmarks.papers.reproduction import PARTS, reproduction
from benchmarks.papers.segments import PICTURE, draw
from benchmarks.papers.tradeoff import compared
from benchmarks.record import Origin, Record, records
from benchmarks.table import Table, figure
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multifacet.solvers import ISM, DimensionGrowth, Grassmann, Stiefel

from ..conftest import DATA
from ..solvers.test_ism import random_problem


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    main(["papers", "--quick", "--output", str(folder)])
    return Results(records(folder))


def columns(table, *headings):
    where = [table.headings.index(heading) for heading in headings]
    return [tuple(row[i] for i in where) for row in table.rows]


def test_everything_is_recorded(results):
    assert {f"papers.{name}" for name in results.records} == set(PAPERS)
    for record in results.records.values():
        for table in record.tables:
            assert all(len(row) == len(table.headings) for row in table.rows)


def test_eigenvalues_of_all_eigensolvers_agree(results):
    for table in results.records["growth"].tables:
        errors = columns(table, "largest error of the eigenvalue")
        assert max(float(error) for (error,) in errors[:-1]) < 1e-6


def test_all_solvers_reach_the_same_optimum_on_wine(results):
    table, _ = results.records["speed"].tables
    costs: dict[str, set[float]] = {}
    for kernel, solver, cost in columns(table, "kernel", "solver", "cost"):
        if solver != "ISM, plain":
            costs.setdefault(kernel, set()).add(float(cost))
    assert set(costs) == {"Gaussian", "polynomial"}
    for found in costs.values():
        assert max(found) - min(found) <= 1e-4 * abs(min(found))


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not on this machine")
def test_published_clusterings_are_found_from_the_spectral_start(results):
    table, ranking = results.records["table1"].tables
    spectral = [row for row in columns(table, "solver", "start", "NMI") if row[1] == "spectral"]
    assert len(spectral) == 6
    assert all(float(nmi) >= 0.98 for solver, _, nmi in spectral if solver == "ISM")
    assert len(ranking.rows) == 2
    course, work = results.records["convergence"].tables
    assert len(course.rows) == 6
    assert len(work.rows) == 6


def test_errata_hold_in_the_quick_form(results):
    [table] = results.records["errata"].tables
    verdicts = dict(columns(table, "claim", "verdict"))
    for words in ("squared and multiquadratic", "same subspace", "sense is reversed", "lambda is"):
        assert [v for claim, v in verdicts.items() if words in claim] == ["confirmed"]


def test_kernels_of_the_family_classify_wine(results):
    supervised, unsupervised, family, constants = results.records["kernels"].tables
    for table in (supervised, family):
        found = columns(table, "kernel", "accuracy, %")
        assert all(float(accuracy) > 90 for _, accuracy in found)
    assert len(columns(unsupervised, "NMI")) == len(columns(supervised, "cost"))
    scaled = columns(constants, "constant = features, accuracy, %")
    assert all(float(accuracy) > 90 for (accuracy,) in scaled)


def test_folds_are_those_of_scikit_learn():
    data = wine()
    lda = LinearDiscriminantAnalysis

    def fitted(X, y):
        return lda().fit(X, y), np.nan, False

    ours = in_folds(data, fitted, 4, then_svm=False).accuracy
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    theirs = cross_val_score(make_pipeline(StandardScaler(), lda()), data.X, data.y, cv=folds)
    np.testing.assert_allclose(ours, theirs)


def test_a_stopped_fold_is_counted(monkeypatch):
    clock = SimpleNamespace(process_time=itertools.count().__next__)
    monkeypatch.setattr("benchmarks.papers.limit.time", clock)
    assert cross_validate(wine(), 2, limit=3, n_folds=2).stopped == 2
    assert cross_validate(wine(), 2, limit=1e9, n_folds=2).stopped == 0


def test_the_page_tells_what_was_run(results):
    page = reproduction(list(results.records.values()))
    if DATA.exists():
        assert "Everything was run" in page
        assert "\nNot run.\n" not in page
    partly = reproduction([results.records["growth"]])
    assert PARTS["speed"] in partly.split("Not run: ")[1].split("\n")[0]
    assert PARTS["growth"] not in partly.split("Not run: ")[1].split("\n")[0]
    assert "| 2018, Figure 3" in partly
    assert "| 2018, Figure 4" not in partly


def record(name, *tables):
    made = [Table("", list(heads), [list(row) for row in rows]) for heads, *rows in tables]
    return Record(f"papers.{name}", Origin("today"), made)


def agreement(kept):
    return [(row[2], row[3]) for row in summary(Results([kept])).rows]


def test_a_rival_with_a_lower_cost_is_named():
    fits = [("data", "solver", "start", "NMI", "published"), ("moon", "ISM", "spectral", 1.0, 1)]
    heads = ("data", "SM, spectral", "DG, random")
    level = record("table1", fits, [heads, ("moon", 0, figure(3, "+.3g"))])
    assert [agrees for _, agrees in agreement(level)] == ["yes", "yes"]
    behind = record("table1", fits, [heads, ("moon", 0, -0.25), ("faces", 0, 0)])
    assert agreement(behind)[1] == ("moon: DG, random by 0.25 lower than ISM", "in part")


def test_settings_that_saw_the_answer_do_not_count_as_found():
    heads = ("method", "chosen by", "settings", "NMI with pose")
    seeing = ("KDAC", "the answer, of 9", "q 3", 0.5)
    for blind, agrees in ((0.4, "in part"), (0.49, "yes")):
        rows = [("KDAC", "itself", "q 2", blind), seeing, ("Residual", "", "", 0.9)]
        [(measured, verdict)] = agreement(record("pose", [heads, *rows]))
        assert verdict == agrees
        assert str(blind) in measured
        assert "0.9" not in measured


def test_curves_are_compared_at_the_same_novelty():
    theirs = [(0.0, 4.0), (1.0, 2.0)]
    # At 0.5 the rival has 3: 2.4 is a fifth below, 3.3 a tenth above; 1.5 is out of range.
    found = compared([(0.5, 2.4), (0.5, 3.3), (1.5, 1.0)], theirs)
    assert found[:2] == [2, 1]
    assert [float(share) for share in found[2:]] == pytest.approx([0.2, 0.1])
    assert compared([(2.0, 1.0)], theirs) == [0, 0, None, None]


def test_the_darker_segment_is_dark(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    picture = np.zeros((4, 4, 3))
    picture[:, 2:] = 200.0
    colours = np.array([[200.0] * 3, [0.0] * 3])
    names = ["given", "KDAC", "KDAC, weight 0.3", "KDAC, 2018 settings", "KDAC, polynomial",
             "KDAC linear", "KDAC embedding", "OP-1", "cons-KL"]  # fmt: skip
    found = {name: np.array([0, 1]) for name in names}
    draw(tmp_path / "segments.png", picture, colours, found)
    drawn = image.imread(tmp_path / "segments.png")[..., 0]
    # The second panel of the upper row: dark on the left, light on the right.
    middle = drawn[drawn.shape[0] // 4]
    width = len(middle) // 5
    panel = middle[width : 2 * width]
    assert panel[width // 4] < 0.3 < 0.8 < panel[3 * width // 4]
    assert PICTURE.name == "flower-segments.png"


SOLVERS = [ISM(), Stiefel(), DimensionGrowth(), Grassmann()]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_time_limit_keeps_the_best_subspace(solver, monkeypatch):
    if isinstance(solver, Grassmann):
        pytest.importorskip("pymanopt", reason="pymanopt is optional")
    # A clock that is a second further whenever somebody looks at it.
    clock = SimpleNamespace(process_time=itertools.count().__next__)
    monkeypatch.setattr("benchmarks.papers.limit.time", clock)
    sums, gamma, start = random_problem(13)
    unlimited = Limited(solver, 1e9)
    assert unlimited.solve(sums, gamma, start).converged
    assert not unlimited.stopped
    limited = Limited(solver, 8)
    result = limited.solve(sums, gamma, start)
    assert limited.stopped
    assert limited.evaluations == 8
    assert "time limit of 8 s" in result.reason
    again = limited.solve(sums, gamma, start)
    np.testing.assert_array_equal(again.W, start)  # nothing is left: the start is returned
    assert result.objective >= again.objective
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(start.shape[1]), atol=1e-10)
