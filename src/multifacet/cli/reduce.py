"""``multifacet reduce``: a table in few readable dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runs.table import ROW, unused
from .command import Command
from .imports import learn_without_pandas
from .options import (
    auto,
    call_options,
    data_options,
    feature_options,
    option,
    search_options,
    several,
    whole_or_real,
)
from .output import default_output, results_in
from .run import Run
from .source import Source, read_source

if TYPE_CHECKING:
    from ..results.reduction import Reduction

FILES = ("report.html", "projection.csv", "loadings.csv", "reduction.json", "run.json")
#: Options that go to :func:`multifacet.reduce_table` as they are.
_LIBRARY = (
    "n_components", "n_clusters", "sparsity", "n_folds", "missing", "standardize", "bandwidth",
    "random_state", "n_jobs"
)  # fmt: skip


@click.command(cls=Command)
@data_options
@several("target", help="Classes, or real targets, that the dimensions shall depend on.")
@several("scores", help="Scores of experts that guide clusters and dimensions.")
@auto("dimensions", "-q", help="How many dimensions.")
@auto("clusters", help="How many clusters, without a target.")
@auto(
    "sparsity",
    number=whole_or_real,
    help="Few features per axis: N of them, or as few as a price of X in held-out score allows.",
)
@option("folds", type=int, help="Folds that hold rows out to compare with LDA and PCA; 0 for none.")
@feature_options
@search_options
@call_options
@click.pass_context
def reduce(ctx: click.Context, /, **options: Any) -> None:
    """Reduce DATA to few dimensions, each a readable mixture of features.

    The dimensions depend most on a target, on clusters guided by scores, or, if neither is named,
    on clusters alone.
    """
    run = Run(ctx)
    folder = Path(options["output"] or default_output(options["data"], "reduction"))
    with run.stage("read"):
        source = read_source(run, "target", "scores")
    with results_in(folder, FILES, force=options["force"]) as draft:
        reduction = _reduce(run, source)
        run.note_encoding(reduction.encoding)
        with run.stage("write"):
            _write(draft, reduction, run)
    words = {"sentence": reduction.sentence, "axes": reduction.axes}
    run.tell(folder, FILES, str(reduction), words | {"held_out": reduction.held_out})


def _reduce(run: Run, source: Source) -> Reduction:
    learn_without_pandas()
    from ..tables.reduce import reduce_table

    options = run.options
    with run.display as progress, run.stage("reduce"):
        return reduce_table(
            source.columns,
            target=options["target"] or None,
            scores=options["scores"] or None,
            features=source.roles.features,
            identifier=source.roles.identifier,
            verbose=progress,
            **{name: options[name] for name in _LIBRARY},
        )


def _write(folder: Path, reduction: Reduction, run: Run) -> None:
    from ..files import write_table

    columns: dict[str, Any] = {
        reduction.encoding.identifier or ROW: reduction.index,
        **reduction.guides,
    }
    for i, coordinates in enumerate(reduction.projection.T, start=1):
        columns[unused(f"dimension {i}", columns)] = coordinates
    if reduction.labels is not None:
        columns[unused("cluster", columns)] = reduction.labels
    write_table(folder / "projection.csv", columns)
    names, (q, d) = reduction.encoding.feature_names, reduction.components.shape
    loadings = {
        "component": [i for i in range(1, q + 1) for _ in range(d)],
        "feature": names * q,
        "loading": reduction.components.ravel(),
        "weight": reduction.feature_weights.tolist() * q,
    }
    write_table(folder / "loadings.csv", loadings)
    run.write(folder, reduction.to_dict())
