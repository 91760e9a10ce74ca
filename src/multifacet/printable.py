"""Text from elsewhere, safe to print: a terminal obeys what it reads, and names may hold orders."""

from __future__ import annotations

import re

#: Control characters, what reverses the direction of text or parts lines, and halves of characters.
_ORDERS = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_ORDER = re.compile(f"[{_ORDERS}]")
_ORDER_BUT_LINE = re.compile(f"(?!\n)[{_ORDERS}]")


def one_line(text: object) -> str:
    r"""Return text with escapes that can be seen in place of what a terminal would obey.

    Examples
    --------
    >>> from multifacet.printable import one_line
    >>> print(one_line("mass\x1b[2J\nin g"))
    mass\x1b[2J\nin g
    """
    return _ORDER.sub(_seen, str(text))


def lines(text: object) -> str:
    """Return text as :func:`one_line` does, but for the ends of its lines."""
    return _ORDER_BUT_LINE.sub(_seen, str(text))


def in_json(text: str) -> str:
    """Return JSON that means the same, without what a terminal would obey."""
    return _ORDER_BUT_LINE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _seen(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
