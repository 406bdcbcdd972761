"""Run jobs to their end beside other runs on the same folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from mloml.experiments.backends import Backend
from mloml.experiments.claims import is_held
from mloml.experiments.job import Job, Outcome, stored
from mloml.experiments.store import Store

POLL_SECONDS = 0.5


def final_outcomes(
    backend: Backend, jobs: Sequence[Job], store: Store, say: Callable[[str], None]
) -> Generator[Outcome]:
    """Yield one final outcome per job.

    Cells that another run is computing are left to it: the others come first, then its results are waited
    for. One that it lets go of without a result is computed here after all.
    """
    pending = list(jobs)
    while pending:
        by_key = {job.cell.key: job for job in pending}
        busy = []
        with closing(backend.run(pending)) as outcomes:
            for outcome in outcomes:
                if outcome.state == "busy":
                    busy.append(by_key[outcome.key])
                else:
                    yield outcome
        if busy:
            say(f"another run on this folder computes {len(busy)} of the cells; waiting for it")
        pending = yield from _wait(busy, store)


def _wait(busy: list[Job], store: Store) -> Generator[Outcome, None, list[Job]]:
    """Yield what another run stores; return the jobs that are left when it lets go of one."""
    while busy:
        found = {job.cell.key: outcome for job in busy if (outcome := stored(job, "found"))}
        yield from found.values()
        busy = [job for job in busy if job.cell.key not in found]
        if not all(is_held(store.claim_path(job.cell)) for job in busy):
            break
        time.sleep(POLL_SECONDS if busy else 0)
    return busy
