"""Shared fixtures. Data outside the repository are optional: their tests skip with a reason."""

from __future__ import annotations

import os

# scikit-learn's check of array-API input is skipped unless SciPy was told before its import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import csv
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

#: The slow half, which `make check` leaves out: searches on whole tables, browsers, processes,
#: every combination of parts. Files and directories beside this file.
SLOW = (
    "agreement/test_operations.py",
    "agreement/test_solvers.py",
    "app",
    "baselines/test_rivals.py",
    "benchmarks",
    "cli/test_commands.py",
    "cluster",
    "engines/test_dask.py",
    "engines/test_lowrank.py",
    "engines/test_wide.py",
    "estimators/test_kdac.py",
    "estimators/test_published.py",
    "estimators/test_sklearn.py",
    "finding",
    "fitting",
    "isaac/test_estimator.py",
    "memory",
    "pages/test_docs.py",
    "pages/test_examples.py",
    "pages/test_readme.py",
    "properties",
    "release/test_installed.py",
    "release/test_types.py",
    "report/test_browser.py",
    "results/test_new_rows.py",
    "search/test_bank.py",
    "search/test_groups_of_every_kind.py",
    "tables/test_find.py",
    "tables/test_reduce.py",
    "test_evidence.py",
)
#: Those that take longest, which only `make cover` runs.
LONG = (
    "benchmarks/test_papers.py",
    "estimators/test_in_chunks.py",
    "fitting/test_held_out.py",
    "fitting/test_narrowing.py",
    "memory",
    "results/test_new_rows.py",
)


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive():
    """Undo what shells do to background jobs: what tests start would ignore interrupts too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_lost_cluster():
    """Forget a cluster that a test before has lost: its client is gone, but still asked for."""
    config, distributed = (sys.modules.get(name) for name in ("dask.config", "distributed"))
    if config is None or config.get("scheduler", None) != "dask.distributed":
        return
    if distributed is None or distributed.client._get_global_client() is None:
        config.config.pop("scheduler")


def pytest_collection_modifyitems(items):
    """Mark the slow half, and the examples of docstrings, some of which search too."""
    here = Path(__file__).parent
    slow, long = ({here / path for path in paths} for paths in (SLOW, LONG))
    gone = sorted(path.name for path in slow | long if not path.exists())
    if gone:
        raise pytest.UsageError(f"tests/conftest.py names what is not there: {gone}")
    for item in items:
        places = {item.path, *item.path.parents}
        if (slow | long) & places or here not in places:
            item.add_marker("slow")
        if long & places:
            item.add_marker("long")


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
