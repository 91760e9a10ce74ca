"""The runner of the benchmarks: what it records, and that pages say what the records say."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from math import inf, nan

import numpy as np
import pytest
from benchmarks import reduction
from benchmarks.__main__ import NAMES, PAPERS, chosen_names, main
from benchmarks.papers.reproduction import PAGE, reproduction
from benchmarks.record import PACKAGES, RESULTS, Origin, Record, measure, records
from benchmarks.table import Figure, Table, figure, shown
from benchmarks.tables import RIVALS, summary
from benchmarks.targets import FOLDS, Data

from multifacet.search import PLAN


@pytest.fixture
def table():
    made = Table("A title", ["what", "value"], note="A note.")
    made.add("text", "97 %")
    made.add("float", 1 / 3)
    made.add("of numpy", np.float64(0.5))
    made.add("integer", np.int64(12345))
    made.add("answer", np.bool_(True))
    made.add("nothing", nan)
    made.add("too much", inf)
    made.add("in another form", figure(0.9351, ".1%", " (bar 90 %)"))
    return made


def test_tables_show_values_and_keep_them(table, tmp_path):
    record = Record("made_up", Origin.now(), [table])
    again = Record.read(record.write(tmp_path))
    assert again == record
    assert (tmp_path / "made_up.md").read_text(encoding="utf-8") == str(again)
    assert [row[1] for row in again.tables[0].rows] == [
        "97 %", 1 / 3, 0.5, 12345, True, None, None, Figure(0.9351, "93.5% (bar 90 %)"),
    ]  # fmt: skip
    cells = ["97 %", "0.333", "0.5", "12345", "yes", "-", "-", "93.5% (bar 90 %)"]
    assert [shown(row[1]) for row in table.rows] == cells
    for cell in ("## A title", "| what | value |", *(f" | {one} |" for one in cells), "A note."):
        assert cell in str(again)


def test_records_say_where_and_from_what_they_come(table, tmp_path):
    asked = []
    record = measure("made_up", lambda quick: asked.append(quick) or [table], quick=True)
    assert asked == [True]
    assert record.tables == [table]
    kept = json.loads(record.write(tmp_path).read_text(encoding="utf-8"))
    origin = kept["origin"]
    assert kept["name"] == "made_up"
    assert origin["plan"] == PLAN.key
    assert origin["quick"]
    assert origin["seconds"] >= 0
    assert origin["load"] >= 0
    assert origin["machine"]["cores"] >= 1
    assert origin["machine"]["memory_gib"] > 0
    assert set(origin["machine"]["packages"]) <= set(PACKAGES)
    page = (tmp_path / "made_up.md").read_text(encoding="utf-8")
    for words in (PLAN.key, origin["date"], origin["machine"]["processor"], "numpy "):
        assert words in page


def test_what_was_not_recorded_is_said():
    text = str(Origin("2020-01-01", "abc1234", note="Older."))
    assert "commit abc1234" in text
    assert "machine: not recorded" in text
    assert "load at the start not recorded" in text
    assert text.endswith(". Older.")


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_run(name):
    signature = inspect.signature(import_module(f"benchmarks.{name}").run)
    assert signature.parameters["quick"].default is False


def test_every_result_belongs_to_a_benchmark():
    """Nothing is typed: each page, that of the papers too, is what the records say."""
    found = records()
    assert {record.name for record in found} <= set(NAMES)
    assert {path.stem for path in RESULTS.glob("*.md")} == {record.name for record in found}
    for record in found:
        page = record.page(RESULTS)
        assert page.read_text(encoding="utf-8") == str(record), (
            f"{page.name} is not what its record says: run `python -m benchmarks --render`"
        )
        assert not record.origin.quick
    assert PAGE.read_text(encoding="utf-8") == reproduction(found)


def test_pages_are_made_again_without_measuring(table, tmp_path):
    record = Record("made_up", Origin.now(), [table])
    record.write(tmp_path)
    record.page(tmp_path).write_text("spoiled", encoding="utf-8")
    main(["--render", "--output", str(tmp_path)])
    assert record.page(tmp_path).read_text(encoding="utf-8") == str(record)


def test_names_are_listed_with_what_they_measure(capsys):
    main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert all(len(line.split()) > 3 for line in lines)


def test_a_group_stands_for_its_members():
    assert chosen_names(["papers"]) == list(PAPERS)
    assert chosen_names(["views", "papers.errata", "speed"]) == ["speed", "views", "papers.errata"]
    assert set(chosen_names([])) == set(NAMES) - set(PAPERS)


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["speed", "table9"])
    assert "no benchmark called table9: use speed, memory" in capsys.readouterr().err


def test_real_tables_are_counted():
    """Found from 0.5, behind by more than 0.05, and what was not measured has no mean."""
    ours = [f"{how} {what}" for how in ("told", "auto") for what in ("first", "best", "in hand")]
    row = dict.fromkeys((*ours, *RIVALS), 0.5) | {"NrKmeans": None, "best simple": 0.5}
    found = [row, row | {"auto first": 0.44, "LinearKDAC": 0.46}]
    told = {name: cells for name, *cells in summary(found).rows}
    assert told["told best"] == [Figure(0.5, "0.500"), 2, 0]
    assert told["auto first"] == [Figure(0.47, "0.470"), 1, 1]
    assert told["LinearKDAC"] == [Figure(0.48, "0.480"), 1, 0]
    assert told["NrKmeans"] == [None, None, None]


def test_rivals_that_cannot_run_here_are_named():
    """One is not installed, the other asks for an argument that scikit-learn no longer has."""

    def outdated(X, y, q, real):
        raise TypeError("unexpected keyword argument")

    rivals = {"Absent": ("no_such_module", reduction.pls), "Old": ("json", outdated)}
    assert set(reduction.methods_here(rivals)) == set(reduction.METHODS)
    here = reduction.methods_here({"Present": ("json", reduction.pls)})
    assert set(here) == {*reduction.METHODS, "Present"}
    scores = reduction.Scores({"kNN": [0.9, 1.0], "linear": [0.8, 0.9]}, [0.1])
    table = reduction.summary("Some tables", {"one": {"SupervisedKDR": scores, "PCA": scores}})
    assert "Without UMAP, LMNN, LFDA: metric_learn and umap not installed" in table.note
    assert [row[0] for row in table.rows] == ["SupervisedKDR", "PCA"]


def test_a_rival_that_puts_rows_nowhere_is_left_out():
    class Nowhere:
        def transform(self, X):
            return np.full((len(X), 2), nan)

    rng = np.random.default_rng(0)
    data = Data("a table", rng.standard_normal((100, 3)), np.arange(100) % 2)
    methods = {"PCA": reduction.METHODS["PCA"], "Nowhere": lambda X, y, q, real: Nowhere()}
    found = reduction.measured(data, methods)
    assert set(found) == {"PCA"}
    assert len(found["PCA"].by_model["kNN"]) == FOLDS


def test_ours_has_to_be_first_and_not_behind():
    def scores(value):
        return reduction.Scores({one: [value - 0.01, value + 0.01] for one in ("kNN", "linear")})

    def found(ours):
        rivals = {"PCA": scores(0.7), "LDA": scores(0.8)}
        tables = ("first", "second")
        return {name: {"SupervisedKDR": scores(ours[name])} | rivals for name in tables}

    good, bad = found({"first": 0.9, "second": 0.85}), found({"first": 0.9, "second": 0.6})
    table = reduction.standing({"good": good, "bad": bad})
    assert [(row[0], row[2], row[-1]) for row in table.rows] == [
        ("good", "SupervisedKDR", True), ("good", "SupervisedKDR", True),
        ("bad", "LDA", False), ("bad", "LDA", False),
    ]  # fmt: skip
