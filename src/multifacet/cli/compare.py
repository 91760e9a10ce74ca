"""``multifacet compare``: how far labelings agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command import Command
from .options import call_options, data_options, seed_option, several
from .output import default_output, results_in
from .run import Run
from .source import read_data

if TYPE_CHECKING:
    from ..estimators.compare import Comparison

FILES = ("report.html", "comparison.json", "run.json")


@click.command(cls=Command)
@data_options
@several("--labels", help="The labelings.  [default: all columns but the identifier]")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="What to do with rows that lack a label.",
)
@seed_option
@call_options
@click.pass_context
def compare(ctx: click.Context, **options: Any) -> None:
    """Compare labelings of the same rows, each with each: agreement, tables and pictures."""
    run = Run(ctx)
    folder = Path(options["output"] or default_output(options["data"], "comparison"))
    with results_in(folder, FILES, force=options["force"]) as draft:
        comparison = _compare(run)
        with run.stage("write"):
            run.write(draft, comparison.to_dict())
    run.tell(folder, FILES, str(comparison), comparison.to_dict())


def _compare(run: Run) -> Comparison:
    options = run.options
    with run.stage("read"):
        _, columns, identifier = read_data(run)
    from ..estimators.compare import compare_labelings
    from ..frames.table import read_table

    table = read_table(columns)
    table.find("identifier", identifier)
    names = options["labels"]
    if not names:
        unique = [n for n in columns if len(set(table.read(n).values.tolist())) == table.n_rows]
        names = [name for name in columns if name not in (identifier, *unique)]
        for name in unique:
            run.note(f"left out {name!r}: different in every row")
    with run.stage("compare"):
        return compare_labelings(
            columns, names, missing=options["missing"], random_state=options["random_state"]
        )
