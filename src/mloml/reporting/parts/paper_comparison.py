"""The paper's numbers beside ours: verdicts counted, conclusions compared."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mloml.analysis.paper import compare_conclusions, compare_means, paper_row, verdict_counts
from mloml.analysis.paper.comparison import HIGHER, LOWER
from mloml.reporting.captions import caption
from mloml.reporting.document import Grid, Table, Text, number
from mloml.reporting.tables import Results, text_grid

ARROWS = {LOWER: "↓", HIGHER: "↑"}


def compare_with_paper(
    results: Results,
    published: pd.DataFrame,
    printed_counts: pd.DataFrame,
    name: str,
    remarks: Sequence[str] = (),
) -> tuple[str, tuple[Table, Table]]:
    """Return a sentence that sums the comparison up, the verdicts counted, and every verdict.

    Parameters
    ----------
    results : Results
    published, printed_counts : DataFrame
        The paper's table and its win/tie/loss row (:mod:`mloml.analysis.paper`).
    name : str
        "Table II", say.
    remarks : list of str
        What a reader should know of the paper's table.
    """
    comparison = compare_means(results.complete, results.comparisons, published)
    counts = verdict_counts(comparison)
    titles = {**results.labels.algorithms, "all": "all"}
    sentence = agreement_sentence(counts, results, name)
    grid = comparison_grid(results, comparison, name)
    page = (
        Text((sentence,)),
        grid,
        Text(heading="Verdicts"),
        _titled(counts, titles),
        Text((caption("paper_comparison_counts"),), heading="Win/tie/loss"),
        _titled(compare_conclusions(comparison, printed_counts), titles),
        Text(tuple(remarks)),
    )
    return sentence, (
        Table("paper_comparison_counts", "Verdicts counted", counts),
        Table("paper_comparison", "Ours (the paper's)", comparison, page, latex=grid, in_sight=True),
    )


def comparison_grid(results: Results, comparison: pd.DataFrame, name: str) -> Grid:
    """Lay the comparison out like the table it is about; datasets without a printed row are left out."""
    cells = {
        (cell["dataset"], cell["algorithm"]): f"{number(cell['our_mean'])} ({number(cell['paper_mean'])})"
        + ARROWS.get(cell["verdict"], "")
        for cell in comparison.to_dict("records")
    }
    rows = [name for name in results.labels.counted if paper_row(name) is not None]
    title = f"{name}: mean errors of this run and of the paper."
    label = f"tab:{name.lower().replace(' ', '-')}-paper"
    return text_grid(results.labels, title, label, cells, caption("paper_comparison"), rows)


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


def _titled(frame: pd.DataFrame, titles: dict[str, str]) -> pd.DataFrame:
    names = [column for column in ("reference", "algorithm") if column in frame]
    return frame.assign(**{column: [titles.get(n, n) for n in frame[column]] for column in names})
