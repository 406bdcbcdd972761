"""One table for a whole sweep, from the cells its jobs left behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from mloml.reporting.files import write_csv, write_file
from mloml.reporting.markdown import frame_to_markdown

NOTE = "overrides.json"


class SweepTable(Callback):
    """Hydra callback: when a multirun ends, write ``sweep.csv`` and ``sweep.md`` over all of its jobs."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Collect the jobs' cells and tell where the table is."""
        folder = Path(config.hydra.sweep.dir)
        table = sweep_table(folder)
        write_csv(folder / "sweep.csv", table)
        write_file(folder / "sweep.md", frame_to_markdown(table) + "\n")
        _print(table, folder)


def note_overrides(folder: Path, overrides: Sequence[str]) -> None:
    """Leave a job's overrides beside its results: they are its row in the sweep's table."""
    write_file(folder / NOTE, json.dumps(list(overrides)))


def sweep_table(folder: Path) -> pd.DataFrame:
    """Return one row per job: its overrides, mean and standard deviation of the error, splits, seconds."""
    rows = []
    for note in sorted(folder.glob(f"*/{NOTE}"), key=lambda path: int(path.parent.name)):
        pairs = [word.split("=", 1) for word in json.loads(note.read_text(encoding="utf-8"))]
        rows.append(dict(pairs) | _job_summary(note.parent / "cells.csv"))
    return pd.DataFrame(rows)


def _job_summary(cells_file: Path) -> dict[str, Any]:
    """Summarise a job; an error over fewer splits than asked for is left out, not averaged in silence."""
    if not cells_file.is_file():
        return {"error": None, "std": None, "splits": 0, "failed": 0, "seconds": 0.0}
    cells = pd.read_csv(cells_file)
    done = cells[cells["status"] == "ok"]
    whole = len(cells) > 0 and len(done) == len(cells)
    return {
        "error": round(float(done["error"].mean()), 4) if whole else None,
        "std": round(float(done["error"].std(ddof=1)), 4) if whole and len(done) > 1 else None,
        "splits": len(done),
        "failed": len(cells) - len(done),
        "seconds": round(float(done["seconds"].sum()), 2),
    }


def _print(table: pd.DataFrame, folder: Path) -> None:
    """Print what varies and what came of it; the files have every column."""
    from rich.console import Console
    from rich.table import Table

    varying = [name for name in table.columns if name in ("error", "std") or len(set(table[name])) > 1]
    shown = Table(title="Sweep")
    for name in varying:
        numeric = pd.api.types.is_numeric_dtype(table[name])
        shown.add_column(name.split(".")[-1], justify="right" if numeric else "left", no_wrap=numeric)
    for row in table[varying].itertuples(index=False):
        shown.add_row(*("–" if pd.isna(value) else str(value) for value in row))
    console = Console()
    console.print(shown)
    console.print(f"written: {folder / 'sweep.csv'}, {folder / 'sweep.md'}", soft_wrap=True)
