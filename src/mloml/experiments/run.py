"""One run of a study while it lasts: what is stored, what comes in, and the files that follow it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from rich.console import Console

from mloml.command_line import Command
from mloml.errors import ConfigError, MlomlError, StoreError
from mloml.experiments.fingerprint import require_current_code
from mloml.experiments.backends import open_backend
from mloml.experiments.failures import failures_frame
from mloml.experiments.inventory import Inventory, in_turn, take_inventory
from mloml.experiments.job import Outcome
from mloml.experiments.progress import Board
from mloml.experiments.result import Refresh, StudyResult
from mloml.experiments.rounds import final_outcomes
from mloml.experiments.summary import cell_count
from mloml.files import clear, write_atomically
from mloml.experiments.manifest import write_manifest
from mloml.experiments.stale import stale_lines
from mloml.experiments.store import Record, Store, cells_frame

if TYPE_CHECKING:
    from mloml.config.schema import Study
    from mloml.experiments.cell import Cell

FAILURES = ("failed", "killed", "timeout")

REFRESH_PAUSE = 100
"""How many times as long as a refresh of the result files took one waits at least before the next: it takes
its time from the workers, where each core has one."""


class Run:
    """The state of one run."""

    def __init__(
        self, study: Study, folder: Path, refresh: Refresh | None, command: Command, one_line: str
    ) -> None:
        self.study = study
        self.one_line = one_line
        self.command = command
        self.folder = folder
        self.refresh = refresh
        self.store = Store(Path(study.execution.results, "store"))
        self.console = Console(highlight=False)
        self.name = uuid4().hex
        self.started = time.time()
        self.inventory = Inventory(study)
        self.records: dict[str, Record] = {}
        self.failures: dict[str, Outcome] = {}
        self.computed = 0
        self._result: tuple[tuple[int, int], StudyResult] | None = None
        self._next_refresh = time.monotonic() + study.execution.refresh

    def say(self, line: str) -> None:
        """Print a line as it is."""
        self.console.print(line, soft_wrap=True, markup=False)

    def look_again(self) -> None:
        """Take in what workers stored whose word was not heard any more."""
        unheard = [cell for cell in self.inventory.cells if cell.key not in self.records]
        self.records |= self.store.get_all(unheard)

    def count(self) -> str:
        """Say in words how many cells are stored."""
        return f"{len(self.records)} of {len(self.inventory.cells)} cells are stored and safe"

    def take_stock(self) -> None:
        """Find the data, the cells, and what is stored of them."""
        self._require_splits()
        require_current_code(algorithm.learner for algorithm in self.study.algorithms)
        self.store.require_writable()
        self.store.clear_leftovers()
        clear(self.folder, ".*.tmp")
        self.inventory = take_inventory(self.study, self.say)
        self.records = self.store.get_all(self.inventory.cells)
        for path, reason in self.store.damaged.items():
            self.say(f"damaged: {path} is computed again ({reason})")
        # Jobs of a sweep differ by design: what the others stored is not stale.
        for line in [] if self.one_line else stale_lines(self.store, self._wanted()):
            self.say(line)

    def _require_splits(self) -> None:
        only, splits = self.study.execution.only or [], self.study.protocol.splits
        if any(split >= splits for split in only):
            raise ConfigError(
                f"execution.only={only}: must be splits from 0 to {splits - 1} (protocol.splits)"
            )

    def _wanted(self) -> list[Cell]:
        only = self.study.execution.only
        todo = (cell for cell in self.inventory.cells if cell.key not in self.records)
        return [cell for cell in todo if only is None or cell.split in only]

    def execute(self) -> None:
        """Compute what is missing."""
        wanted = {cell.key: cell for cell in self._wanted()}
        if not wanted:
            if not self.one_line:
                self.say(f"nothing to compute: {cell_count(len(self.records))} reused")
            return
        if self.records and not self.one_line:
            self.say(f"{cell_count(len(self.records))} reused, {len(wanted)} to compute")
        backend = open_backend(self.study.execution, Path(self.study.execution.results, "jobs"))
        with closing(backend), self._board(wanted.values(), backend.n_jobs) as board:
            for record in self.records.values():
                board.estimate.learn(record)
            if backend.remark:
                board.say(backend.remark)
            cells = in_turn(wanted.values())
            folder = self.store.folder.resolve()
            jobs = [self.inventory.job(cell, folder, self.name) for cell in cells]
            try:
                self._follow(final_outcomes(backend, jobs, self.store, board.say), wanted, board)
            except KeyboardInterrupt:
                board.say("stopping; finished cells are stored, waiting for the workers to end")
                raise

    def _board(self, cells: Iterable[Cell], workers: int) -> Board:
        return Board(self.console, list(cells), workers, lines=not self.one_line)

    def _follow(self, outcomes: Generator[Outcome], wanted: dict[str, Cell], board: Board) -> None:
        with closing(outcomes):
            for outcome in outcomes:
                self._take(wanted[outcome.key], outcome, board)
                if self.failures and self.study.execution.fail_fast:
                    board.say("stopped at the first failure (execution.fail_fast=true)")
                    return

    def _take(self, cell: Cell, outcome: Outcome, board: Board) -> None:
        if outcome.state == "halt":
            kind = StoreError if outcome.error == "StoreError" else MlomlError
            raise kind(outcome.message)
        if outcome.state in FAILURES:
            self.failures[cell.key] = outcome
            place = f"{cell.dataset}/{cell.algorithm.name}, split {cell.split}"
            board.say(f"{outcome.state}: {place}: {outcome.error}: {outcome.message}")
        else:
            record = self.store.get(cell)
            if record is None:
                raise StoreError(f"{self.store.path(cell)}: was stored and is not there")
            self.records[cell.key] = record
            self.computed += outcome.state == "ok"
            board.estimate.learn(record)
        board.count(cell, outcome.state in FAILURES)
        if time.monotonic() >= self._next_refresh:
            self._refresh_in_between(board)

    def _refresh_in_between(self, board: Board) -> None:
        """Bring the result files up to date, but never spend more than a hundredth of the time on it."""
        start = time.monotonic()
        result = self.write_cells()
        try:
            if self.refresh is not None:
                self.refresh(result)
        except MlomlError:
            raise
        except Exception as error:  # tables over half of the cells must not cost the other half
            board.say(f"tables not refreshed: {type(error).__name__}: {error}")
        now = time.monotonic()
        self._next_refresh = now + max(self.study.execution.refresh, REFRESH_PAUSE * (now - start))

    def result(self) -> StudyResult:
        """Return what the run has come to; made once as long as no further cell comes in."""
        done = len(self.records), len(self.failures)
        if self._result is None or self._result[0] != done:
            self._result = done, self._make_result()
        return self._result[1]

    def _make_result(self) -> StudyResult:
        cells = self.inventory.cells
        states = {key: outcome.state for key, outcome in self.failures.items()}
        failed = [(cell, self.failures[cell.key]) for cell in cells if cell.key in self.failures]
        return StudyResult(
            study=self.study,
            folder=self.folder,
            frame=cells_frame(cells, self.records, states),
            records=[self.records[cell.key] for cell in cells if cell.key in self.records],
            failures=failures_frame(self.study, failed),
            missing=dict(self.inventory.missing),
            computed=self.computed,
            reused=len(self.records) - self.computed,
            sources=dict(self.inventory.sources),
            command=self.command.asked,
        )

    def write_cells(self) -> StudyResult:
        """Bring ``cells.csv`` and ``failures.csv`` up to date."""
        result = self.result()
        for name, frame in (("cells", result.frame), ("failures", result.failures)):
            write_atomically(self.folder / f"{name}.csv", frame.to_csv(index=False))
        return result

    def seal(self, state: str) -> None:
        """Write the manifest; its state tells a finished artefact from an unfinished one."""
        frame = self.result().frame
        if state == "complete" and not (frame["status"] == "ok").all():
            state = "incomplete"
        write_manifest(
            self.folder,
            self.study,
            frame,
            self.inventory.sources,
            command=self.command.asked,
            state=state,
            wall_seconds=time.time() - self.started,
            records=self.records.values(),
        )
