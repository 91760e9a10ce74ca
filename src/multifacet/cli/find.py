"""``multifacet find``: other groupings of a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runs.folder import CHECKPOINT
from ..runs.table import ROW, unused
from .command import Command, Failed, was_interrupted
from .options import (
    auto,
    call_options,
    data_options,
    feature_options,
    option,
    search_options,
    several,
)
from .output import default_output, results_in
from .run import Run
from .source import Source, read_source, with_existing

if TYPE_CHECKING:
    from ..results.views import Views

#: Column of the candidate that the report shows when no view is believed.
NOT_BELIEVED = "best candidate (not believed)"
FILES = (
    "report.html", "labels.csv", "references.csv", "loadings.csv", "views.json", "views.npz",
    "run.json",
)  # fmt: skip
#: Options that go to :func:`multifacet.find_views` as they are.
_LIBRARY = (
    "n_views", "n_clusters", "missing", "standardize", "keep_trivial", "strategy", "method",
    "n_components", "bandwidth", "novelty_weight", "n_refits", "random_state", "n_jobs",
)  # fmt: skip


@click.command(cls=Command)
@data_options
@several("given", help="Columns that hold what is known already.")
@several(
    "existing",
    metavar="FILE:COL",
    help="Known labels in another file, found by the identifier of the rows.",
)
@auto("views", help="How many views.")
@auto("clusters", several=True, help="Clusters of all views, or of each.")
@feature_options
@option("keep-trivial", is_flag=True, help="Keep views that only repeat a feature.")
@option(
    "strategy",
    type=click.Choice(["iterative", "simultaneous"]),
    help="Views one after the other, or then refined together.",
)
@option(
    "method",
    type=click.Choice(["auto", "kdac", "linear", "embedding", "isaac"]),
    help="Groups of every kind, the kernel objective alone, a closed form, or ISAAC.",
)
@auto("dimensions", help="Dimensions of a view.")
@auto("novelty-weight", number=float, help="What likeness to the known costs.")
@option("refits", type=int, help="Refits behind the stability; 0 leaves it out.")
@search_options
@call_options
@click.option("--resume", is_flag=True, help="Continue an interrupted search.")
@click.pass_context
def find(ctx: click.Context, /, **options: Any) -> None:
    """Find groupings of DATA that are good and different from what is given.

    DATA is a file of text (CSV, TSV, also .gz), Parquet, Arrow, NPY, NPZ or .h5ad, or - for
    standard input. Everything that is not said is chosen. Results go to the directory OUT: the
    report, labels next to the identifiers of the rows, loadings, and how to repeat it.
    """
    folder = Path(options["output"] or default_output(options["data"], "views"))
    views, run = find_in(ctx, folder)
    run.tell(folder, FILES, str(views), {"views": _for_machines(views)})


def find_in(ctx: click.Context, folder: Path) -> tuple[Views, Run]:
    """Find views as the options say, and leave all files in a directory."""
    run = Run(ctx)
    options, checkpoint = run.options, folder / CHECKPOINT
    with run.stage("read"):
        source = with_existing(run, read_source(run), options["existing"])
    with results_in(folder, FILES, force=options["force"], resume=options["resume"]) as draft:
        if options["resume"] and not checkpoint.exists():
            run.note("there is no interrupted search to continue, so it begins anew")
        try:
            views = _search(run, source, checkpoint)
            run.note_encoding(views.encoding)
            with run.stage("write"):
                _write(draft, views, run)
        except (Exception, KeyboardInterrupt) as error:
            stopped = was_interrupted(error)
            if not checkpoint.exists() or not (stopped or isinstance(error, OSError)):
                raise
            why = "" if stopped else str(error)
            raise Failed(
                f"{why or 'interrupted'}; what was found so far is kept in "
                f"{str(folder)!r}, but not yet a result: the same command with --resume continues"
            ) from error
    return views, run


def _search(run: Run, source: Source, checkpoint: Path) -> Views:
    from ..tables.find import find_views

    with run.display as progress, run.stage("find"):
        views = find_views(
            source.columns,
            given=source.given or None,
            features=source.roles.features,
            identifier=source.roles.identifier,
            checkpoint=checkpoint,
            verbose=progress,
            **{name: run.options[name] for name in _LIBRARY},
        )
    return replace(views, cells=source.cells)


def _write(folder: Path, views: Views, run: Run) -> None:
    from ..files import write_table

    write_table(folder / "labels.csv", _labels(views))
    write_table(folder / "references.csv", _references(views))
    write_table(folder / "loadings.csv", _loadings(views))
    views.save(folder / "views.npz")
    run.write(folder, views.to_dict())


def _for_machines(views: Views) -> list[dict[str, Any]]:
    """Return the table of the views, with lists for lists and names that need no manual."""
    from ..results.summary import leading_features

    names = views.encoding.feature_names
    return [
        row
        | {
            "features": leading_features(view, names),
            "nmi_with_known": row["novelty"],
            "independence_p": row["independence"],
            "verdict": described["evidence"],
        }
        for view, row, described in zip(views, views.table(), views.to_dict()["views"], strict=True)
    ]


def _labels(views: Views) -> dict[str, Any]:
    """Return identifiers, what was given, and the views, as columns; if none, what came closest."""
    columns = {views.encoding.identifier or ROW: views.index, **views.given}
    for view in views:
        columns[unused(view.name, columns)] = view.labels
    if not views.views and views.rejected is not None:
        columns[unused(NOT_BELIEVED, columns)] = views.rejected.labels
    return columns


def _references(views: Views) -> dict[str, Any]:
    """Return one row per view and column that is no feature: how far they agree."""
    rows = [
        (view.name, one.column, "numbers" if one.numbers else "labels", one.agreement, one.p_value)
        for view in views
        for one in views.relations(view)
    ]
    heads = ("view", "column", "holds", "agreement", "p_value")
    return {head: [row[i] for row in rows] for i, head in enumerate(heads)}


def _loadings(views: Views) -> dict[str, Any]:
    """Return one row per view, component and feature."""
    names = views.encoding.feature_names
    rows = [
        (view.name, component + 1, name, loading, weight)
        for view in views
        if len(view.components)
        for component, loadings in enumerate(view.explanation.loadings)
        for name, loading, weight in zip(names, loadings, view.feature_weights, strict=True)
    ]
    heads = ("view", "component", "feature", "loading", "weight")
    return {head: [row[i] for row in rows] for i, head in enumerate(heads)}
