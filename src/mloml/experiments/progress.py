"""What a run prints: how far it is and how long it will take, and at its end what came out."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from mloml.experiments.store import Record

if TYPE_CHECKING:
    from mloml.experiments.cell import Cell
    from mloml.experiments.study import StudyResult

# Pause between plain lines, where there is no terminal for a bar.
LINE_SECONDS = 10.0


class Board(ProgressColumn):
    """Shows progress during a ``with`` block: a bar on a terminal, else a line now and then.

    One board may serve all jobs of a sweep. Lines that several of them say are printed once.

    The time left is guessed from the finished cells of the same dataset and algorithm: cells differ a
    thousandfold in cost, so a mean over all of them would mislead for most of a run.
    """

    def __init__(self, console: Console, cells: Sequence[Cell]) -> None:
        super().__init__()
        self.console, self.workers = console, 1
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._start = self._last_line = time.monotonic()
        self._failed, self._end, self._compiling = 0, 0.0, ""
        self._said: set[str] = set()
        columns = TextColumn("cells"), BarColumn(), MofNCompleteColumn(), self
        self._bar = Progress(*columns, console=console, refresh_per_second=2, disable=not console.is_terminal)
        self._task = self._bar.add_task("")
        self.expect(cells)

    def __enter__(self) -> Board:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def expect(self, cells: Sequence[Cell]) -> None:
        """Set out to count these cells."""
        self._left = Counter((cell.dataset, cell.algorithm.name) for cell in cells)
        self._total = len(cells)
        self._bar.update(self._task, total=self._total)

    def learn(self, record: Record) -> None:
        """Take in what a cell cost."""
        self._seconds[record["dataset"], record["algorithm"]].append(record["seconds"]["total"])

    def seconds_left(self) -> float | None:
        """Return the expected seconds until the end, or None while an algorithm has not been seen."""
        left, known = +self._left, {algorithm for _, algorithm in self._seconds}
        if not known or any(algorithm not in known for _, algorithm in left):
            return None
        means = {group: sum(found) / len(found) for group, found in self._seconds.items()}
        unknown = sum(means.values()) / len(means)
        work = sum(count * means.get(group, unknown) for group, count in left.items())
        return work / min(self.workers, max(1, left.total()))

    def compiling(self, done: int, algorithms: int) -> None:
        """Tell how many algorithms are compiled, before their cells are computed."""
        self._compiling = f"compiling {done + 1} of {algorithms}" if done < algorithms else ""
        self._tell_if_due(self._compiling)

    def count(self, cell: Cell, failed: bool = False) -> None:
        """Count one more cell."""
        self._left[cell.dataset, cell.algorithm.name] -= 1
        self._failed += failed
        self._end = time.monotonic() + (self.seconds_left() or 0.0)
        done = self._total - (+self._left).total()
        self._bar.update(self._task, completed=done)
        self._tell_if_due(f"{done}/{self._total} cells ({100 * done // self._total} %)", done == self._total)

    def _tell_if_due(self, line: str, now: bool = False) -> None:
        due = now or time.monotonic() - self._last_line >= LINE_SECONDS
        if line and due and not self.console.is_terminal:
            self._last_line = time.monotonic()
            self.say(line if self._compiling else f"{line}, {self.words()}")

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        if line not in self._said:
            self.console.print(line, soft_wrap=True, highlight=False, markup=False)
        self._said.add(line)

    def words(self) -> str:
        """Return what is compiled, the time elapsed and left, and the failures."""
        now = time.monotonic()
        words, left = [self._compiling, f"elapsed {clock(now - self._start)}"], self._end - now
        if left >= 1 and +self._left:  # an estimate that is used up says nothing
            words.append(f"about {clock(left)} left")
        return ", ".join(filter(None, [*words, f"{self._failed} failed" if self._failed else ""]))

    def render(self, task: Task) -> Text:
        """Return what stands right of the bar, brought up to date between cells too."""
        return Text(self.words())


def clock(seconds: float) -> str:
    """Return a duration as on a clock.

    >>> clock(75.4), clock(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cell_count(count: int) -> str:
    """Return a number of cells in words.

    >>> cell_count(1), cell_count(2)
    ('1 cell', '2 cells')
    """
    return "1 cell" if count == 1 else f"{count} cells"


def print_summary(result: StudyResult, console: Console, headline: str = "") -> None:
    """Print what came out; ``headline`` is what the run's findings say in a sentence."""
    if (result.frame["status"] == "ok").any():
        _print_grid("Error: mean ± standard deviation over the splits", result, "error", "{:.3f}", console)
        if result.computed:
            _print_grid("Seconds per cell", result, "seconds", "{:.2f}", console)
    lines = [f"{cell_count(result.computed)} computed, {result.reused} reused", *_unfinished(result)]
    if len(result.failures):
        first = result.failures.iloc[0]["command"]
        lines.append(f"failures: {result.folder / 'failures.csv'}; the first one again: {first}")
    lines += [f"left out: {name} (data not available)" for name in result.missing]
    lines += [f"in short: {headline}"] if headline else []
    for line in [*lines, f"results: {result.folder}"]:
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _unfinished(result: StudyResult) -> list[str]:
    """Say of how many cells there is no result, and why."""
    states = result.frame["status"].value_counts().items()
    words = {"timeout": "took longer than execution.time_limit", "missing": "not computed"}
    return [f"{cell_count(count)} {words.get(str(state), state)}" for state, count in states if state != "ok"]


def _print_grid(title: str, result: StudyResult, column: str, form: str, console: Console) -> None:
    """Print means, algorithms by datasets: errors with their deviation, or how many splits there are."""
    titles = {algorithm.name: algorithm.title for algorithm in result.study.algorithms}
    means: dict[str, dict[str, str]] = {}
    for (dataset, algorithm), values in result.frame.groupby(["dataset", "algorithm"], sort=False)[column]:
        part = f"±{form.format(values.std())}" if column == "error" and len(values) > 1 else ""
        part = part if values.notna().all() else f" ({values.count()}/{len(values)})"
        text = form.format(values.mean()) + part if values.count() else "–"
        means.setdefault(str(dataset), {})[titles[str(algorithm)]] = text
    width = console.width if console.is_terminal else None
    table = pd.DataFrame(means, index=[*titles.values()]).to_string(na_rep="", line_width=width)
    console.print(f"{title}\n{table}\n", soft_wrap=True, markup=False, highlight=False)
