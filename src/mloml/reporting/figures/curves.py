"""Figures 5, 7 and 8: error against the metric layer, and against the number of scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mloml.reporting.figures.panels import BAND_ALPHA, mean_and_error, panel_page
from mloml.reporting.figures.style import style_of

Values = NDArray[Any]


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


def plotted_numbers(frame: pd.DataFrame, along: str) -> pd.DataFrame:
    """Return what a figure shows: mean, standard error and number of splits of every point."""
    grouped = frame.groupby(["dataset", "algorithm", along], sort=True)["error"]
    numbers = grouped.agg(mean="mean", standard_error="sem", splits="count").reset_index()
    return numbers.assign(standard_error=numbers["standard_error"].fillna(0.0))


def curves_figure(
    frame: pd.DataFrame,
    along: str,
    datasets: Mapping[str, str],
    algorithms: Mapping[str, str],
    missing: Mapping[str, str],
    label: str,
) -> Figure:
    """Draw error against ``along`` in one panel per dataset.

    Methods with one error per split (``along`` is 0) are horizontal lines; curves carry a band of
    one standard error over the splits.  ``datasets`` and ``algorithms`` map names to printed titles.
    """
    steps = int(frame[along].max()) if len(frame) else 1
    wanted = dict(missing)
    for name in datasets:
        if name not in wanted and not (frame["dataset"] == name).any():
            wanted[name] = "no finished cells yet"

    def draw(axes: Axes, dataset: str) -> None:
        for algorithm, title in algorithms.items():
            part = frame[(frame["dataset"] == dataset) & (frame["algorithm"] == algorithm)]
            if len(part):
                _draw_method(axes, part, along, algorithm, title, max(steps, 2))
        axes.set_xlim(1 - 0.03 * steps, max(steps, 2) + 0.03 * steps)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))

    return panel_page(datasets, wanted, draw, labels=(label, "test error (share of test rows)"))


def _draw_method(axes: Axes, part: pd.DataFrame, along: str, algorithm: str, title: str, steps: int) -> None:
    style = style_of(algorithm)
    x, mean, spread = mean_and_error(part, along)
    if len(x) == 1:
        x, mean, spread = np.array([1, steps]), np.repeat(mean, 2), np.repeat(spread, 2)
        line = ":" if algorithm.endswith("_identity") else style.line if style.line != "-" else (0, (5, 1.5))
        draw_line(axes, x, mean, spread, style.colour, title, linestyle=line)
    else:
        draw_line(axes, x, mean, spread, style.colour, title, marker=style.marker if steps <= 8 else "")


def draw_line(
    axes: Axes, x: Values, mean: Values, spread: Values, colour: str, title: str, **options: Any
) -> None:
    """Draw means with a band of one standard error."""
    axes.plot(x, mean, color=colour, label=title, **options)
    axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=BAND_ALPHA, linewidth=0)
