"""Numbers and names as a reader wants them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..explain import only_numbered

#: Characters of a name in a legend, and of the names beside an axis.
NAME_WIDTH, AXIS_WIDTH = 28, 32
NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
#: Does not break: between a number and its sign.
SPACE = "\N{NO-BREAK SPACE}"


def number(value: float | None, digits: int = 3) -> str:
    """Return so many significant digits, all of whole numbers, and a dash for None."""
    if value is None:
        return NONE
    value += 0  # no "-0"
    if isinstance(value, int) or abs(value) >= 10**digits:
        text = f"{value:,.0f}"
    elif 0 < abs(value) < 1e-4:
        text = f"{value:.1e}"
    else:
        text = np.format_float_positional(
            value, precision=digits, unique=False, fractional=False, trim="-"
        )
    return text.replace("-", MINUS, 1) if value < 0 else text


def signed(value: float) -> str:
    """Return a number between -1 and 1 with two decimals."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", MINUS)


def share(value: float) -> str:
    """Return a share as a percentage."""
    return f"<{SPACE}1{SPACE}%" if 0 < value < 0.005 else f"{100 * value:.0f}{SPACE}%"


def chance(p_value: float | None) -> str:
    """Return a p-value, or a dash."""
    return "< 0.001" if p_value is not None and p_value < 0.001 else number(p_value, 2)


def spreads(means: Sequence[float], deviations: Sequence[float]) -> list[str]:
    """Return means and their standard deviations, with the decimals that the latter allow."""
    finest = min((d for d in deviations if d > 0), default=1.0)
    decimals = min(max(1 - math.floor(math.log10(finest)), 0), 8)
    pairs = zip(means, deviations, strict=True)
    # Rounded first and with 0 added: no mean is "-0.0".
    texts = [f"{round(m, decimals) + 0.0:,.{decimals}f} ± {d:,.{decimals}f}" for m, d in pairs]
    return [text.replace("-", MINUS, 1) for text in texts]


def shorten(text: str, width: int = NAME_WIDTH) -> str:
    """Leave out the middle: long names often differ at their ends."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def listed(words: Sequence[str]) -> str:
    """Return words as in a sentence: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def told(text: str) -> str:
    """Return a sentence of the library with minus signs where it has hyphens: (-1.5)."""
    return re.sub(r"\(-(?=\d)", f"({MINUS}", text)


def capitalised(text: str) -> str:
    """Return a text as a sentence or a title begins, the rest as it is."""
    return text[:1].upper() + text[1:]


def sizes(groups: Mapping[str, int], most: int = 6) -> str:
    """Return groups with their sizes as in a sentence, not too many."""
    words = [f"{name} ({size:,})" for name, size in list(groups.items())[:most]]
    rest = len(groups) - most
    return listed([*words, f"{rest} more"] if rest > 0 else words)


def counted(count: int, word: str) -> str:
    """Return a count and its word, in the plural where it belongs."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def axis_names(loadings: Sequence[Sequence[float]], features: Sequence[str]) -> list[str]:
    """Name each axis by the features with the largest loadings, a minus where they point down.

    Those that are only numbered say nothing, so the axis is, too.
    """
    names = []
    for i, axis in enumerate(loadings):
        if only_numbered(features, np.square(axis)):
            names.append(f"axis {i + 1}")
            continue
        order = sorted(range(len(axis)), key=lambda j: -abs(axis[j]))[:2]
        # The second one is named if the axis is not mostly the first.
        leading = [j for j in order if abs(axis[j]) >= 0.5 * abs(axis[order[0]])]
        width = AXIS_WIDTH // len(leading)
        words = [MINUS * (axis[j] < 0) + shorten(features[j], width) for j in leading]
        names.append(f"axis {i + 1}: {', '.join(words)}")
    return names
