"""Command line and workbench: what both of them say and record is complete in each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import multifacet.app
from multifacet.cli import main
from multifacet.cli.options import CALL_ONLY, key_of
from multifacet.cli.progress import STAGES as SAID
from multifacet.progress import STAGES
from multifacet.runs.options import OPTIONS, TASKS, defaults

STATIC = Path(multifacet.app.__file__).parent / "static"


def stages_of_the_page():
    script = (STATIC / "job.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"const STAGES = \{(.*?)\};", script, re.DOTALL)
    return dict(re.findall(r'(\w+): "([^"]+)"', table))


def test_every_stage_has_its_words():
    assert set(SAID) == set(STAGES)
    assert stages_of_the_page() == SAID


@pytest.mark.parametrize("task", TASKS)
def test_a_command_takes_what_is_recorded_of_its_task(task):
    params = [p for p in main.commands[task].params if p.name not in CALL_ONLY]
    assert [key_of(p) for p in params] == list(TASKS[task])
    assert [p.name for p in params] == [OPTIONS[name].parameter for name in TASKS[task]]
    said = main.commands[task].make_context(task, ["table.csv"]).params
    assert {p.name: said[p.name] for p in params} == defaults(task) | {"data": "table.csv"}
