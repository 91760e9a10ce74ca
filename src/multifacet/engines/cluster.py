"""Clusters of workers: reached or started, and told of in a sentence where they fail."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from ..files.binary import need
from ..wording import Argument, ArgumentError
from .base import is_dask

#: Seconds in which a scheduler has to answer if nobody says otherwise.
PATIENCE = 10
#: Freed memory that a local worker keeps for its next task, and the largest array of which it does
#: (the most that can be said). Giving it back to the system, as is usual, makes every task pay for
#: its arrays anew. Where the first is said, the C library no longer adapts the second: without it,
#: refining half a million rows took 5.4 million page faults, and with it 0.25 million.
KEPT_BYTES, KEPT_ARRAY_BYTES = 2**28, 2**25
LOST = "the connection to the scheduler was lost: begin anew on a cluster that runs"


class ClusterError(ConnectionError):
    """A cluster that cannot be reached, or does not come to an end with its work."""


@contextmanager
def on_cluster(client: Any, data: Any) -> Iterator[None]:
    """Compute on a cluster what is computed of data inside.

    Parameters
    ----------
    client : distributed.Client, str or None
        The client, or the address of a scheduler, to which there is a connection for that time.
        None leaves it at the current client, or at threads if there is none.
    data : object
        What is to be computed: refused if it is no dask collection, but there is a client.
    """
    if client is None:
        yield
    elif not is_dask(data):
        raise ArgumentError(
            Argument("client"), " is for dask collections and Parquet files: leave it out"
        )
    elif isinstance(client, str):
        with connected(client) as found, found.as_current():
            yield
    elif hasattr(client, "as_current"):
        if client.status == "closed":
            raise ClusterError(LOST)
        with client.as_current():
            yield
    else:
        raise ArgumentError(
            Argument.of("client", client),
            " is neither a distributed.Client nor the address of a scheduler, such as "
            "'tcp://localhost:8786'",
        )


@contextmanager
def connected(address: str, patience: float = PATIENCE) -> Iterator[Any]:
    """Give a client of the scheduler at an address.

    Parameters
    ----------
    address : str
        Such as ``tcp://localhost:8786``.
    patience : float
        Seconds in which it has to answer.
    """
    distributed = need("distributed", "dask", "a cluster")
    try:
        need("distributed.comm", "dask", "a cluster").get_address_host_port(address)
    except ValueError as error:
        raise ValueError(
            f"{address!r} is not the address of a scheduler ({error}): pass one such as "
            "'tcp://localhost:8786'"
        ) from error
    try:
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"the scheduler at {address!r} did not answer within {patience} seconds: see that it "
            "runs, and that this machine may connect to it"
        ) from error
    with client:
        yield client


@contextmanager
def local_workers(count: int) -> Iterator[Any]:
    """Give a client of a cluster on this machine, which ends with the block.

    Parameters
    ----------
    count : int
        Number of worker processes, of one thread each.
    """
    distributed = need("distributed", "dask", "a cluster")
    import dask

    environment = "distributed.nanny.pre-spawn-environ"
    kept = {
        f"{environment}.MALLOC_TRIM_THRESHOLD_": KEPT_BYTES,
        f"{environment}.MALLOC_MMAP_THRESHOLD_": KEPT_ARRAY_BYTES,
    }
    with (
        dask.config.set(kept),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # None is a fixed port, which may be taken
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def gathered(nodes: Any) -> Any:
    """Compute a dask collection, or a list of them; a cluster that fails says so in a sentence."""
    import dask

    try:
        return dask.compute(nodes)[0]
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        raise ClusterError(sentence) from error


def _closed_errors() -> Any:
    """Return the errors of connections and clients that are no more."""
    from distributed import client, comm

    # Old versions have no error of their own for clients.
    return comm.CommClosedError | getattr(client, "ClosedClientError", comm.CommClosedError)


def _sentence(error: Exception) -> str | None:
    """Return what to say of an error if it is of the cluster, not of what was computed there."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    if isinstance(error, distributed.KilledWorker):
        return (
            f"{error.allowed_failures + 1} workers died over the same task, perhaps for want of "
            "memory: cut the data into smaller partitions, or give workers more memory"
        )
    if isinstance(error, CancelledError | _closed_errors()):
        return LOST
    if "No module named 'multifacet'" in str(error):
        return "the workers have no multifacet: install it there, in the version that runs here"
    return None
