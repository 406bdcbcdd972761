"""Three ways to choose the step size, side by side from the same cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mloml.experiments.selection import choose_per_dataset, choose_per_split, oracle
from mloml.paper.published import SPLITS, paper_row
from mloml.paper.statistics import outcome, welch
from mloml.report.document import Grid, number
from mloml.report.labels import Labels
from mloml.report.tables import text_grid

SELECTIONS = {"per_split": "per split", "per_dataset": "one per dataset", "oracle": "oracle, not achievable"}
CHOOSE = {"per_split": choose_per_split, "per_dataset": choose_per_dataset, "oracle": oracle}


def selections_frame(records: Sequence[Mapping[str, Any]], labels: Labels) -> pd.DataFrame:
    """Return mean and deviation of the test error under each selection, for complete cells with a choice."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["dataset"], record["algorithm"]), []).append(dict(record))
    rows = []
    for dataset in labels.datasets:
        for algorithm in labels.algorithms:
            mine = sorted(groups.get((dataset, algorithm), []), key=lambda record: record["split"])
            if len(mine) == labels.splits and max(len(record["grid"]) for record in mine) > 1:
                rows.append((dataset, algorithm, len(mine), *_errors(mine)))
    columns = [f"{name}_{part}" for name in SELECTIONS for part in ("mean", "std")]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "splits", *columns])


def _errors(records: list[dict[str, Any]]) -> list[float]:
    """Return mean and deviation of the error under each of the selections."""
    found = []
    for name in SELECTIONS:
        errors = np.array([choice.error for choice in CHOOSE[name](records)])
        found += [float(errors.mean()), float(errors.std(ddof=1)) if len(errors) > 1 else float("nan")]
    return found


def closeness(selections: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Compare each selection with the paper: agreeing cells and the sum of squared Welch statistics.

    If a selection is the paper's, that sum is near the number of cells.
    """
    printed = {(cell["dataset"], cell["algorithm"]): cell for cell in published.to_dict("records")}
    rows = []
    for name, title in SELECTIONS.items():
        tests = []
        for cell in selections.to_dict("records"):
            theirs = printed.get((paper_row(cell["dataset"]), cell["algorithm"]))
            if theirs is not None and cell["splits"] > 1:
                ours = (cell[f"{name}_mean"], cell[f"{name}_std"], cell["splits"])
                tests.append(welch(*ours, theirs["error"], theirs["std"], SPLITS))
        agreeing = sum(outcome(test.difference, test.p_value) == "tie" for test in tests)
        square = sum(test.statistic**2 for test in tests)
        rows.append((title, len(tests), agreeing, f"{square:.1f}"))
    return pd.DataFrame(rows, columns=["step size chosen", "cells", "agree with the paper", "sum of z²"])


def selections_grid(selections: pd.DataFrame, labels: Labels) -> Grid:
    """Return the three means of every dataset and algorithm in one entry."""
    cells = {
        (cell["dataset"], cell["algorithm"]): " / ".join(number(cell[f"{name}_mean"]) for name in SELECTIONS)
        for cell in selections.to_dict("records")
    }
    return text_grid(labels, "tab:selections", cells)
