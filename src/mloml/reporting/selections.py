"""Three ways to choose the step size, side by side from the same cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mloml.evaluation.choices import choose_per_dataset, choose_per_split, oracle
from mloml.paper.published import SPLITS, paper_row
from mloml.reporting.files import write_csv, write_text
from mloml.reporting.markdown import document, frame_to_markdown, table_to_markdown
from mloml.reporting.model import Column, Entry, Row, Table, number
from mloml.reporting.tables import Labels
from mloml.statistics import outcome, welch

SELECTIONS = {
    "per_split": "per split",
    "per_dataset": "one per dataset",
    "oracle": "oracle, not achievable",
}
READING = (
    "Entries: step size chosen per split by cross-validation / one per dataset (smallest mean validation "
    "error over the training halves) / best on the test half (oracle, not achievable: a bound only). "
    "Algorithms without anything to choose are left out."
)


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
                rows.append(
                    {"dataset": dataset, "algorithm": algorithm, "splits": len(mine), **_errors(mine)}
                )
    columns = [f"{name}_{part}" for name in SELECTIONS for part in ("mean", "std")]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "splits", *columns])


def _errors(records: list[dict[str, Any]]) -> dict[str, float]:
    chosen = {
        "per_split": choose_per_split(records),
        "per_dataset": choose_per_dataset(records),
        "oracle": oracle(records),
    }
    row = {}
    for name, choices in chosen.items():
        errors = np.array([choice.error for choice in choices])
        row[f"{name}_mean"] = float(errors.mean())
        row[f"{name}_std"] = float(errors.std(ddof=1)) if len(errors) > 1 else float("nan")
    return row


def closeness(selections: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Compare each selection with the paper: agreeing cells and the sum of squared Welch statistics.

    Under a correct reading that sum is near the number of cells.
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


def selections_table(selections: pd.DataFrame, labels: Labels) -> Table:
    """Lay the three means out as one entry per dataset and algorithm."""
    cells = {(cell["dataset"], cell["algorithm"]): cell for cell in selections.to_dict("records")}
    with_choice = set(selections["algorithm"])
    columns = tuple(
        Column(a, t, note=labels.notes.get(a, "")) for a, t in labels.algorithms.items() if a in with_choice
    )

    def row(dataset: str) -> Row:
        entries = tuple(_entry(cells.get((dataset, column.name))) for column in columns)
        return Row(dataset, labels.datasets[dataset], entries, labels.note_of(dataset))

    below = tuple(row(name) for name in labels.datasets if name in labels.uncounted)
    rows = tuple(row(name) for name in labels.counted)
    gap = f"A dash: not all {labels.splits} splits are there."
    return Table(
        "Mean errors by the way the step size is chosen.",
        "tab:selections",
        columns,
        rows,
        below,
        remarks=(READING, gap),
    )


def write_selections(
    records: Sequence[Mapping[str, Any]], labels: Labels, published: pd.DataFrame, folder: Path, command: str
) -> None:
    """Write ``selections.csv`` and ``.md``."""
    selections = selections_frame(records, labels)
    write_csv(folder / "selections.csv", selections)
    parts = [
        table_to_markdown(selections_table(selections, labels)),
        "## Which selection is nearer to the paper?\n\nThe paper does not say how it chose.\n\n"
        + frame_to_markdown(closeness(selections, published)),
    ]
    text = document("Three ways to choose the step size", parts, command)
    write_text(folder / "selections.md", text)


def _entry(cell: dict[Any, Any] | None) -> Entry:
    if cell is None:
        return Entry()
    return Entry(text=" / ".join(number(cell[f"{name}_mean"]) for name in SELECTIONS))
