"""A command that ends in a sentence: no traceback reaches the user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..printable import in_json, lines, one_line
from ..wording import Argument, Sentence
from .words import in_options, without_names


def say(text: object) -> None:
    """Print text on standard output; what it holds of tables and files gives no orders."""
    click.echo(lines(text))


def say_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    from ..files import to_json

    click.echo(in_json(to_json(value)))


class Refused(click.ClickException):
    """Wrong use: of the command, or of its input."""

    exit_code = 2


class Failed(click.ClickException):
    """A right use that could not be carried out."""

    exit_code = 1


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether someone ended the work, perhaps while a library made another error of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


class Group(click.Group):
    """Commands whose errors quote tables and arguments without giving orders to the terminal."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line up to the name of the command."""
        with _printable():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Read the rest, and run the command."""
        with _printable():
            return super().invoke(ctx)


@contextmanager
def _printable() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        error.message = one_line(error.message)  # type: ignore[misc]  # the only way in
        raise


class Command(click.Command):
    """Turns errors of the library into sentences that speak of options, and into exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if was_interrupted(error):
                raise Failed("interrupted; nothing was saved") from None
            if os.environ.get("MULTIFACET_TRACEBACK"):
                raise
            raise self._as_sentence(error) from error

    def _as_sentence(self, error: BaseException) -> click.ClickException:
        text = self.worded(error)
        if isinstance(error, ValueError | FileNotFoundError | IsADirectoryError):
            return Refused(text)
        if isinstance(error, OSError | MemoryError | ImportError):
            return Failed(text or "out of memory")
        return Failed(
            f"unexpected {type(error).__name__}: {error}. This is a fault of multifacet; "
            "MULTIFACET_TRACEBACK=1 shows where, please report it"
        )

    def worded(self, said: object) -> str:
        """Return what the library says with options in place of arguments: --clusters 3.

        What can be done about a table, and which argument a sentence is about, come as data.
        """
        note = getattr(said, "note", None)
        if note is not None:
            return in_options(note, {param.name for param in self.params})
        if isinstance(said, Sentence):
            return said.worded(self._spelt)
        return without_names(str(said))

    def _spelt(self, argument: Argument) -> str:
        """Return an argument as the option that it is here, if it is one."""
        for param in self.params:
            if isinstance(param, click.Option) and param.name == argument.name:
                value = "" if argument.shown is None else f" {argument.shown.strip('[]')}"
                return f"{param.opts[0]}{value}"
        return str(argument)
