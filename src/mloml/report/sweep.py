"""A sweep: its jobs one after another, and one table and figure over what they came to."""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from mloml.command_line import Command
from mloml.config.compose import Run
from mloml.config.schema import Study
from mloml.errors import MlomlError, StoreError
from mloml.experiments.cell import Cell
from mloml.experiments.progress import Board
from mloml.experiments.store import cells_frame
from mloml.experiments.study import StudyResult, run_study
from mloml.report.document import Figure, frame_grid
from mloml.report.figures.comparisons import means_figure
from mloml.report.latex import grid_to_latex
from mloml.report.publish import write_csv, write_figure, write_file
from mloml.report.render import frame_to_markdown

# How the measured columns are shown; ``sweep.csv`` holds them as numbers.
FORMS = {"error": "{:.4f}", "std": "{:.4f}", "seconds": "{:.2f}"}
MEASURED = ("error", "std", "splits", "failed", "seconds")
# Begins the columns of parameters that cross-validation chose.
CHOSEN = "chosen."


def run_sweep(jobs: Sequence[Sequence[str]], runs: Sequence[Run], command: Command) -> int:
    """Run all jobs under one progress bar and write their table; return 1 when any cell is missing."""
    cells = [_cells(run.study) for run in runs]
    rows, incomplete = [], []
    with Board(Console(highlight=False), list(chain(*cells))) as board:
        for number, (job, run) in enumerate(zip(jobs, runs, strict=True), start=1):
            chosen, result = [word for word in job if not word.startswith("hydra.")], None
            try:
                result = run_study(run.study, run.folder, command=command, board=board)
            except MlomlError as error:
                label = " ".join([f"job {number} of {len(jobs)}:", *chosen]).rstrip(":")
                print(f"error: {label}: {error}", file=sys.stderr)
                if isinstance(error, StoreError):  # which concerns every job
                    return 1
                for cell in cells[number - 1]:
                    board.count(cell, failed=True)
            rows.append(job_row(chosen, result))
            incomplete += [] if result is not None and result.failures.empty else [run.folder]
    write_sweep(runs[-1].sweep, rows)
    if incomplete:
        print(f"not complete: {', '.join(map(str, incomplete))} (see failures.csv there)")
    return int(bool(incomplete))


def _cells(study: Study) -> list[Cell]:
    """Return the cells of a job before its data are found: enough to count them."""
    names = study.datasets[0].name, "", study.algorithms[0], study.protocol
    return [Cell(*names, split) for split in range(study.protocol.splits)]


def write_sweep(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write and print the jobs of a sweep: CSV, Markdown, LaTeX, and a figure if one or two keys vary."""
    table = pd.DataFrame(rows)
    table = table[[*table.columns.drop([*MEASURED]), *MEASURED]]
    words = table.astype(object).where(table.notna(), "–")
    for name, form in FORMS.items():
        words[name] = [value if value == "–" else form.format(value) for value in words[name]]
    words = words.astype(str)
    shown = [str(name) for name in words if name in ("error", "std") or len(set(words[name])) > 1]
    keys = [name for name in shown if name not in MEASURED and not name.startswith(CHOSEN)]
    short = words[shown].rename(columns=lambda name: name.replace(CHOSEN, "chosen ").split(".")[-1])
    write_csv(folder / "sweep.csv", table)
    write_file(folder / "sweep.md", frame_to_markdown(words) + "\n")
    caption = f"Mean and standard deviation of the error over the splits, by {', '.join(keys) or 'job'}."
    grid = frame_grid(short, f"tab:{folder.name}")
    write_file(folder / "sweep.tex", grid_to_latex(grid, caption))
    if 1 <= len(keys) <= 2 and table["error"].notna().any():
        draw = partial(means_figure, words[keys].assign(mean=table["error"], std=table["std"]), keys)
        write_figure(Figure("sweep", draw), folder)
    print(short.to_string(index=False))
    print(f"results: {folder}")


def job_row(overrides: Sequence[str], result: StudyResult | None) -> dict[str, Any]:
    """Return a job's overrides, mean and standard deviation of its error, splits, seconds and choices.

    A job that was refused has no result; an error over fewer splits than asked for is left out, not averaged
    in silence. A parameter that was chosen in every split is shown by its most frequent value.
    """
    row: dict[str, Any] = dict(word.partition("=")[::2] for word in overrides)
    cells = cells_frame([], {}) if result is None else result.frame
    done = cells[cells["status"] == "ok"]
    errors = done["error"] if len(done) == len(cells) else done["error"][:0]
    choices = [json.loads(text) for text in done["chosen"]]
    for name in dict.fromkeys(name for chosen in choices for name in chosen):
        texts = [json.dumps(chosen[name]) for chosen in choices]
        row[f"{CHOSEN}{name}"] = json.loads(max(sorted(set(texts)), key=texts.count))
    return row | {
        "error": round(errors.mean(), 4) if len(errors) else None,
        "std": round(errors.std(ddof=1), 4) if len(errors) > 1 else None,
        "splits": len(done),
        "failed": len(cells) - len(done),
        "seconds": round(float(done["seconds"].sum()), 2),
    }
