"""Sentences about arguments, as data: each front end has names of its own for them.

What is ``n_clusters=3`` to those who use Python is ``--clusters 3`` at the command line, and
“Groups” 3 in the workbench. So an error that speaks of an argument says which one it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Argument:
    """An argument in a sentence.

    Attributes
    ----------
    name : str
        What the library calls it.
    shown : str or None
        Its value as Python writes it; None if the sentence is about any.
    """

    name: str
    shown: str | None = None

    @classmethod
    def of(cls, name: str, value: Any) -> Argument:
        """Return an argument with its value."""
        return cls(name, repr(value))

    def __str__(self) -> str:
        return self.name if self.shown is None else f"{self.name}={self.shown}"


class Sentence:
    """Something said in parts, text and arguments; errors and warnings are made of it."""

    def __init__(self, *parts: str | Argument) -> None:
        super().__init__("".join(map(str, parts)))  # type: ignore[call-arg]
        self.parts = parts

    def worded(self, words: Callable[[Argument], str]) -> str:
        """Return the sentence with arguments in someone's words."""
        return "".join(part if isinstance(part, str) else words(part) for part in self.parts)

    def __reduce__(self) -> Any:  # from its parts, not from its text
        return type(self), self.parts


class ArgumentError(Sentence, ValueError):
    """A value that an argument cannot have.

    Examples
    --------
    >>> from multifacet.wording import Argument, ArgumentError
    >>> error = ArgumentError(Argument.of("n_views", 0), " must be at least 1")
    >>> str(error), error.worded(lambda argument: f"--views {argument.shown}")
    ('n_views=0 must be at least 1', '--views 0 must be at least 1')
    """


class ArgumentWarning(Sentence, UserWarning):
    """A value of an argument that is perhaps not what was meant."""
