"""Every example of the gallery runs, draws, and shows what it says."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("plot_*.py"))
#: What an example prints, and the least or most that the number after it may be.
CLAIMS = {
    "plot_01_penguins": [("NMI with the sex", 0.45, 1), ("NMI with the species", 0, 0.05)],
    "plot_02_moons": [("NMI with the moons", 0.95, 1), ("NMI with the blobs", 0, 0.02)],
    "plot_03_faces": [("NMI with the pose", 0.9, 1), ("NMI with the person", 0, 0.05)],
    "plot_04_flower": [("NMI of the two segmentations", 0, 0.1)],
    "plot_05_text": [("NMI with the tone", 0.9, 1), ("NMI with the topic", 0, 0.05)],
    "plot_06_cells": [("NMI with the state", 0.8, 1), ("NMI with the type", 0, 0.05)],
    "plot_07_many_rows": [("NMI with the moons", 0.95, 1)],
    "plot_08_grid_search": [("accuracy", 0.95, 1)],
    "plot_09_custom_kernel": [("1.000 of the Cauchy kernel,", 0, 0.1)],
    "plot_10_frontier": [
        ("given the sex: quality", 1.45, 1.6),
        ("given the species: quality", 1, 1.3),
    ],
    "plot_11_isaac": [("agreement with the truth:", 0.95, 1)],
    "plot_12_rivals": [("compact", 0.95, 1), ("4 noise features", 0.7, 1)],
    "plot_13_nothing_there": [("No view beyond chance in", 100, 100)],
    "plot_14_scores": [("score_weight=1.0: NMI with what the expert means", 0.9, 1)],
    "plot_15_dask": [("shape=(", 4000, 4000)],
    "plot_16_anndata": [
        ("genes behind it: cycle", 0, 19),
        ("in the group of those that divide as they do:", 0.9, 1),
    ],
    "plot_17_embeddings": [("NMI with the colour", 0.95, 1), ("view 2: ", 3, 3)],
    "plot_18_customers": [
        ("NMI with hunting for discounts", 0.85, 1),
        ("NMI with the segment", 0, 0.05),
    ],
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys, monkeypatch, tmp_path):
    for name in ("dask", "anndata"):
        if name in path.stem:
            pytest.importorskip(name, reason=f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("Agg")
    pyplot.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        runpy.run_path(str(path))
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures, "an example has a picture"
    assert all(axes.has_data() or not axes.axison for figure in figures for axes in figure.axes)
    pyplot.close("all")
    printed = capsys.readouterr().out
    for words, least, most in CLAIMS[path.stem]:
        number = re.search(rf"{re.escape(words)}\D*?(-?\d+\.?\d*)", printed)
        assert number, f"{words!r} is not in\n{printed}"
        assert least <= float(number[1]) <= most, number[0]


def test_the_gallery_has_what_was_promised():
    assert {path.stem for path in EXAMPLES} == set(CLAIMS)
    assert len(EXAMPLES) >= 12
    # Every one of them is for somebody.
    begin = (EXAMPLES[0].parent / "README.txt").read_text(encoding="utf-8")
    assert {name for name in CLAIMS if f"gallery_{name}.py" in begin} == set(CLAIMS)
