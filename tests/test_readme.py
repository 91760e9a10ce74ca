"""What the README shows works, and prints the numbers it claims."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_ten_lines_of_python(capsys):
    pytest.importorskip("pandas")
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(code, names)
    model, labels, nmi = names["model"], names["labels"], names["nmi"]
    assert round(nmi(model.labels_, labels["sex"]), 2) == 0.53
    assert round(nmi(model.labels_, labels["species"]), 2) == 0.00
    assert capsys.readouterr().out.startswith("W is ")
