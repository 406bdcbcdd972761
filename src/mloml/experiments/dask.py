"""Cells on a dask.distributed cluster: a running one, or one of worker processes started here."""

import logging
import threading
from collections.abc import Generator, Sequence
from typing import Any

import joblib

from mloml.errors import ConfigError, MlomlError
from mloml.experiments.job import Job, Outcome, compute, dead, deaf_to_interruption, lost, one_target

ANSWER_SECONDS = 15
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
        self._cluster: Any = None
        if address is None:
            with deaf_to_interruption():
                self._cluster = LocalCluster(
                    n_workers=joblib.effective_n_jobs(n_jobs),
                    threads_per_worker=1,
                    dashboard_address=None,
                    # Even without a dashboard it answers about itself: on any free port, and to this machine.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    silence_logs=logging.CRITICAL,
                    env=one_target(),
                )
        try:
            self._client = Client(self._cluster or address, timeout=ANSWER_SECONDS, set_as_default=False)
        except Exception as error:  # nobody is there, or a package or certificate of its protocol is not
            reason = " ".join(str(error).split())
            raise ConfigError(f"execution.address={address}: no dask scheduler answers ({reason})") from None
        workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        self.n_jobs = max(1, workers)
        waiting = f"the dask scheduler has no workers yet; waiting for some: `dask worker {address}`"
        self.remark = "" if workers else waiting

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield outcomes as they come."""
        from distributed import as_completed

        futures = {self._submit(job): job for job in jobs}
        waiting = as_completed(list(futures), loop=self._client.loop)
        try:
            for future in waiting:
                if future.status in (
                    "lost",
                    "pending",
                ):  # its worker died with the word: it is computed again
                    waiting.add(future)
                else:
                    yield outcome_of(future, futures.pop(future))
        finally:
            if futures:
                self._client.cancel(list(futures), force=True)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends at once."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _submit(self, job: Job) -> Any:
        return self._client.submit(_compute, job, pure=False)


def outcome_of(future: Any, job: Job) -> Outcome:
    """Return what a task came to."""
    from distributed import CancelledError, KilledWorker

    try:
        result: Outcome = future.result()
        return result
    except KilledWorker:  # dask gave it to several workers, and all of them died
        return lost(job) or dead(job)
    except CancelledError:
        reason = "the dask scheduler is gone; what is stored is safe: run the same command again"
        raise MlomlError(reason) from None


def _compute(job: Job) -> Outcome:
    # One cell at a time in a process, however many threads its worker has: the limit on BLAS threads, on
    # which the last bits of the results depend, holds for the whole process.
    with _one_at_a_time:
        return compute(job)
