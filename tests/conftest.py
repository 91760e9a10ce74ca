"""Shared fixtures. Data outside the repository are optional: their tests skip with a reason."""

from __future__ import annotations

import os

# scikit-learn's check of array-API input is skipped unless SciPy was told before its import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import csv
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def load_shared():
    """Return a loader of a shared CSV: features (n, d) and a dict of label columns."""

    def load(name: str, n_labels: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        path = DATA / f"{name}.csv"
        if not path.exists():
            pytest.skip(f"the shared data set {name} is not on this machine")
        with path.open(encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        table = np.array(rows)
        labels = {
            header[i]: np.unique(table[:, i], return_inverse=True)[1] for i in range(n_labels)
        }
        return table[:, n_labels:].astype(float), labels

    return load
