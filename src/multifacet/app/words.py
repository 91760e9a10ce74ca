"""Sentences of the library in the words of the page, for people who use no Python.

The library speaks of its arguments; the page has settings, roles of columns and choices for missing
values in their place.
"""

from __future__ import annotations

import re

from ..frames.notes import Note, Remedy, in_python
from ..wording import Argument, Sentence

#: What the page calls the settings of a search.
SETTINGS = {
    "n_clusters": "Groups",
    "n_components": "Dimensions",
    "novelty_weight": "Novelty weight",
    "n_views": "Views in a row",
    "random_state": "Seed",
}
_MISSING = "“Missing values”"
#: Remedies that name arguments in Python, as the page says them; the others are said alike.
_ADVICE: dict[Remedy, str] = {
    "given or feature": "mark them as “known” or as “feature” if you need them otherwise",
    "given or left out": "mark them as “known” or as “left out”",
    "convert": "add columns with its year, month or weekday if you need it",
    "name features": "mark those that are as “feature”",
    "row names": "mark it as “row name” or as “left out”",
    "left out": "mark it as “left out”",
    "impute or drop": f"choose under {_MISSING} to fill in medians or to leave out the rows",
    "drop": f"choose under {_MISSING} to leave out the rows",
    "label or drop": (
        f"choose under {_MISSING} to leave out their rows, or give them a label of their own"
    ),
    "impute or left out": (
        f"choose under {_MISSING} to fill in medians, or mark the columns that lack most as "
        "“left out”"
    ),
    "drop rows": f"choose under {_MISSING} to leave out their rows instead",
    "left out or drop rows": (
        f"mark them as “left out”, or choose under {_MISSING} to leave out their rows"
    ),
    "variables": "keep 100 of them at most in the file to look among variables",
    "standardize": "choose under “Scale of features” that each has its own",
}
#: What the page calls known, at the beginning of a sentence.
_GIVEN = re.compile(r"^given (?=column |')")
#: Sentences that name arguments, and the same on the page; the rest of a sentence stays.
_PHRASES = {
    r"\w+ did not converge to a stationary point: .*; the result is usable, see \S+ and \S+": (
        "The search ended before it came to rest: the groups are usable, but perhaps not the best. "
        "Another seed or number of groups may do better"
    ),
    r"so given has no effect on the subspace: use fewer components": (
        "so that what is known has no effect: ask for fewer"
    ),
    r"\bX has (only )?(?=\d)": r"the table has \1",
    r"all rows of X are": "all rows are",
    r"pass one number, truth value or text per row": "a row needs one number, truth value or text",
    r"pass the encoding, such as .*": "save it as UTF-8 (“CSV UTF-8” in a spreadsheet)",
    r"pass format, or use": "use one of",
    r"pass format='(\w+)' if that is what it is": r"name it .\1 if that is what it is",
    r"pass its format, or a text file": "name it by its format, or take a text file",
    r", or pass the separator if it is not .*": "",
}


def for_the_page(said: object) -> str:
    """Return an error, a warning or a sentence of the library as the page says it.

    Examples
    --------
    >>> from multifacet.app.words import for_the_page
    >>> from multifacet.wording import Argument, ArgumentError
    >>> groups = Argument.of("n_clusters", 9)
    >>> for_the_page(ArgumentError(groups, " must be at most 5: X has 5 rows"))
    '“Groups” 9 must be at most 5: the table has 5 rows'
    """
    note = getattr(said, "note", None)
    if note is not None:
        return _GIVEN.sub("known ", noted(note))
    text = said.worded(_setting) if isinstance(said, Sentence) else str(said)
    text = _GIVEN.sub("known ", text)
    for pattern, words in _PHRASES.items():
        text = re.sub(pattern, words, text)
    return text


def _setting(argument: Argument) -> str:
    """Return an argument as the setting that it is on the page, if it is one."""
    if argument.name not in SETTINGS:
        return str(argument)
    return f"“{SETTINGS[argument.name]}” {argument.shown or ''}".rstrip()


def noted(note: Note) -> str:
    """Return a note on a table as the page says it."""
    if note.remedy is None:
        return note.said("")
    return note.said(_ADVICE.get(note.remedy) or in_python(note.remedy, note.columns))
