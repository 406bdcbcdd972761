"""Run a study: every dataset under every algorithm, each split once, whatever happens on the way."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mloml.command_line import Command, process_command
from mloml.errors import ConfigError, MlomlError, StoreError
from mloml.experiments.job import Job, Outcome, stored
from mloml.experiments.locks import is_held, running
from mloml.experiments.manifest import Source, other_settings, write_manifest
from mloml.experiments.plan import Plan, in_turn, make_plan
from mloml.experiments.store import Record, Store, cells_frame
from mloml.files import clear, write_atomically
from mloml.output import INTERRUPTED, one_interruption

if TYPE_CHECKING:
    import pandas as pd

    from mloml.config.schema import Study
    from mloml.experiments.backends import Backend
    from mloml.experiments.cell import Cell
    from mloml.experiments.progress import Board

# Columns of ``failures.csv``; ``command`` runs just this cell again.
FAILURE_COLUMNS = (
    "dataset", "algorithm", "split", "status", "error", "message", "command", "seed", "config", "traceback",
)  # fmt: skip

# How many times as long as a refresh of the result files took one waits at least before the next: it takes
# its time from the workers, where each core has one.
REFRESH_PAUSE = 100

# Pause between looks at cells that another run computes.
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class StudyResult:
    """What a study has come to, at its end or while it runs.

    Attributes
    ----------
    study : Study
    folder : Path
        Where ``cells.csv``, ``failures.csv`` and ``manifest.json`` are.
    frame : DataFrame
        One row per cell, see :data:`mloml.experiments.store.COLUMNS`; the status of those not computed is
        ``missing``.
    records : list of dict
        The records of the finished cells, in the order of ``frame``.
    failures : DataFrame
        One row per failed cell, see :data:`FAILURE_COLUMNS`.
    missing : dict
        Datasets that are not available, and how to provide them.
    computed, reused : int
        Cells computed by this run, and found in the store.
    sources : dict
        Which data each dataset's cells stand for.
    command : str
        That asked for the study.
    """

    study: Study
    folder: Path
    frame: pd.DataFrame
    records: list[Record]
    failures: pd.DataFrame
    missing: dict[str, str]
    computed: int = 0
    reused: int = 0
    sources: dict[str, Source] = field(default_factory=dict)
    command: str = ""

    @property
    def finished(self) -> bool:
        """Whether every cell was computed or has failed."""
        return not (self.frame["status"] == "missing").any()


# Writes tables from a result, and returns what they say in a sentence.
Refresh = Callable[[StudyResult], str]


def run_study(
    study: Study,
    folder: Path | None = None,
    refresh: Refresh | None = None,
    *,
    command: Command | None = None,
    only_at_end: bool = False,
    board: Board | None = None,
) -> StudyResult:
    """Compute the cells of a study that are not stored yet, and write its result files.

    Parameters
    ----------
    study : Study
    folder : Path, optional
        For the result files; ``<results>/<study.name>`` by default. Cells go to ``<results>/store``.
    refresh : callable, optional
        Called every few seconds while cells come in, and at the end.
    command : Command, optional
        That asked for the study; this process's by default.
    only_at_end : bool
        Do not call ``refresh`` while cells come in.
    board : Board, optional
        That shows the progress of several studies, such as the jobs of a sweep; what came out is not printed.

    Raises
    ------
    StoreError
        When results cannot be stored; finished cells are kept.
    SystemExit
        With code 130 after Ctrl-C, when the store is consistent and the files are written.
    """
    folder = Path(folder or Path(study.execution.results, study.name))
    run = Run(study, folder, None if only_at_end else refresh, command or process_command(), board)
    run.store.require_writable()
    with one_interruption(), running(folder):
        try:
            return run.carry_out(refresh)
        except KeyboardInterrupt:
            run.save("interrupted")
            run.say(f"interrupted: {run.count()}; to go on: {run.command.typed}")
            raise SystemExit(INTERRUPTED) from None


class Run:
    """The state of one run."""

    def __init__(
        self, study: Study, folder: Path, refresh: Refresh | None, command: Command, board: Board | None
    ) -> None:
        from rich.console import Console

        self.study, self.folder, self.refresh = study, folder, refresh
        self.command, self.board = command, board
        self.store = Store(Path(study.execution.results, "store"))
        self.console = board.console if board else Console(highlight=False)
        self.started = time.time()
        self.plan: Plan | None = None
        self.records: dict[str, Record] = {}
        self.failures: dict[str, Outcome] = {}
        self.computed = 0
        self._next_refresh = time.monotonic() + study.execution.refresh

    def carry_out(self, refresh: Refresh | None) -> StudyResult:
        """Compute what is missing, write the files, print what came out."""
        from mloml.experiments.progress import print_summary

        self.plan = self._take_stock()
        self._seal("running", self._write_cells())
        try:
            self._execute(self.plan)
            result = self._write_cells()
            headline = refresh(result) if refresh is not None else ""
            self._seal("complete" if (result.frame["status"] == "ok").all() else "incomplete", result)
        except MlomlError as error:
            with suppress(StoreError):
                self.save("interrupted")
            if not str(error):  # nobody reads on
                raise
            raise type(error)(f"{error}; {self.count()}; to go on: {self.command.typed}") from None
        if self.board is None:
            print_summary(result, self.console, headline)
        return result

    def say(self, line: str) -> None:
        """Print a line as it is."""
        if self.board is not None:
            self.board.say(line)
        else:
            self.console.print(line, soft_wrap=True, markup=False)

    def count(self) -> str:
        """Say in words how many cells are stored."""
        if self.plan is None:
            return "nothing was computed yet"
        return f"{len(self.records)} of {len(self.plan.cells)} cells are stored and safe"

    def save(self, state: str) -> None:
        """Bring the files up to date in the middle of a run, with what workers stored and could not say."""
        if self.plan is not None:
            self.records |= self.store.get_all(c for c in self.plan.cells if c.key not in self.records)
            self._seal(state, self._write_cells())

    def _take_stock(self) -> Plan:
        """Find the data, the cells, and what is stored of them."""
        from mloml.experiments.code import require_current_code
        from mloml.experiments.key import code_root

        only, splits = self.study.execution.only or [], self.study.protocol.splits
        if any(split >= splits for split in only):
            raise ConfigError(f"execution.only={only}: must be splits from 0 to {splits - 1}")
        learners = (algorithm.learner for algorithm in self.study.algorithms)
        require_current_code(learners, code_root(self.study.protocol))
        self.store.clear_leftovers()
        clear(self.folder, ".*.tmp")
        if changed := other_settings(self.folder, self.study):
            self.say(f"replaced: {self.folder} held a run with other {', '.join(changed)}")
        plan = make_plan(self.study, self.say)
        self.records = self.store.get_all(plan.cells)
        for path, reason in self.store.damaged.items():
            self.say(f"damaged: {path} is computed again ({reason})")
        return plan

    def _wanted(self, plan: Plan) -> list[Cell]:
        only = self.study.execution.only
        todo = (cell for cell in plan.cells if cell.key not in self.records)
        return [cell for cell in todo if only is None or cell.split in only]

    def _execute(self, plan: Plan) -> None:
        """Compute what is missing."""
        from mloml.experiments.backends import LocalBackend, open_backend
        from mloml.experiments.progress import Board, cell_count

        wanted = in_turn(self._wanted(plan))
        reused = f"{cell_count(len(self.records))} reused"
        if self.board is None and (self.records or not wanted):
            self.say(f"{reused}, {len(wanted)} to compute" if wanted else f"nothing to compute: {reused}")
        board = self.board or Board(self.console, wanted)
        for record in self.records.values():
            board.estimate.learn(record)
        keys = {cell.key for cell in wanted}
        for cell in (cell for cell in plan.cells if self.board and cell.key not in keys):
            board.count(cell)
        if not wanted:
            return
        run = uuid4().hex
        jobs = [plan.job(cell, self.store.folder, run) for cell in wanted]
        backend = open_backend(self.study.execution, Path(self.study.execution.results, "jobs"))
        board.estimate.workers = backend.n_jobs
        with closing(backend), nullcontext() if self.board else board:
            if backend.remark:
                board.say(backend.remark)
            try:
                if isinstance(backend, LocalBackend):
                    backend.compile(jobs, board.compiling)
                with closing(final_outcomes(backend, jobs, self.store, board.say)) as outcomes:
                    self._follow(outcomes, {cell.key: cell for cell in wanted}, board)
            except KeyboardInterrupt:
                board.say("stopping; finished cells are stored")
                raise

    def _follow(self, outcomes: Iterable[Outcome], wanted: dict[str, Cell], board: Board) -> None:
        for outcome in outcomes:
            self._take(wanted[outcome.key], outcome, board)
            if time.monotonic() >= self._next_refresh:
                self._refresh_in_between(board)
            if self.failures and self.study.execution.fail_fast:
                board.say("stopped at the first failure (execution.fail_fast=true)")
                break

    def _take(self, cell: Cell, outcome: Outcome, board: Board) -> None:
        if outcome.state == "halt":
            raise (StoreError if outcome.error == "StoreError" else MlomlError)(outcome.message)
        if outcome.state in ("ok", "found"):
            record = self.store.get(cell)
            if record is None:
                raise StoreError(f"{self.store.path(cell)}: was stored and is not there")
            self.records[cell.key] = record
            self.computed += outcome.state == "ok"
            board.estimate.learn(record)
        else:
            self.failures[cell.key] = outcome
            place = f"{cell.dataset}/{cell.algorithm.name}, split {cell.split}"
            board.say(f"{outcome.state}: {place}: {outcome.error}: {outcome.message}")
        board.count(cell, cell.key in self.failures)

    def _refresh_in_between(self, board: Board) -> None:
        """Bring the result files up to date, but never spend more than a hundredth of the time on it."""
        start = time.monotonic()
        result = self._write_cells()
        try:
            if self.refresh is not None:
                self.refresh(result)
        except MlomlError:
            raise
        except Exception as error:  # tables over half of the cells must not cost the other half
            board.say(f"tables not refreshed: {type(error).__name__}: {error}")
        now = time.monotonic()
        self._next_refresh = now + max(self.study.execution.refresh, REFRESH_PAUSE * (now - start))

    def _write_cells(self) -> StudyResult:
        """Bring ``cells.csv`` and ``failures.csv`` up to date."""
        assert self.plan is not None
        cells, computed = self.plan.cells, self.computed
        frame = cells_frame(cells, self.records, {key: end.state for key, end in self.failures.items()})
        records = [self.records[cell.key] for cell in cells if cell.key in self.records]
        failed = [(cell, self.failures[cell.key]) for cell in cells if cell.key in self.failures]
        failures, missing = failures_frame(self.command, failed), dict(self.plan.missing)
        write_atomically(self.folder / "cells.csv", frame.to_csv(index=False))
        write_atomically(self.folder / "failures.csv", failures.to_csv(index=False))
        counts, sources = (computed, len(records) - computed), dict(self.plan.sources)
        result = self.study, self.folder, frame, records, failures, missing, *counts, sources
        return StudyResult(*result, self.command.asked)

    def _seal(self, state: str, result: StudyResult) -> None:
        """Write the manifest; its state tells a finished artefact from an unfinished one."""
        about: dict[str, Any] = {"command": result.command, "state": state, "records": result.records}
        about["wall_seconds"] = time.time() - self.started
        write_manifest(self.folder, self.study, result.frame, result.sources, **about)


def final_outcomes(
    backend: Backend, jobs: Sequence[Job], store: Store, say: Callable[[str], None]
) -> Generator[Outcome]:
    """Yield one final outcome per job.

    Cells that another run is computing are left to it: the others come first, then its results are waited
    for. One that it lets go of without a result is computed here after all.
    """
    pending = {job.cell.key: job for job in jobs}
    while pending:
        busy = []
        with closing(backend.run(list(pending.values()))) as outcomes:
            for outcome in outcomes:
                if outcome.state == "busy":
                    busy.append(outcome.key)
                else:
                    yield outcome
        pending = {key: pending[key] for key in busy}
        if pending:
            say(f"another run on this folder computes {len(pending)} of the cells; waiting for it")
        while pending:
            found = [end for job in pending.values() if (end := stored(job, "found"))]
            for outcome in found:
                del pending[outcome.key]
                yield outcome
            if not all(is_held(store.claim(job.cell, "lock")) for job in pending.values()):
                break
            time.sleep(POLL_SECONDS if pending else 0)


def failures_frame(command: Command, failed: Iterable[tuple[Cell, Outcome]]) -> pd.DataFrame:
    """Return the frame behind ``failures.csv``: one row per failed cell, none when all went well."""
    import pandas as pd

    from mloml.experiments.splits import derive_seed

    rows = []
    for cell, outcome in failed:
        seeds = {
            purpose: derive_seed(cell.protocol.seed, cell.dataset, cell.split, purpose)
            for purpose in ("split", "folds", "stream")
        }
        config: dict[str, Any] = dataclasses.asdict(cell)
        names = cell.dataset, cell.algorithm.name, cell.split
        what = outcome.state, outcome.error, outcome.message, command.of_split(cell.split), json.dumps(seeds)
        rows.append((*names, *what, json.dumps(config, sort_keys=True), outcome.traceback))
    return pd.DataFrame(rows, columns=list(FAILURE_COLUMNS))
