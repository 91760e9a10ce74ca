"""What the README shows works, and prints the numbers it claims."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_ten_lines_of_python(capsys):
    pytest.importorskip("pandas")
    code = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict = {}
    exec(code, names)
    views, labels, nmi = names["views"], names["labels"], names["nmi"]
    assert round(nmi(views[0].labels, labels["sex"]), 1) == 0.5
    assert round(nmi(views[0].labels, labels["species"]), 1) == 0.0
    assert capsys.readouterr().out.startswith("1 view of 333 rows, given species")
