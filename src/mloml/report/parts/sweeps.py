"""Every value of every knob held against the paper: verdicts, counts, and what a fair choice would give."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from scipy import stats

from mloml import paper
from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.report.parts.knobs import Knob, Value

COLUMNS = (
    "knob", "value", "reading", "algorithm", "dataset", "paper_mean", "paper_std", "our_mean", "our_std",
    "our_splits", "difference", "statistic", "p_value", "verdict", "counted",
)  # fmt: skip
COUNTS = ("knob", "value", "reading", "cells", AGREES, LOWER, HIGHER, "sum_of_squares", "gained", "lost")


def verdicts_frame(knobs: Sequence[Knob], complete: pd.DataFrame, selections: pd.DataFrame) -> pd.DataFrame:
    """Return a verdict for each value of each knob on each column and dataset that the paper has.

    Parameters
    ----------
    knobs : sequence of Knob
    complete : DataFrame
        Complete cells: dataset, algorithm, mean, std, splits.
    selections : DataFrame
        Means by the way the step size is chosen, see
        :func:`~mloml.report.parts.selections.selections_frame`.

    Returns
    -------
    DataFrame
        Columns :data:`COLUMNS`. ``algorithm`` is the paper's column. ``counted``: all values of the knob are
        there, so that their counts are over the same cells.
    """
    parts = [_knob_verdicts(knob, complete, selections) for knob in knobs]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(COLUMNS))


def _knob_verdicts(knob: Knob, complete: pd.DataFrame, selections: pd.DataFrame) -> pd.DataFrame:
    published = paper.table3() if knob.table == "table3" else paper.table2()
    no_marks = pd.DataFrame(columns=["dataset", "algorithm", "mark_paired"])
    by_rule = len({value.rule for value in knob.values}) > 1
    parts = []
    for value in knob.values:
        summary = _chosen_by(value, selections) if by_rule else _measured(value, complete)
        compared = paper.compare_means(summary, no_marks, published)
        reading = "default" if value.title == knob.default else "tried"
        parts.append(compared.assign(knob=knob.name, value=value.title, reading=reading))
    found = pd.concat(parts, ignore_index=True)
    values_there = found.groupby(["algorithm", "dataset"])["value"].transform("count")
    return found.assign(counted=values_there == len(knob.values))[list(COLUMNS)]


def _measured(value: Value, complete: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of a value under the names of the paper's columns."""
    columns = {name: column for column, name in value.algorithms.items()}
    mine = complete[complete["algorithm"].isin(list(columns))]
    return mine.assign(algorithm=mine["algorithm"].map(columns))


def _chosen_by(value: Value, selections: pd.DataFrame) -> pd.DataFrame:
    renamed = {f"{value.rule}_mean": "mean", f"{value.rule}_std": "std"}
    return _measured(value, selections.rename(columns=renamed))


def counts_frame(knobs: Sequence[Knob], verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of each value over the cells that all values of its knob have.

    ``gained`` and ``lost`` are cells that agree at this value and not at the default, and the reverse;
    under a correct reading ``sum_of_squares``, of Welch's statistics, is near the number of cells.
    """
    rows = []
    for knob in knobs:
        mine = counted_of(verdicts, knob)
        by_default = _agreeing(mine, knob.default)
        for value in knob.values if len(mine) else ():
            cells = mine[mine["value"] == value.title]
            agreeing = _agreeing(mine, value.title)
            numbers = [int((cells["verdict"] == verdict).sum()) for verdict in (AGREES, LOWER, HIGHER)]
            reading = "default" if value.title == knob.default else "tried"
            squares = float((cells["statistic"] ** 2).sum())
            change = len(agreeing - by_default), len(by_default - agreeing)
            rows.append((knob.name, value.title, reading, len(cells), *numbers, squares, *change))
    return pd.DataFrame(rows, columns=list(COUNTS))


def counted_of(verdicts: pd.DataFrame, knob: Knob) -> pd.DataFrame:
    """Return the verdicts of a knob's cells that all its values have."""
    return verdicts[(verdicts["knob"] == knob.name) & verdicts["counted"].astype(bool)]


def _agreeing(verdicts: pd.DataFrame, value: str) -> set[tuple[str, str]]:
    mine = verdicts[(verdicts["value"] == value) & (verdicts["verdict"] == AGREES)]
    return set(zip(mine["algorithm"], mine["dataset"], strict=True))


def held_out(knob: Knob, verdicts: pd.DataFrame) -> int:
    """Count agreeing cells when the value for each dataset is the one that agrees most on all the others.

    What the best value gains by having been picked on the very cells it is counted on goes away. Of values
    that agree equally often the default is taken, else the first.
    """
    mine = counted_of(verdicts, knob)
    order = sorted((value.title for value in knob.values), key=lambda title: title != knob.default)
    total = 0
    for dataset in dict.fromkeys(mine["dataset"]):
        others = {title: sum(d != dataset for _, d in _agreeing(mine, title)) for title in order}
        chosen = max(order, key=lambda title: others[title])
        total += sum(d == dataset for _, d in _agreeing(mine, chosen))
    return total


def sign_test(gained: int, lost: int, tries: int) -> float:
    """Return the p-value of a change of verdicts, counted as often as values were tried (Bonferroni).

    >>> sign_test(5, 0, 1), sign_test(5, 0, 4), sign_test(1, 1, 4)
    (0.0625, 0.25, 1.0)
    """
    changed = gained + lost
    if not changed:
        return 1.0
    return min(1.0, tries * float(stats.binomtest(gained, changed).pvalue))
