"""The critical-difference diagram: mean ranks on a line, bars over what cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mloml.paper.statistics import Ranking
from mloml.report.figures.panels import empty_panel
from mloml.report.figures.style import PAGE_WIDTH, style_of

LINE = 0.36
"""Distance between two labels, in units of the axis."""


def critical_difference_figure(ranking: Ranking, titles: Mapping[str, str]) -> Figure:
    """Draw mean ranks, best on the left, with Nemenyi's critical difference above them.

    Parameters
    ----------
    ranking : Ranking
    titles : mapping
        Printed title of each algorithm.
    """
    names = [str(name) for name in ranking.ranks.index]
    groups = ranking.groups()
    half = math.ceil(len(names) / 2)
    depth = 0.35 + 0.16 * len(groups) + LINE * half
    figure = Figure(figsize=(PAGE_WIDTH, 0.75 + 0.55 * depth), layout="constrained")
    axes = figure.subplots()
    if len(names) < 2 or not math.isfinite(ranking.critical_difference):
        empty_panel(axes, "ranks need two algorithms that are complete on two datasets")
        return figure
    lowest, highest = 1.0, float(len(names))
    width = highest - lowest
    axes.set_xlim(lowest - 0.22 * width, highest + 0.22 * width)
    axes.set_ylim(-depth - 0.1, 0.95)
    axes.set_axis_off()
    axes.plot([lowest, highest], [0, 0], color="black", linewidth=0.9)
    for tick in range(1, len(names) + 1):
        axes.plot([tick, tick], [0, 0.09], color="black", linewidth=0.9)
        axes.text(tick, 0.14, str(tick), ha="center", va="bottom")
    _bar(
        axes,
        lowest,
        lowest + ranking.critical_difference,
        0.62,
        f"critical difference {ranking.critical_difference:.2f}",
    )
    for level, group in enumerate(groups):
        y = -0.16 - 0.16 * level
        ends = [ranking.ranks[group[0]] - 0.04, ranking.ranks[group[-1]] + 0.04]
        axes.plot(ends, [y, y], color="black", linewidth=2.4, solid_capstyle="round")
    for place, name in enumerate(names):
        left = place < half
        step = place if left else len(names) - 1 - place
        y = -0.35 - 0.16 * len(groups) - LINE * step
        rank, edge = float(ranking.ranks[name]), (lowest - 0.03 * width if left else highest + 0.03 * width)
        axes.plot([rank, rank, edge], [0, y, y], color=style_of(name).colour, linewidth=0.8)
        label = f"{titles.get(name, name)}  {rank:.2f}" if left else f"{rank:.2f}  {titles.get(name, name)}"
        axes.text(edge, y, f" {label} ", ha="right" if left else "left", va="center")
    return figure


def _bar(axes: Axes, start: float, end: float, y: float, text: str) -> None:
    axes.plot([start, end], [y, y], color="black", linewidth=0.9)
    for x in (start, end):
        axes.plot([x, x], [y - 0.05, y + 0.05], color="black", linewidth=0.9)
    axes.text((start + end) / 2, y + 0.06, text, ha="center", va="bottom")
