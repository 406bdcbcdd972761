"""Run a study: every dataset under every algorithm, each split once, whatever happens on the way."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mloml.command_line import Command, process_command
from mloml.errors import MlomlError, StoreError
from mloml.experiments.ending import Interruption, one_interruption
from mloml.experiments.result import Refresh, StudyResult
from mloml.experiments.run import Run
from mloml.experiments.summary import in_one_line, print_summary
from mloml.output import INTERRUPTED
from mloml.experiments.collector import collector_as_usual, collector_at_rest
from mloml.experiments.running import running

if TYPE_CHECKING:
    from mloml.config.schema import Study

__all__ = ["Refresh", "StudyResult", "run_study"]


def run_study(
    study: Study,
    folder: Path | None = None,
    refresh: Refresh | None = None,
    *,
    command: Command | None = None,
    only_at_end: bool = False,
    one_line: str = "",
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
    one_line : str
        Say what came out in one line that begins with this, instead of tables: for a job of a sweep.

    Raises
    ------
    StoreError
        When results cannot be stored; finished cells are kept.
    SystemExit
        With code 130 after Ctrl-C, when the store is consistent and the files are written.
    """
    folder = Path(folder or Path(study.execution.results, study.name))
    run = Run(study, folder, None if only_at_end else refresh, command or process_command(), one_line)
    try:
        with running(folder), one_interruption() as interruption:
            return _carry_out(run, refresh, interruption)
    finally:
        collector_as_usual()


def _carry_out(run: Run, refresh: Refresh | None, interruption: Interruption) -> StudyResult:
    headline = ""
    try:
        with collector_at_rest():
            run.take_stock()
    except KeyboardInterrupt:
        interruption.noticed = True
        run.say(f"interrupted before anything was computed; to go on: {run.command.typed}")
        raise SystemExit(INTERRUPTED) from None
    run.seal("running")
    try:
        run.execute()
        result = run.write_cells()
        if refresh is not None:
            headline = refresh(result)
        run.seal("complete")
    except KeyboardInterrupt:
        interruption.noticed = True
        run.look_again()
        run.write_cells()
        run.seal("interrupted")
        run.say(f"interrupted: {run.count()}; to go on: {run.command.typed}")
        raise SystemExit(INTERRUPTED) from None
    except MlomlError as error:
        with suppress(StoreError):
            run.look_again()
            run.write_cells()
            run.seal("interrupted")
        raise type(error)(f"{error}; {run.count()}; to go on: {run.command.typed}") from None
    if run.one_line:
        run.say(f"{run.one_line}: {in_one_line(result)}")
    else:
        print_summary(result, run.console, headline)
    return result
