"""One page per file in ``benchmarks/results``, so that no table of numbers is typed."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def write(folder: Path) -> None:
    """Write a page for every result; each includes the file that the benchmark wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(RESULTS.glob("*.md")):
        include = f"```{{include}} ../../../benchmarks/results/{path.name}\n```\n"
        page = f"# `{path.stem}`\n\n{include}"
        (folder / path.name).write_text(page, encoding="utf-8")
