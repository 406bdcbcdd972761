"""What a worker does, wherever it is: claim a cell, compute it, store it, report in a few bytes."""

from __future__ import annotations

import dataclasses
import faulthandler
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from mloml.errors import CellFileError, CodeChangedError, DataFormatError, KernelError, StoreError
from mloml.experiments.store import Store
from mloml.files import hold, reason

if TYPE_CHECKING:
    from mloml.config.schema import DatasetConfig, DataSettings
    from mloml.datasets import Dataset
    from mloml.experiments.cell import Cell

# Characters kept of an exception.
LONGEST_MESSAGE, LONGEST_TRACEBACK = 2_000, 20_000

# A cell whose worker died this often is given up.
MOST_ATTEMPTS = 2

# How often a job is handed out before it is given up, should its workers die before they even begin it.
MOST_STARTS = 4


@dataclass(frozen=True)
class Job:
    """One cell and where to find what it needs: datasets travel by name, results through the store."""

    cell: Cell
    dataset: DatasetConfig
    data: DataSettings
    store: str
    run: str
    time_limit: float | None = None

    @property
    def note(self) -> Path:
        """Where a worker notes each attempt, and a time limit its end; the file outlives the worker."""
        return Store(self.store).claim(self.cell, "note")

    def words(self) -> str:
        """Return what workers of this run noted; nothing when none of them was at this cell."""
        try:
            text = self.note.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return text if text.startswith(self.run) else ""


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
    end_with_parent()
    try:
        with hold(Store(job.store).claim(job.cell, "lock")) as ours:
            if not ours:
                return Outcome(job.cell.key, "busy")
            outcome = stored(job, "found") or lost(job) or _attempt(job)
            if outcome.state not in ("killed", "timeout"):  # whose note gives the same answer again
                job.note.unlink(missing_ok=True)
            return outcome
    except (StoreError, CodeChangedError, KernelError) as error:
        return Outcome(job.cell.key, "halt", type(error).__name__, str(error))


def stored(job: Job, state: str) -> Outcome | None:
    """Ask the store for a job's cell: an outcome of this state when it is done, None when it is not.

    A folder or the like in the place of the cell's file is a failure of this cell.
    """
    try:
        return Outcome(job.cell.key, state) if Store(job.store).get(job.cell) is not None else None
    except CellFileError as error:
        return Outcome(job.cell.key, "failed", type(error).__name__, str(error))


def lost(job: Job) -> Outcome | None:
    """Return the outcome of a job whose workers died with it, or None when it may be tried again."""
    words = job.words()
    _, timeout, place = words.partition("Timeout (")
    if timeout:
        message = f"took longer than {job.time_limit:g} s"
        return Outcome(job.cell.key, "timeout", "TimeLimit", message, (timeout + place)[:LONGEST_TRACEBACK])
    if words.count(job.run) >= MOST_ATTEMPTS:
        return dead(job, "its worker process died twice: killed by the system (memory?) or crashed")
    return None


def dead(job: Job, message: str = "its worker process died before the cell began") -> Outcome:
    """Return the outcome of a job that is given up."""
    return Outcome(job.cell.key, "killed", "WorkerDied", " ".join(message.split()))


def _attempt(job: Job) -> Outcome:
    from mloml.experiments.key import key_fields

    store, before = Store(job.store), job.words()
    try:
        with _open_note(job, "ab" if before else "wb") as note:
            data = prepare_for(job)
            if job.time_limit is not None:  # holds also while a learner holds the interpreter's lock
                limit = min(job.time_limit, threading.TIMEOUT_MAX)
                faulthandler.dump_traceback_later(limit, exit=True, file=note)
            try:
                record = record_of(job.cell, data)
            finally:
                faulthandler.cancel_dump_traceback_later()
        store.put(job.cell, record | {"key_fields": key_fields(job.cell), "kernels": "checked"})
    except (StoreError, CodeChangedError):
        raise
    except KernelError as error:
        if before:
            raise KernelError(f"{error} (found again in a new process: nothing more is computed)") from None
        os._exit(1)  # what was kept is gone; a new process compiles anew
    except BaseException as error:  # a learner may raise anything; Ctrl-C never reaches a worker
        found = traceback.TracebackException.from_exception(error)  # an error's own text may raise anything
        message = "".join(c if c.isprintable() else " " for c in str(found)[:LONGEST_MESSAGE])
        trace = "".join(found.format())[-LONGEST_TRACEBACK:]
        return Outcome(job.cell.key, "failed", type(error).__name__, " ".join(message.split()), trace)
    return Outcome(job.cell.key, "ok")


def record_of(cell: Cell, data: Dataset) -> dict[str, Any]:
    """Compute a cell: on random halves, or, where the protocol has a window, on a stream."""
    from mloml.experiments.cell import run_cell
    from mloml.experiments.prequential import run_stream

    return run_cell(cell, data) if cell.protocol.window is None else run_stream(cell, data)


def _open_note(job: Job, mode: str) -> IO[bytes]:
    try:
        file = cast("IO[bytes]", job.note.open(mode, buffering=0))
        file.write(f"{job.run}\n".encode())
    except OSError as error:
        raise StoreError(f"{job.note}: cannot be written ({reason(error)})") from None
    return file


@cache
def end_with_parent() -> None:
    """End this worker when its parent is gone, or when it is done, whatever threads a learner left behind."""
    import psutil

    me, parent = psutil.Process(), psutil.Process().parent()

    def watch() -> None:
        while threading.main_thread().is_alive() and me.parent() == parent:
            time.sleep(1)
        time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


@contextmanager
def deaf_to_interruption() -> Iterator[None]:
    """Let processes that are started in the block inherit that Ctrl-C is not for them: it is for the run."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def prepare_for(job: Job) -> Dataset:
    """Return the data of a job, once nothing in this process stands against computing its cell."""
    _require_same_code(job.cell)
    data = _dataset(job)
    _warm_up_for(job.cell)
    return data


def warm(job: Job) -> None:
    """Load or compile what a job's algorithm calls, without a word; what goes wrong its cells will tell."""
    end_with_parent()
    with suppress(Exception), redirect_stderr(StringIO()):
        _warm_up_for(job.cell)


# Names of the algorithms whose compiled code this process has met.
_warm: set[str] = set()


def _warm_up_for(cell: Cell) -> None:
    """Load or compile, and check, what an algorithm calls: no cell's time or limit includes it."""
    import numpy as np

    from mloml.config.lookup import is_foreign
    from mloml.experiments.cell import make_learner
    from mloml.experiments.neighbours import Rows
    from mloml.learners import Euclidean

    if cell.algorithm.name in _warm:
        return
    # A class from elsewhere is called for its cell only.
    learner: Any = Euclidean() if is_foreign(cell.algorithm.learner) else make_learner(cell)
    angles = np.arange(24.0)
    X, y = np.stack([np.sin(angles), np.cos(angles), np.sin(3 * angles)], axis=1), np.arange(24) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Rows(X, y, X, y, 5).error(learner.fit(X, y))
        except KernelError:
            raise
        except Exception:  # its parameters may not suit so few rows; the cell itself will tell
            pass
    _warm.add(cell.algorithm.name)


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
    from mloml.experiments.code import require_current_code
    from mloml.experiments.key import code_root

    require_current_code([cell.algorithm.learner], code_root(cell.protocol))
    if dataclasses.replace(cell).key != cell.key:
        raise CodeChangedError(
            "this worker's code is not the code the run began with: restart the run and its workers, "
            "so that nothing is mixed"
        )


# The dataset that this process used last; jobs come ordered by dataset.
_loaded: dict[str, Dataset] = {}


def _dataset(job: Job) -> Dataset:
    """Load the job's dataset; it must be the very data the cell was made for."""
    from mloml.datasets import load

    if job.cell.checksum not in _loaded:
        _loaded.clear()
        data = load(job.dataset, job.data)
        if data.checksum != job.cell.checksum:
            raise DataFormatError(
                f"{job.dataset.name}: the data found here ({data.source}) are not those the run began with"
            )
        _loaded[data.checksum] = data
    return _loaded[job.cell.checksum]
