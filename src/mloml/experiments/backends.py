"""Where cells are computed: in worker processes here, on a dask cluster, or in a batch system's jobs.

A backend takes jobs and yields outcomes as they come. All of them run the same function in the worker
(:func:`mloml.experiments.job.compute`), which stores the cell itself; so the numbers cannot differ.
"""

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import joblib

from mloml.config.schema import ExecutionConfig
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


class Backend(Protocol):
    """What a study needs to know of the place where its cells are computed."""

    n_jobs: int
    # What to tell before cells are computed, if anything.
    remark: str

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield one outcome per job, in any order; closing the iterator early abandons the rest."""
        ...

    def close(self) -> None:
        """Release the workers at once."""
        ...


def open_backend(execution: ExecutionConfig, folder: Path) -> Backend:
    """Return the backend that a config chooses; ``folder`` is for the batch system's own files."""
    if execution.backend == "dask":
        from mloml.experiments.dask import DaskBackend

        return DaskBackend(execution.address, execution.n_jobs)
    if execution.backend == "slurm":
        from mloml.experiments.slurm import SlurmBackend

        return SlurmBackend(folder, execution.cluster, execution.slurm)
    return LocalBackend(execution.n_jobs)


class LocalBackend:
    """Worker processes of this machine, through joblib (loky).

    When a worker dies, loky gives up the whole pool. The cells that were in flight are then run alone, one at
    a time, so that one killed because others filled the memory gets its chance; the rest is run again.
    """

    remark = ""

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
