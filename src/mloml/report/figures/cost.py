"""Cost against accuracy: seconds per training row and errors relative to Euclidean's, a point per method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from mloml.report.figures.panels import empty_panel
from mloml.report.figures.style import GREY, PAGE_WIDTH, style_of

MARKERS = {"euclidean": "H", "lmnn": "d"}
"""Of methods that are lines without a marker elsewhere."""
CUT = 1.4
"""Methods that err more than this stand at the upper edge with their number: the rest would be squashed."""


def cost_figure(numbers: pd.DataFrame, studies: Mapping[str, str], titles: Mapping[str, str]) -> Figure:
    """Draw a panel per study; what never learns is hollow, what errs far more stands at the upper edge.

    Parameters
    ----------
    numbers : DataFrame
        Columns ``study``, ``algorithm``, ``seconds_per_row``, ``relative_error``.
    studies, titles : mapping
        Printed titles of studies and algorithms.
    """
    figure = Figure(figsize=(PAGE_WIDTH, 4.1), layout="constrained")
    panels = figure.subplots(1, len(studies), sharey=True, squeeze=False)[0]
    for axes, (study, title) in zip(panels, studies.items(), strict=True):
        axes.set_title(title)
        axes.set_xlabel("seconds per training row")
        part = numbers[numbers["study"] == study]
        drawn = part[np.isfinite(part["seconds_per_row"]) & np.isfinite(part["relative_error"])]
        if drawn.empty:
            empty_panel(axes, "no method has both a time and Euclidean beside it")
        else:
            _points(axes, drawn, titles)
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=6, fontsize=6.5)
    figure.supylabel("mean error relative to Euclidean's", fontsize=7.5)
    return figure


def _points(axes: Axes, numbers: pd.DataFrame, titles: Mapping[str, str]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())  # labels between decades would overlap
    axes.axhline(1.0, color=GREY, linewidth=0.7, linestyle="--")
    for row in numbers.to_dict("records"):
        name = str(row["algorithm"])
        style, x, y = style_of(name), row["seconds_per_row"], row["relative_error"]
        if y > CUT:
            axes.annotate(
                f"{y:.2f} ↑", (x, CUT), (6, 0), textcoords="offset points", va="center", fontsize=6.5
            )
        axes.plot(
            x,
            min(y, CUT),
            linestyle="",
            marker=style.marker or MARKERS.get(name, "o"),
            markersize=5.5,
            color=style.colour,
            markerfacecolor="none" if name.endswith("_untrained") else style.colour,
            label=titles.get(name, name),
        )
