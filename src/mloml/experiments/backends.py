"""Where cells are computed: in worker processes here, on a dask cluster, or in a batch system's jobs.

A backend takes jobs and yields outcomes as they come. All of them run the same function in the worker
(:func:`mloml.experiments.job.compute`), which stores the cell itself; so the numbers cannot differ.
"""

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import joblib
import psutil

from mloml.config.schema import ExecutionConfig
from mloml.errors import ConfigError, MlomlError
from mloml.experiments.job import (
    MOST_STARTS,
    Job,
    Outcome,
    compute,
    dead,
    deaf_to_interruption,
    lost,
    one_target,
    stored,
    warm,
)

T = TypeVar("T")

# How long a worker without work stays: a sweep's next job finds it warm, a notebook gets its memory back.
IDLE_SECONDS = 120
# How long a dask scheduler may take to answer.
ANSWER_SECONDS = 15
# Pause between looks at what a batch system's jobs have stored.
POLL_SECONDS = {"slurm": 5.0, "local": 0.2}
_one_at_a_time = threading.Lock()


class Backend(Protocol):
    """What a study needs to know of the place where its cells are computed."""

    n_jobs: int

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield one outcome per job, in any order; closing the iterator early abandons the rest."""
        ...

    def close(self) -> None:
        """Release the workers at once."""
        ...


def open_backend(execution: ExecutionConfig, say: Callable[[str], None]) -> Backend:
    """Return the backend that a config chooses; ``say`` is told what is to be known of it."""
    if execution.backend == "dask":
        return DaskBackend(execution.address, execution.n_jobs, say)
    if execution.backend == "slurm":
        return SlurmBackend(Path(execution.results, "jobs"), execution.cluster, execution.slurm)
    return LocalBackend(execution.n_jobs)


class LocalBackend:
    """Worker processes of this machine, through joblib (loky).

    When a worker dies, loky gives up the whole pool. The cells that were in flight are then run alone, one at
    a time, so that one killed because others filled the memory gets its chance; the rest is run again.
    """

    def __init__(self, n_jobs: int = -1) -> None:
        self.n_jobs = joblib.effective_n_jobs(n_jobs)

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield outcomes as they come."""
        pending, suspects = {job.cell.key: job for job in jobs}, dict[str, Job]()
        starts = 0
        while pending or suspects:
            left, at_once = (pending, self.n_jobs) if pending else (suspects, 1)
            try:
                with closing(in_processes(compute, left.values(), at_once)) as outcomes:
                    for outcome in outcomes:
                        starts = 0
                        del left[outcome.key]
                        yield outcome
            except BrokenProcessPool:
                starts += 1
                begun = {key: job for key, job in left.items() if job.words()}
                ends = {key: end for key, job in left.items() if (end := stored(job, "ok") or lost(job))}
                for key, end in ends.items():
                    del left[key]
                    yield end
                innocent = any(end.state == "timeout" for end in ends.values()) and left is pending
                for key in begun.keys() - ends.keys():
                    if innocent:  # the one that took too long brought them down
                        begun[key].note.unlink(missing_ok=True)
                    else:
                        suspects[key] = left.pop(key)
                if begun or ends:
                    starts = 0
                if starts >= MOST_STARTS:
                    yield from map(dead, left.values())
                    left.clear()

    def compile(self, jobs: Sequence[Job], tell: Callable[[int, int], None]) -> None:
        """Let workers load or compile each algorithm; ``tell`` how many are ready, and of how many."""
        algorithms = {job.cell.algorithm.name: job for job in reversed(jobs)}.values()
        tell(0, len(algorithms))
        everybody = [*algorithms] * max(1, self.n_jobs // len(algorithms))
        with suppress(BrokenProcessPool), closing(in_processes(warm, everybody, self.n_jobs)) as ready:
            for done, _ in enumerate(ready, 1):
                tell(min(done, len(algorithms)), len(algorithms))
        tell(len(algorithms), len(algorithms))

    def close(self) -> None:
        """Leave idle workers to the next run of this process; they end by themselves."""


def in_processes(function: Callable[[Job], T], jobs: Iterable[Job], at_once: int) -> Generator[T]:
    """Yield what a function makes of each job in worker processes, as they come; closing it kills them."""
    numba = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")} | one_target()
    tasks = [joblib.delayed(function)(job) for job in jobs]
    # Of one worker joblib would make none, and compute here: there are two then, which get job by job.
    for group in [tasks] if at_once > 1 else [[task] for task in tasks]:
        with (
            deaf_to_interruption(),
            joblib.parallel_config(
                "loky",
                n_jobs=max(2, at_once),
                inner_max_num_threads=1,
                idle_worker_timeout=IDLE_SECONDS,
                initializer=_begin,
                initargs=(numba,),
            ),
        ):
            results: Any = joblib.Parallel(return_as="generator_unordered", batch_size=1)(group)
        try:
            for result in results:  # noqa: UP028 - `yield from` would close it, with a warning
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of tasks that are given up, which is what closing asks for
                results.close()


def _begin(numba: dict[str, str]) -> None:
    """Prepare a worker, before it imports numba: its compiled code depends on these variables."""
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        del os.environ[name]
    os.environ.update(numba)


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

    def __init__(
        self, address: str | None = None, n_jobs: int = -1, say: Callable[[str], None] = print
    ) -> None:
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
        if not workers:
            say(f"the dask scheduler has no workers yet; waiting for some: `dask worker {address}`")

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield outcomes as they come."""
        from distributed import as_completed

        futures = {self._submit(job): job for job in jobs}
        waiting = as_completed(list(futures), loop=self._client.loop)
        try:
            for future in waiting:
                if future.status in ("lost", "pending"):  # its worker died with the word: computed again
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


@dataclass
class Bundle:
    """The cells of one batch job; ``starts`` counts attempts that finished none of them."""

    jobs: list[Job]
    task: Any = None
    starts: int = 0


class SlurmBackend:
    """Submits an array of jobs and watches the store, where their results meet.

    A job that ends early (killed, out of memory, out of time) is submitted again with what is left of it.

    Parameters
    ----------
    folder : Path
        For submitit's files: the jobs' arguments and logs. On the disk that all nodes share.
    cluster : {"slurm", "local"}
        Local runs the same jobs as processes of this machine.
    parameters : mapping
        For submitit's executor, such as ``timeout_min`` and ``slurm_partition``; null ones are left out.
    """

    def __init__(
        self, folder: Path, cluster: str = "slurm", parameters: Mapping[str, Any] | None = None
    ) -> None:
        try:
            import submitit
        except ImportError:
            raise ConfigError("execution=slurm needs submitit: pip install 'mloml[slurm]'") from None
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        try:
            self._executor = submitit.AutoExecutor(folder=folder.resolve(), cluster=cluster)
            self._executor.update_parameters(**given)
        except (RuntimeError, NameError, TypeError, ValueError) as error:
            raise ConfigError(f"execution.slurm: {' '.join(str(error).split())}") from None
        self.n_jobs = int(given.get("slurm_array_parallelism", 1))
        self._cluster = cluster
        self._active: list[Bundle] = []

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield outcomes as cells appear in the store and as batch jobs end."""
        groups: dict[tuple[str, str], list[Job]] = {}
        for job in jobs:
            groups.setdefault((job.cell.dataset, job.cell.algorithm.name), []).append(job)
        self._submit([Bundle(jobs) for jobs in groups.values()])
        try:
            while self._active:
                for bundle in list(self._active):
                    yield from self._results_of(bundle)
                time.sleep(POLL_SECONDS[self._cluster] if self._active else 0)
        finally:
            self.close()

    def close(self) -> None:
        """Cancel what still runs or waits."""
        for bundle in self._active:
            if self._cluster == "slurm":
                bundle.task.cancel(check=False)
                continue
            with suppress(psutil.NoSuchProcess):  # a local job is named after its process
                process = psutil.Process(int(bundle.task.job_id))
                for member in [process, *process.children(recursive=True)]:
                    member.kill()
        self._active = []

    def _submit(self, bundles: list[Bundle]) -> None:
        os.environ.update(one_target())  # the jobs inherit it
        with deaf_to_interruption():
            tasks = self._executor.map_array(compute_all, [bundle.jobs for bundle in bundles])
        for bundle, task in zip(bundles, tasks, strict=True):
            bundle.task = task
        self._active += bundles

    def _results_of(self, bundle: Bundle) -> Generator[Outcome]:
        """Yield what became of a bundle's cells since the last look; after a death, submit the rest again."""
        done = bundle.task.done()
        # Of a job that was killed submitit waits for a result, which may be late on a shared disk; not here.
        answers = done and (self._cluster == "slurm" or bundle.task.paths.result_pickle.exists())
        error = bundle.task.exception() if answers else None
        reported = {out.key: out for out in bundle.task.result()} if answers and not error else {}
        left = []
        for job in bundle.jobs:
            outcome = reported.get(job.cell.key) or stored(job, "ok") or (lost(job) if done else None)
            if outcome is None:
                left.append(job)
            else:
                yield outcome
        bundle.starts = 0 if len(left) < len(bundle.jobs) else bundle.starts
        bundle.jobs = left
        if done:
            self._active.remove(bundle)
            bundle.starts += 1
            if left and bundle.starts < MOST_STARTS:
                self._submit([bundle])
            else:
                yield from (dead(job, f"its job ended before the cell began {error or ''}") for job in left)


def compute_all(jobs: Sequence[Job]) -> list[Outcome]:
    """Compute cells one after the other: what a batch job does."""
    return [compute(job) for job in jobs]
