"""The quick form of the papers' tables: it runs, and says what it should."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.papers.__main__ import NAMES, main
from benchmarks.papers.limit import Limited

from multifacet.solvers import ISM, DimensionGrowth, Grassmann, Stiefel

from .conftest import DATA
from .test_solvers import random_problem


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    main(["--quick", "--output", str(folder)])
    page = (folder / "papers-quick.md").read_text(encoding="utf-8")
    kept = json.loads((folder / "papers-quick.json").read_text(encoding="utf-8"))
    return kept, page


def columns(table, *headings):
    where = [table["headings"].index(heading) for heading in headings]
    return [tuple(row[i] for i in where) for row in table["rows"]]


def test_one_page_and_one_file_hold_everything(results):
    kept, page = results
    assert list(kept) == list(NAMES)
    for entry in kept.values():
        for table in entry["tables"]:
            assert f"## {table['title']}" in page
            assert table["note"] in page
            assert all(len(row) == len(table["headings"]) for row in table["rows"])


def test_eigenvalues_of_all_eigensolvers_agree(results):
    for table in results[0]["growth"]["tables"]:
        errors = columns(table, "largest error of the eigenvalue")
        assert max(float(error) for (error,) in errors[:-1]) < 1e-6


def test_all_solvers_reach_the_same_optimum_on_wine(results):
    table, _ = results[0]["speed"]["tables"]
    costs: dict[str, set[float]] = {}
    for kernel, solver, cost in columns(table, "kernel", "solver", "cost"):
        if solver != "ISM, plain":
            costs.setdefault(kernel, set()).add(float(cost))
    assert set(costs) == {"Gaussian", "polynomial"}
    for found in costs.values():
        assert max(found) - min(found) <= 1e-4 * abs(min(found))


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not on this machine")
def test_published_clusterings_are_found_from_the_spectral_start(results):
    table, ranking = results[0]["table1"]["tables"]
    spectral = [row for row in columns(table, "solver", "start", "NMI") if row[1] == "spectral"]
    assert len(spectral) == 6
    assert all(float(nmi) >= 0.98 for solver, _, nmi in spectral if solver == "ISM")
    assert len(ranking["rows"]) == 2
    course, work = results[0]["convergence"]["tables"]
    assert len(course["rows"]) == 6
    assert len(work["rows"]) == 6


def test_a_subset_renews_only_its_part(tmp_path):
    main(["growth", "--quick", "--output", str(tmp_path)])
    path = tmp_path / "papers-quick.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["growth"]["seconds"], kept["speed"] = -1.0, {**kept["growth"], "seconds": -2.0}
    path.write_text(json.dumps(kept), encoding="utf-8")
    main(["growth", "--quick", "--output", str(tmp_path)])
    renewed = json.loads(path.read_text(encoding="utf-8"))
    assert renewed["growth"]["seconds"] >= 0
    assert renewed["speed"]["seconds"] == -2.0


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["table9"])
    assert "no table or figure called table9: use table1, growth" in capsys.readouterr().err


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
