"""The architecture as a picture, drawn from the imports that are in the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "multifacet"
#: Size of a box, of the gaps around it, and of the margin, in pixels.
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 124, 28, 20, 34, 12
#: Imports that are no part of the order: a result asks for its report when the user does.
LATER = {("results", "report")}
#: How often the places of boxes are improved.
SWEEPS = 40


def _modules() -> dict[str, list[Path]]:
    """Return the files of every top-level part of the package."""
    parts = {}
    for path in sorted(PACKAGE.iterdir()):
        if path.suffix == ".py" and not path.stem.startswith("_"):
            parts[path.stem] = [path]
        elif (path / "__init__.py").exists():
            parts[path.name] = sorted(path.rglob("*.py"))
    return parts


def _imported(path: Path) -> Iterator[str]:
    """Yield the parts that a file imports from its own package."""
    here = path.relative_to(PACKAGE).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = list(here[: len(here) - node.level])
            target = above + (node.module.split(".") if node.module else [])
            yield from [target[0]] if target else [alias.name for alias in node.names]


def import_graph() -> dict[str, set[str]]:
    """Return what every part of the package imports from the others."""
    parts = _modules()
    return {
        part: {
            name
            for path in paths
            for name in _imported(path)
            if name in parts and name != part and (part, name) not in LATER
        }
        for part, paths in parts.items()
    }


def _below(graph: dict[str, set[str]], part: str) -> set[str]:
    """Return everything that a part imports, directly or through others."""
    found: set[str] = set()
    ahead = [part]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return the row of each part: directly below the lowest part that imports it."""

    def level(part: str) -> int:
        return 1 + max((level(p) for p, others in graph.items() if part in others), default=-1)

    return {part: level(part) for part in graph}


def arrows(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports that no chain of other imports implies."""
    return [
        (part, other)
        for part, others in sorted(graph.items())
        for other in sorted(others)
        if not any(other in _below(graph, between) for between in others - {other})
    ]


def draw(graph: dict[str, set[str]]) -> str:
    """Return the picture as SVG: who imports stands above, and arrows point at what is used.

    What imports nothing is the ground that everything stands on, and needs no arrows.
    """
    ground = {part for part, others in graph.items() if not others}
    graph = {part: others - ground for part, others in graph.items() if part not in ground}
    chains = [_chain(levels(graph), *arrow) for arrow in arrows(graph)]
    place, width, height = _places(levels(graph), chains)
    below = (width / 2, height + DOWN / 2, width - 2 * MARGIN)
    height += DOWN + HEIGHT / 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" font-family="sans-serif" font-size="13">',
            "<title>Which part imports which</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#68737d"/></marker>'
            "</defs>",
            *[_arrow([place[node] for node in chain]) for chain in chains],
            *[_box(part, *place[part]) for part in sorted(graph)],
            _box(", ".join(sorted(ground)), *below),
            "</svg>",
        ]
    )


def _chain(level: dict[str, int], start: str, end: str) -> list:
    """Return the nodes that an arrow passes: one in every row, so that it crosses no box."""
    return [start, *[(start, end, row) for row in range(level[start] + 1, level[end])], end]


def _places(level: dict[str, int], chains: list) -> tuple[dict, float, float]:
    """Return the centre of every node, and the size of the picture."""
    rows: dict[int, list] = {}
    for part, row in sorted(level.items()):
        rows.setdefault(row, []).append(part)
    near: dict = {}
    for chain in chains:
        for here, there in pairwise(chain):
            near.setdefault(here, []).append(there)
            near.setdefault(there, []).append(here)
        for node in chain[1:-1]:
            rows[node[2]].append(node)
    x: dict = {}
    for row in rows.values():
        x |= _spread(row, dict.fromkeys(row, 0.0))
    for _ in range(SWEEPS):  # every node moves towards its neighbours, as far as there is room
        for row in rows.values():
            x |= _spread(row, {n: sum(x[m] for m in near[n]) / len(near[n]) for n in row})
    left = min(x[n] - _width(n) / 2 for n in x) - MARGIN
    right = max(x[n] + _width(n) / 2 for n in x) + MARGIN
    place = {
        n: (x[n] - left, MARGIN + HEIGHT / 2 + number * (HEIGHT + DOWN))
        for number, row in rows.items()
        for n in row
    }
    return place, right - left, 2 * MARGIN + len(rows) * (HEIGHT + DOWN) - DOWN


def _spread(row: list, wanted: dict) -> dict:
    """Return places next to the wanted ones, in their order and without overlap."""
    row.sort(key=lambda n: (wanted[n], str(n)))
    x = {n: wanted[n] for n in row}
    for _ in range(SWEEPS):
        for here, there in pairwise(row):
            lacks = (_width(here) + _width(there)) / 2 + ACROSS - (x[there] - x[here])
            if lacks > 0:
                x[here] -= lacks / 2
                x[there] += lacks / 2
    return x


def _width(node) -> float:
    """Return the width of a box, or of an arrow that passes between boxes."""
    return WIDTH if isinstance(node, str) else 0


def _box(part: str, x: float, y: float, width: float = WIDTH) -> str:
    """Return a box with its name, around a centre."""
    return (
        f'<g><rect x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{HEIGHT}" rx="5" fill="#e8f0f8" stroke="#3b6ea5"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" fill="#12253a">{part}</text></g>'
    )


def _arrow(points: list[tuple[float, float]]) -> str:
    """Return a curve through points, from the bottom of the first box to the top of the last."""
    (x, y), *middle, (x1, y1) = points
    stops = [(x, y + HEIGHT / 2), *middle, (x1, y1 - HEIGHT / 2)]
    path = f"M{stops[0][0]:.1f} {stops[0][1]:.1f}"
    for (xa, ya), (xb, yb) in pairwise(stops):
        half = (ya + yb) / 2
        path += f"C{xa:.1f} {half:.1f} {xb:.1f} {half:.1f} {xb:.1f} {yb:.1f}"
    return f'<path d="{path}" fill="none" stroke="#68737d" marker-end="url(#tip)"/>'


def write(folder: Path) -> None:
    """Write the picture into a directory."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "architecture.svg").write_text(draw(import_graph()), encoding="utf-8")
