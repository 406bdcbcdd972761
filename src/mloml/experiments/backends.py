"""Where cells are computed: in worker processes here, on a dask cluster, or in a batch system's jobs.

A backend takes jobs and yields outcomes as they come. All of them run the same function in the worker
(:func:`mloml.experiments.job.compute`), which stores the cell itself; so the numbers cannot differ.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mloml.errors import ConfigError

if TYPE_CHECKING:
    from mloml.config.schema import ExecutionConfig
    from mloml.experiments.job import Job, Outcome

BACKENDS = ("local", "dask", "slurm")


class Backend(Protocol):
    """What a study needs to know of the place where its cells are computed."""

    n_jobs: int
    remark: str
    """What to tell before cells are computed, if anything."""

    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Yield one outcome per job, in any order; closing the iterator early abandons the rest."""
        ...

    def close(self) -> None:
        """Release the workers at once."""
        ...


def open_backend(execution: ExecutionConfig, folder: Path) -> Backend:
    """Return the backend a config asks for.

    Parameters
    ----------
    execution : ExecutionConfig
    folder : Path
        For the batch system's own files.
    """
    if execution.backend == "local":
        from mloml.experiments.local import LocalBackend

        return LocalBackend(execution.n_jobs)
    if execution.backend == "dask":
        from mloml.experiments.dask import DaskBackend

        return DaskBackend(execution.address, execution.n_jobs)
    if execution.backend == "slurm":
        from mloml.experiments.slurm import SlurmBackend

        return SlurmBackend(folder, execution.cluster, execution.slurm)
    raise ConfigError(f"execution.backend={execution.backend}: must be one of {', '.join(BACKENDS)}")
