"""Searches that are under way: one at a time, in a process that was warm before they began."""

from __future__ import annotations

import itertools
import multiprocessing
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .answers import JobAnswer
from .steps import FoundDict, FoundViews, OverDict, PageMessage, TaskDict, WorkerMessage
from .worker import work

#: Messages that a job keeps for pages that come later, and jobs that may wait.
MAX_MESSAGES, MAX_WAITING = 400, 20


@dataclass
class Job:
    """One search: what was asked, and what has been told about it so far.

    Attributes
    ----------
    id : str
        Its name in addresses.
    task : dict
        What :func:`multifacet.app.worker.work` receives.
    found : callable
        Called with every message about a view that was found.
    status : str
        "waiting", "running", "done", "failed" or "cancelled".
    messages : list of (int, dict)
        What pages are told, numbered.
    """

    id: str
    exploration: str
    task: TaskDict = field(repr=False)
    found: Callable[[FoundViews], FoundDict] = field(repr=False)
    status: str = "waiting"
    messages: list[tuple[int, PageMessage]] = field(default_factory=list, repr=False)
    began: float | None = None
    ended: float | None = None
    pid: int | None = None
    _numbers: Any = field(default_factory=lambda: itertools.count(1), repr=False)

    @property
    def active(self) -> bool:
        """Whether anything is still to come."""
        return self.status in ("waiting", "running")

    def tell(self, message: PageMessage) -> None:
        """Keep a message for the pages; of pictures and progress only the last ones are kept."""
        self.messages.append((next(self._numbers), message))
        if len(self.messages) > MAX_MESSAGES:
            lasting = ("found", "done", "failed", "cancelled")
            kept = [one for one in self.messages if one[1]["kind"] in lasting]
            self.messages = sorted({id(m): m for m in [*kept, *self.messages[-50:]]}.values())

    def to_dict(self) -> JobAnswer:
        """Return its state for a page."""
        until = self.ended or time.time()
        return {
            "id": self.id,
            "status": self.status,
            "options": self.task["options"],
            "names": self.task["names"],
            "seconds": None if self.began is None else round(until - self.began, 1),
            "pid": self.pid,
        }


class Jobs:
    """Runs jobs in the order in which they came."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.RLock()
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._closed = False
        self._spare = self._start_worker()

    def _start_worker(self) -> tuple[Any, Any]:
        ours, theirs = self._context.Pipe()
        # It ends with its pipe. (A daemon may not have threads of joblib.)
        process = self._context.Process(target=work, args=(theirs,), daemon=False)
        process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        return process, ours

    def submit(self, job: Job) -> None:
        """Start a job, or let it wait until those before it are over."""
        with self._lock:
            if len(self._waiting) >= MAX_WAITING:
                raise ValueError(f"{MAX_WAITING} searches are waiting: cancel some of them first")
            self._waiting.append(job)
            self._start_next()

    def cancel(self, job: Job) -> None:
        """End a job at once: its process is killed."""
        with self._lock:
            if not job.active:
                return
            self._finish(job, {"kind": "cancelled"})
            if job in self._waiting:
                self._waiting.remove(job)
            if job is self._running:
                self._process.kill()

    def close(self) -> None:
        """Kill all processes."""
        with self._lock:
            self._closed = True
            for job in [*self._waiting, *([self._running] if self._running else [])]:
                self.cancel(job)
            self._spare[0].kill()
        self._spare[0].join(5)

    def _start_next(self) -> None:
        if self._running is not None or not self._waiting or self._closed:
            return
        job = self._running = self._waiting.popleft()
        if not self._spare[0].is_alive():
            self._spare = self._start_worker()
        self._process, connection = self._spare
        job.status, job.began, job.pid = "running", time.time(), self._process.pid
        arguments = (job, self._process, connection)
        threading.Thread(target=self._listen, args=arguments, daemon=True).start()

    def _listen(self, job: Job, process: Any, connection: Any) -> None:
        """Send the job, pass on what its process tells, and see to the next one."""
        try:
            connection.send(job.task)
            while job.status == "running":
                self._hear(job, connection.recv())
        except (EOFError, OSError):
            code = "" if process.exitcode is None else f" (exit code {process.exitcode})"
            words = f"the process of the search was ended{code}, perhaps for lack of memory"
            self._finish(job, {"kind": "failed", "message": words})
        except Exception as error:  # a fault of ours must not leave a job that never ends
            words = f"unexpected {type(error).__name__}: {error}"
            self._finish(job, {"kind": "failed", "message": words})
        finally:
            if job.status not in ("done", "failed") or not process.is_alive():
                connection.close()
                process.kill()
                process.join(10)
            with self._lock:
                self._running = None
                if not self._closed:
                    if not process.is_alive():
                        self._spare = self._start_worker()
                    self._start_next()

    def _hear(self, job: Job, message: WorkerMessage) -> None:
        if message["kind"] == "found":
            if job.status == "running":
                job.tell(job.found(message))
        elif message["kind"] == "progress" or message["kind"] == "sketch":
            job.tell(message)
        else:
            self._finish(job, message)

    def _finish(self, job: Job, message: OverDict) -> None:
        with self._lock:
            if job.active:
                job.status, job.ended = message["kind"], time.time()
                job.tell(message)
