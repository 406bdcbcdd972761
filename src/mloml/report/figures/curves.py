"""Figures 5, 7 and 8: error against the metric layer or against the number of scans."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mloml.report.document import number
from mloml.report.figures import panels
from mloml.report.figures.style import style_of

AXIS = "5-NN test error"
# Ending of the names of controls, whose curves do not set a panel's range.
CONTROL = "_untrained"


def curve_frame(records: Sequence[Mapping[str, Any]], key: str, along: str) -> pd.DataFrame:
    """Turn a list inside each cell's record into one row per entry.

    Parameters
    ----------
    records : cells as the store keeps them
    key : "layer_errors" or "scan_errors"; a cell without it gives one row whose ``along`` is 0
    along : name of the new column, counted from 1

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
        curve = cell.get(key) or ()
        points = enumerate(curve, start=1) if len(curve) > 1 else [(0, cell["error"])]
        place = cell["dataset"], cell["algorithm"], int(cell["split"])
        rows += [(*place, step, float(error)) for step, error in points]
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
        (dataset, name, point): spread
        for (dataset, name), errors in tables.items()
        if (reference := tables.get((dataset, references.get(name, "")))) is not None
        for point, spread in paired_spread(errors, reference).items()
    }
    places = zip(numbers["dataset"], numbers["algorithm"], numbers[along], strict=True)
    return numbers.assign(
        reference=numbers["algorithm"].map(references).fillna(""),
        paired_standard_error=[spreads.get(place, np.nan) for place in places],
    )


def curves_figure(
    numbers: pd.DataFrame,
    along: str,
    datasets: Mapping[str, str],
    algorithms: Mapping[str, str],
    label: str,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> Figure:
    """Draw :func:`plotted_numbers` against ``along`` in one panel per dataset, or per dataset and group.

    Methods with one error per split (``along`` is 0) and untrained stacks are lines, curves have markers, and
    a band where there is a paired standard error. ``datasets`` and ``algorithms`` map names to printed
    titles. The curves of learners set a panel's range: a line, or the curve of an untrained stack, that would
    squash them is left out and named at the edge.
    """
    steps = max(2, int(numbers[along].max()))
    places = [(name, group) for name in datasets for group in groups or [""]]
    figure, every = panels.grid_of_panels(len(places), columns=3, height=1.1 if groups else 1.45)
    for axes, (name, group) in zip(every, places, strict=True):
        axes.set_title(", ".join(filter(None, (datasets[name], group))))
        axes.set_xlim(1 - 0.03 * steps, steps + 0.03 * steps)
        axes.set_xticks(panels.whole_ticks(steps))
        shown = {a: title for a, title in algorithms.items() if not groups or a in groups[group]}
        _draw_panel(axes, numbers[numbers["dataset"] == name].set_index(along), shown, steps)
    return panels.labelled(figure, every, (label, AXIS), order=list(algorithms.values()))


def _draw_panel(axes: Axes, numbers: pd.DataFrame, algorithms: Mapping[str, str], steps: int) -> None:
    curves: list[float] = []
    aside, notes = {}, {}
    for name, title in algorithms.items():
        part = numbers[numbers["algorithm"] == name]
        if part.empty:
            continue
        mean, half, style = part["mean"], part["paired_standard_error"].fillna(0.0), style_of(name)
        covered = [*(mean - half), *(mean + half)]
        control = name.endswith(CONTROL)
        if len(mean) == 1 or control:
            aside[name] = min(covered), max(covered)
            ends = dict.fromkeys(number(mean.iloc[place]) for place in (0, -1))
            notes[name] = f"{title} {' → '.join(ends)}", style.colour
        else:
            curves += covered
        if len(mean) == 1:
            _draw_level(axes, name, float(mean.iloc[0]), title, steps, f"{name}_multi" in algorithms)
            continue
        marks: dict[str, Any] = {"marker": "" if control else style.marker, "linestyle": style.line}
        marks["markevery"] = [tick - 1 for tick in panels.whole_ticks(len(mean))]
        axes.plot(mean.index, mean, color=style.colour, label=title, **marks)
        if half.any():
            area: dict[str, Any] = {"alpha": panels.BAND_ALPHA, "linewidth": 0, "label": panels.BAND_LABEL}
            axes.fill_between(mean.index, mean - half, mean + half, color=style.colour, **area)
    panels.show_range(axes, panels.readable_range(curves, aside), notes)
    panels.error_axis(axes)


def _draw_level(axes: Axes, algorithm: str, level: float, title: str, steps: int, layer: bool) -> None:
    """Draw a method without layers or scans: a broken line, with a hollow marker if it is a stack's layer."""
    style = style_of(algorithm)
    marks: dict[str, Any] = {"marker": style.marker if layer else "", "markerfacecolor": "white"}
    marks["linestyle"] = style.line if style.line != "-" else (0, (5, 1.5))
    axes.plot([1, steps], [level, level], color=style.colour, label=title, markevery=[0], **marks)
