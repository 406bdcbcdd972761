"""One table for a whole sweep, from what its jobs came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml.report.publish import write_csv, write_file
from mloml.report.render import frame_to_markdown

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

# How the measured columns are shown; ``sweep.csv`` holds them as numbers.
FORMS = {"error": "{:.4f}", "std": "{:.4f}", "seconds": "{:.2f}"}


def write_sweep(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``sweep.csv`` and ``sweep.md`` over the jobs of a sweep; print the columns that vary."""
    table = pd.DataFrame(rows)
    words = table.astype(object).where(table.notna(), "–")
    for name, form in FORMS.items():
        words[name] = [value if value == "–" else form.format(value) for value in words[name]]
    write_csv(folder / "sweep.csv", table)
    write_file(folder / "sweep.md", frame_to_markdown(words.astype(str)) + "\n")
    shown = [name for name in words if name in ("error", "std") or len(set(words[name])) > 1]
    short = [str(name).split(".")[-1] for name in shown]
    print(words[shown].to_string(index=False, header=short))
    print(f"written: {folder / 'sweep.csv'}, {folder / 'sweep.md'}")


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
    errors = done["error"].astype(float) if 0 < len(done) == len(cells) else pd.Series(dtype=float)
    return row | {
        "error": round(errors.mean(), 4) if len(errors) else None,
        "std": round(errors.std(ddof=1), 4) if len(errors) > 1 else None,
        "splits": len(done),
        "failed": len(cells) - len(done),
        "seconds": round(float(done["seconds"].sum()), 2),
    }
