"""The main job on data that ships in the package: what else than the species is in penguins."""

from __future__ import annotations

import warnings

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from . import KDAC
from .datasets import load_penguins
from .datasets.penguins import FEATURES
from .metrics import nmi


def main() -> None:
    """Find the grouping of the penguins that is not their species, and print what it is."""
    measurements, labelings = load_penguins()
    species, sex = labelings.T
    X = StandardScaler().fit_transform(measurements)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = KDAC(n_clusters=2, random_state=0).fit(X, given=species)

    console = Console()
    console.print(
        f"\n[bold]{len(X)} penguins, {X.shape[1]} measurements. Known: the species. "
        "What else is in here?[/bold]\n"
    )
    console.print(_cluster_table(model.labels_, sex))
    console.print(_feature_table(model, measurements))
    console.print(
        f"agreement (NMI) with sex {nmi(model.labels_, sex):.2f}, which was not shown; "
        f"with species {nmi(model.labels_, species):.2f}, which was to be avoided"
    )
    console.print(f"[dim]{model.certificate_}[/dim]")
    for warning in caught:
        console.print(f"[dim]note: {warning.message}[/dim]")


def _cluster_table(labels: np.ndarray, sex: np.ndarray) -> Table:
    table = Table(title="the grouping found")
    for heading in ("cluster", "size", "female", "male"):
        table.add_column(heading, justify="right")
    for cluster in np.unique(labels):
        inside = labels == cluster
        counts = [str(int((sex[inside] == value).sum())) for value in ("female", "male")]
        table.add_row(str(cluster), str(int(inside.sum())), *counts)
    return table


def _feature_table(model: KDAC, measurements: np.ndarray) -> Table:
    table = Table(title="the features behind it")
    table.add_column("feature")
    for heading in ("weight", *(f"mean in {c}" for c in range(model.n_clusters_))):
        table.add_column(heading, justify="right")
    for i in np.argsort(-model.feature_weights_):
        means = [measurements[model.labels_ == c, i].mean() for c in range(model.n_clusters_)]
        table.add_row(
            FEATURES[i], f"{model.feature_weights_[i]:.2f}", *(f"{mean:,.1f}" for mean in means)
        )
    return table


if __name__ == "__main__":
    main()
