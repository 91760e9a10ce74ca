"""One page per file in ``benchmarks/results``, so that no table of numbers is typed."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def write(folder: Path) -> None:
    """Write a page for every result; each includes the file that the benchmark wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(RESULTS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        offset = 1 if text.startswith("# ") else 0
        page = (
            f"# `{path.stem}`\n\n"
            f"```{{include}} ../../../benchmarks/results/{path.name}\n"
            f":heading-offset: {offset}\n```\n"
        )
        (folder / path.name).write_text(page, encoding="utf-8")
