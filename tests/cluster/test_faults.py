"""Clusters that fail: the same result or one sentence, with real worker processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
pytest.importorskip("dask.dataframe", reason="needs the extra dask")

import dask
from distributed import Client, LocalCluster

from multifacet import ViewFinder, find_views
from multifacet.engines.cluster import ClusterError, connected

from .clusters import LOCAL, cluster_apart, in_partitions, labelled_table, once

QUICK = {"given": "given", "n_views": 1, "n_clusters": 3, "method": "linear"}


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(**LOCAL) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def frame():
    return labelled_table()[0]


@pytest.fixture(scope="module")
def expected(frame):
    """What is found, and told of all rows, where nothing fails."""
    parts = in_partitions(frame)
    views = find_views(parts, **QUICK)
    return views, views.assign(parts).compute(scheduler="threads")


def same(views, expected):
    assert (views[0].labels == expected[0][0].labels).all()
    assert (views.encoding.mean == expected[0].encoding.mean).all()
    assert (views.encoding.scale == expected[0].encoding.scale).all()


def test_a_worker_is_killed_while_partitions_are_read(frame, expected, client, tmp_path):
    killing = once(tmp_path / "killed", 2, signal.SIGKILL)
    views = find_views(in_partitions(frame, on_read=killing), client=client, **QUICK)
    assert (tmp_path / "killed").exists()
    same(views, expected)


def test_workers_are_killed_while_the_sample_is_searched(frame, expected, client):
    victims = list(client.run(os.getpid).values())

    def kill(event):
        while event["stage"] == "view" and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    views = find_views(in_partitions(frame), client=client, verbose=kill, **QUICK)
    assert not victims
    same(views, expected)
    with client.as_current():
        told = views.assign(in_partitions(frame)).compute()
    assert told["view 1"].tolist() == expected[1]["view 1"].tolist()


def test_a_worker_is_killed_while_labels_are_told(frame, expected, client, tmp_path):
    killing = once(tmp_path / "killed", 3, signal.SIGKILL)
    with client.as_current():
        told = expected[0].assign(in_partitions(frame, on_read=killing)).compute()
    assert (tmp_path / "killed").exists()
    assert told["view 1"].tolist() == expected[1]["view 1"].tolist()


def test_a_worker_is_killed_while_labels_are_written(frame, expected, client, tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    killing = once(tmp_path / "killed", 3, signal.SIGKILL)
    with client.as_current():
        expected[0].assign(in_partitions(frame, on_read=killing)).to_parquet(tmp_path / "told")
    assert (tmp_path / "killed").exists()
    back = pd.read_parquet(tmp_path / "told")
    assert back["view 1"].tolist() == expected[1]["view 1"].tolist()


def test_a_worker_is_killed_under_a_finder(frame, client, tmp_path):
    options = {"n_views": 1, "n_clusters": 3, "method": "linear", "random_state": 0}
    given = frame["given"].to_numpy()
    features = frame[list("abcd")]
    local = ViewFinder(**options).fit(features.to_numpy(), given=given)
    killing = once(tmp_path / "killed", 2, signal.SIGKILL)
    finder = ViewFinder(**options).fit(
        in_partitions(features, on_read=killing), given=given, client=client
    )
    assert (tmp_path / "killed").exists()
    with client.as_current():
        labels = finder.labels_.compute()
    assert len({*zip(labels, local.labels_, strict=True)}) == 3


def test_a_worker_that_hangs_is_given_up(frame, expected, tmp_path):
    """It answers no more, so that the scheduler gives its work to another one."""
    impatient = {"distributed.scheduler.worker-ttl": "5s"}  # a busy machine is no hang
    impatient["distributed.scheduler.allowed-failures"] = 50
    hanging = once(tmp_path / "hangs", 2, signal.SIGSTOP)
    with (
        dask.config.set(impatient),
        LocalCluster(**LOCAL) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        pids = set(client.run(os.getpid).values())
        try:
            views = find_views(in_partitions(frame, on_read=hanging), client=client, **QUICK)
        finally:
            for pid in pids:
                _end(pid)
    assert (tmp_path / "hangs").exists()
    same(views, expected)


def _end(pid):
    """End a process that may have ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_a_partition_that_kills_every_worker(frame, client, cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)

    def deadly(number):
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ClusterError, match=r"1 workers? died over the same task.*more memory"):
        find_views(in_partitions(frame, on_read=deadly), client=client, **QUICK)


@pytest.mark.parametrize("where", ["workers", "threads"])
def test_a_partition_that_cannot_be_read_is_named(frame, client, where):
    def on_read(number):
        if number == 2:
            raise OSError("the disk does not answer")

    parts = in_partitions(frame, on_read=on_read)
    said = r"partition 2 of 4 cannot be read \(the first is 0\): the disk does not answer"
    with pytest.raises(ValueError, match=said):
        find_views(parts, client=client if where == "workers" else None, **QUICK)


def test_the_scheduler_is_lost_and_another_one_goes_on(frame, expected, tmp_path):
    checkpoint = tmp_path / "search.npz"
    options = QUICK | {"checkpoint": checkpoint}
    with cluster_apart(tmp_path) as (process, address), Client(address, timeout=15) as client:

        def lose(event):
            process.kill()
            process.wait()

        views = find_views(in_partitions(frame), client=client, verbose=lose, **options)
        same(views, expected)  # the sample was here already
        with pytest.raises(ClusterError, match="connection to the scheduler was lost"):
            find_views(in_partitions(frame), client=client, **options)
    assert checkpoint.exists()
    stages = []
    with cluster_apart(tmp_path) as (_, address):
        views = find_views(
            in_partitions(frame),
            client=address,
            verbose=lambda event: stages.append(event["stage"]),
            **options,
        )
    same(views, expected)
    assert "view" not in stages  # what was found is not looked for again


def test_the_scheduler_is_lost_while_partitions_are_read(frame, tmp_path):
    with cluster_apart(tmp_path) as (process, address):
        pid = process.pid

        def on_read(number):
            if number == 2:
                os.kill(pid, signal.SIGKILL)

        with pytest.raises(ClusterError, match="connection to the scheduler was lost"):
            find_views(in_partitions(frame, on_read=on_read), client=address, **QUICK)


def test_an_interrupted_client_leaves_the_cluster_to_others(frame, expected, client, tmp_path):
    """Ctrl-C while partitions are read: the work is forgotten, and the next one runs."""
    begun, taken = tmp_path / "begun", tmp_path / "taken"
    places = str(begun), str(taken)

    def slow(number):
        """Wait for the interrupt: on a busy machine it may be late."""
        if number == 2:
            open(places[0], "w").close()
            for _ in range(1200):  # not until some time: a machine may stand still for minutes
                if os.path.exists(places[1]):
                    return
                time.sleep(0.05)

    watching = threading.Thread(target=_interrupt_when, args=(begun, taken))
    watching.start()
    with ExitStack() as end:
        end.callback(taken.touch)
        with pytest.raises(KeyboardInterrupt):
            find_views(in_partitions(frame, on_read=slow), client=client, **QUICK)
    watching.join()
    same(find_views(in_partitions(frame), client=client, **QUICK), expected)


def _interrupt_when(place, taken):
    """Interrupt until it is taken: a destructor that happens to run swallows what hits it."""
    while not place.exists():
        time.sleep(0.01)
    while not taken.exists():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def test_partitions_together_larger_than_the_memory_of_a_worker():
    """Twelve partitions of 56 MiB, for one worker of 640 MiB, of which a part is its programs."""
    import dask.array as da

    def rows(number):
        rng = np.random.default_rng(int(number[0, 0]))
        X = rng.standard_normal((367_000, 20))
        X[:, 0] += 6 * rng.integers(0, 2, len(X))
        return X

    numbers = da.arange(12, chunks=1)[:, None]
    chunks = ((367_000,) * 12, (20,))
    X = numbers.map_blocks(rows, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    one = LOCAL | {"n_workers": 1, "memory_limit": "640MiB"}
    with LocalCluster(**one) as cluster, Client(cluster, set_as_default=False) as client:
        assert X.nbytes > 640 * 2**20
        views = find_views(X, client=client, n_views=1, n_clusters=2, method="linear")
        with client.as_current():
            shares = views.predict(X)[:, 0].mean().compute()
        assert views.roles.n_rows == 12 * 367_000
    assert abs(shares - 0.5) < 0.01


def test_what_is_no_cluster(frame):
    parts = in_partitions(frame)
    with pytest.raises(ValueError, match=r"client=3 is neither a distributed.Client nor"):
        find_views(parts, client=3, **QUICK)
    with pytest.raises(ValueError, match="'nowhere' is not the address of a scheduler"):
        find_views(parts, client="nowhere", **QUICK)
    with pytest.raises(ValueError, match="client is for dask collections and Parquet files"):
        find_views(frame, client="tcp://127.0.0.1:1", **QUICK)
    with pytest.raises(ValueError, match="client is for dask collections"):
        ViewFinder().fit(frame[list("abcd")], client="tcp://127.0.0.1:1")


def test_a_scheduler_that_does_not_answer():
    message = r"'tcp://127.0.0.1:1' did not answer within 1 seconds"
    with pytest.raises(ClusterError, match=message), connected("tcp://127.0.0.1:1", patience=1):
        pass
