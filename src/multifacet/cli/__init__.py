"""The command ``multifacet``: files in, results and a report out. No analysis lives here.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import click

from .. import __version__
from .command import Group
from .compare import compare
from .completion import completion
from .demo import demo
from .explore import explore
from .find import find
from .info import info
from .reduce import reduce
from .report import report

__all__ = ["main"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Find groupings of a table that are good and different from what you know.

    \b
    Begin with
      multifacet demo                          what it does, on penguins
      multifacet find DATA --given COLUMN      what else is in your table
      multifacet find --help                   everything that can be said

    Exit codes: 0 done, 1 failed, 2 wrong use (of the command, or of its input).
    """  # noqa: D301 -- click keeps the lines after a backspace as they are


for command in (demo, find, explore, reduce, compare, report, info, completion):
    main.add_command(command)
