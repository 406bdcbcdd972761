"""Cells on this machine: joblib's loky workers, one process each, replaced when they die."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from functools import cache
from queue import SimpleQueue

import joblib
from joblib.externals.loky.process_executor import (
    BrokenProcessPool,
    ProcessPoolExecutor,
    ShutdownExecutorError,
)

from mloml.experiments.ending import end_with_main_thread, when_main_thread_ends
from mloml.experiments.guard import GUARD
from mloml.experiments.job import (
    MOST_STARTS,
    Job,
    Outcome,
    compute,
    lost,
    never_began,
    one_target,
    wants_another_worker,
)

IDLE_SECONDS = 120
"""How long a worker without work stays: a sweep's next job finds it warm, a notebook gets its memory back."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Libraries would start a thread per core in every worker before they could be told not to use them."""


class LocalBackend:
    """Runs jobs in worker processes of their own, also for ``n_jobs=1``.

    Each slot is a loky executor with a single worker. When a worker dies, loky declares the whole executor
    broken and gives up all of its jobs; with one worker each, that is exactly the job which was running.

    Parameters
    ----------
    n_jobs : int
        As in joblib: -1 stands for all cores.
    """

    def __init__(self, n_jobs: int = -1) -> None:
        self.n_jobs = joblib.effective_n_jobs(n_jobs)
        self.remark = ""
        self._slots = [_take_slot() for _ in range(self.n_jobs)]

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield outcomes as they come; jobs whose worker died are tried again at the end, one by one."""
        victims = []
        for job, outcome in self._at_once(jobs):
            if outcome is None:
                victims.append(job)
            else:
                yield outcome
        # Alone, so that a job which was killed because others filled the memory gets its chance.
        for job in victims:
            try:
                outcome = self._slots[0].insist(job)
            except BaseException:  # Ctrl-C: its worker must not go on
                self._slots[0].end()
                raise
            yield outcome

    def close(self) -> None:
        """Leave idle workers to the next run of this process, and end the others at once."""
        for slot in self._slots:
            _give_back(slot)
        self._slots = []

    def _at_once(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome | None]]:
        free: SimpleQueue[Slot] = SimpleQueue()
        for slot in self._slots:
            free.put(slot)

        def in_a_slot(job: Job) -> Outcome | None:
            slot = free.get()
            try:
                return slot.run(job)
            finally:
                free.put(slot)

        with ThreadPoolExecutor(self.n_jobs) as threads:
            futures = {threads.submit(in_a_slot, job): job for job in jobs}
            try:
                for future in as_completed(futures):
                    yield futures.pop(future), future.result()
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                if futures:  # left in the middle: by an error, by Ctrl-C, or because one failure is enough
                    for slot in self._slots:
                        slot.end()


class Slot:
    """One worker process and its successors."""

    def __init__(self) -> None:
        self.environment = _environment()
        self.ended = False
        self._executor: ProcessPoolExecutor | None = None
        self._future: Future[Outcome] | None = None
        self._lock = threading.Lock()

    def run(self, job: Job) -> Outcome | None:
        """Run a job; None when its worker died and it may be tried once more."""
        outcome = self._run_once(job)
        if outcome is None and wants_another_worker(job):
            outcome = self._run_once(job)
        return outcome

    def _run_once(self, job: Job) -> Outcome | None:
        try:
            return self._submit(job).result()
        except (BrokenProcessPool, ShutdownExecutorError):
            self._discard()
            return lost(job)

    def insist(self, job: Job) -> Outcome:
        """Run a job until there is an outcome; deaths are counted in its claim."""
        for _ in range(MOST_STARTS):
            outcome = self.run(job)
            if outcome is not None:
                return outcome
        return never_began(job)

    def end(self) -> None:
        """Kill the worker; no other follows."""
        self.ended = True
        self._discard()

    def _submit(self, job: Job) -> Future[Outcome]:
        with self._lock:
            if self.ended:
                raise ShutdownExecutorError("the run is over")
            if self._executor is None:
                self._executor = ProcessPoolExecutor(
                    1,
                    timeout=IDLE_SECONDS,
                    initializer=_begin,
                    initargs=(os.getpid(),),
                    env=ONE_THREAD | one_target(),
                )
            self._future = self._executor.submit(compute, job)
            return self._future

    def _discard(self) -> None:
        with self._lock:
            if self._executor is None:
                return
            # Killed between submitting a job and handing it to the worker, loky would stumble over it.
            while self._future is not None and not (self._future.running() or self._future.done()):
                time.sleep(0.001)
            _end(self._executor)
            self._executor = None


def _end(executor: ProcessPoolExecutor) -> None:
    """Kill an executor's worker and wait until none of its threads is left.

    loky does not wait for the one that feeds the worker. It may be the last to let go of a semaphore, and is
    stopped wherever it is when Python ends.
    """
    queue = executor._call_queue
    feeder: threading.Thread | None = None if queue is None else queue._thread
    del queue
    executor.shutdown(wait=True, kill_workers=True)
    if feeder is not None:
        feeder.join()


_idle: list[Slot] = []


@cache
def _end_idle_at_the_end() -> None:
    """Have idle workers killed: asked to leave, one in which a learner left threads might never do."""

    def end() -> None:
        while _idle:
            _idle.pop().end()

    # Broken off between a semaphore's removal and the note of it, loky would report a leak at the very end.
    when_main_thread_ends(end, wait_for_it=True)


def _take_slot() -> Slot:
    """Return a warm slot, if there is one whose worker would see what a new one sees."""
    while _idle:
        slot = _idle.pop()
        if slot.environment == _environment():
            return slot
        slot.end()
    return Slot()


def _environment() -> dict[str, str]:
    """Return the variables on which what a worker computes can depend."""
    return {
        name: value for name, value in os.environ.items() if name.startswith(("MLOML", "PYTHON", "NUMBA"))
    }


def _give_back(slot: Slot) -> None:
    if not slot.ended:
        _idle.append(slot)
        _end_idle_at_the_end()


def _begin(parent: int) -> None:
    """Prepare a worker: Ctrl-C is the main process's business, and nobody outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    GUARD.end_with(parent)
    end_with_main_thread()
