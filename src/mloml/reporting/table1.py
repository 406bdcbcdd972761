"""Table I: the datasets, the paper's figures beside ours."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mloml.reporting.files import write_csv, write_text
from mloml.reporting.findings import write_findings
from mloml.reporting.latex import frame_to_latex
from mloml.reporting.markdown import document, escape, frame_to_markdown

SIZES = ("instances", "features", "classes")


def write_table1(frame: pd.DataFrame, folder: Path, command: str) -> None:
    """Write table1.csv, .md and .tex from a frame of :func:`mloml.datasets.overview.overview`."""
    write_csv(folder / "table1.csv", frame)
    write_findings(folder, command, difference_sentence(frame))
    shown = _shown(frame)
    pairs = zip(frame["dataset"], frame["note"], strict=True)
    notes = [f"{name}: {note}" for name, note in pairs if note]
    listed = "\n".join(f"- {escape(note)}" for note in notes)
    lacking = "\n".join(f"- {escape(reason)}" for reason in missing_lines(frame))
    parts = [difference_sentence(frame), frame_to_markdown(shown), listed, lacking]
    write_text(folder / "table1.md", document("Table I: the datasets", parts, command))
    caption = "The datasets: the paper's figures, and ours."
    write_text(folder / "table1.tex", frame_to_latex(shown, caption, "tab:table1", notes))


def difference_sentence(frame: pd.DataFrame) -> str:
    """Say where ours differ from the paper's figures, and what is missing."""
    here = frame[frame["instances"].notna() & frame["paper_instances"].notna()]
    different = [
        f"{row['dataset']} ({size}: {row[size]}, paper {row[f'paper_{size}']})"
        for _, row in here.iterrows()
        for size in SIZES
        if row[size] != row[f"paper_{size}"]
    ]
    missing = list(frame.loc[frame["instances"].isna(), "dataset"])
    text = f"{len(here)} of {len(frame)} datasets are here. "
    text += f"Different from the paper: {'; '.join(different)}." if different else "All agree with the paper."
    return text + (f" Missing: {', '.join(missing)}." if missing else "")


def missing_lines(frame: pd.DataFrame) -> list[str]:
    """Return why datasets are missing, each reason once."""
    return list(dict.fromkeys(reason for reason in frame["missing"] if reason))


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the printed columns, with a dash where there is nothing."""
    shown = pd.DataFrame({"dataset": frame["dataset"]})
    for size in SIZES:
        shown[f"{size} (paper)"] = frame[f"paper_{size}"]
        shown[size] = frame[size]
    shown["source"] = frame["source"]
    return shown.astype(object).where(shown.notna(), "–")
