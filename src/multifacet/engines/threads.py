"""Threads: an ordered map over a pool, and BLAS held to one thread meanwhile."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from ..wording import Argument, ArgumentError

T = TypeVar("T")
R = TypeVar("R")

_lock = threading.Lock()
_holders = 0
_controller: ThreadpoolController | None = None
_limiter: Any = None


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``; None means all cores that are free for us.

    Inside a worker of a parallel grid search joblib counts one.
    """
    if n_jobs == 0:
        raise ArgumentError(
            Argument.of("n_jobs", 0),
            " is no number of threads: use 1 or more, or None for all cores",
        )
    return joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread; may be nested and entered from several threads at once.

    Two pools on the same cores are slower than either, and the number of BLAS threads changes
    the rounding, so results would depend on the machine. The limit is global to the process: the
    first to enter sets it and the last to leave restores it.
    """
    global _controller, _holders, _limiter
    with _lock:
        if _holders == 0:
            _controller = _controller or ThreadpoolController()  # finding the libraries is slow
            _limiter = _controller.limit(limits=1)
            _limiter.__enter__()
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.__exit__(None, None, None)


def ordered_map(function: Callable[[T], R], items: Iterable[T], n_threads: int) -> Iterator[R]:
    """Map over a thread pool and yield in order, with only a few results waiting at a time."""
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 4 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
