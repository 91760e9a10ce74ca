"""Python, command line and workbench take every column of a table for the same."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from multifacet import find_views
from multifacet.app.exploration import Exploration
from multifacet.app.tables import read_within_limits
from multifacet.cli import main
from multifacet.datasets import load_penguins

N = 100


def column(kind, rng):
    """Return a column of some kind."""
    return {
        "measured": lambda: rng.normal(50, 9, N).round(2),
        "amounts": lambda: rng.lognormal(10, 1, N).round(),
        "gaps": lambda: np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N).round(3)),
        "months": lambda: rng.integers(0, 73, N),
        "counts": lambda: rng.poisson(2.0, N),
        "rating": lambda: rng.integers(1, 6, N),
        "0/1": lambda: rng.integers(0, 2, N),
        "36/60": lambda: rng.choice([36, 60], N),
        "truth": lambda: rng.random(N) < 0.4,
        "yes/no": lambda: rng.choice(["Yes", "No"], N),
        "few words": lambda: rng.choice(["North", "South", "East"], N),
        "words with gaps": lambda: rng.choice(["own", "rent", None], N),
        "ten words": lambda: rng.choice([f"sport {i}" for i in range(10)], N),
        "codes": lambda: [f"0{i}" for i in rng.integers(1000, 1020, N)],
        "dates": lambda: pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) * 5, "D"),
        "free text": lambda: [f"said {i // 1.2:.0f} words" for i in range(N)],
        "names": lambda: [f"row {i}" for i in range(N)],
        "1 to n": lambda: np.arange(1, N + 1),
        "drawn numbers": lambda: rng.permutation(10_000)[:N],
        "blocks": lambda: np.tile(np.arange(1, 51), N // 50),
        "constant": lambda: ["here"] * N,
    }[kind]()


#: Columns of tables as people have them, by what is in them.
TABLES = {
    "customers": {
        "customer": "names", "gender": "yes/no", "senior": "0/1", "contract": "few words",
        "paperless": "truth", "tenure": "months", "charges": "measured", "total": "amounts",
    },
    "credit": {
        "": "1 to n", "status": "yes/no", "home": "words with gaps", "term": "36/60",
        "income": "gaps", "amount": "amounts", "debt": "amounts", "children": "counts",
    },
    "crabs": {
        "rownames": "1 to n", "sp": "yes/no", "sex": "yes/no", "index": "blocks",
        "FL": "measured", "RW": "measured", "CL": "measured",
    },
    "athletes": {
        "red": "measured", "iron": "amounts", "fat": "gaps", "sex": "0/1", "sport": "ten words",
    },
    "answers": {"person": "drawn numbers"} | {f"question {i}": "rating" for i in range(8)},
    "visits": {
        "seen": "dates", "zip": "codes", "again": "truth", "weight": "measured", "pulse": "gaps",
        "remark": "free text", "clinic": "constant",
    },
    "words": {f"word {i}": "counts" for i in range(12)} | {"topic": "few words"},
    "towns": {"town": "names", "people": "amounts", "area": "measured", "region": "few words"},
    "fields": {
        "plot": "drawn numbers", "block": "blocks", "treatment": "few words", "yield": "measured",
        "height": "measured",
    },
}  # fmt: skip


def frames():
    rng = np.random.default_rng(0)
    for name, kinds in TABLES.items():
        yield name, pd.DataFrame({n: column(kind, rng) for n, kind in kinds.items()})
    measurements, known = load_penguins(as_frame=True)
    yield "penguins", measurements.join(known)


def in_python(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return used(find_views(data, dry_run=True).table())


def at_the_command_line(path):
    done = CliRunner().invoke(main, ["info", str(path), "--json"])
    assert done.exit_code == 0, done.output
    return used(json.loads(done.stdout)["columns"])


def in_the_workbench(path, folder):
    setup = Exploration.begin(folder, read_within_limits(path)).setup
    found = dict.fromkeys(setup["features"], "feature")
    for name, why in setup["left_out"].items():
        found[name] = "reference" if "compared with every view" in why else "left out"
    return found


def used(columns):
    """Return the use of every column but that of the rows' name, which pandas may have as index."""
    return {one["name"]: one["use"] for one in columns if one["use"] != "row name"}


@pytest.mark.parametrize(("name", "frame"), list(frames()), ids=[*TABLES, "penguins"])
def test_the_same_columns_are_chosen(name, frame, tmp_path):
    path = tmp_path / f"{name}.csv"
    frame.to_csv(path, index=False)
    found = in_python(frame)
    assert found == in_python(path)
    assert found == at_the_command_line(path)
    assert found == in_the_workbench(path, tmp_path)
    assert "feature" in found.values()


@pytest.mark.parametrize("genes", [20, 150])
def test_the_same_of_cells_and_genes(genes, tmp_path):
    anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
    rng = np.random.default_rng(0)
    cells = anndata.AnnData(rng.poisson(3.0, (60, genes)).astype(float))
    cells.obs["kind"] = pd.Categorical(rng.choice(["B", "T"], 60))
    cells.obs["depth"] = rng.normal(size=60)
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    found = in_python(cells)
    assert found == in_python(path) == at_the_command_line(path) == in_the_workbench(path, tmp_path)
    features = [one for one, use in found.items() if use == "feature"]
    assert len(features) == (20 if genes == 20 else 50)
    assert (found["kind"], found["depth"]) == ("reference", "reference")


def test_rows_that_an_index_of_pandas_counts_are_named_by_a_better_column(tmp_path):
    frame = pd.DataFrame({"town": column("names", None), "area": np.linspace(1, 9, N) ** 2})
    path = tmp_path / "towns.csv"
    frame.to_csv(path)  # with the index as a column without a name
    setup = Exploration.begin(tmp_path, read_within_limits(path)).setup
    assert (setup["identifier"], setup["features"]) == ("town", ["area"])
    done = CliRunner().invoke(main, ["info", str(path), "--json"])
    rows = [one["name"] for one in json.loads(done.stdout)["columns"] if one["use"] == "row name"]
    assert rows == ["town"]
