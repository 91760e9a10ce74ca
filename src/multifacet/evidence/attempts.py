"""Evidence that cannot be measured becomes a note."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def attempt(what: str, measure: Callable[[], T]) -> tuple[T | None, list[str]]:
    """Return a piece of evidence, or None and a note that says why there is none.

    Parameters
    ----------
    what : str
        What is measured, to begin a sentence with.
    measure : callable
        Measures it. Whatever it raises, the view that it is about must not be lost with it.

    Returns
    -------
    evidence : object or None
        What was measured.
    notes : list of str
        Empty, or the one sentence why it failed.

    Examples
    --------
    >>> from multifacet.evidence import attempt
    >>> attempt("The answer", lambda: 42)
    (42, [])
    >>> attempt("The answer", lambda: 1 / 0)
    (None, ['The answer could not be measured (ZeroDivisionError: division by zero).'])
    """
    try:
        return measure(), []
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return None, [f"{what} could not be measured ({reason.rstrip('. ')})."]
