"""Table II: every algorithm on every dataset, with tests, ranks and the comparison with the paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from mloml import paper
from mloml.commands import this_command
from mloml.reporting.cd_diagram import critical_difference_figure
from mloml.reporting.context import labels_of, settled, starred
from mloml.reporting.files import write_csv, write_text
from mloml.reporting.findings import write_findings
from mloml.reporting.latex import table_to_latex
from mloml.reporting.markdown import document, frame_to_markdown, table_to_markdown
from mloml.reporting.model import Table
from mloml.reporting.paper_comparison import write_paper_comparison
from mloml.reporting.pictures import draw_if, picture
from mloml.reporting.ranks import ranking_of, ranks_frame, ranks_sentence
from mloml.reporting.selections import write_selections
from mloml.reporting.tables import Results, build_table, summarise, table_to_frame
from mloml.statistics import counts_against_reference, surviving

if TYPE_CHECKING:
    from mloml.study import StudyResult

REFERENCE, REFERENCE_TITLE = "mloml_r", "MLOML-r"
MARKS_REMARK = (
    "•/◦: {reference} is significantly better/worse than the column (paired two-sided t-test over the "
    "{splits} splits, 5 % level). Bold: the lowest mean of the row, as printed."
)


def write_table2(result: StudyResult) -> None:
    """Write every file of Table II from the cells there are; safe to call while cells come in."""
    folder, command = result.folder, this_command()
    labels = labels_of(result)
    results = summarise(result.frame, labels, REFERENCE)
    write_selections(result.records, labels, paper.table2(), folder, command)
    agreement = write_paper_comparison(
        results, paper.table2(), paper.table2_counts(), folder, "Table II", command
    )
    ranking = ranking_of(results)
    ranks = ranks_frame(results, ranking, REFERENCE)
    write_csv(folder / "ranks.csv", ranks)
    figures = {
        "critical_difference": partial(
            critical_difference_figure, ranking, starred(labels, labels.algorithms)
        )
    }
    draw_if(settled(result), figures, folder)
    survival = survival_sentence(results)
    write_findings(folder, command, agreement, [survival, ranks_sentence(results, ranking)])
    parts = [
        f"{survival} Every p-value is in tests.csv.",
        agreement + " Details: [paper_comparison.md](paper_comparison.md).",
        "## Ranks\n\n" + ranks_sentence(results, ranking),
        picture("critical-difference diagram", "critical_difference", result),
        frame_to_markdown(_rounded(ranks, starred(labels, labels.algorithms))),
        "*: see the footnotes of the table." if labels.notes.keys() & labels.algorithms.keys() else "",
        "Step sizes chosen in other ways: [selections.md](selections.md).",
    ]
    write_table_files(
        results, table2(results, result.study.protocol.name), folder, "table2", "Table II", parts, command
    )


def table2(results: Results, protocol: str) -> Table:
    """Return Table II in the paper's layout."""
    remark = MARKS_REMARK.format(reference=REFERENCE_TITLE, splits=results.labels.splits)
    known = REFERENCE in results.labels.algorithms
    absent = [row for row in paper.DATASETS if row not in {*results.labels.datasets.values()}]
    remarks = [remark if known else f"No marks: {REFERENCE_TITLE} is not among the algorithms."]
    remarks += [f"Rows of the paper that were not asked for: {', '.join(absent)}."] if absent else []
    caption = (
        f"Error rates (mean ± standard deviation over {results.labels.splits} splits) of 5-NN under each "
        f"learned metric, protocol {protocol}; win/tie/loss counts of {REFERENCE_TITLE}."
    )
    return build_table(results, caption, "tab:table2", remarks=remarks)


def write_table_files(
    results: Results, table: Table, folder: Path, stem: str, title: str, parts: list[str], command: str
) -> None:
    """Write a table in its three formats, its counts and its tests."""
    write_csv(folder / f"{stem}.csv", table_to_frame(table))
    write_text(folder / f"{stem}.tex", table_to_latex(table))
    write_text(folder / f"{stem}.md", document(title, [table_to_markdown(table), *parts], command))
    write_csv(folder / "win_tie_loss.csv", counts_of_all_tests(results))
    write_csv(folder / "tests.csv", results.comparisons)


def counts_of_all_tests(results: Results) -> pd.DataFrame:
    """Return win/tie/loss by the paper's test, and beside it by the two stricter ones."""
    table = results.counts
    for name in ("corrected", "holm"):
        counts = counts_against_reference(results.comparisons, results.labels.counted, f"mark_{name}")
        columns = {outcome: f"{outcome}_{name}" for outcome in ("win", "tie", "loss")}
        table = table.join(counts[list(columns)].rename(columns=columns))
    return table


def survival_sentence(results: Results) -> str:
    """Say how many marks of the plain test stay under stricter ones."""
    counted = results.comparisons[results.comparisons["dataset"].isin(results.labels.counted)]
    if counted.empty:
        return "Nothing could be tested against the reference yet."
    corrected, marks = surviving(counted, "mark_corrected")
    adjusted, _ = surviving(counted, "mark_holm")
    return (
        f"Of {marks} marks of the paper's test, {corrected} survive the corrected resampled t-test (Nadeau "
        f"and Bengio; overlapping halves make the plain test too eager) and {adjusted} survive Wilcoxon's "
        f"test with Holm's correction over all {len(counted)} comparisons."
    )


def _rounded(ranks: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "algorithm": [titles.get(name, name) for name in ranks["algorithm"]],
            "mean rank": [f"{value:.2f}" for value in ranks["mean_rank"]],
            "Nemenyi": ranks["nemenyi"],
            "Wilcoxon over datasets, Holm's p": [
                "" if pd.isna(p) else f"{p:.3f} ({mark})"
                for p, mark in zip(ranks["p_holm"], ranks["wilcoxon_holm"], strict=True)
            ],
        }
    )
