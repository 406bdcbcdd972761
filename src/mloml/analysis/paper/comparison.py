"""How our means and conclusions compare with the printed ones, cell by cell."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mloml.analysis.paper.published import SPLITS, paper_row
from mloml.analysis.statistics import outcome, welch
from mloml.analysis.statistics.compare import OUTCOMES, win_tie_loss

AGREES = "agrees"
LOWER = "differs: ours lower"
HIGHER = "differs: ours higher"
VERDICTS = (AGREES, LOWER, HIGHER)

COLUMNS = (
    "dataset", "algorithm", "paper_mean", "paper_std", "our_mean", "our_std", "our_splits",
    "difference", "statistic", "p_value", "verdict", "paper_mark", "our_mark", "same_conclusion", "note",
)  # fmt: skip

WRONG_MARKER = (
    "the paper prints a win for FP here; its own means and its win/tie/loss row say loss, "
    "which is what is compared"
)


def compare_means(
    summary: pd.DataFrame, marks: pd.DataFrame, published: pd.DataFrame, alpha: float = 0.05
) -> pd.DataFrame:
    """Put our mean beside the paper's for every cell that both tables have.

    Parameters
    ----------
    summary : DataFrame
        Complete cells of ours: dataset, algorithm, mean, std, splits. Single splits have no deviation
        and are left out.
    marks : DataFrame
        Our conclusions: dataset, algorithm, mark_paired; see
        :func:`mloml.analysis.statistics.against_reference`.
    published : DataFrame
        :func:`~mloml.analysis.paper.table2` or :func:`~mloml.analysis.paper.table3`.
    alpha : float
        Level of Welch's test. The means come from different random halves, so the test is unpaired;
        about one cell in twenty differs by chance even if both tables are right.

    Returns
    -------
    DataFrame
        Columns :data:`COLUMNS`, one row per cell, in the order of ``summary``.
    """
    printed = {(cell["dataset"], cell["algorithm"]): cell for cell in published.to_dict("records")}
    our_marks = {
        (cell["dataset"], cell["algorithm"]): cell["mark_paired"] for cell in marks.to_dict("records")
    }
    rows = []
    for cell in summary.to_dict("records"):
        theirs = printed.get((paper_row(cell["dataset"]), cell["algorithm"]))
        if theirs is not None and cell["splits"] > 1:
            our_mark = our_marks.get((cell["dataset"], cell["algorithm"]), "")
            rows.append(_compare(cell, theirs, our_mark, alpha))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _compare(ours: dict[Any, Any], theirs: dict[Any, Any], our_mark: str, alpha: float) -> dict[str, object]:
    test = welch(ours["mean"], ours["std"], ours["splits"], theirs["error"], theirs["std"], SPLITS)
    side = outcome(test.difference, test.p_value, alpha)
    paper_mark = theirs.get("corrected_mark", theirs["mark"])
    return {
        "dataset": ours["dataset"],
        "algorithm": ours["algorithm"],
        "paper_mean": theirs["error"],
        "paper_std": theirs["std"],
        "our_mean": ours["mean"],
        "our_std": ours["std"],
        "our_splits": ours["splits"],
        "difference": test.difference,
        "statistic": test.statistic,
        "p_value": test.p_value,
        "verdict": {"tie": AGREES, "loss": LOWER, "win": HIGHER}[side],
        "paper_mark": paper_mark if our_mark else "",
        "our_mark": our_mark,
        "same_conclusion": ("yes" if paper_mark == our_mark else "no") if our_mark else "",
        "note": WRONG_MARKER if paper_mark != theirs["mark"] else "",
    }


def verdict_counts(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts and equal conclusions per algorithm, and over all cells in the last row.

    >>> cells = pd.DataFrame({"algorithm": ["moml", "moml"], "verdict": ["agrees", "differs: ours lower"],
    ...                       "same_conclusion": ["yes", "no"]})
    >>> verdict_counts(cells).tail(1).values.tolist()[0]
    ['all', 2, 1, 1, 0, 2, 1]
    """
    names = [*dict.fromkeys(comparison["algorithm"]), "all"]
    rows = []
    for name in names:
        mine = comparison if name == "all" else comparison[comparison["algorithm"] == name]
        verdicts = [int((mine["verdict"] == verdict).sum()) for verdict in VERDICTS]
        concluded = int((mine["same_conclusion"] != "").sum())
        rows.append((name, len(mine), *verdicts, concluded, int((mine["same_conclusion"] == "yes").sum())))
    return pd.DataFrame(rows, columns=["algorithm", "cells", *VERDICTS, "conclusions", "same conclusion"])


def compare_conclusions(comparison: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Put win/tie/loss counts side by side: as printed, and both tables' over the compared cells.

    Examples
    --------
    >>> from mloml.analysis.paper import table2_counts
    >>> cells = pd.DataFrame({"algorithm": "lego", "paper_mark": ["win", "tie"], "our_mark": ["win", "win"],
    ...                       "same_conclusion": ["yes", "no"]})
    >>> compare_conclusions(cells, table2_counts()).values.tolist()
    [['mloml_r', 'lego', '8/3/1', 2, '1/1/0', '2/0/0', 1]]
    """
    rows = []
    for row in published.to_dict("records"):
        mine = comparison[
            (comparison["algorithm"] == row["algorithm"]) & (comparison["same_conclusion"] != "")
        ]
        if len(mine):
            printed = "/".join(str(row[name]) for name in OUTCOMES)
            sides = [win_tie_loss(mine[column]) for column in ("paper_mark", "our_mark")]
            equal = int((mine["same_conclusion"] == "yes").sum())
            rows.append((row["reference"], row["algorithm"], printed, len(mine), *sides, equal))
    columns = ["reference", "algorithm", "printed", "compared", "paper", "ours", "equal"]
    return pd.DataFrame(rows, columns=columns)
