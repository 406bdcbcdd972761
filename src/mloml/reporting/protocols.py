"""Two protocols side by side: which conclusions of Table II survive without the paper's accidents."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mloml.reporting.context import notes_paragraph, row_name
from mloml.reporting.files import write_csv, write_text
from mloml.reporting.findings import write_findings
from mloml.reporting.markdown import document, frame_to_markdown
from mloml.reporting.model import DASH, MARKS, number
from mloml.reporting.tables import Results

DIFFERENCES = (
    "`paper` is what the authors did: spect with the last feature as its label, mlprove with its labels "
    "among the features, PCA of wide data over both halves and uncentred. `clean` is the same study without "
    "these accidents: the true diagnosis, the 51 real features, centred PCA fitted on the training half."
)
COLUMNS = (
    "dataset", "algorithm", "paper_mean", "clean_mean", "paper_mark", "clean_mark", "survives",
)  # fmt: skip


def protocols_frame(paper: Results, clean: Results) -> pd.DataFrame:
    """Return both conclusions on each row and algorithm; rows go by the paper's names.

    Only counted datasets that are complete under both protocols are compared.
    """
    sides = [_conclusions(results) for results in (paper, clean)]
    rows = []
    for key, (mean, mark) in sides[0].items():
        if key in sides[1]:
            other_mean, other_mark = sides[1][key]
            rows.append((*key, mean, other_mean, mark, other_mark, "yes" if mark == other_mark else "no"))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _conclusions(results: Results) -> dict[tuple[str, str], tuple[float, str]]:
    counted = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    return {
        (row_name(cell["dataset"]), cell["algorithm"]): (cell["mean"], cell["mark_paired"])
        for cell in counted.to_dict("records")
    }


def counts_frame(conclusions: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    """Return win/tie/loss of the reference under both protocols, over the rows that both have."""
    rows = []
    for algorithm in dict.fromkeys(conclusions["algorithm"]):
        mine = conclusions[conclusions["algorithm"] == algorithm]
        counts = [
            "/".join(str(int((mine[side] == outcome).sum())) for outcome in ("win", "tie", "loss"))
            for side in ("paper_mark", "clean_mark")
        ]
        kept = int((mine["survives"] == "yes").sum())
        rows.append((titles.get(algorithm, algorithm), *counts, f"{kept} of {len(mine)}"))
    return pd.DataFrame(rows, columns=["algorithm", "paper", "clean", "conclusions that survive"])


def write_protocols(paper: Results, clean: Results, reference: str, folder: Path, command: str) -> str:
    """Write ``conclusions.csv``, ``counts.csv`` and ``protocols.md``; return the summary."""
    conclusions = protocols_frame(paper, clean)
    titles = dict(paper.labels.algorithms)
    counts = counts_frame(conclusions, titles)
    summary = survival(conclusions, paper, clean)
    changed = conclusions[conclusions["survives"] == "no"]
    write_findings(folder, command, summary)
    write_csv(folder / "conclusions.csv", conclusions)
    write_csv(folder / "counts.csv", counts)
    parts = [
        DIFFERENCES,
        summary,
        f"## Win/tie/loss of {titles.get(reference, reference)}\n\n" + frame_to_markdown(counts),
        "## Conclusions that change\n\n" + (_changes(changed, titles) if len(changed) else "None."),
        notes_paragraph(paper.labels),
    ]
    write_text(folder / "protocols.md", document("Two protocols side by side", parts, command))
    return summary


def survival(conclusions: pd.DataFrame, paper: Results, clean: Results) -> str:
    """Say how many conclusions survive, and which rows could not be compared."""
    if conclusions.empty:
        return "No row is complete under both protocols yet."
    kept, marked = int((conclusions["survives"] == "yes").sum()), conclusions["paper_mark"] != "tie"
    still = int((conclusions.loc[marked, "survives"] == "yes").sum())
    compared = set(conclusions["dataset"])
    asked = dict.fromkeys(row_name(name) for side in (paper, clean) for name in side.labels.counted)
    absent = [name for name in asked if name not in compared]
    gap = f" Not compared, because incomplete or not asked for: {', '.join(absent)}." if absent else ""
    return (
        f"{kept} of {len(conclusions)} conclusions are the same under both protocols, over {len(compared)} "
        f"datasets; of the {int(marked.sum())} significant ones under `paper`, {still} survive.{gap}"
    )


def _changes(changed: pd.DataFrame, titles: dict[str, str]) -> str:
    rows = [
        (
            cell["dataset"],
            titles.get(cell["algorithm"], cell["algorithm"]),
            f"{number(cell['paper_mean'])}{_word(cell['paper_mark'])}",
            f"{number(cell['clean_mean'])}{_word(cell['clean_mark'])}",
        )
        for cell in changed.to_dict("records")
    ]
    return frame_to_markdown(pd.DataFrame(rows, columns=["dataset", "algorithm", "paper", "clean"]))


def _word(mark: str) -> str:
    return f" {MARKS.get(mark, DASH)} ({mark})"
