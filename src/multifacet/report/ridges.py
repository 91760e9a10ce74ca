"""The distribution of a feature in each group, as inline SVG: one hill above the other."""

from __future__ import annotations

from html import escape

from .blocks import Ridges
from .figures import COLOURS, RIGHT, WIDTH, svg, ticks
from .words import number, shorten

#: Room for names on the left, for one hill, and for the axis below.
LEFT, ROW, BOTTOM = 86, 44, 44
#: Height of the highest hill, as a part of its row.
REACH = 0.86


def ridges(figure: Ridges) -> str:
    """Draw one hill per group, each as high as its share of rows, and a line at its mean."""
    span = (figure.high - figure.low) or 1.0
    width, ground = WIDTH - LEFT - RIGHT, 8 + ROW * len(figure.counts)

    def across(value: float) -> float:
        return LEFT + min(max((value - figure.low) / span, 0.0), 1.0) * width

    parts = []
    for value, text in ticks(figure.low, figure.low + span):
        x = f"{across(value):.1f}"
        parts.append(f'<path class="grid" d="M{x} 8V{ground}"/>')
        parts.append(f'<text x="{x}" y="{ground + 17}" text-anchor="middle">{text}</text>')
    name = f'text-anchor="middle">{escape(shorten(figure.axis, 48))}</text>'
    parts.append(f'<text class="name" x="{LEFT + width / 2}" y="{ground + 37}" {name}')
    # The highest hill of all fills its row; shares, so that small groups can be seen.
    shares = [[count / max(sum(row), 1) for count in row] for row in figure.counts]
    most = max(max(row) for row in shares) or 1.0
    for c, (row, mean, group) in enumerate(zip(shares, figure.means, figure.names, strict=True)):
        floor, step = 8 + ROW * (c + 1), width / len(row)
        heights = [f"{floor - REACH * ROW * one / most:.1f}" for one in row]
        steps = "".join(
            f"V{height}H{LEFT + step * (i + 1):.1f}" for i, height in enumerate(heights)
        )
        hint = f"<title>{escape(group)}: mean {number(mean, 4)}</title>"
        parts.append(
            f'<path class="hill c{c % COLOURS}" d="M{LEFT} {floor}{steps}V{floor}z">{hint}</path>'
        )
        parts.append(f'<path class="mean" d="M{across(mean):.1f} {floor}v-{REACH * ROW:.1f}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{floor - 4}" text-anchor="end">{escape(group)}</text>'
        )
    means = "; ".join(
        f"{group} {number(mean, 4)}" for group, mean in zip(figure.names, figure.means, strict=True)
    )
    body = f'<g class="axes">{"".join(parts)}</g>'
    return svg(body, figure.caption, f"Means: {means}.", ground + BOTTOM)
