"""What can be done about a table, in options."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..frames.notes import Note, Remedy


def in_options(note: Note, options: Container[str]) -> str:
    """Return a note in the options of a command, which are given as parameters of the library."""
    from ..frames.notes import in_python

    if note.remedy is None:
        return note.said("")
    advice = _advice(note.columns, options)
    return note.said(advice.get(note.remedy) or in_python(note.remedy, note.columns))


def _advice(columns: tuple[str, ...], options: Container[str]) -> dict[Remedy, str]:
    """Return the remedies that name arguments in Python; the others are said alike."""
    name = repr(columns[0]) if columns else ""
    month = repr(f"{columns[0]}.month") if columns else ""
    given = "--given or " if "given" in options else ""  # which not every command has
    labels = "--given, " if "given" in options else ""
    return {
        "given or feature": (
            f"use {labels}--features or --categories use if you need them otherwise"
        ),
        "given or left out": f"use {given}--exclude",
        "convert": f"name parts of it in --features if you need it, such as {month}",
        "plain numbers": "write plain numbers if you need it (--decimal names the decimal mark)",
        "name features": "name them with --features, or pass --categories use",
        "row names": f"pass --id {name} or --exclude {name}",
        "left out": f"leave it out with --exclude {name}",
        "impute or drop": "drop or impute them first (--missing impute or --missing drop)",
        "drop": "drop them first (--missing drop)",
        "label or drop": "drop their rows (--missing drop) or give them a label of their own",
        "drop rows": "--missing drop leaves their rows out instead",
        "left out or drop rows": "--exclude them, or leave out their rows with --missing drop",
        "standardize": "use --standardize",
        "variables": "--matrix X takes the variables themselves",
        "impute or left out": "use --missing impute or --exclude the columns that lack most",
    }


#: Sentences with names that only programs have, and the same for people.
_NAMED = {
    r"\(n_samples=(\d+)\)": r"(\1)",
    r"\w+ did not converge to a stationary point: (.*); the result is usable, see \S+ and \S+": (
        r"the search ended before it came to rest (\1): the result is usable, but perhaps not "
        "the best; another --seed may do better"
    ),
}


def without_names(text: str) -> str:
    """Return what the library says of a search, without what only programs have names for.

    Examples
    --------
    >>> from multifacet.cli.words import without_names
    >>> without_names("too few rows (n_samples=3): at least 5 are needed")
    'too few rows (3): at least 5 are needed'
    """
    for pattern, words in _NAMED.items():
        text = re.sub(pattern, words, text)
    return text
