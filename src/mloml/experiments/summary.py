"""What a run prints at its end: mean errors, what they cost, what failed, where the files are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from mloml.experiments.result import StudyResult

NAME_WIDTH, COLUMN_WIDTH = 16, 14
FILE_WIDTH = 200
"""Files and pipes have no width of their own; 80 characters would cut a table off."""


def print_summary(result: StudyResult, console: Console, headline: str = "") -> None:
    """Print what came out; ``headline`` is what the run's findings say in a sentence."""
    if (result.frame["status"] == "ok").any():
        _print_grid("Mean error over the splits", result, "error", "{:.3f}", console)
        if result.computed:
            _print_grid("Seconds per cell", result, "seconds", "{:.2f}", console)

    def say(line: str) -> None:
        console.print(line, soft_wrap=True, markup=False, highlight=False)

    say(f"{cell_count(result.computed)} computed, {result.reused} reused")
    for words in _unfinished(result):
        say(words)
    if len(result.failures):
        first = result.failures.iloc[0]
        say(f"failures: {result.folder / 'failures.csv'}; the first one again: {first['command']}")
    for name in result.missing:
        say(f"left out: {name} (data not available)")
    if headline:
        say(f"in short: {headline}")
    say(f"results: {result.folder}")


def in_one_line(result: StudyResult) -> str:
    """Return the mean error over all splits, how many cells it took, and what failed."""
    done = result.frame[result.frame["status"] == "ok"]
    failed = _unfinished(result)
    words = [f"mean error {done['error'].mean():.3f}"] if len(done) and not failed else failed
    words += [f"{name} left out (data not available)" for name in result.missing]
    words.append(f"{cell_count(result.computed)} computed, {result.reused} reused")
    if len(result.failures):
        words.append(f"failures: {result.folder / 'failures.csv'}")
    return ", ".join(words)


def _unfinished(result: StudyResult) -> list[str]:
    """Say of how many cells there is no result, and why."""
    states = result.frame["status"].value_counts().items()
    words = {"timeout": "took longer than execution.time_limit", "missing": "not computed"}
    return [f"{cell_count(count)} {words.get(str(state), state)}" for state, count in states if state != "ok"]


def cell_count(count: int) -> str:
    """Return a number of cells in words.

    >>> cell_count(1), cell_count(2)
    ('1 cell', '2 cells')
    """
    return "1 cell" if count == 1 else f"{count} cells"


def _print_grid(title: str, result: StudyResult, column: str, form: str, console: Console) -> None:
    """Print the mean of a column, algorithms by datasets; where splits are missing, how many there are."""
    cells = result.frame
    groups = cells.groupby(["algorithm", "dataset"], sort=False)[column]
    means, counts, totals = groups.mean(), groups.count(), groups.size()
    datasets = [str(name) for name in cells["dataset"].unique()]
    if not console.is_terminal:
        console = Console(file=console.file, width=FILE_WIDTH)
    at_once = max(1, (console.width - NAME_WIDTH) // COLUMN_WIDTH)
    for start in range(0, len(datasets), at_once):
        shown = datasets[start : start + at_once]
        table = Table()
        table.add_column("", no_wrap=True)
        for name in shown:
            table.add_column(name, justify="right")
        for algorithm in result.study.algorithms:
            words = []
            for name in shown:
                group = algorithm.name, name
                if group not in totals:  # left out
                    words.append("")
                    continue
                part = "" if counts[group] == totals[group] else f" ({counts[group]}/{totals[group]})"
                words.append(form.format(means[group]) + part if counts[group] else "–")
            table.add_row(algorithm.title, *words)
        console.print(title, highlight=False)
        console.print(table, highlight=False)
