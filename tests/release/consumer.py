"""A user's file, for the type checker alone: what they write has types, without stubs."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from multifacet import KDAC, View, Views, find_views
from multifacet.datasets import load_penguins
from multifacet.engines import Exact
from multifacet.kernels import Gaussian, Kernel, Polynomial, median_distance
from multifacet.metrics import nmi
from multifacet.results import Reduction
from multifacet.solvers import ISM, SolverResult

columns = load_penguins(as_dict=True)
X, labelings = load_penguins()
views = find_views(columns, given=["species", "sex"], n_views=1)
assert_type(views, Views)
for view in views:
    assert_type(view, View)
    assert_type(view.name, str)
    agreement: float = nmi(view.labels, labelings[:, 0])
    p_value: float | None = view.p_value
saved: Path = views.save("views.npz")
assert_type(Views.load(saved), Views)

kernel: Kernel = 2 * Gaussian(median_distance(X)) + Polynomial()
model = KDAC(2, kernel=kernel, engine=Exact(), solver=ISM()).fit(X, given=labelings[:, 0])
assert_type(model, KDAC)
labels: NDArray[np.int_] = model.labels_
result: SolverResult = model.result_


def axes(reduction: Reduction) -> NDArray[np.float64]:
    """Use a class that is only named."""
    return reduction.components
