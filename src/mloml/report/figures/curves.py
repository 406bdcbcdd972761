"""Figures 5, 7 and 8: error against the metric layer, and against the number of scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from mloml.report.document import number
from mloml.report.figures.panels import BAND_ALPHA, BAND_LABEL, error_axis, panel_page, whole_ticks
from mloml.report.figures.ranges import readable_range, show_range
from mloml.report.figures.style import style_of

Values = NDArray[Any]
AXIS = "5-NN test error"
CONTROL = "_untrained"
"""How the names of controls end, whose curves do not set a panel's range."""


def curve_frame(records: Sequence[Mapping[str, Any]], key: str, along: str) -> pd.DataFrame:
    """Turn a list inside each cell's record into one row per entry.

    Parameters
    ----------
    records : cells as the store keeps them.
    key : "layer_errors" or "scan_errors"; a cell without it gives one row whose ``along`` is 0.
    along : name of the new column, counted from 1.

    Examples
    --------
    >>> cell = {"dataset": "iris", "algorithm": "moml", "split": 0, "error": 0.1, "scan_errors": [0.2, 0.1]}
    >>> curve_frame([cell], "scan_errors", "scan")
      dataset algorithm  split  scan  error
    0    iris      moml      0     1    0.2
    1    iris      moml      0     2    0.1
    """
    rows: list[tuple[str, str, int, int, float]] = []
    for cell in records:
        place = (cell["dataset"], cell["algorithm"], int(cell["split"]))
        curve = cell.get(key)
        if curve and len(curve) > 1:
            rows += [(*place, step, float(error)) for step, error in enumerate(curve, start=1)]
        else:
            rows.append((*place, 0, float(cell["error"])))
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "split", along, "error"])
    return frame.sort_values(["dataset", "algorithm", "split", along], kind="stable", ignore_index=True)


def by_split(frame: pd.DataFrame, along: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Return, by dataset and algorithm, the errors of each split (rows) at each point (columns)."""
    return {
        (str(dataset), str(algorithm)): part.pivot(index="split", columns=along, values="error")  # noqa: PD010
        for (dataset, algorithm), part in frame.groupby(["dataset", "algorithm"], sort=False)
    }


def paired_spread(errors: pd.DataFrame, reference: pd.DataFrame) -> pd.Series:
    """Return at each point the standard error, over the splits, of the difference to a reference.

    A reference with a single point is compared with every point, a curve with its own point.

    >>> errors = pd.DataFrame({1: [0.1, 0.3], 2: [0.2, 0.2]})
    >>> paired_spread(errors, pd.DataFrame({0: [0.2, 0.4]})).round(3).tolist()
    [0.0, 0.1]
    """
    single = len(reference.columns) == 1
    differences = errors.sub(reference.iloc[:, 0], axis=0) if single else errors - reference
    spread: pd.Series = differences.sem()
    return spread


def plotted_numbers(
    frame: pd.DataFrame, along: str, references: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return what a figure shows: mean, standard error and number of splits of every point.

    With ``references``, a method for some of the algorithms, also the half width of their bands: the
    standard error of the paired difference to that method.
    """
    grouped = frame.groupby(["dataset", "algorithm", along], sort=True)["error"]
    numbers = grouped.agg(mean="mean", standard_error="sem", splits="count").reset_index()
    numbers["standard_error"] = numbers["standard_error"].fillna(0.0)
    if not references:
        return numbers
    tables = by_split(frame, along)
    spreads = {
        (*place, point): spread
        for place, errors in tables.items()
        if (other := (place[0], references.get(place[1], ""))) in tables
        for point, spread in paired_spread(errors, tables[other]).items()
    }
    places = list(zip(numbers["dataset"], numbers["algorithm"], numbers[along], strict=True))
    return numbers.assign(
        reference=[references.get(algorithm, "") for algorithm in numbers["algorithm"]],
        paired_standard_error=[spreads.get(place, np.nan) for place in places],
    )


def curves_figure(
    frame: pd.DataFrame,
    along: str,
    datasets: Mapping[str, str],
    algorithms: Mapping[str, str],
    label: str,
    references: Mapping[str, str] | None = None,
) -> Figure:
    """Draw error against ``along`` in one panel per dataset.

    Methods with one error per split (``along`` is 0) are horizontal lines with hollow markers, curves have
    solid ones. A band around a curve is the standard error of its paired difference to the method that
    ``references`` names. ``datasets`` and ``algorithms`` map names to printed titles. The curves of
    learners set a panel's range: a line, or the curve of an untrained stack, that would squash them is
    left out and named at the edge.
    """
    tables = by_split(frame, along)
    steps = max(2, int(frame[along].max()))

    def draw(axes: Axes, dataset: str) -> None:
        there = {name: tables[dataset, name] for name in algorithms if (dataset, name) in tables}
        means = {name: errors.mean() for name, errors in there.items()}
        spreads = {
            name: paired_spread(errors, tables[other])
            for name, errors in there.items()
            if len(errors.columns) > 1 and (other := (dataset, (references or {}).get(name, ""))) in tables
        }
        values = {name: covered(mean, spreads.get(name)) for name, mean in means.items()}
        aside = {
            name: (min(values[name]), max(values[name]))
            for name, mean in means.items()
            if len(mean) == 1 or name.endswith(CONTROL)
        }
        span = readable_range([v for name in there if name not in aside for v in values[name]], aside)
        for name, mean in means.items():
            style = style_of(name)
            if len(mean) == 1:
                draw_level(axes, name, float(mean.iloc[0]), algorithms[name], steps)
            else:
                marks = {"marker": style.marker, "linestyle": style.line}
                draw_curve(axes, mean, spreads.get(name), style.colour, algorithms[name], **marks)
        notes = {name: f"{algorithms[name]} {_at_the_edge(means[name])}" for name in aside}
        show_range(axes, span, notes, {name: style_of(name).colour for name in aside})
        axes.set_xlim(1 - 0.03 * steps, steps + 0.03 * steps)
        axes.set_xticks(whole_ticks(steps))
        error_axis(axes)

    return panel_page(datasets, draw, (label, AXIS), order=list(algorithms.values()))


def _at_the_edge(mean: pd.Series) -> str:
    """Print an error, or a curve's first and last."""
    ends = dict.fromkeys(number(float(mean.iloc[place])) for place in (0, -1))
    return " → ".join(ends)


def draw_level(axes: Axes, algorithm: str, level: float, title: str, steps: int) -> None:
    """Draw a method without layers or scans: a broken line, its markers hollow."""
    style = style_of(algorithm)
    line = ":" if algorithm.endswith("_identity") else style.line if style.line != "-" else (0, (5, 1.5))
    ticks = whole_ticks(steps)
    axes.plot(
        ticks, [level] * len(ticks), color=style.colour, label=title, linestyle=line, marker=style.marker,
        markerfacecolor="white",
    )  # fmt: skip


def covered(mean: pd.Series, spread: pd.Series | None) -> list[float]:
    """Return all values that a curve and its band cover."""
    half = 0.0 if spread is None else spread.reindex(mean.index).fillna(0.0)
    return [float(value) for edge in (mean - half, mean + half) for value in edge]


def draw_curve(
    axes: Axes, mean: pd.Series, spread: pd.Series | None, colour: str, title: str, **options: Any
) -> None:
    """Draw means, with markers at the ticks and a band if there is one."""
    x, y = mean.index.to_numpy(), mean.to_numpy()
    marked = [tick - 1 for tick in whole_ticks(len(x))]
    axes.plot(x, y, color=colour, label=title, markevery=marked, **options)
    if spread is None or not spread.notna().any():
        return
    half = spread.reindex(mean.index).fillna(0.0).to_numpy()
    axes.fill_between(x, y - half, y + half, color=colour, alpha=BAND_ALPHA, linewidth=0, label=BAND_LABEL)
