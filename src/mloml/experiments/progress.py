"""How far a run is and how long it will take: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from mloml.experiments.store import Record

if TYPE_CHECKING:
    from mloml.experiments.cell import Cell

Group = tuple[str, str]

LINE_SECONDS = 10.0
"""Pause between plain lines."""


class Estimate:
    """Guesses the time left from the cells of the same dataset and algorithm that are done.

    Cells differ a thousandfold in cost, so a mean over all of them would mislead for most of a run.
    """

    def __init__(self, cells: Iterable[Cell], workers: int) -> None:
        self._left = Counter(_group(cell) for cell in cells)
        self._workers = workers
        self._seconds: dict[Group, float] = {}
        self._count: Counter[Group] = Counter()

    def learn(self, record: Record) -> None:
        """Take in what a cell cost."""
        group = record["dataset"], record["algorithm"]
        self._seconds[group] = self._seconds.get(group, 0.0) + record["seconds"]["total"]
        self._count[group] += 1

    def count_off(self, cell: Cell) -> None:
        """One less to do."""
        self._left[_group(cell)] -= 1

    def seconds_left(self) -> float | None:
        """Return the expected seconds until the end, or None while an algorithm has not been seen."""
        known = {algorithm for _, algorithm in self._count}
        if not known or any(count and group[1] not in known for group, count in self._left.items()):
            return None
        means = {group: self._seconds[group] / self._count[group] for group in self._count}
        unknown = sum(means.values()) / len(means)
        work = sum(count * means.get(group, unknown) for group, count in self._left.items())
        return work / min(self._workers, max(1, self._left.total()))


class Board:
    """Shows a run's progress for the time of a ``with`` block.

    Where there is no terminal for a bar, it is a line now and then, unless ``lines`` is false.
    """

    def __init__(self, console: Console, cells: list[Cell], workers: int, *, lines: bool = True) -> None:
        self.estimate = Estimate(cells, workers)
        self._lines = lines
        self._console = console
        self._total = len(cells)
        self._done = 0
        self._failed = 0
        self._start = self._last_line = time.monotonic()
        self._end: float | None = None
        self._bar: Progress | None = None

    def __enter__(self) -> Board:
        if self._console.is_terminal:
            columns = TextColumn("cells"), BarColumn(), MofNCompleteColumn(), _Words(self)
            self._bar = Progress(*columns, console=self._console, refresh_per_second=2)
            self._task = self._bar.add_task("", total=self._total)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def count(self, cell: Cell, failed: bool) -> None:
        """Count one more cell."""
        self._done += 1
        self._failed += failed
        self.estimate.count_off(cell)
        left = self.estimate.seconds_left()
        self._end = None if left is None else time.monotonic() + left
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)
        elif self._lines and (
            time.monotonic() - self._last_line >= LINE_SECONDS or self._done == self._total
        ):
            self._last_line = time.monotonic()
            share = 100 * self._done // self._total
            self.say(f"{self._done}/{self._total} cells ({share} %), {self.words()}")

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._console.print(line, soft_wrap=True, highlight=False, markup=False)

    def words(self) -> str:
        """Return the time gone and left, and the failures."""
        now = time.monotonic()
        words = [f"{clock(now - self._start)} gone"]
        left = 0.0 if self._end is None or self._done == self._total else self._end - now
        if left >= 1:  # an estimate that is used up says nothing
            words.append(f"about {clock(left)} left")
        if self._failed:
            words.append(f"{self._failed} failed")
        return ", ".join(words)


class _Words(ProgressColumn):
    """The board's words, brought up to date between cells too."""

    def __init__(self, board: Board) -> None:
        self._board = board
        super().__init__()

    def render(self, task: Task) -> Text:
        """Return what stands right of the bar."""
        return Text(self._board.words())


def clock(seconds: float) -> str:
    """Return a duration in words of a clock.

    >>> clock(75.4)
    '0:01:15'
    """
    return str(timedelta(seconds=round(seconds)))


def _group(cell: Cell) -> Group:
    return cell.dataset, cell.algorithm.name
