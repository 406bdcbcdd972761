"""How much lower one error is than another: tables of gains, and counts of significant ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mloml.paper.statistics import Gain, gain
from mloml.report.document import MARKS, number
from mloml.report.tables import Results

COLUMNS = ("dataset", "activation", "step", *Gain._fields, "text", "counted")


def gains_of(results: Results, methods: Mapping[str, Mapping[str, tuple[str, str]]]) -> pd.DataFrame:
    """Return the gain of every step on each data set where all methods of an activation are complete.

    Parameters
    ----------
    results : Results
    methods : mapping
        For each activation (or other variant) its steps: a name, and the algorithms before and after it.

    Returns
    -------
    DataFrame
        Columns :data:`COLUMNS`, one row per step.
    """
    splits, errors = results.labels.splits, results.errors
    rows = []
    for activation, steps in methods.items():
        for dataset in results.labels.datasets:
            names = {name for pair in steps.values() for name in pair}
            if all(len(errors.get((dataset, name), ())) == splits for name in names):
                for step, (before, after) in steps.items():
                    found = gain(errors[dataset, before], errors[dataset, after])
                    counted = dataset not in results.labels.uncounted
                    rows.append((dataset, activation, step, *found, gain_text(found), counted))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def one_row_each(
    gains: pd.DataFrame, results: Results, errors: Mapping[str, str], parts: Sequence[str], name: str
) -> pd.DataFrame:
    """Return a row per data set and activation: mean errors, then some parts of each step's gain.

    Parameters
    ----------
    gains : DataFrame
        Of :func:`gains_of`.
    results : Results
    errors : mapping
        Columns of mean errors: the name of an algorithm, in which ``{}`` is the activation.
    parts : sequence of str
        Columns of ``gains`` to show.
    name : str
        What their columns are called: a format of ``step`` and ``part``.
    """
    means = results.complete.set_index(["dataset", "algorithm"])["mean"].to_dict()
    rows = []
    for (dataset, activation), steps in gains.groupby(["dataset", "activation"], sort=False):
        row: dict[str, Any] = {"dataset": dataset, "activation": activation}
        row |= {column: means.get((dataset, a.format(activation))) for column, a in errors.items()}
        for step in steps.to_dict("records"):
            row |= {name.format(step=step["step"], part=part): step[part] for part in parts}
        rows.append({**row, "counted": steps["counted"].iloc[0]})
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["dataset", "activation", *errors, "counted"])


def count_gains(gains: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Count data sets with a significantly lower and higher error, by the corrected and the plain test."""
    counted = gains[gains["counted"].astype(bool)]
    columns: dict[str, Any] = {"cases": ("gain", "size")}
    columns["median"] = ("gain", lambda gains: signed(gains.median()))
    for test, ending in (("mark_corrected", ""), ("mark_paired", "_plain_test")):
        for mark, word in (("win", "lower"), ("loss", "higher")):
            columns[f"{word}{ending}"] = (test, lambda marks, mark=mark: int((marks == mark).sum()))
    return counted.groupby(list(by), sort=False).agg(**columns).reset_index()


def gain_text(found: Gain) -> str:
    """Return a gain with its interval; a mark in brackets is the plain paired test's alone.

    >>> gain_text(Gain(0.3, 0.2, 0.1, -0.02, 0.22, 0.01, "win", 0.2, "tie"))
    '+.100 (−.020 to +.220) (•)'
    """
    mark, plain = (MARKS.get(name, "") for name in (found.mark_corrected, found.mark_paired))
    interval = "" if found.low != found.low else f" ({signed(found.low)} to {signed(found.high)})"
    return f"{signed(found.gain)}{interval} {mark or (plain and f'({plain})')}".rstrip()


def signed(value: float) -> str:
    """Return a difference with its sign.

    >>> signed(0.0212), signed(-0.0014), signed(0.0)
    ('+.021', '−.001', '.000')
    """
    text = number(value)
    if text in (".000", "-.000"):
        return ".000"
    return text.replace("-", "−") if value < 0 else f"+{text}"
