"""Sweeps as small panels: values of a knob against the number of cells that agree with the paper."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mloml.paper.comparison import AGREES
from mloml.report.figures.panels import grid_of_panels, labelled
from mloml.report.figures.style import BLUE, GREY, VERMILION


def sweeps_figure(counts: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw a panel per knob; the dotted line is the number of cells, the filled square the default.

    Parameters
    ----------
    counts : DataFrame
        See :func:`~mloml.report.parts.sweeps.counts_frame`; not empty.
    titles : mapping
        Title of each knob.
    """
    names = list(dict.fromkeys(counts["knob"]))
    figure, panels = grid_of_panels(len(names), columns=3, height=1.75)
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(titles[name])
        _draw(axes, counts[counts["knob"] == name])
    return labelled(figure, panels, ("value of the knob", "cells that agree with the paper"))


def _draw(axes: Axes, counts: pd.DataFrame) -> None:
    places = list(range(len(counts)))
    agreeing = [int(number) for number in counts[AGREES]]
    cells = int(counts["cells"].iloc[0])
    axes.axhline(cells, color=GREY, linestyle=":", linewidth=0.9, label="all cells")
    # Stems, not a line: most knobs have no order.
    axes.vlines(places, 0, agreeing, color=BLUE, linewidth=0.9)
    axes.plot(places, agreeing, "o", color=BLUE, markerfacecolor="white", label="tried (post hoc)")
    default = [place for place, word in zip(places, counts["reading"], strict=True) if word == "default"]
    axes.plot(
        default, [agreeing[p] for p in default], "s", color=VERMILION, label="default reading", zorder=3
    )
    axes.set_xticks(
        places, list(counts["value"]), rotation=35, ha="right", rotation_mode="anchor", fontsize=6
    )
    axes.set_ylim(0, cells * 1.08)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.set_xlim(-0.4, len(places) - 0.6)
