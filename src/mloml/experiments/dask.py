"""Cells on a dask.distributed cluster: a running one, or one of worker processes started here."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

import joblib

from mloml.errors import ConfigError, MlomlError
from mloml.experiments.ending import children_deaf_to_interruption, end_with_main_thread
from mloml.experiments.guard import GUARD
from mloml.experiments.job import MOST_STARTS, Job, Outcome, compute, lost, never_began, one_target

ANSWER_SECONDS = 15
# A worker died after its task had ended and before its word had arrived: dask gives the task to another one,
# which finds the cell in the store.
COMPUTED_AGAIN = ("lost", "pending")
_one_at_a_time = threading.Lock()


class DaskBackend:
    """Submits each cell as a task; dask gives the tasks of a worker that dies to another one.

    Workers load datasets by name and write to the store themselves, so the results folder must be on a disk
    that all of them see under the same path. What travels over the network is a config and a word.

    Parameters
    ----------
    address : str or None
        Of a running scheduler; None starts a cluster on this machine, which ends with the run.
    n_jobs : int
        Workers of the cluster started here, as in joblib.
    """

    def __init__(self, address: str | None = None, n_jobs: int = -1) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise ConfigError("execution=dask needs dask.distributed: pip install 'mloml[dask]'") from None
        self.remark = ""
        self._cluster: Any = None
        if address is None:
            workers = joblib.effective_n_jobs(n_jobs)
            with children_deaf_to_interruption():
                self._cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    # Even without a dashboard it answers about itself: on any free port, and to this machine.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    silence_logs=logging.CRITICAL,
                    env=one_target(),
                )
        try:
            self._client = Client(self._cluster or address, timeout=ANSWER_SECONDS)
        except (OSError, ValueError):
            raise ConfigError(f"execution.address={address}: no dask scheduler answers there") from None
        except Exception as error:  # of the address's protocol: a package or a certificate that is not there
            reason = " ".join(str(error).split())
            raise ConfigError(f"execution.address={address}: cannot be used ({reason})") from None
        workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        self.n_jobs = max(1, workers)
        if not workers:
            self.remark = f"the dask scheduler has no workers yet; waiting for some: `dask worker {address}`"

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield outcomes as they come."""
        from distributed import as_completed

        futures = {self._submit(job): job for job in jobs}
        starts = Counter(job.cell.key for job in jobs)
        waiting = as_completed(futures)
        try:
            for future in waiting:
                if future.status in COMPUTED_AGAIN:
                    waiting.add(future)
                    continue
                job = futures.pop(future)
                outcome = outcome_of(future, job)
                if outcome is None:
                    # Dask also blames cells that only stood in a dead worker's queue.
                    starts[job.cell.key] += 1
                    outcome = never_began(job) if starts[job.cell.key] > MOST_STARTS else None
                if outcome is None:
                    again = self._submit(job)
                    futures[again] = job
                    waiting.add(again)
                else:
                    yield outcome
        finally:
            if futures:
                self._client.cancel(list(futures), force=True)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends at once."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _submit(self, job: Job) -> Any:
        # Workers started here are children of this process and end with it; others belong to somebody else.
        parent = None if self._cluster is None else os.getpid()
        return self._client.submit(_compute, job, parent, pure=False)


def outcome_of(future: Any, job: Job) -> Outcome | None:
    """Return what a task that has ended came to, or None when it has to be submitted again.

    Its worker may die at this very moment and the word with it: then this waits for the next worker's, and
    what that one comes to is heard in the same way.
    """
    from distributed import CancelledError, KilledWorker

    try:
        result: Outcome = future.result()
        return result
    except KilledWorker:
        return lost(job)
    except CancelledError:
        raise MlomlError(
            "the dask scheduler is gone; what is stored is safe: run the same command again"
        ) from None


def _compute(job: Job, parent: int | None) -> Outcome:
    # One cell at a time in a process, however many threads its worker has: the limit on BLAS threads, on
    # which the last bits of the results depend, holds for the whole process.
    with _one_at_a_time:
        end_with_main_thread()
        if parent is not None:
            GUARD.end_with(parent)
        return compute(job)
