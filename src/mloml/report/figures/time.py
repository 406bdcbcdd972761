"""Figure 4: time of the update loops of OPML and MOML."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mloml.report.figures.style import COLUMN_WIDTH, style_of

METHODS = {"opml": "OPML", "moml": "MOML\n(M only)", "moml_frame": "MOML\n(M = L'L)"}
HATCHES = {"moml_frame": "////"}


def time_numbers(runs: pd.DataFrame) -> pd.DataFrame:
    """Return median and quartiles of the time per triplet (microseconds) from one row per run.

    >>> runs = pd.DataFrame({"dataset": "iris", "method": "opml", "run": [0, 1, 2],
    ...                      "triplets": 10, "seconds": [1e-5, 2e-5, 4e-5]})
    >>> time_numbers(runs)[["dataset", "method", "median", "runs"]]
      dataset method  median  runs
    0    iris   opml     2.0     3
    """
    per_triplet = 1e6 * runs["seconds"] / runs["triplets"]
    grouped = runs.assign(microseconds=per_triplet).groupby(["dataset", "method"], sort=False)
    numbers = grouped["microseconds"].agg(
        median="median", lower=lambda v: v.quantile(0.25), upper=lambda v: v.quantile(0.75), runs="count"
    )
    first = grouped[["features", "triplets"]].first() if "features" in runs else grouped[["triplets"]].first()
    return numbers.join(first).reset_index()


def running_time_figure(numbers: pd.DataFrame, datasets: Mapping[str, str]) -> Figure:
    """Draw the median time per triplet with its quartiles, one panel per dataset, all on one scale."""
    figure = Figure(figsize=(COLUMN_WIDTH, 1.9), layout="constrained")
    panels = figure.subplots(1, len(datasets), squeeze=False, sharey=True)[0]
    for axes, (name, title) in zip(panels, datasets.items(), strict=True):
        part = numbers[numbers["dataset"] == name].set_index("method")
        axes.set_title(f"{title}, d = {part['features'].iloc[0]}" if "features" in part else title)
        _bars(axes, part)
    panels[0].set_ylabel("time per triplet (µs)")
    return figure


def _bars(axes: Axes, numbers: pd.DataFrame) -> None:
    methods = [method for method in METHODS if method in numbers.index]
    part = numbers.loc[methods]
    whiskers = np.abs(np.array([part["median"] - part["lower"], part["upper"] - part["median"]]))
    bars = axes.bar(
        range(len(methods)),
        part["median"],
        yerr=whiskers,
        color=[style_of(method).colour for method in methods],
        edgecolor="white",
        hatch=[HATCHES.get(method, "") for method in methods],
        error_kw={"elinewidth": 0.8, "capsize": 2.5},
    )
    axes.bar_label(bars, [f"{value:.2f}" for value in part["median"]], padding=2, fontsize=6.5)
    axes.margins(y=0.15)
    axes.set_xticks(range(len(methods)), [METHODS[method] for method in methods])
    axes.grid(False, axis="x")
