"""Figures as inline SVG, drawn in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from .blocks import Line, Scatter
from .words import counted, number

#: Colours of groups; each has a shape too, so that a print in grey still tells them apart.
COLOURS = 8
#: Steps of the shades that stand for numbers.
SHADES = 6
WIDTH, HEIGHT = 460, 350
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 12, 50
#: Distance, in pixels, that words beside points keep from each other.
APART = 28


def _star(tips: int, inner: float) -> tuple[tuple[float, float], ...]:
    corners = [(1.35 if i % 2 == 0 else inner, math.pi * i / tips) for i in range(2 * tips)]
    return tuple((r * math.sin(angle), -r * math.cos(angle)) for r, angle in corners)


#: Corners of markers of size 1; the first, without corners, is a disc.
SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((0, -1.25), (1.2, 0.9), (-1.2, 0.9)),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, 1.25), (1.2, -0.9), (-1.2, -0.9)),
    _star(4, 0.5),
    ((-1.35, -0.5), (1.35, -0.5), (1.35, 0.5), (-1.35, 0.5)),
    _star(5, 0.6),
)


def marker(group: int, *, ordered: bool = False) -> str:
    """Return the small picture that stands for a group in legends and tables."""
    kind, shape = _look(group, ordered)
    path = f'<path class="{kind}" d="{_outline(7, 7, 4.5, shape)}"/>'
    return f'<svg class="mark" viewBox="0 0 14 14" aria-hidden="true">{path}</svg>'


def scatter(figure: Scatter) -> str:
    """Draw points in their groups."""
    frame = _Frame(figure.places)
    n = len(figure.places)
    radius = 4.0 if n <= 250 else 3.2 if n <= 800 else 2.5
    looks = [_look(figure.first + i, figure.ordered) for i in range(len(figure.names))]
    outlines = [
        _outline(*frame.place(x, y), radius, looks[group][1])
        for (x, y), group in zip(figure.places, figure.groups, strict=True)
    ]
    if figure.hints:
        marks = [
            f'<path class="{looks[group][0]}" d="{outline}"><title>{escape(hint)}</title></path>'
            for outline, group, hint in zip(outlines, figure.groups, figure.hints, strict=True)
        ]
    else:  # One path for all points of a group takes half the space.
        marks = []
        for i, (kind, _) in enumerate(looks):
            together = "".join(o for o, g in zip(outlines, figure.groups, strict=True) if g == i)
            name = escape(figure.names[i])
            marks.append(f'<path class="{kind}" d="{together}"><title>{name}</title></path>')
    body = f'{frame.axes(*figure.axes)}<g class="points">{"".join(marks)}</g>'
    groups = counted(len(set(figure.groups)), "group")
    words = f"Scatter plot of {counted(n, 'point')} in {groups}: {_named(figure.axes)}."
    return svg(body, figure.caption, words)


def line(figure: Line) -> str:
    """Draw points joined by a line; words stand beside those that have room."""
    frame = _Frame(figure.places)
    places = [frame.place(x, y) for x, y in figure.places]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [frame.axes(*figure.axes), f'<path class="line" d="{path}"/>']
    for i, ((x, y), name) in enumerate(zip(places, figure.names, strict=True)):
        kind, radius = ("chosen", 8.0) if i == figure.chosen else ("dot", 4.0)
        shape = 7 if i == figure.chosen else 0
        hint = f"<title>{escape(name)}</title>"
        parts.append(f'<path class="{kind}" d="{_outline(x, y, radius, shape)}">{hint}</path>')
    for i in _with_room(places, figure.chosen):
        x, y = places[i]
        # Below to the right, where a line that rises leaves room; at the edge above to the left.
        side, right, down = ("end", -9, -4) if x > WIDTH - 90 else ("start", 9, 15)
        text = f'text-anchor="{side}">{escape(figure.names[i])}</text>'
        parts.append(f'<text class="beside" x="{x + right:.1f}" y="{y + down:.1f}" {text}')
    words = f"Line through {counted(len(places), 'point')}: {_named(figure.axes)}."
    return svg("".join(parts), figure.caption, words)


def _named(axes: tuple[str, str]) -> str:
    return "; ".join(filter(None, axes))


def svg(body: str, title: str, description: str, height: float = HEIGHT) -> str:
    """Return a drawing with what it shows in words."""
    words = escape(f"{title} {description}")
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{words}">'
        f"{body}</svg>"
    )


def _look(group: int, ordered: bool) -> tuple[str, int]:
    """Return the class that colours a group, and its shape."""
    if ordered:
        return f"s{group}", 0
    # Colours come round after eight groups, then with other shapes: 64 groups differ.
    return f"c{group % COLOURS}", (group + group // COLOURS) % len(SHAPES)


def _outline(x: float, y: float, radius: float, shape: int) -> str:
    if not SHAPES[shape]:
        r, across = f"{radius:g}", f"{2 * radius:g}"
        return f"M{x - radius:.1f} {y:.1f}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0-{across} 0z"
    corners = (f"{x + radius * a:.1f} {y + radius * b:.1f}" for a, b in SHAPES[shape])
    return f"M{'L'.join(corners)}z"


def _with_room(places: Sequence[tuple[float, float]], chosen: int | None) -> list[int]:
    """Return points whose words do not touch: the chosen one, the ends, then those between."""
    first = [] if chosen is None else [chosen]
    kept: list[int] = []
    for i in dict.fromkeys((*first, 0, len(places) - 1, *range(len(places)))):
        x, y = places[i]
        if all(abs(y - places[j][1]) >= APART or abs(x - places[j][0]) >= 4 * APART for j in kept):
            kept.append(i)
    return kept


class _Frame:
    """The way from numbers to pixels, and the axes."""

    def __init__(self, places: Sequence[tuple[float, float]]) -> None:
        xs, ys = [x for x, _ in places], [y for _, y in places]
        self.x_range = _widened(min(xs), max(xs))
        self.y_range = _widened(min(ys), max(ys))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel of a point."""
        (x_low, x_high), (y_low, y_high) = self.x_range, self.y_range
        left = LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
        return left, HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    def axes(self, x_name: str, y_name: str) -> str:
        """Return grid, ticks and names."""
        low, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = []
        for value, text in ticks(*self.x_range):
            x = self.place(value, self.y_range[0])[0]
            parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{low}"/>')
            parts.append(f'<text x="{x:.1f}" y="{low + 17}" text-anchor="middle">{text}</text>')
        for value, text in ticks(*self.y_range) if y_name else ():
            y = self.place(self.x_range[0], value)[1]
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
            parts.append(f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        middle = (LEFT + right) / 2
        parts.append(
            f'<text class="name" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">'
            f"{escape(x_name)}</text>"
        )
        upright = (TOP + low) / 2
        parts.append(
            f'<text class="name" transform="translate(13 {upright}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_name)}</text>'
        )
        return f'<g class="axes">{"".join(parts)}</g>'


def _widened(low: float, high: float) -> tuple[float, float]:
    """Return a range with a margin; one that is never empty."""
    margin = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
    return low - margin, high + margin


def ticks(low: float, high: float) -> Iterator[tuple[float, str]]:
    """Yield about five round numbers of a range, and their texts."""
    rough = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)
    for i in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield i * step, number(i * step + 0.0, 4)
