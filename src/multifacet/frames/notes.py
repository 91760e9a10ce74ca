"""What is wrong or remarkable about a table, and what can be done about it, as data.

What can be done is said in arguments to those who use Python, in options to those at the command
line, and in the words of the page in the workbench. So a note names the remedy, and each of the
three has its own words for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Remedy = Literal[
    "given or feature",  # labels that are references: perhaps they are wanted
    "given or left out",  # few whole numbers that are used: perhaps they are labels
    "plain numbers",  # numbers that are spelled in another way
    "convert",  # dates
    "group",  # text with many values
    "name features",  # no column looks like one
    "row names",  # a feature is text that is different in every row
    "left out",  # a feature cannot be used
    "left out of data",  # the same, of data whose columns have no names
    "impute or drop",  # missing values of features
    "drop",  # missing values of a sparse matrix
    "label or drop",  # missing labels
    "drop rows",  # values that were filled in
    "left out or drop rows",  # so many that were filled in that they are seen in the result
    "impute or left out",  # too few rows without missing values
    "complete",  # missing values of new rows
    "replace",  # infinite values
    "standardize",  # features on one scale: perhaps each needs its own
    "logarithms",  # skewed features
    "variables",  # components were taken in place of many variables
]
#: All remedies.
REMEDIES: tuple[str, ...] = get_args(Remedy)


@dataclass(frozen=True)
class Note:
    """A sentence about a table, with a gap for the remedy.

    Attributes
    ----------
    before : str
        What is the case, up to the remedy.
    remedy : str or None
        What can be done, one of ``REMEDIES``; None if there is nothing to do.
    columns : tuple of str
        The columns it is about.
    after : str
        The rest of the sentence.
    """

    before: str
    remedy: Remedy | None = None
    columns: tuple[str, ...] = ()
    after: str = ""

    def said(self, advice: str) -> str:
        """Return the sentence, with the remedy in someone's words."""
        return f"{self.before}{advice}{self.after}"

    def __str__(self) -> str:
        return self.said("" if self.remedy is None else in_python(self.remedy, self.columns))


def in_python(remedy: Remedy, columns: tuple[str, ...]) -> str:
    """Return what can be done, in arguments."""
    name = columns[0] if columns else ""
    return {
        "given or feature": (
            "name them in given or features, or pass categories='use', if you need them otherwise"
        ),
        "given or left out": "name them in given or exclude",
        "plain numbers": "write plain numbers if you need it",
        "convert": f"name parts of it in features if you need it, such as {name + '.month'!r}",
        "group": "group its values if you need it",
        "name features": "name them with features=NAMES, or pass categories='use'",
        "row names": f"pass identifier={name!r} or exclude=[{name!r}]",
        "left out": f"leave it out with exclude=[{name!r}]",
        "left out of data": "take it out of data",
        "impute or drop": "drop or impute them first (missing='impute' or missing='drop')",
        "drop": "sparse data cannot be imputed, so drop them first (missing='drop')",
        "label or drop": "drop their rows (missing='drop') or give them a label of their own",
        "impute or left out": "use missing='impute' or exclude the columns that lack most",
        "drop rows": "missing='drop' leaves their rows out instead",
        "left out or drop rows": f"exclude {'it' if len(columns) == 1 else 'them'}, or their rows "
        "with missing='drop'",
        "complete": "drop or impute them first",
        "replace": "replace or drop them first",
        "standardize": "pass standardize=True",
        "logarithms": "taking logarithms first may show more",
        "variables": "use_rep='X' takes the variables themselves",
    }[remedy]


class InputError(ValueError):
    """A table that cannot be used as it is; ``note`` says why, and what can be done."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note

    def __reduce__(self) -> Any:  # from its note, not from its text
        return type(self), (self.note,)


class InputWarning(UserWarning):
    """A table that is perhaps used in the wrong way; ``note`` says why, and what can be done."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note

    def __reduce__(self) -> Any:
        return type(self), (self.note,)
