"""A table that prints itself and is written as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass
class Table:
    title: str
    headings: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""

    def add(self, *cells) -> None:
        self.rows.append([f"{c:.3g}" if isinstance(c, float) else str(c) for c in cells])

    def __str__(self) -> str:
        lines = [f"## {self.title}", "", "| " + " | ".join(self.headings) + " |"]
        lines.append("|" + " --- |" * len(self.headings))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines) + "\n"


def write(name: str, tables: list[Table]) -> None:
    RESULTS.mkdir(exist_ok=True)
    text = "\n".join(str(table) for table in tables)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
