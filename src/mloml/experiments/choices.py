"""Three ways to choose a step size, all read from the same records without refitting.

Each function takes the records of one (dataset, algorithm), one per split, and returns one choice per record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Record = dict[str, Any]


class Choice(NamedTuple):
    """The parameters used in one split, and their error on its test half."""

    split: int
    params: dict[str, Any]
    error: float


def choose_per_split(records: Sequence[Record]) -> list[Choice]:
    """Return what cross-validation chose inside each split: the default, free of leakage."""
    return [_best(record, "cv_error") for record in records]


def choose_per_dataset(records: Sequence[Record]) -> list[Choice]:
    """Use in all splits the value whose validation error, averaged over the splits, is smallest.

    Where parameters were chosen in stages (FBP), the last stage is chosen so, on top of each split's first
    choice.
    """
    return _one_for_all(records, "cv_error")


def oracle(records: Sequence[Record], per: str = "split") -> list[Choice]:
    """Use the value that is best on the test half: a bound, not achievable.

    ``per="split"`` takes the best value of each split, which no choice can beat; ``per="dataset"`` the
    single value with the smallest mean test error.
    """
    if per == "dataset":
        return _one_for_all(records, "test_error")
    if per != "split":
        raise ValueError(f"per={per!r}, expected 'split' or 'dataset'")
    return [_best(record, "test_error") for record in records]


def _last_stage(record: Record) -> list[dict[str, Any]]:
    last = max(entry.get("stage", 1) for entry in record["grid"])
    return [entry for entry in record["grid"] if entry.get("stage", 1) == last]


def _best(record: Record, column: str) -> Choice:
    entries = _last_stage(record)
    return _choice(record, int(np.argmin([_value(entry, column) for entry in entries])))


def _one_for_all(records: Sequence[Record], column: str) -> list[Choice]:
    if not records:
        return []
    table = [[_value(entry, column) for entry in _last_stage(record)] for record in records]
    if len({len(row) for row in table}) > 1:
        raise ValueError("the records come from different grids; give those of one algorithm and protocol")
    # Rounding the sum of 30 errors must not decide between equal means: ties go to the smallest value.
    best = int(np.argmin(np.round(np.mean(table, axis=0), 12)))
    return [_choice(record, best) for record in records]


def _choice(record: Record, index: int) -> Choice:
    entry = _last_stage(record)[index]
    return Choice(record["split"], entry["params"], entry["test_error"])


def _value(entry: dict[str, Any], column: str) -> float:
    value = entry[column]
    return 0.0 if value is None else float(value)  # a single candidate needs no validation
