"""Cells in the jobs of a batch system, through submitit: one job per (dataset, algorithm)."""

import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from mloml.errors import ConfigError
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
)

POLL_SECONDS = {"slurm": 5.0, "local": 0.2}


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

    remark = ""

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
