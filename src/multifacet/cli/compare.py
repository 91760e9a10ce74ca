"""``multifacet compare``: how far labelings agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command import Command, Refused
from .imports import learn_without_pandas
from .options import call_options, data_options, option, seed_option, several
from .output import default_output, results_in
from .run import Run
from .source import read_data

if TYPE_CHECKING:
    from ..frames.table import Columns
    from ..results.comparison import Comparison

FILES = ("report.html", "comparison.json", "run.json")


@click.command(cls=Command)
@data_options
@several("labels", help="The labelings.  [default: all columns but the identifier]")
@option(
    "missing",
    type=click.Choice(["error", "drop"]),
    help="What to do with rows that lack a label.",
)
@seed_option
@call_options
@click.pass_context
def compare(ctx: click.Context, /, **options: Any) -> None:
    """Compare labelings of the same rows, each with each: agreement, tables and pictures."""
    run = Run(ctx)
    folder = Path(options["output"] or default_output(options["data"], "comparison"))
    with run.stage("read"):
        columns, names = _labelings(run)
    with results_in(folder, FILES, force=options["force"]) as draft:
        comparison = _compare(run, columns, names)
        with run.stage("write"):
            run.write(draft, comparison.to_dict())
    run.tell(folder, FILES, str(comparison), comparison.to_dict())


def _labelings(run: Run) -> tuple[Columns, list[str]]:
    """Return the columns of DATA and which of them to compare: those named, or all that can be."""
    from ..frames.roles import no_labels
    from ..frames.table import read_table

    _, columns, identifier = read_data(run)
    table = read_table(columns)
    table.find("identifier", identifier)
    names = table.find("labels", run.options["labels"])
    if names:
        return columns, names
    reasons = {name: no_labels(table.read(name)) for name in columns if name != identifier}
    for name, reason in reasons.items():
        if reason:
            run.note(f"left out {name!r}: {reason}")
    names = [name for name, reason in reasons.items() if not reason]
    if len(names) < 2:
        raise Refused("DATA has no 2 columns that look like labelings: name them with --labels")
    return columns, names


def _compare(run: Run, columns: Columns, names: list[str]) -> Comparison:
    learn_without_pandas()
    from ..tables.compare import compare_labelings

    options = run.options
    with run.stage("compare"):
        return compare_labelings(
            columns, names, missing=options["missing"], random_state=options["random_state"]
        )
