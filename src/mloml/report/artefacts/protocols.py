"""Two protocols side by side: which conclusions of Table II stay without the paper's accidents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from mloml.paper.statistics.compare import win_tie_loss
from mloml.report.artefacts.table2 import REFERENCE
from mloml.report.captions import caption
from mloml.report.document import DASH, MARKS, Artefact, Block, Table, Text, number
from mloml.report.labels import labels_of, row_name
from mloml.report.parts.differing import differing_cells
from mloml.report.recipe import Recipe
from mloml.report.tables import Results, summarise

if TYPE_CHECKING:
    from mloml.experiments.study import StudyResult

COLUMNS = (
    "dataset", "algorithm", "paper_mean", "clean_mean", "paper_mark", "clean_mark", "same",
    "paper_mark_corrected", "clean_mark_corrected", "same_corrected", "differs_by",
)  # fmt: skip
Differing = Mapping[tuple[str, str], tuple[str, ...]]
"""Why the cells of a row and algorithm differ between the protocols; equal cells are left out."""


def protocols_frame(paper: Results, clean: Results, differing: Differing) -> pd.DataFrame:
    """Return both conclusions on each row and algorithm; rows go by the paper's names.

    Only counted datasets that are complete under both protocols are compared. ``differs_by`` is empty where
    method and reference have the same errors under both, so that the conclusion cannot change: their cells
    are the same, or what differs between the protocols made no difference in any split.
    """
    sides = [_conclusions(results) for results in (paper, clean)]
    rows = []
    for key, ours in sides[0].items():
        if key in sides[1]:
            row, algorithm = key
            other = sides[1][key]
            names = (algorithm, ours["reference"])
            reasons = [r for name in names for r in differing.get((row, name), ())]
            if all(
                paper.errors[ours["dataset"], name] == clean.errors[other["dataset"], name] for name in names
            ):
                reasons = []
            marks = [
                (ours[mark], other[mark], "yes" if ours[mark] == other[mark] else "no")
                for mark in ("mark_paired", "mark_corrected")
            ]
            why = ", ".join(dict.fromkeys(reasons))
            rows.append((row, algorithm, ours["mean"], other["mean"], *marks[0], *marks[1], why))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _conclusions(results: Results) -> dict[tuple[str, str], dict[Any, Any]]:
    counted = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    return {(row_name(cell["dataset"]), cell["algorithm"]): cell for cell in counted.to_dict("records")}


def counts_frame(conclusions: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return win/tie/loss of the reference under both protocols, over comparisons that can change."""
    can = conclusions[conclusions["differs_by"] != ""]
    rows = []
    for algorithm in dict.fromkeys(can["algorithm"]):
        mine = can[can["algorithm"] == algorithm]
        counts = [win_tie_loss(mine[side]) for side in ("paper_mark", "clean_mark")]
        rows.append(
            (titles.get(algorithm, algorithm), *counts, _of(mine, "same"), _of(mine, "same_corrected"))
        )
    return pd.DataFrame(rows, columns=["algorithm", "paper", "clean", *SAME.values()])


def reasons_frame(conclusions: pd.DataFrame) -> pd.DataFrame:
    """Count, for each thing that differs, the comparisons that it can change and those that stay the same."""
    can = conclusions[conclusions["differs_by"] != ""]
    rows = [
        (reason, *(_of(mine, column) for column in SAME))
        for reason, mine in can.groupby("differs_by", sort=False)
    ]
    return pd.DataFrame(rows, columns=["what differs", *SAME.values()])


SAME = {"same": "same conclusion", "same_corrected": "same by the corrected test"}


def _of(cells: pd.DataFrame, column: str) -> str:
    return f"{int((cells[column] == 'yes').sum())} of {len(cells)}"


def build(paper_result: StudyResult, clean_result: StudyResult) -> Artefact:
    """Return what Table II says under each protocol, side by side."""
    paper, clean = (summarise(r.frame, labels_of(r), REFERENCE) for r in (paper_result, clean_result))
    return compare(paper, clean, differing_cells(paper_result, clean_result))


def compare(paper: Results, clean: Results, differing: Differing) -> Artefact:
    """Return both protocols' conclusions side by side, and those that change."""
    conclusions = protocols_frame(paper, clean, differing)
    titles = dict(paper.labels.algorithms)
    counts, reasons = counts_frame(conclusions, titles), reasons_frame(conclusions)
    summary, findings = survival(conclusions, paper, clean), reason_sentences(conclusions, titles)
    changed = conclusions[conclusions["same"] == "no"]
    notes: tuple[Block, ...] = (
        Text((caption("protocols"),)),
        Text((summary,)),
        Text(findings, heading="What differs, and what it changes" if findings else "", listed=True),
        *([reasons] if len(reasons) else []),
        Text(heading=f"Win/tie/loss of {titles.get(REFERENCE, REFERENCE)}, where it can change"),
        counts,
        Text(() if len(changed) else ("None.",), heading="Conclusions that change"),
        *([_changes(changed, titles)] if len(changed) else []),
        paper.labels.notes_text(),
    )
    tables = (
        Table("counts", "Win/tie/loss under both protocols, where it can change", counts),
        Table("reasons", "What differs between the protocols", reasons),
        Table("conclusions", "Every comparison under both protocols", conclusions),
    )
    return Artefact(summary, findings, tables=tables, notes=notes)


def survival(conclusions: pd.DataFrame, paper: Results, clean: Results) -> str:
    """Say how many of the conclusions that can change stay the same, and which rows could not be compared."""
    if conclusions.empty:
        return "No row is complete under both protocols yet."
    compared = set(conclusions["dataset"])
    asked = dict.fromkeys(row_name(name) for side in (paper, clean) for name in side.labels.counted)
    absent = [name for name in asked if name not in compared]
    gap = f" Not compared, because incomplete or not asked for: {', '.join(absent)}." if absent else ""
    can = conclusions[conclusions["differs_by"] != ""]
    same_cells = len(conclusions) - len(can)
    fixed = (
        f"{same_cells} of {len(conclusions)} comparisons have the same errors in every split under both "
        "protocols"
    )
    if can.empty:
        return f"{fixed}: nothing can change.{gap}"
    wins, sure = (can[can[mark] != "tie"] for mark in ("paper_mark", "paper_mark_corrected"))
    stay = f"{_of(sure, 'same_corrected')} stay" if len(sure) else "there is none"
    return (
        f"{_of(can, 'same')} comparisons that can change between the protocols come to the same conclusion "
        f"by the paper's paired test; of those that are significant under `paper`, {_of(wins, 'same')} stay. "
        f"By the corrected test {_of(can, 'same_corrected')} come to the same; of those that are significant "
        f"under `paper` by it, {stay}. {fixed} and cannot change.{gap}"
    )


def reason_sentences(conclusions: pd.DataFrame, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Say for each thing that differs how many conclusions it changes, and which."""
    sentences = []
    for reason, mine in conclusions[conclusions["differs_by"] != ""].groupby("differs_by", sort=False):
        changed = [
            f"{titles.get(cell['algorithm'], cell['algorithm'])} on {cell['dataset']} "
            f"({cell['paper_mark']} → {cell['clean_mark']})"
            for cell in mine[mine["same"] == "no"].to_dict("records")
        ]
        which = f"changed: {', '.join(changed)}" if changed else "none changes"
        sentences.append(f"{str(reason)[0].upper()}{str(reason)[1:]}: {_of(mine, 'same')} stay; {which}.")
    return tuple(sentences)


def _changes(changed: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    rows = [
        (
            cell["dataset"],
            titles.get(cell["algorithm"], cell["algorithm"]),
            f"{number(cell['paper_mean'])}{_word(cell['paper_mark'])}",
            f"{number(cell['clean_mean'])}{_word(cell['clean_mark'])}",
            cell["differs_by"],
        )
        for cell in changed.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "paper", "clean", "what differs"])


def _word(mark: str) -> str:
    return f" {MARKS.get(mark, DASH)} ({mark})"


RECIPE = Recipe(
    "protocols",
    "Two protocols side by side",
    "Which conclusions stay when nothing leaks.",
    build,
    variants={"paper": ("protocol=paper",), "clean": ("protocol=clean",)},
    experiment="table2",
)
