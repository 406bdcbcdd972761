"""What a worker does, wherever it is: claim a cell, compute it, store it, report in a few bytes."""

from __future__ import annotations

import dataclasses
import gc
import os
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.errors import CellFileError, CodeChangedError, DataFormatError, KernelError, StoreError
from mloml.experiments.claims import STARTED, WRONG, Claim, claim, ended_wrong, verdict
from mloml.experiments.guard import time_limit
from mloml.experiments.store import Store

if TYPE_CHECKING:
    from mloml.datasets import Dataset
    from mloml.experiments.cell import Cell


LOADED_DATASETS = 2
"""How many datasets a worker keeps in memory; jobs come ordered by dataset."""


LONGEST_MESSAGE, LONGEST_TRACEBACK = 2_000, 20_000
"""Characters kept of an exception."""


MOST_STARTS = 4
"""How often a job is handed out before it is given up, should its workers die before they even claim it."""


GIVEN_UP = ("killed", "timeout")
"""States of a cell whose claim stays: it gives the same answer again, should this one die with its worker."""


@dataclass(frozen=True)
class Job:
    """One cell and where to find what it needs: datasets travel by name, results through the store."""

    cell: Cell
    dataset: DatasetConfig
    data: DataSettings
    store: str
    run: str
    time_limit: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    ``state`` is one of ``ok`` (stored by this job), ``found`` (stored by somebody else meanwhile), ``busy``
    (somebody else computes it), ``failed``, ``killed``, ``timeout`` and ``halt`` (no cell of this run can be
    computed or stored any more).
    """

    key: str
    state: str
    error: str = ""
    message: str = ""
    traceback: str = ""


def compute(job: Job) -> Outcome:
    """Compute and store one cell; every error ends up in the outcome."""
    store = Store(job.store)
    key = job.cell.key
    try:
        with claim(store.claim_path(job.cell), job.run) as held:
            if held is None:
                return Outcome(key, "busy")
            outcome = stored(job, "found") or lost(job) or _attempt(job, store, held)
            if outcome.state not in GIVEN_UP:
                held.remove()
            _spare_the_collector(job.cell.algorithm.learner)
            return outcome
    except (StoreError, CodeChangedError, KernelError) as error:
        return Outcome(key, "halt", type(error).__name__, str(error))


def stored(job: Job, state: str) -> Outcome | None:
    """Ask the store for a job's cell: an outcome of this state when it is done, None when it is not.

    A folder or the like in the place of the cell's file is a failure of this cell.
    """
    try:
        return Outcome(job.cell.key, state) if Store(job.store).get(job.cell) is not None else None
    except CellFileError as error:
        return Outcome(job.cell.key, "failed", type(error).__name__, str(error))


_collected: set[str] = set()


def _spare_the_collector(learner: str) -> None:
    """Let the garbage collector pass over what a learner's first cell left: modules and compiled code.

    Where psutil is not installed, loky collects once a second; that took a tenth of a worker's time.
    """
    if learner not in _collected:
        _collected.add(learner)
        gc.collect()
        gc.freeze()


def lost(job: Job) -> Outcome | None:
    """Return the outcome of a job whose workers died with it, or None when it deserves another attempt."""
    state = verdict(Store(job.store).claim_path(job.cell), job.run)
    if state == "timeout":
        return Outcome(job.cell.key, state, "TimeLimit", f"took longer than {job.time_limit:g} s")
    if state == "killed":
        message = "its worker process died twice: killed by the system (memory?) or crashed"
        return Outcome(job.cell.key, state, "WorkerDied", message)
    return None


def wants_another_worker(job: Job) -> bool:
    """Say whether the job's last worker ended because its compiled code was wrong, which is no death."""
    return ended_wrong(Store(job.store).claim_path(job.cell), job.run)


def never_began(job: Job, reason: str = "") -> Outcome:
    """Return the outcome of a job whose workers died before they could claim it, again and again."""
    message = " ".join(f"its worker process died before the cell began {reason}".split())
    return Outcome(job.cell.key, "killed", "WorkerDied", message)


def _attempt(job: Job, store: Store, held: Claim) -> Outcome:
    from mloml.experiments.cell import run_cell
    from mloml.experiments.determinants import determinants

    wrong_before = wants_another_worker(job)
    held.note(STARTED)
    store.discard_debris(job.cell)
    try:
        data = prepare_for(job)
        with time_limit(job.time_limit, held):
            record = run_cell(job.cell, data)
        store.put(job.cell, record | {"determinants": determinants(job.cell), "kernels": "checked"})
    except (StoreError, CodeChangedError):
        raise
    except KernelError as error:
        held.note(WRONG)
        if wrong_before:
            raise KernelError(f"{error} (found again in a new process: nothing more is computed)") from None
        os._exit(1)  # what was kept is gone; a new process compiles anew
    except BaseException as error:  # a learner may raise anything; Ctrl-C never reaches a worker
        return _failure(job, error)
    return Outcome(job.cell.key, "ok")


def _failure(job: Job, error: BaseException) -> Outcome:
    message = plain_text(lambda: str(error), LONGEST_MESSAGE)
    trace = plain_text(lambda: "".join(traceback.format_exception(error)), LONGEST_TRACEBACK, lines=True)
    return Outcome(job.cell.key, "failed", type(error).__name__, message, trace)


def plain_text(make: Callable[[], str], longest: int, *, lines: bool = False) -> str:
    r"""Return a text that can be printed and written to a file, whatever it was made from.

    >>> plain_text(lambda: "a\n\x1b[2J\udc80b", 10)
    'a ?[2J?b'
    >>> plain_text(lambda: 1 / 0, 10)
    '(its text cannot be printed)'
    """
    try:
        text = str(make())
    except BaseException:  # an exception's own __str__ may raise anything too
        return "(its text cannot be printed)"
    text = text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"
    rows = text.splitlines() if lines else [" ".join(text.split())]
    return "\n".join("".join(c if c.isprintable() else "?" for c in row) for row in rows)


def prepare_for(job: Job) -> Dataset:
    """Return the data of a job, once nothing in this process stands against computing its cell."""
    from mloml.experiments.cell import make_learner
    from mloml.experiments.lookup import is_foreign

    _require_same_code(job.cell)
    data = _dataset(job)
    algorithm = job.cell.algorithm
    if algorithm.name not in _warm and not is_foreign(algorithm.learner):
        warm_up(make_learner(job.cell))
        _warm.add(algorithm.name)
    return data


_warm: set[str] = set()
"""Names of the algorithms whose compiled code this process has met."""


def warm_up(learner: Any) -> None:
    """Load or compile, and check, what a learner calls: no cell's time or limit includes it."""
    from mloml.experiments.scoring import Rows

    angles = np.arange(24.0)
    X, y = np.stack([np.sin(angles), np.cos(angles), np.sin(3 * angles)], axis=1), np.arange(24) % 3
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Rows(X, y, X, y, 5).error(learner.fit(X, y))
    except KernelError:
        raise
    except Exception:  # its parameters may not suit so few rows; the cell itself will tell
        return


def one_target() -> dict[str, str]:
    """Return the variables that make numba compile for one target on all machines that have it.

    Two such machines with the same versions then run the same machine code. What remains is BLAS.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    except OSError:
        flags = []
    has_target = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"} <= set(flags)
    if "NUMBA_CPU_NAME" in os.environ or not has_target:
        return {}
    return {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}


def _require_same_code(cell: Cell) -> None:
    """Refuse to compute under the key of other code: this worker may have an older or a newer checkout."""
    from mloml.experiments.fingerprint import import_all, require_current_code

    import_all(cell.algorithm.learner)
    require_current_code([cell.algorithm.learner])
    if dataclasses.replace(cell).key != cell.key:
        raise CodeChangedError(
            "this worker's code is not the code the run began with: restart the run and its workers, "
            "so that nothing is mixed"
        )


_loaded: dict[str, Dataset] = {}


def _dataset(job: Job) -> Dataset:
    """Load the job's dataset, once per process; it must be the very data the cell was made for."""
    from mloml.datasets import load

    wanted = job.cell.checksum
    if wanted not in _loaded:
        while len(_loaded) >= LOADED_DATASETS:
            del _loaded[next(iter(_loaded))]
        data = load(job.dataset, job.data)
        if data.checksum != wanted:
            raise DataFormatError(
                f"{job.dataset.name}: the data found here ({data.source}) are not those the run began with"
            )
        _loaded[wanted] = data
    return _loaded[wanted]
