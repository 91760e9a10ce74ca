"""``multifacet find``: other groupings of a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runs.folder import CHECKPOINT
from ..runs.table import ROW, unused
from .cluster import LABELS, Parts, workers_of
from .command import Command, Failed, was_interrupted
from .imports import learn_without_pandas
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
    from ..frames.table import Columns
    from ..results.views import Views

#: Column of the candidate that the report shows when no view is believed.
NOT_BELIEVED = "best candidate (not believed)"
#: What may come: one file of labels, or a folder of them by partition.
FILES = (
    "report.html", "labels.csv", LABELS, "references.csv", "loadings.csv", "views.json",
    "views.npz", "run.json",
)  # fmt: skip
#: Options that go to :class:`multifacet.ViewFinder` as they are.
_FINDER = (
    "n_views", "n_clusters", "strategy", "method", "n_components", "bandwidth", "novelty_weight",
    "n_refits", "random_state", "n_jobs",
)  # fmt: skip


@click.command(cls=Command)
@data_options
@option(
    "rows",
    metavar="FILE",
    help="Table that describes the rows of DATA, such as embeddings: labels, texts, image files.",
)
@several("given", help="Columns that hold what is known already.")
@several(
    "existing",
    metavar="FILE:COL",
    help="Known labels in another file, found by the identifier of the rows.",
)
@auto("views", help="How many views.")
@auto(
    "clusters", several=True, help="Clusters of all views, of each (3,2), or from a range (2-30)."
)
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
@option("workers", type=int, metavar="N", help="Worker processes that read and label Parquet.")
@option("scheduler", metavar="ADDRESS", help="Cluster that does so, such as tcp://host:8786.")
@call_options
@click.option("--resume", is_flag=True, help="Continue an interrupted search.")
@click.pass_context
def find(ctx: click.Context, /, **options: Any) -> None:
    """Find groupings of DATA that are good and different from what is given.

    DATA is a file of text (CSV, TSV, also .gz), Parquet, Arrow, NPY, NPZ or .h5ad, or - for
    standard input; or several files of Parquet: a folder, a pattern in quotes or an address. What
    workers read is Parquet too. Everything that is not said is chosen. Results go to the directory
    OUT: the report, labels next to the identifiers of the rows, loadings, and how to repeat it.
    Typical rows of every group are shown as texts and pictures, if columns of DATA, or of the file
    of ROWS, hold texts or name image files beside it.
    """
    folder = Path(options["output"] or default_output(options["data"], "views"))
    views, run = find_in(ctx, folder)
    files = [name for name in FILES if (folder / name).exists()]
    run.tell(folder, files, str(views), {"views": _for_machines(views)})


def find_in(ctx: click.Context, folder: Path) -> tuple[Views, Run]:
    """Find views as the options say, and leave all files in a directory."""
    run = Run(ctx)
    options, checkpoint = run.options, folder / CHECKPOINT
    with workers_of(options) as in_parts:
        source: Source | Parts
        with run.stage("read"):
            if in_parts:
                source = Parts.read(run)
            else:
                source = with_existing(run, read_source(run), options["existing"])
        with (
            results_in(folder, FILES, force=options["force"], resume=options["resume"]) as draft,
            _kept(checkpoint),
        ):
            if options["resume"] and not checkpoint.exists():
                run.note("there is no interrupted search to continue, so it begins anew")
            views = _search(run, source, checkpoint)
            run.note_encoding(views.encoding)
            with run.stage("write"):
                _write(draft, views, run, source)
    return views, run


@contextmanager
def _kept(checkpoint: Path) -> Iterator[None]:
    """Say how to go on if something is kept of work that was interrupted, or could not go on."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        stopped = was_interrupted(error)
        if not checkpoint.exists() or not (stopped or isinstance(error, OSError)):
            raise
        why = "" if stopped else str(error)
        raise Failed(
            f"{why or 'interrupted'}; what was found so far is kept in "
            f"{str(checkpoint.parent)!r}, but not yet a result: the same command with --resume "
            "continues"
        ) from error


def _search(run: Run, source: Source | Parts, checkpoint: Path) -> Views:
    learn_without_pandas()
    from ..finding.finder import ViewFinder
    from ..tables.find import find_views

    said = {name: run.options[name] for name in _FINDER}
    keep_trivial = run.options["keep_trivial"]
    with run.display as progress, run.stage("find"):
        said |= {"checkpoint": checkpoint, "verbose": progress}
        if isinstance(source, Parts):
            return source.find(ViewFinder(**said), keep_trivial=keep_trivial)
        views = find_views(
            source.columns,
            given=source.given or None,
            features=source.roles.features,
            exclude=run.options["exclude"] or None,
            identifier=source.roles.identifier,
            image_folder=source.folder,
            missing=run.options["missing"],
            standardize=run.options["standardize"],
            keep_trivial=keep_trivial,
            **said,
        )
    return replace(views, cells=source.cells)


def _write(folder: Path, views: Views, run: Run, source: Source | Parts) -> None:
    from ..files import write_table

    if isinstance(source, Parts):
        source.write_labels(folder, views)
    else:
        write_table(folder / "labels.csv", _labels(views))
    write_table(folder / "references.csv", _references(views))
    write_table(folder / "loadings.csv", _loadings(views))
    views.save(folder / "views.npz")
    run.write(folder, views.to_dict())


def _for_machines(views: Views) -> list[dict[str, object]]:
    """Return the table of the views, with lists for lists and names that need no manual."""
    from ..results.summary import leading_features

    names = views.encoding.feature_names
    return [
        {
            **row,
            "features": leading_features(view, names),
            "nmi_with_known": row["novelty"],
            "independence_p": row["independence"],
            "verdict": described["evidence"],
        }
        for view, row, described in zip(views, views.table(), views.to_dict()["views"], strict=True)
    ]


def _labels(views: Views) -> Columns:
    """Return identifiers, what was given, and the views, as columns; if none, what came closest."""
    columns = {views.encoding.identifier or ROW: views.index, **views.given}
    for view in views:
        columns[unused(view.name, columns)] = view.labels
    if not views.views and views.rejected is not None:
        columns[unused(NOT_BELIEVED, columns)] = views.rejected.labels
    return columns


def _references(views: Views) -> Columns:
    """Return one row per view and column that is no feature: how far they agree."""
    rows = [
        (view.name, one.column, "numbers" if one.numbers else "labels", one.agreement, one.p_value)
        for view in views
        for one in views.relations(view)
    ]
    heads = ("view", "column", "holds", "agreement", "p_value")
    return {head: [row[i] for row in rows] for i, head in enumerate(heads)}


def _loadings(views: Views) -> Columns:
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
