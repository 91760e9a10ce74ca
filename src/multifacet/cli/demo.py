"""``multifacet demo``: the main job, on data that ships in the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click

from .command import Command, say
from .find import find, find_in


@click.command(cls=Command)
@click.option(
    "-o", "--output", metavar="OUT", default="penguins-views", show_default=True,
    help="Directory to write to; results there are replaced.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress and no notes.")
def demo(output: str, quiet: bool) -> None:
    """Find what else than the species is in 333 penguins, and write the report."""
    say("333 penguins, 4 measurements. Known: the species. What else is in here?\n")
    with as_file(files("multifacet.datasets").joinpath("penguins.csv")) as data:
        words = [str(data), "--given", "species", "--views", "1", "--force"]
        ctx = find.make_context("find", words + ["--quiet"] * quiet)
        views, _ = find_in(ctx, Path(output))
    say(views)
    from ..datasets import load_penguins
    from ..tables.compare import compare_labelings

    species, sex = load_penguins()[1].T
    known = {"the view": views[0].labels, "the sex": sex, "the species": species}
    comparison = compare_labelings(known)
    say(f"\nThe sex was not shown, the species was to be avoided. {comparison.sentence}")
    say(f"report: {Path(output) / 'report.html'}")
