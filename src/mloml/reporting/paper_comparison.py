"""The paper's numbers beside ours: one file per format, verdicts counted, conclusions compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mloml.paper import compare_conclusions, compare_means, paper_row, verdict_counts
from mloml.paper.comparison import HIGHER, LOWER
from mloml.reporting.files import write_csv, write_text
from mloml.reporting.latex import table_to_latex
from mloml.reporting.markdown import document, frame_to_markdown, table_to_markdown
from mloml.reporting.model import Column, Entry, Row, Table, number
from mloml.reporting.tables import Results

ARROWS = {LOWER: "↓", HIGHER: "↑"}
READING = (
    "Entries: our mean, the paper's in brackets. An arrow: the two differ at the 5 % level (Welch's test, "
    "which knows of the rounding of printed means); ↑ ours is higher, ↓ ours is lower. One cell in twenty "
    "would carry an arrow by chance."
)


def write_paper_comparison(
    results: Results,
    published: pd.DataFrame,
    printed_counts: pd.DataFrame,
    folder: Path,
    name: str,
    command: str,
    remarks: Sequence[str] = (),
) -> str:
    """Write ``paper_comparison.csv``, ``.md`` and ``.tex``; return a sentence that sums it up.

    Parameters
    ----------
    results : Results
    published, printed_counts : DataFrame
        The paper's table and its win/tie/loss row (:mod:`mloml.paper`).
    folder : Path
    name : str
        "Table II", say.
    command : str
    remarks : list of str
        What a reader should know of the paper's table.
    """
    comparison = compare_means(results.complete, results.comparisons, published)
    counts = verdict_counts(comparison)
    conclusions = compare_conclusions(comparison, printed_counts)
    table = comparison_table(results, comparison, name, _label(name))
    sentence = agreement_sentence(counts, results, name)
    write_csv(folder / "paper_comparison.csv", comparison)
    write_csv(folder / "paper_comparison_counts.csv", counts)
    write_text(folder / "paper_comparison.tex", table_to_latex(table))
    titles = {**results.labels.algorithms, "all": "all"}
    parts = [
        sentence,
        table_to_markdown(table),
        "## Verdicts\n\n" + frame_to_markdown(_titled(counts, titles)),
        "## Win/tie/loss\n\nCounts speak of the reference: as printed over all rows, then both over the rows "
        "that are compared.\n\n" + frame_to_markdown(_titled(conclusions, titles)),
        *remarks,
    ]
    write_text(folder / "paper_comparison.md", document(f"{name}: the paper and this run", parts, command))
    return sentence


def comparison_table(results: Results, comparison: pd.DataFrame, name: str, label: str) -> Table:
    """Lay the comparison out like the table it is about; datasets without a printed row are left out."""
    cells = {(cell["dataset"], cell["algorithm"]): cell for cell in comparison.to_dict("records")}
    compared = set(comparison["algorithm"])
    labels = results.labels
    columns = tuple(
        Column(a, title, note=labels.notes.get(a, ""))
        for a, title in labels.algorithms.items()
        if a in compared
    )
    rows = []
    for dataset in labels.counted:
        if paper_row(dataset) is not None:
            entries = tuple(_entry(cells.get((dataset, column.name))) for column in columns)
            rows.append(Row(dataset, labels.datasets[dataset], entries, labels.note_of(dataset)))
    caption = f"{name}: mean errors of this run and of the paper."
    gap = f"A dash: not all {labels.splits} splits are there."
    return Table(caption, label, columns, tuple(rows), remarks=(READING, gap))


def agreement_sentence(counts: pd.DataFrame, results: Results, name: str) -> str:
    """Sum the comparison up, and say what could not be compared."""
    total = counts.iloc[-1]
    if not total["cells"]:
        return f"No cell of {name} can be compared with the paper yet."
    rows = [row for row in results.labels.counted if paper_row(row) is None]
    other = f" Without a printed counterpart: {', '.join(rows)}." if rows else ""
    return (
        f"Of {total['cells']} cells that both tables have, {total['agrees']} agree with the paper; "
        f"in {total[LOWER]} our error is lower, in {total[HIGHER]} higher. "
        f"The conclusion (win, tie or loss) is the paper's in {total['same conclusion']} of "
        f"{total['conclusions']} cells.{other}"
    )


def _entry(cell: dict[Any, Any] | None) -> Entry:
    if cell is None:
        return Entry()
    arrow = ARROWS.get(cell["verdict"], "")
    return Entry(text=f"{number(cell['our_mean'])} ({number(cell['paper_mean'])}){arrow}")


def _titled(frame: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    names = [column for column in ("reference", "algorithm") if column in frame]
    return frame.assign(**{column: [titles.get(n, n) for n in frame[column]] for column in names})


def _label(name: str) -> str:
    return "tab:" + name.lower().replace(" ", "-") + "-paper"
