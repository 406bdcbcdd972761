"""Pictures that compare methods: with the paper, by rank, by cost, and over the values of a setting."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from mloml.paper.comparison import AGREES, HIGHER, LOWER
from mloml.paper.published import SPLITS
from mloml.paper.statistics import Ranking, welch_half_width
from mloml.report.document import number
from mloml.report.figures.panels import empty_panel, error_axis, grid_of_panels, label_points, labelled
from mloml.report.figures.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    GREEN,
    GREY,
    ORANGE,
    PAGE_WIDTH,
    PURPLE,
    SKY,
    VERMILION,
    style_of,
)

# Half the width of a panel of the agreement figure; a larger difference is an arrow with its number.
REACH = 0.05
# Share of the way to the edge beyond which a marker would be cut in half.
INSIDE = 0.9
# Colour, marker and legend of each verdict.
VERDICTS = {
    AGREES: (BLACK, "o", "agrees"),
    LOWER: (BLUE, "<", "ours significantly lower"),
    HIGHER: (VERMILION, ">", "ours significantly higher"),
}
# Distance between two labels of the critical-difference diagram, in units of its axis.
RANK_LINE = 0.36
# Methods with a larger relative error stand at the upper edge with their number.
CUT = 1.22
# Of the means over a setting's values.
SERIES = ((BLUE, "o"), (VERMILION, "v"), (GREEN, "^"), (ORANGE, "D"), (PURPLE, "s"), (SKY, "P"), (BLACK, "X"))
LONG = 4  # characters of a tick's label, from which on it is slanted
AXIS = "error (mean ± standard deviation)"


def agreement_numbers(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return our mean minus the paper's for every entry, with the 95 % interval of Welch's test."""
    half_widths = [
        welch_half_width(
            row["our_std"], int(row["our_splits"]), row["paper_std"], SPLITS, row.get("between_draws", 0.0)
        )
        for row in comparison.to_dict("records")
    ]
    shown = comparison[["dataset", "algorithm", "paper_mean", "our_mean", "difference", "verdict"]]
    return shown.assign(low=shown["difference"] - half_widths, high=shown["difference"] + half_widths)


def agreement_figure(
    numbers: pd.DataFrame, datasets: Mapping[str, str], algorithms: Mapping[str, str]
) -> Figure:
    """Draw :func:`agreement_numbers`: one row per dataset, one panel per algorithm, with their titles."""
    places = {name: place for place, name in enumerate(datasets)}
    width = min(PAGE_WIDTH, 1.2 + 0.75 * len(algorithms))
    figure = Figure(figsize=(width, 0.95 + 0.17 * len(datasets)), layout="constrained")
    panels = figure.subplots(1, len(algorithms), sharey=True, squeeze=False)[0]
    for axes, (name, title) in zip(panels, algorithms.items(), strict=True):
        shown = numbers[(numbers["algorithm"] == name) & numbers["dataset"].isin(list(places))]
        for row in shown.to_dict("records"):
            _draw_difference(axes, places[row["dataset"]], row)
        axes.set_title(title, fontsize=6.5)
        axes.axvline(0, color=GREY, linewidth=0.6, zorder=0)
        axes.set_xlim(-REACH, REACH)
        axes.set_xticks([-0.03, 0.03], ["−.03", "+.03"], fontsize=5)
        axes.tick_params(length=0)
        axes.grid(visible=True, axis="y")
        axes.spines["left"].set_visible(False)
    panels[0].set_yticks(list(places.values()), list(datasets.values()))
    panels[0].set_ylim(len(places) - 0.4, -0.6)
    figure.supxlabel("our mean error minus the paper's, with 95 % interval", fontsize=7)
    handles = [
        Line2D([], [], color=colour, marker=marker, linewidth=0.9, markersize=3, label=label)
        for colour, marker, label in VERDICTS.values()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_difference(axes: Axes, y: int, row: Mapping[Any, Any]) -> None:
    x, (colour, marker, _) = row["difference"], VERDICTS[row["verdict"]]
    if abs(x) <= INSIDE * REACH:
        axes.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=0.9, solid_capstyle="butt")
        axes.plot(x, y, marker, color=colour, markersize=2.6)
        return
    edge, align, arrow = (REACH, "right", ">") if x > 0 else (-REACH, "left", "<")
    axes.plot(0.94 * edge, y, arrow, color=colour, markersize=3, clip_on=False)
    text = f"+{number(x)}" if x > 0 else number(x).replace("-", "−")
    axes.text(0.76 * edge, y, text, ha=align, va="center_baseline", fontsize=5, color=colour)


def critical_difference_figure(ranking: Ranking, titles: Mapping[str, str]) -> Figure:
    """Draw mean ranks, best on the left, with bars over groups that Nemenyi's test cannot tell apart."""
    names = [str(name) for name in ranking.ranks.index]
    groups = ranking.groups()
    half = math.ceil(len(names) / 2)
    depth = 0.35 + 0.16 * len(groups) + RANK_LINE * half
    figure = Figure(figsize=(PAGE_WIDTH, 0.75 + 0.55 * depth), layout="constrained")
    axes = figure.subplots()
    if len(names) < 2 or not math.isfinite(ranking.critical_difference):
        empty_panel(axes, "ranks need two algorithms that are complete on two datasets")
        return figure
    last = len(names)
    margin = 0.03 * (last - 1)
    axes.set_xlim(1 - 0.22 * (last - 1), last + 0.22 * (last - 1))
    axes.set_ylim(-depth - 0.1, 0.95)
    axes.set_axis_off()
    line: dict[str, Any] = {"color": "black", "linewidth": 0.9}
    axes.plot([1, last], [0, 0], **line)
    for tick in range(1, last + 1):
        axes.plot([tick, tick], [0, 0.09], **line)
        axes.text(tick, 0.14, str(tick), ha="center", va="bottom")
    critical = ranking.critical_difference
    axes.errorbar(
        1 + critical / 2, 0.62, xerr=critical / 2, capsize=2, capthick=0.9, ecolor="black", elinewidth=0.9
    )
    axes.text(last, 0.62, "mean rank (1 is best)", ha="right", va="center")
    axes.text(1 + critical / 2, 0.68, f"critical difference {critical:.2f}", ha="center", va="bottom")
    for level, group in enumerate(groups):
        y = -0.16 - 0.16 * level
        ends = [ranking.ranks[group[0]] - 0.04, ranking.ranks[group[-1]] + 0.04]
        axes.plot(ends, [y, y], color="black", linewidth=2.4, solid_capstyle="round")
    for place, name in enumerate(names):
        left, rank, title = place < half, float(ranking.ranks[name]), titles.get(name, name)
        y = -0.35 - 0.16 * len(groups) - RANK_LINE * (place if left else last - 1 - place)
        edge = 1 - margin if left else last + margin
        axes.plot([rank, rank, edge], [0, y, y], color=style_of(name).colour, linewidth=0.8)
        label = f" {title}  {rank:.2f} " if left else f" {rank:.2f}  {title} "
        axes.text(edge, y, label, ha="right" if left else "left", va="center")
    return figure


def cost_figure(numbers: pd.DataFrame, studies: Mapping[str, str], titles: Mapping[str, str]) -> Figure:
    """Draw one panel per study that has any: relative error against time, each point with its method's name.

    Methods that never learn are hollow.

    Parameters
    ----------
    numbers : DataFrame
        Columns ``study``, ``algorithm``, ``seconds_per_row``, ``relative_error``.
    studies, titles : mapping
        Printed titles of studies and algorithms.
    """
    known = numbers[np.isfinite(numbers["seconds_per_row"]) & np.isfinite(numbers["relative_error"])]
    shown = [study for study in studies if study in set(known["study"])]
    figure = Figure(figsize=(PAGE_WIDTH, 3.4), layout="constrained")
    panels = figure.subplots(1, max(1, len(shown)), sharey=True, squeeze=False)[0]
    if not shown:
        empty_panel(panels[0], "no method has both a time and Euclidean beside it")
    labels = []
    for axes, study in zip(panels, shown, strict=False):
        axes.set(title=studies[study], xlabel="seconds per training sample")
        labels.append(_draw_costs(axes, known[known["study"] == study], titles))
    figure.supylabel("mean error relative to Euclidean's", fontsize=7.5)
    figure.draw_without_rendering()
    for axes, texts in zip(panels, labels, strict=False):
        label_points(axes, texts)
    return figure


def _draw_costs(
    axes: Axes, numbers: pd.DataFrame, titles: Mapping[str, str]
) -> dict[tuple[float, float], tuple[str, str]]:
    """Draw a panel's points; return what to write beside each, and in which colour."""
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.xaxis.set_minor_formatter(NullFormatter())  # labels between decades would overlap
    axes.axhline(1.0, color=GREY, linewidth=0.7, linestyle="--")
    labels = {}
    for row in numbers.sort_values("relative_error").to_dict("records"):
        name, x, y = str(row["algorithm"]), row["seconds_per_row"], row["relative_error"]
        style, title = style_of(name), titles.get(name, name)
        marks: dict[str, Any] = {"marker": style.marker or "o", "markersize": 5}
        marks["markerfacecolor"] = "none" if name.endswith("_untrained") else style.colour
        axes.plot(x, min(y, CUT), linestyle="", color=style.colour, label=title, **marks)
        labels[x, min(y, CUT)] = f"{title} {y:.2f} ↑" if y > CUT else title, style.colour
    return labels


def depths_figure(
    numbers: pd.DataFrame, datasets: Mapping[str, str], studies: Mapping[str, str], titles: Mapping[str, str]
) -> Figure:
    """Draw how often each depth was chosen, a row per data set and a panel per study and stack.

    Parameters
    ----------
    numbers : DataFrame
        Columns ``study``, ``algorithm``, ``dataset``, ``depth``, ``share``.
    datasets, studies, titles : mapping from name to title; data sets in the order of rows
    """
    rows = [name for name in datasets if name in set(numbers["dataset"])]
    pairs = list(dict.fromkeys(zip(numbers["study"], numbers["algorithm"], strict=True)))
    size = (PAGE_WIDTH, 1.1 + 0.15 * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    if not pairs:
        empty_panel(figure.subplots(), "no data set is complete")
        return figure
    panels = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axes, (study, name) in zip(panels, pairs, strict=True):
        mine = numbers[(numbers["study"] == study) & (numbers["algorithm"] == name)]
        shares = mine.pivot_table("share", "dataset", "depth").reindex(rows)
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        heading = textwrap.fill(studies[study], 14)
        axes.set_title(f"{heading}\n{titles.get(name, name)}", fontsize=6.5)
        axes.set_xticks(range(shares.shape[1]), [str(depth) for depth in shares])
        axes.grid(False)
        axes.tick_params(length=0)
    panels[0].set_yticks(range(len(rows)), [datasets[name] for name in rows])
    figure.supxlabel("chosen number of layers", fontsize=7)
    figure.colorbar(image, ax=panels, label="share of the splits", shrink=0.4, aspect=18, pad=0.01)
    return figure


def sweeps_figure(counts: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw how many entries agree with the paper at each value of a setting, one panel per setting.

    Parameters
    ----------
    counts : DataFrame
        Columns ``knob``, ``value``, ``reading``, ``cells`` and one with the agreeing cells; not empty.
    titles : mapping
        Title of each setting.
    """
    names = list(dict.fromkeys(counts["knob"]))
    figure, panels = grid_of_panels(len(names), columns=3, height=1.75)
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(titles[name])
        _draw_sweep(axes, counts[counts["knob"] == name].reset_index())
    return labelled(figure, panels, ("value of the setting", "entries that agree with the paper"))


def _draw_sweep(axes: Axes, counts: pd.DataFrame) -> None:
    agreeing, cells = counts[AGREES].astype(int), int(counts["cells"].iloc[0])
    axes.axhline(cells, color=GREY, linestyle=":", linewidth=0.9, label="all entries")
    axes.vlines(counts.index, 0, agreeing, color=BLUE, linewidth=0.9)  # no line: most settings have no order
    axes.plot(agreeing, "o", color=BLUE, markerfacecolor="white", label="tried (post hoc)")
    default = agreeing[counts["reading"] == "default"]
    axes.plot(default, "s", color=VERMILION, label="default", zorder=3)
    slanted: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor", "fontsize": 6}
    axes.set_xticks(counts.index, list(counts["value"]), **slanted)
    axes.set_ylim(0, cells * 1.08)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.set_xlim(-0.4, len(counts) - 0.6)


def means_figure(numbers: pd.DataFrame, keys: Sequence[str]) -> Figure:
    """Draw means with bars of one deviation over the values of one or two keys.

    Data sets have a panel each; another second key has a line for each of its values. Values that are numbers
    are in order and joined by lines.

    Parameters
    ----------
    numbers : DataFrame
        Columns ``mean``, ``std`` and the keys, whose values are texts.
    keys : list of str
    """
    panel = "dataset" if len(keys) > 1 and "dataset" in keys else ""
    x, *second = sorted((key for key in keys if key != panel), key=lambda key: not _ordered(numbers[key]))
    ordered, values = _ordered(numbers[x]), list(dict.fromkeys(numbers[x]))
    values = sorted(values, key=float) if ordered else values
    slant: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    parts = list(numbers.groupby(panel, sort=False)) if panel else [("", numbers)]
    figure, panels = grid_of_panels(len(parts), columns=4, height=1.8)
    if not panel:
        figure.set_size_inches(1.5 * COLUMN_WIDTH if second else COLUMN_WIDTH, 2.4)
    for axes, (title, part) in zip(panels, parts, strict=True):
        axes.set_title(str(title))
        lines = list(part.groupby(second[0], sort=False)) if second else [("", part)]
        for place, (name, line) in enumerate(lines):
            shift, (colour, marker) = 0.12 * (place - (len(lines) - 1) / 2), SERIES[place % len(SERIES)]
            points = line.drop_duplicates(x).set_index(x).reindex(values)
            axes.errorbar(
                [at + shift for at in range(len(values))], points["mean"], points["std"].fillna(0.0),
                linestyle="-" if ordered else "", marker=marker, color=colour, label=str(name) or None,
                linewidth=0.9, elinewidth=0.7, capsize=1.5,
            )  # fmt: skip
        axes.set_xticks(range(len(values)), values, **(slant if max(map(len, values)) >= LONG else {}))
        axes.margins(x=0.1)
        error_axis(axes)
    lines_are = f" (lines: {second[0].split('.')[-1]})" if second else ""
    return labelled(figure, panels, (f"{x.split('.')[-1]}{lines_are}", AXIS))


def _ordered(values: Any) -> bool:
    """Tell whether all values are numbers."""
    return bool(pd.to_numeric(values, errors="coerce").notna().all())
