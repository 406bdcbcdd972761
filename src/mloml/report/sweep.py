"""One table for a whole sweep, from what its jobs came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml.experiments.summary import FILE_WIDTH
from mloml.report.files import write_csv, write_file
from mloml.report.markdown import frame_to_markdown

if TYPE_CHECKING:
    from mloml.experiments.result import StudyResult


FORMS = {"error": "{:.4f}", "std": "{:.4f}", "seconds": "{:.2f}"}
"""How the measured columns are shown; ``sweep.csv`` holds them as numbers."""


def write_sweep(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``sweep.csv`` and ``sweep.md`` over the jobs of a sweep, print the table and tell where it is."""
    table = pd.DataFrame(rows)
    write_csv(folder / "sweep.csv", table)
    write_file(folder / "sweep.md", frame_to_markdown(_in_words(table)) + "\n")
    _print(table, folder)


def job_row(overrides: Sequence[str], result: StudyResult | None) -> dict[str, Any]:
    """Return a job's overrides, mean and standard deviation of its error, splits and seconds.

    A job that was refused has no result; an error over fewer splits than asked for is left out, not averaged
    in silence.
    """
    row: dict[str, Any] = dict(word.partition("=")[::2] for word in overrides)
    if result is None:
        return row | {"error": None, "std": None, "splits": 0, "failed": 0, "seconds": 0.0}
    cells = result.frame
    done = cells[cells["status"] == "ok"]
    whole = len(cells) > 0 and len(done) == len(cells)
    return row | {
        "error": round(float(done["error"].mean()), 4) if whole else None,
        "std": round(float(done["error"].std(ddof=1)), 4) if whole and len(done) > 1 else None,
        "splits": len(done),
        "failed": len(cells) - len(done),
        "seconds": round(float(done["seconds"].sum()), 2),
    }


def _in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as it is shown: as many decimals in every row, a dash where there is no number."""
    words = table.astype(object).where(table.notna(), "–")
    for name, form in FORMS.items():
        if name in table:
            words[name] = [value if value == "–" else form.format(value) for value in words[name]]
    return words.astype(str)


def _print(table: pd.DataFrame, folder: Path) -> None:
    """Print what varies and what came of it; the files have every column."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=FILE_WIDTH)
    varying = [name for name in table.columns if name in ("error", "std") or len(set(table[name])) > 1]
    shown = Table(title="Sweep")
    for name in varying:
        numeric = pd.api.types.is_numeric_dtype(table[name])
        shown.add_column(name.split(".")[-1], justify="right" if numeric else "left", no_wrap=numeric)
    for row in _in_words(table)[varying].itertuples(index=False):
        shown.add_row(*row)
    console.print(shown)
    console.print(f"written: {folder / 'sweep.csv'}, {folder / 'sweep.md'}", soft_wrap=True)
