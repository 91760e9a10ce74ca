"""Text that a spreadsheet would run as a formula: harmless in delimited files, and read back."""

from __future__ import annotations

import re
from typing import Any

#: How formulas begin, and apostrophes that are there already: one more is taken off again.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n].", re.DOTALL)


def guarded(value: Any) -> Any:
    """Return a cell as it is written: text that looks like a formula after an apostrophe.

    Numbers stay as they are, be they spelled out in text; so does a mere sign.

    Examples
    --------
    >>> from multifacet.files.formulas import guarded
    >>> [guarded(value) for value in ("=1+1", "+ 5", "-", "-1.5", -1.5, "mass")]
    ["'=1+1", "'+ 5", '-', '-1.5', -1.5, 'mass']
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value):
        return f"'{value}"
    return value


def unguarded(text: str) -> str:
    """Return a cell as it was before :func:`guarded`."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
