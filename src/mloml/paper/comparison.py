"""How our means and conclusions compare with the printed ones, cell by cell."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from mloml.paper.published import OWN, SPLITS, paper_row
from mloml.paper.statistics import OUTCOMES, PRINTED_ROUNDING, outcome, welch, welch_half_width, win_tie_loss

AGREES = "agrees"
LOWER = "differs: ours lower"
HIGHER = "differs: ours higher"
# Whose conclusions are counted side by side.
SIDES = {"paper_mark": "paper", "our_mark": "ours", "our_mark_corrected": "ours, corrected test"}
VERDICTS = (AGREES, LOWER, HIGHER)
OF_GAP = {"tie": AGREES, "loss": LOWER, "win": HIGHER}
# Distances within which two means are tested for being equivalent.
MARGINS = {"within .01": 0.01, "within .02": 0.02, "within .03": 0.03}

COLUMNS = (
    "dataset", "algorithm", "paper_mean", "paper_std", "our_mean", "our_std", "our_splits",
    "difference", "statistic", "p_value", "verdict", "paper_mark", "our_mark", "our_mark_corrected",
    "same_conclusion", "between_draws", "note",
)  # fmt: skip

GAINS = (
    "dataset", "algorithm", "our_gain", "paper_gain", "difference", "standard_error", "p_value", "verdict",
)  # fmt: skip

WRONG_MARKER = (
    "the paper prints a win for FP here; its own means and its win/tie/loss row say loss, "
    "which is what is compared"
)

OTHER_DRAW = "another draw of the generator than the paper's: the variance between draws "
KNOWN_DRAWS, UNKNOWN_DRAWS = f"{OTHER_DRAW}is added", f"{OTHER_DRAW}is not known here and not added"


def compare_means(
    summary: pd.DataFrame,
    marks: pd.DataFrame,
    published: pd.DataFrame,
    alpha: float = 0.05,
    drawn_anew: Collection[str] = (),
    draws: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Put our mean beside the paper's for every cell that both tables have.

    Parameters
    ----------
    summary : DataFrame
        Complete cells of ours: dataset, algorithm, mean, std, splits. Single splits have no deviation
        and are left out.
    marks : DataFrame
        Our conclusions: dataset, algorithm, mark_paired, mark_corrected; see
        :func:`mloml.paper.statistics.against_reference`.
    published : DataFrame
        :func:`~mloml.paper.table2` or :func:`~mloml.paper.table3`.
    alpha : float
        Level of Welch's test. The means come from different random halves, so the test is unpaired;
        about one cell in twenty differs by chance even if both tables are right.
    drawn_anew : collection of str
        Datasets whose rows are another draw than the paper's.
    draws : mapping
        Variance of an algorithm's mean error between draws (:func:`~mloml.paper.published.draws`).
        Both tables have a draw of their own, so it is added twice where it is known.

    Returns
    -------
    DataFrame
        Columns :data:`COLUMNS`, one row per cell, in the order of ``summary``.
    """
    printed = {(cell["dataset"], cell["algorithm"]): cell for cell in published.to_dict("records")}
    our_marks = {(cell["dataset"], cell["algorithm"]): cell for cell in marks.to_dict("records")}
    rows = []
    for cell in summary.to_dict("records"):
        theirs = printed.get((paper_row(cell["dataset"]), cell["algorithm"]))
        if theirs is not None and cell["splits"] > 1:
            mark = our_marks.get((cell["dataset"], cell["algorithm"]), {})
            draw = (0.0, "")
            if cell["dataset"] in drawn_anew:
                known = (draws or {}).get(cell["algorithm"])
                draw = (0.0, UNKNOWN_DRAWS) if known is None else (2 * known, KNOWN_DRAWS)
            rows.append(_compare(cell, theirs, mark, alpha, draw))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _compare(
    ours: dict[Any, Any], theirs: dict[Any, Any], mark: Mapping[Any, Any], alpha: float, draw: tuple[Any, ...]
) -> tuple[object, ...]:
    """Return a row of the comparison, in the order of :data:`COLUMNS`; a draw is its variance and a note."""
    printed, measured = (theirs["error"], theirs["std"]), (ours["mean"], ours["std"], ours["splits"])
    test = welch(*measured, *printed, SPLITS, between=draw[0])
    verdict = OF_GAP[outcome(test.difference, test.p_value, alpha)]
    paper_mark, our_mark = theirs.get("corrected_mark", theirs["mark"]), mark.get("mark_paired", "")
    same = "yes" if paper_mark == our_mark else "no"
    conclusions = (paper_mark, our_mark, mark["mark_corrected"], same) if our_mark else ("",) * 4
    notes = filter(None, [WRONG_MARKER if paper_mark != theirs["mark"] else "", draw[1]])
    return (
        ours["dataset"], ours["algorithm"], *printed, *measured, *test, verdict,
        *conclusions, draw[0], "; ".join(notes),
    )  # fmt: skip


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


def agreement_worth(
    groups: Mapping[str, pd.DataFrame], heading: str = "our means beside", alpha: float = 0.05
) -> pd.DataFrame:
    """Return what agreement is worth: tests that a wrong column of the paper should fail, a row per group.

    Parameters
    ----------
    groups : mapping
        Rows of :func:`compare_means`, or of :func:`other_columns`, by what they are called.
    heading : str
        Of the column of these names.
    alpha : float
        Level of Welch's test and of both one-sided tests of equivalence (Schuirmann 1987).

    Returns
    -------
    DataFrame
        Cells; how many agree, and how many without the rounding of printed means; the mean of the squared
        statistics (about 1 if chance is all that differs); how many are equivalent within :data:`MARGINS`.
    """
    rows: list[tuple[object, ...]] = []
    for name, cells in groups.items():
        found = []
        for cell in cells.to_dict("records"):
            ours, theirs = (cell["our_std"], cell["our_splits"]), (cell["paper_std"], SPLITS)
            sides, drawn = (cell["our_mean"], *ours, cell["paper_mean"], *theirs), cell["between_draws"]
            tests = welch(*sides, drawn), welch(*sides, drawn, rounding=0.0)
            agree = (outcome(test.difference, test.p_value, alpha) == "tie" for test in tests)
            farthest = abs(tests[0].difference) + welch_half_width(*ours, *theirs, drawn, 1 - 2 * alpha)
            found.append(
                (*agree, *(farthest < margin for margin in MARGINS.values()), tests[0].statistic ** 2)
            )
        if found:
            *counts, squares = np.sum(found, axis=0)
            rows.append((name, len(found), *map(int, counts), squares / len(found)))
    names = [heading, "cells", AGREES, "agrees, no rounding", *MARGINS, "mean z²"]
    return pd.DataFrame(rows, columns=names)


def other_columns(comparison: pd.DataFrame, ours: Collection[str], theirs: Collection[str]) -> pd.DataFrame:
    """Put our means of some algorithms beside the printed ones of others, for :func:`agreement_worth`."""
    printed = ["paper_mean", "paper_std"]
    mine = comparison[comparison["algorithm"].isin(list(ours))].drop(columns=printed)
    other = comparison.loc[comparison["algorithm"].isin(list(theirs)), ["dataset", "algorithm", *printed]]
    pairs = mine.merge(other, on="dataset", suffixes=("", "_printed"))
    return pairs[pairs["algorithm"] != pairs["algorithm_printed"]]


def compare_gains(
    comparison: pd.DataFrame,
    errors: Mapping[tuple[str, str], Sequence[float]],
    reference: str = "euclidean",
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Put the gains of the paper's own methods over a reference beside the printed ones.

    Both methods of a gain see the same splits, so its error is smaller than that of either mean. The paper
    does not print the deviation of its differences. We take it to be that of ours, ``s`` over ``n`` splits:
    the difference of two gains has the variance :math:`s^2 (1/n + 1/30)` and that of two roundings, and
    n - 1 degrees of freedom. The variance of a gain between draws of a generator is not known, nor added.

    Parameters
    ----------
    comparison : DataFrame
        Of :func:`compare_means`.
    errors : mapping
        Of our splits in their order, by dataset and algorithm.
    reference : str
    alpha : float
    """
    printed: dict[Any, Any] = comparison.set_index(["dataset", "algorithm"])["paper_mean"].to_dict()
    rows = []
    for dataset, name in printed:
        if name in OWN and (dataset, reference) in printed:
            gains = np.subtract(errors[dataset, reference], errors[dataset, name])
            n, mean, theirs = len(gains), gains.mean(), printed[dataset, reference] - printed[dataset, name]
            scale = math.sqrt(gains.var(ddof=1) * (1 / n + 1 / SPLITS) + 2 * PRINTED_ROUNDING)
            p_value = 2 * stats.t.sf(abs(mean - theirs) / scale, n - 1)
            verdict = OF_GAP[outcome(mean - theirs, p_value, alpha)]
            rows.append((dataset, name, mean, theirs, mean - theirs, scale, p_value, verdict))
    return pd.DataFrame(rows, columns=list(GAINS))


def compare_conclusions(comparison: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Put win/tie/loss counts side by side: as printed, and both tables' over the compared cells.

    Ours by the paper's paired test, and by the corrected one. The last row is the sum.

    Examples
    --------
    >>> from mloml.paper import table2_counts
    >>> cells = pd.DataFrame({"algorithm": "lego", "paper_mark": ["win", "tie"], "our_mark": ["win", "win"],
    ...                       "our_mark_corrected": "tie", "same_conclusion": ["yes", "no"]})
    >>> compare_conclusions(cells, table2_counts()).values.tolist()[0]
    ['mloml_r', 'lego', '8/3/1', 2, '1/1/0', '2/0/0', '0/2/0', 1]
    """
    known = comparison[comparison["same_conclusion"] != ""]
    rows = []
    for row in published.to_dict("records"):
        mine = known[known["algorithm"] == row["algorithm"]]
        if len(mine):
            printed = "/".join(str(row[name]) for name in OUTCOMES)
            rows.append((row["reference"], row["algorithm"], printed, *_sides(mine)))
    rows.append(("all", "all", "", *_sides(known)))
    return pd.DataFrame(
        rows, columns=["reference", "algorithm", "printed", "compared", *SIDES.values(), "equal"]
    )


def _sides(cells: pd.DataFrame) -> tuple[object, ...]:
    counts = [win_tie_loss(cells[column]) for column in SIDES]
    return (len(cells), *counts, int((cells["same_conclusion"] == "yes").sum()))
