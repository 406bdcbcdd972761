"""Two protocols side by side: which conclusions of Table II survive without the paper's accidents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mloml.analysis.statistics.compare import win_tie_loss
from mloml.reporting.artefacts.table2 import REFERENCE
from mloml.reporting.captions import caption
from mloml.reporting.document import DASH, MARKS, Artefact, Block, Table, Text, number
from mloml.reporting.labels import labels_of, row_name
from mloml.reporting.recipe import Recipe
from mloml.reporting.tables import Results, summarise

if TYPE_CHECKING:
    from mloml.execution.study import StudyResult

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
        counts = [win_tie_loss(mine[side]) for side in ("paper_mark", "clean_mark")]
        kept = int((mine["survives"] == "yes").sum())
        rows.append((titles.get(algorithm, algorithm), *counts, f"{kept} of {len(mine)}"))
    return pd.DataFrame(rows, columns=["algorithm", "paper", "clean", "conclusions that survive"])


def build(paper_result: StudyResult, clean_result: StudyResult) -> Artefact:
    """Return what Table II says under each protocol, side by side."""
    return compare(*(summarise(r.frame, labels_of(r), REFERENCE) for r in (paper_result, clean_result)))


def compare(paper: Results, clean: Results) -> Artefact:
    """Return both protocols' conclusions side by side, and those that change."""
    conclusions = protocols_frame(paper, clean)
    titles = dict(paper.labels.algorithms)
    counts = counts_frame(conclusions, titles)
    summary = survival(conclusions, paper, clean)
    changed = conclusions[conclusions["survives"] == "no"]
    notes: tuple[Block, ...] = (
        Text((caption("protocols"),)),
        Text((summary,)),
        Text(heading=f"Win/tie/loss of {titles.get(REFERENCE, REFERENCE)}"),
        counts,
        Text(() if len(changed) else ("None.",), heading="Conclusions that change"),
        *([_changes(changed, titles)] if len(changed) else []),
        paper.labels.notes_text(),
    )
    tables = (
        Table("counts", "Win/tie/loss under both protocols", counts),
        Table("conclusions", "Which conclusions survive the clean protocol?", conclusions),
    )
    return Artefact(summary, tables=tables, notes=notes)


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


def _changes(changed: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    rows = [
        (
            cell["dataset"],
            titles.get(cell["algorithm"], cell["algorithm"]),
            f"{number(cell['paper_mean'])}{_word(cell['paper_mark'])}",
            f"{number(cell['clean_mean'])}{_word(cell['clean_mark'])}",
        )
        for cell in changed.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "paper", "clean"])


def _word(mark: str) -> str:
    return f" {MARKS.get(mark, DASH)} ({mark})"


RECIPE = Recipe(
    "protocols",
    "Two protocols side by side",
    "Which conclusions survive when nothing leaks.",
    build,
    protocols=("paper", "clean"),
    experiment="table2",
)
