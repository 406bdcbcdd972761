"""Run a study: every dataset under every algorithm, each split once, whatever happens on the way."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
from rich.console import Console

from mloml.command_line import Command, process_command
from mloml.config.schema import DatasetConfig, DataSettings, ProtocolConfig, Study
from mloml.datasets import Dataset, load, pin
from mloml.errors import DatasetUnavailableError, MlomlError, StoreError, require
from mloml.experiments.backends import Backend, LocalBackend, open_backend
from mloml.experiments.cell import Cell, cells_of_splits
from mloml.experiments.code import require_current_code
from mloml.experiments.job import Job, Outcome, stored
from mloml.experiments.key import code_root
from mloml.experiments.manifest import Source, other_settings, write_manifest
from mloml.experiments.progress import Board, cell_count, print_summary
from mloml.experiments.splits import split_indices
from mloml.experiments.store import Record, Store, cells_frame
from mloml.files import clear, is_held, running, write_atomically
from mloml.output import INTERRUPTED, OutputError, one_interruption

# Columns of ``failures.csv``; ``command`` runs just this cell again.
FAILURE_COLUMNS = (
    "dataset", "algorithm", "split", "status", "error", "message", "command", "seed", "config", "traceback",
)  # fmt: skip

# Pause between looks at cells that another run computes.
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class StudyResult:
    """What a study has come to.

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
Publish = Callable[[StudyResult], str]


def run_study(
    study: Study,
    folder: Path | None = None,
    publish: Publish | None = None,
    *,
    command: Command | None = None,
    board: Board | None = None,
) -> StudyResult:
    """Compute the cells of a study that are not stored yet, and write its result files.

    Parameters
    ----------
    study : Study
    folder : Path, optional
        For the result files; ``<results>/<study.name>`` by default. Cells go to ``<results>/store``.
    publish : callable, optional
        Called at the end.
    command : Command, optional
        That asked for the study; this process's by default.
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
    run = Run(study, folder, command or process_command(), board)
    run.store.require_writable()
    with one_interruption(), running(folder):
        try:
            return run.carry_out(publish)
        except KeyboardInterrupt:
            run.save("interrupted")
            run.board.say(f"interrupted: {run.count()}; to go on: {run.command.typed}")
            raise SystemExit(INTERRUPTED) from None


class Run:
    """The state of one run."""

    def __init__(self, study: Study, folder: Path, command: Command, board: Board | None) -> None:
        self.study, self.folder, self.command = study, folder, command
        self.board, self.alone = board or Board(Console(highlight=False), []), board is None
        self.store = Store(Path(study.execution.results, "store"))
        self.started = time.time()
        self.plan = Plan(study)
        self.records: dict[str, Record] = {}
        self.failures: dict[str, Outcome] = {}
        self.computed = 0

    def carry_out(self, publish: Publish | None) -> StudyResult:
        """Compute what is missing, write the files, print what came out."""
        self._take_stock()
        self._seal("running", self._write_cells())
        try:
            self._execute()
            result = self._write_cells()
            headline = publish(result) if publish is not None else ""
            self._seal("complete" if (result.frame["status"] == "ok").all() else "incomplete", result)
        except (MlomlError, OutputError) as error:
            with suppress(StoreError):
                self.save("interrupted")
            if not str(error):  # nobody reads on
                raise
            raise type(error)(f"{error}; {self.count()}; to go on: {self.command.typed}") from None
        if self.alone:
            print_summary(result, self.board.console, headline)
        return result

    def count(self) -> str:
        """Say in words how many cells are stored."""
        if not self.plan.cells:
            return "nothing was computed yet"
        return f"{len(self.records)} of {len(self.plan.cells)} cells are stored and safe"

    def save(self, state: str) -> None:
        """Bring the files up to date in the middle of a run, with what workers stored and could not say."""
        if self.plan.cells:
            self.records |= self.store.get_all(c for c in self.plan.cells if c.key not in self.records)
            self._seal(state, self._write_cells())

    def _take_stock(self) -> None:
        """Find the data, the cells, and what is stored of them."""
        only, last = self.study.execution.only or [], self.study.protocol.splits - 1
        require(max(only, default=0) <= last, "execution.only", only, f"splits from 0 to {last}")
        learners = (algorithm.learner for algorithm in self.study.algorithms)
        require_current_code(learners, code_root(self.study.protocol))
        self.store.clear_leftovers()
        clear(self.folder, ".*.tmp")
        if changed := other_settings(self.folder, self.study):
            self.board.say(f"replaced: {self.folder} held a run with other {', '.join(changed)}")
        self.plan = make_plan(self.study, self.board.say)
        self.records = self.store.get_all(self.plan.cells)
        for path, reason in self.store.damaged.items():
            self.board.say(f"damaged: {path} is computed again ({reason})")

    def _execute(self) -> None:
        """Compute what is missing."""
        plan, board, only = self.plan, self.board, self.study.execution.only
        missing = [cell for cell in plan.cells if cell.key not in self.records]
        wanted = in_turn(cell for cell in missing if only is None or cell.split in only)
        reused = f"{cell_count(len(self.records))} reused"
        if self.alone and (self.records or not wanted):
            board.say(f"{reused}, {len(wanted)} to compute" if wanted else f"nothing to compute: {reused}")
        keys = {cell.key for cell in wanted}
        if self.alone:
            board.expect(wanted)
        else:
            for cell in (cell for cell in plan.cells if cell.key not in keys):
                board.count(cell)
        for record in self.records.values():
            board.learn(record)
        if not wanted:
            return
        run = uuid4().hex
        jobs = [plan.job(cell, self.store.folder, run) for cell in wanted]
        backend = open_backend(self.study.execution, board.say)
        board.workers = backend.n_jobs
        with closing(backend), board if self.alone else nullcontext():
            try:
                if isinstance(backend, LocalBackend):
                    backend.compile(jobs, board.compiling)
                with closing(final_outcomes(backend, jobs, self.store, board.say)) as outcomes:
                    self._follow(outcomes, {cell.key: cell for cell in wanted})
            except KeyboardInterrupt:
                board.say("stopping; finished cells are stored")
                raise

    def _follow(self, outcomes: Iterable[Outcome], wanted: dict[str, Cell]) -> None:
        for outcome in outcomes:
            self._take(wanted[outcome.key], outcome)
            if self.failures and self.study.execution.fail_fast:
                self.board.say("stopped at the first failure (execution.fail_fast=true)")
                break

    def _take(self, cell: Cell, outcome: Outcome) -> None:
        if outcome.state == "halt":
            raise (StoreError if outcome.error == "StoreError" else MlomlError)(outcome.message)
        if outcome.state in ("ok", "found"):
            record = self.store.get(cell)
            if record is None:
                raise StoreError(f"{self.store.path(cell)}: was stored and is not there")
            self.records[cell.key] = record
            self.computed += outcome.state == "ok"
            self.board.learn(record)
        else:
            self.failures[cell.key] = outcome
            place = f"{cell.dataset}/{cell.algorithm.name}, split {cell.split}"
            self.board.say(f"{outcome.state}: {place}: {outcome.error}: {outcome.message}")
        self.board.count(cell, cell.key in self.failures)

    def _write_cells(self) -> StudyResult:
        """Bring ``cells.csv`` and ``failures.csv`` up to date."""
        cells = self.plan.cells
        frame = cells_frame(cells, self.records, {key: end.state for key, end in self.failures.items()})
        records = [self.records[cell.key] for cell in cells if cell.key in self.records]
        failed = [(cell, self.failures[cell.key]) for cell in cells if cell.key in self.failures]
        failures = failures_frame(self.command, failed)
        write_atomically(self.folder / "cells.csv", frame.to_csv(index=False))
        write_atomically(self.folder / "failures.csv", failures.to_csv(index=False))
        found = self.study, self.folder, frame, records, failures, dict(self.plan.missing)
        counts = self.computed, len(records) - self.computed
        return StudyResult(*found, *counts, dict(self.plan.sources), self.command.asked)

    def _seal(self, state: str, result: StudyResult) -> None:
        """Write the manifest; its state tells a finished artefact from an unfinished one."""
        write_manifest(result, state, time.time() - self.started)


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
    rows = []
    for cell, outcome in failed:
        seeds = {purpose: cell.seed(purpose) for purpose in ("split", "folds", "stream")}
        config: dict[str, Any] = dataclasses.asdict(cell)
        names = cell.dataset, cell.algorithm.name, cell.split
        what = outcome.state, outcome.error, outcome.message, command.of_split(cell.split), json.dumps(seeds)
        rows.append((*names, *what, json.dumps(config, sort_keys=True), outcome.traceback))
    return pd.DataFrame(rows, columns=list(FAILURE_COLUMNS))


@dataclass
class Plan:
    """The cells of a study in the order of its tables; datasets that are not available have none.

    Attributes
    ----------
    cells : list of Cell
    sources : dict
        For the manifest: which data each dataset's cells stand for.
    missing : dict
        Datasets that are not available, and how to provide them.
    pinned : dict
        Where workers find the very data that were found here.
    """

    study: Study
    cells: list[Cell] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    pinned: dict[str, tuple[DatasetConfig, DataSettings]] = field(default_factory=dict)

    def job(self, cell: Cell, store: Path, run: str) -> Job:
        """Return the job that computes a cell, in whatever folder its worker starts."""
        return Job(
            cell, *self.pinned[cell.dataset], str(store.resolve()), run, self.study.execution.time_limit
        )


def make_plan(study: Study, say: Callable[[str], None]) -> Plan:
    """Find the data of a study and list its cells; ``say`` is told, a line each, what is missing.

    Raises
    ------
    DatasetUnavailableError
        When there is none of its datasets.
    ConfigError
        When one of them is too small for the protocol.
    """
    plan, protocol = Plan(study), study.protocol
    for config in study.datasets:
        try:
            data = load(config, study.data)
        except DatasetUnavailableError as error:
            plan.missing[config.name] = str(error)
            continue
        if dropped := data.provenance.get("rows_dropped"):
            say(f"{config.name}: {dropped} rows with missing values left out, {len(data.y)} remain")
        _require_neighbours(protocol, data)
        plan.sources[config.name] = Source(data.checksum, data.source, data.regenerated)
        path = config.path and str(Path(config.path).expanduser().resolve())
        plan.pinned[config.name] = dataclasses.replace(config, path=path), pin(data, study.data)
        for algorithm in study.algorithms:
            if not study.leaves_out(config.name, algorithm.name):
                names = config.name, data.checksum, algorithm, protocol
                plan.cells += cells_of_splits(Cell(*names, 0, study.record, data.X.shape[1]), protocol.splits)
    # A set and the paper's variant of it are missing for one reason, which is said once.
    reasons = list(dict.fromkeys(plan.missing.values()))
    if reasons and not plan.sources:  # files of an earlier run must not be emptied
        others = f" (and no other of the {len(study.datasets)} datasets is available)" if reasons[1:] else ""
        raise DatasetUnavailableError(f"{reasons[0]}{others}")
    for reason in reasons:
        say(f"missing: {reason}")
    return plan


def in_turn(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells in the order to compute them: by dataset, then by split.

    So every algorithm is seen early, and two workers rarely wait for the compiler with the same learner.
    """
    cells = list(cells)
    place = {name: i for i, name in enumerate(dict.fromkeys(cell.dataset for cell in cells))}
    return sorted(cells, key=lambda cell: (place[cell.dataset], cell.split))


def _require_neighbours(protocol: ProtocolConfig, data: Dataset) -> None:
    """Refuse to take more neighbours than there are rows: everybody would vote on every row."""
    if protocol.window is not None:
        return
    half = len(split_indices(data.y, 0, protocol.seed, data.name)[0])
    fold = half - math.ceil(half / protocol.folds)
    why = f"the rows of {data.name} that a fold is trained on (protocol.folds={protocol.folds})"
    require(protocol.neighbours <= fold, "protocol.neighbours", protocol.neighbours, f"at most {fold}, {why}")
