"""Ours against the paper, cell by cell: a panel per method, a row per data set, an interval per cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.paper.published import SPLITS
from mloml.paper.statistics.intervals import welch_half_width
from mloml.report.document import number
from mloml.report.figures.style import BLACK, BLUE, GREY, PAGE_WIDTH, VERMILION

REACH = 0.05
"""Half the width of a panel in units of the error; what lies beyond is an arrow with its number."""
COLOURS = {AGREES: BLACK, LOWER: BLUE, HIGHER: VERMILION}
WORDS = {AGREES: "agrees", LOWER: "ours significantly lower", HIGHER: "ours significantly higher"}
MARKERS = {AGREES: "o", LOWER: "<", HIGHER: ">"}


def agreement_numbers(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return our mean less the paper's in every cell, with the 95 % interval that belongs to Welch's test."""
    halves = [
        welch_half_width(
            cell["our_std"],
            int(cell["our_splits"]),
            cell["paper_std"],
            SPLITS,
            cell.get("between_draws", 0.0),
        )
        for cell in comparison.to_dict("records")
    ]
    shown = comparison[["dataset", "algorithm", "paper_mean", "our_mean", "difference", "verdict"]]
    return shown.assign(low=shown["difference"] - halves, high=shown["difference"] + halves)


def agreement_figure(
    numbers: pd.DataFrame, datasets: Mapping[str, str], algorithms: Mapping[str, str]
) -> Figure:
    """Draw :func:`agreement_numbers`: a row per dataset, a panel per algorithm, by their titles."""
    places = {name: place for place, name in enumerate(datasets)}
    width = min(PAGE_WIDTH, 1.2 + 0.75 * len(algorithms))
    figure = Figure(figsize=(width, 0.95 + 0.17 * len(datasets)), layout="constrained")
    panels = figure.subplots(1, len(algorithms), sharey=True, squeeze=False)[0]
    for axes, (name, title) in zip(panels, algorithms.items(), strict=True):
        for cell in numbers[numbers["algorithm"] == name].to_dict("records"):
            if cell["dataset"] in places:
                _draw_cell(axes, places[cell["dataset"]], cell)
        _furnish(axes, title)
    panels[0].set_yticks(list(places.values()), list(datasets.values()))
    panels[0].set_ylim(len(places) - 0.4, -0.6)
    figure.supxlabel("our mean error less the paper's, with 95 % interval", fontsize=7)
    handles = [
        Line2D([], [], color=COLOURS[word], marker=MARKERS[word], linewidth=0.9, markersize=3, label=text)
        for word, text in WORDS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


INSIDE = 0.9
"""Of the way to the edge: farther out a marker would be cut in half."""


def _draw_cell(axes: Axes, y: int, cell: Mapping[Any, Any]) -> None:
    colour, marker, x = COLOURS[cell["verdict"]], MARKERS[cell["verdict"]], cell["difference"]
    if abs(x) <= INSIDE * REACH:
        axes.plot([cell["low"], cell["high"]], [y, y], color=colour, linewidth=0.9, solid_capstyle="butt")
        axes.plot(x, y, marker, color=colour, markersize=2.6)
        return
    edge, inner, side = (REACH, 0.76 * REACH, "right") if x > 0 else (-REACH, -0.76 * REACH, "left")
    arrow = MARKERS[HIGHER if x > 0 else LOWER]
    axes.plot(0.94 * edge, y, arrow, color=colour, markersize=3, clip_on=False)
    text = f"+{number(x)}" if x > 0 else number(x).replace("-", "−")
    axes.text(inner, y, text, ha=side, va="center_baseline", fontsize=5, color=colour)


def _furnish(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=6.5)
    axes.axvline(0, color=GREY, linewidth=0.6, zorder=0)
    axes.set_xlim(-REACH, REACH)
    axes.set_xticks([-0.03, 0.03], ["−.03", "+.03"], fontsize=5)
    axes.tick_params(length=0)
    axes.grid(visible=True, axis="y")
    axes.spines["left"].set_visible(False)
