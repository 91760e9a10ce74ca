"""Command line and workbench: what both of them say and record is complete in each."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import multifacet.app
from multifacet import find_views
from multifacet.app.words import for_the_page
from multifacet.cli import main
from multifacet.cli.options import CALL_ONLY, key_of
from multifacet.cli.progress import STAGES as SAID
from multifacet.cli.words import in_options
from multifacet.files import write_table
from multifacet.frames.notes import REMEDIES, InputError, InputWarning, Note
from multifacet.frames.scaling import SCALINGS
from multifacet.progress import STAGES
from multifacet.report.views import SCALES
from multifacet.runs.options import OPTIONS, TASKS, defaults
from multifacet.wording import Argument, ArgumentError

STATIC = Path(multifacet.app.__file__).parent / "static"


def stages_of_the_page():
    script = (STATIC / "job.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"const STAGES = \{(.*?)\};", script, re.DOTALL)
    return dict(re.findall(r'(\w+): "([^"]+)"', table))


def test_every_stage_has_its_words():
    assert set(SAID) == set(STAGES)
    assert stages_of_the_page() == SAID


def test_every_reason_of_a_scale_has_its_words():
    script = (STATIC / "compare.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"const SCALES = \{(.*?)\};", script, re.DOTALL)
    assert set(re.findall(r'(\w+): "[^"]+"', table)) == {*SCALINGS} - {"told"}
    assert {*SCALES} == {*SCALINGS} - {"told"}


@pytest.mark.parametrize("task", TASKS)
def test_a_command_takes_what_is_recorded_of_its_task(task):
    params = [p for p in main.commands[task].params if p.name not in CALL_ONLY]
    assert [key_of(p) for p in params] == list(TASKS[task])
    assert [p.name for p in params] == [OPTIONS[name].parameter for name in TASKS[task]]
    said = main.commands[task].make_context(task, ["table.csv"]).params
    assert {p.name: said[p.name] for p in params} == defaults(task) | {"data": "table.csv"}


@pytest.mark.parametrize("remedy", REMEDIES)
def test_advice_is_in_the_words_of_who_gives_it(remedy):
    note = Note("left out: ", remedy, ("mass",), "; so it is")
    options = {"given", "features", "exclude"}
    said = [
        in_options(note, options),
        in_options(note, {"features"}),
        for_the_page(InputError(note)),
    ]
    for text in said:
        assert text.startswith("left out: ")
        assert text.endswith("; so it is")
        assert not re.search(r"\w=|\bgiven\b(?<!--given)", text)
    assert "--" not in str(note)
    assert "--given" not in said[1]
    assert "--" not in said[2]


@pytest.mark.parametrize("kind", [InputError, InputWarning])
def test_notes_survive_another_process(kind):
    made = kind(Note("column 'a' is empty: ", "left out", ("a",)))
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.note, str(copy)) == (made.note, str(made))
    assert str(made) == "column 'a' is empty: leave it out with exclude=['a']"


def test_a_sentence_about_arguments_survives_another_process():
    made = ArgumentError(Argument.of("n_views", 0), " must be at least 1")
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.parts, str(copy)) == (made.parts, "n_views=0 must be at least 1")


@pytest.mark.parametrize("column", ["n_clusters", "n_views=2"])
def test_only_arguments_are_renamed_in_what_is_said_of_them(tmp_path, column):
    table = {"x": list(range(9)), "y": [0.5, 2.5, 1.5] * 3}
    path = write_table(tmp_path / "t.csv", table)
    out = str(tmp_path / "out")
    done = CliRunner().invoke(main, ["find", str(path), "--given", column, "-o", out])
    assert done.exit_code == 2
    said = f"{column!r} is not a column: the columns are 'x', 'y'"
    assert f"--given {said}" in done.stderr
    with pytest.raises(ArgumentError) as refused:
        find_views(table, given=column)
    assert str(refused.value) == f"given={said}"
    assert said in for_the_page(refused.value)


def test_a_column_keeps_its_name_in_what_is_said_of_it(tmp_path):
    table = {"n_views": [None, *range(8)], "missing=1": ["a", "b", "c"] * 3, "x": list(range(9))}
    path = write_table(tmp_path / "t.csv", table)
    done = CliRunner().invoke(main, ["find", str(path), "-o", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "'missing=1' looks like labels, to be compared with what is found: use --given" in (
        done.stderr
    )
    said = "column 'n_views' has 1 missing value in row 0: drop or impute them first (--missing "
    assert said in done.stderr
    with pytest.raises(InputError, match=r"column 'n_views' .*missing='impute'") as refused:
        find_views({name: table[name] for name in ("n_views", "x")})
    assert "'n_views' has 1 missing value" in for_the_page(refused.value)
    assert "“Missing values”" in for_the_page(refused.value)
