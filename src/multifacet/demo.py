"""The main job on data that ships in the package: what else than the species is in penguins."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from . import find_views
from .datasets import load_penguins
from .datasets.penguins import FEATURES
from .estimators.views import View
from .metrics import nmi


def main() -> None:
    """Find the groupings of the penguins that are not their species, and print what they are."""
    measurements, labelings = load_penguins()
    species, sex = labelings.T
    console = Console()
    console.print(
        f"\n[bold]{len(measurements)} penguins, {len(FEATURES)} measurements. Known: the species. "
        "What else is in here?[/bold]\n"
    )
    columns = {name: measurements[:, i] for i, name in enumerate(FEATURES)}
    views = find_views({**columns, "species": species}, given="species", n_views=1)
    console.print(str(views), highlight=False)
    for view in views:
        console.print(_cluster_table(view.labels, sex))
        console.print(_feature_table(view, measurements))
        console.print(
            f"agreement (NMI) with sex {nmi(view.labels, sex):.2f}, which was not shown; "
            f"with species {nmi(view.labels, species):.2f}, which was to be avoided"
        )


def _cluster_table(labels: np.ndarray, sex: np.ndarray) -> Table:
    table = Table(title="the grouping found")
    for heading in ("cluster", "size", "female", "male"):
        table.add_column(heading, justify="right")
    for cluster in np.unique(labels):
        inside = labels == cluster
        counts = [str(int((sex[inside] == value).sum())) for value in ("female", "male")]
        table.add_row(str(cluster), str(int(inside.sum())), *counts)
    return table


def _feature_table(view: View, measurements: np.ndarray) -> Table:
    table = Table(title="the features behind it")
    table.add_column("feature")
    for heading in ("weight", *(f"mean in {c}" for c in range(view.n_clusters))):
        table.add_column(heading, justify="right")
    for i in np.argsort(-view.feature_weights):
        means = [measurements[view.labels == c, i].mean() for c in range(view.n_clusters)]
        shown = (f"{mean:,.1f}" for mean in means)
        table.add_row(FEATURES[i], f"{view.feature_weights[i]:.2f}", *shown)
    return table


if __name__ == "__main__":
    main()
