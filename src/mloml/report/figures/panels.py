"""A page of small panels with one legend, and the range of a panel that shows its curves well."""

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox

from mloml.report.document import number
from mloml.report.figures.style import GREY, PAGE_WIDTH

BAND_LABEL = "± 1 s.e. of the paired difference"
BAND_ALPHA = 0.15
# Up to this many layers or scans, each has a tick.
FEW = 8
# No panel shows a smaller range of errors: noise is not blown up.
SMALLEST = 0.01
# Lines and controls may stretch a panel to this many times the height of its curves.
WIDEST = 2.5
# Half the size of a marker, in points.
NEAR = 3.5
# How a text stands beside a point, by the side on which it is.
HORIZONTAL = {1: "left", 0: "center", -1: "right"}
VERTICAL = {1: "bottom", 0: "center", -1: "top"}
# Height of a line of text, as a share of the panel.
NOTE_HEIGHT = 0.13


def grid_of_panels(count: int, columns: int = 4, height: float = 1.6) -> tuple[Figure, list[Axes]]:
    """Return a figure as wide as a page with so many panels; places that are left over stay empty."""
    rows = math.ceil(count / columns)
    columns = math.ceil(count / rows)
    figure = Figure(figsize=(PAGE_WIDTH, height * rows + 0.6), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, axes[:count]


def labelled(
    figure: Figure, panels: Sequence[Axes], labels: tuple[str, str], order: Sequence[str] = ()
) -> Figure:
    """Name the axes that all panels share, and put one legend into a place left over or above, bands last.

    More than five entries above stand in two lines, filled column by column: neighbours are pairs.
    """
    figure.supxlabel(labels[0], fontsize=7.5)
    figure.supylabel(labels[1], fontsize=7.5)
    every = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in reversed(panels)]
    found: dict[str, Any] = {label: handle for entries in every for handle, label in entries}
    bands = {name for name, handle in found.items() if isinstance(handle, PolyCollection)}
    found |= {name: Patch(color=GREY, alpha=2 * BAND_ALPHA, linewidth=0) for name in bands}
    names = [name for name in dict.fromkeys([*order, *found]) if name in found]
    names.sort(key=lambda name: name in bands)
    handles, spare = [found[name] for name in names], figure.axes[len(panels) :]
    columns = len(names) if len(names) <= 5 else math.ceil(len(names) / 2)
    if names and spare:
        spare[0].legend(handles, names, loc="center", handlelength=2.6)
    elif names:
        figure.legend(handles, names, loc="outside upper center", ncols=columns, handlelength=2.6)
    return figure


def whole_ticks(steps: int) -> list[int]:
    """Return ticks from 1 to a number of layers or scans.

    >>> whole_ticks(5), whole_ticks(20)
    ([1, 2, 3, 4, 5], [1, 5, 10, 15, 20])
    """
    if steps <= FEW:
        return list(range(1, steps + 1))
    values = MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10]).tick_values(0, steps)
    return [1, *(int(value) for value in values if 1 < value <= steps)]


def error_axis(axes: Axes, nbins: int = 5) -> None:
    """Print error rates on the vertical axis with three decimals, as everywhere."""
    axes.yaxis.set_major_locator(MaxNLocator(nbins=nbins, steps=[1, 2, 5, 10], min_n_ticks=3))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def label_points(axes: Axes, labels: Mapping[tuple[float, float], tuple[str, str]]) -> None:
    """Write texts (and their colours) beside points, as near as they cover neither a point nor a text.

    The figure must have been laid out.
    """
    half = NEAR * axes.figure.dpi / 72
    places = axes.transData.transform(list(labels))
    taken = [Bbox([place - half, place + half]) for place in places]
    for point, (text, colour) in labels.items():
        note = axes.annotate(text, point, (0, 0), textcoords="offset points", color=colour, fontsize=6)
        note.set_in_layout(False)
        for far, right, up in itertools.product((1, 2, 3, 4), (1, -1, 0), (0, 1, -1)):
            note.set(x=1.3 * NEAR * far * right, y=1.3 * NEAR * far * up)
            note.set(horizontalalignment=HORIZONTAL[right], verticalalignment=VERTICAL[up])
            box = note.get_window_extent()
            inside = axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1 and axes.bbox.y0 < box.y0
            if (right or up) and inside and not box.count_overlaps(taken):
                break
        taken.append(box)
        if far > 1:
            line = {"arrowstyle": "-", "linewidth": 0.4, "color": GREY, "shrinkA": 0}
            axes.annotate("", point, note.get_position(), textcoords="offset points", arrowprops=line)


def empty_panel(axes: Axes, reason: str) -> None:
    """Say in the middle of an empty panel why it is empty."""
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    text = textwrap.fill(reason, 24)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=6, color="#555555")


class Range(NamedTuple):
    """The vertical range of a panel, and the lines that do not fit into it, above and below."""

    low: float
    high: float
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


def readable_range(curves: Sequence[float], lines: Mapping[str, tuple[float, float]]) -> Range:
    """Return a range with all values of the curves and the lines that do not squash them.

    A line is the lowest and highest error of a method without layers or scans, or of a control.

    >>> readable_range([0.20, 0.24], {"near": (0.25, 0.25), "far": (0.07, 0.07)})
    Range(low=0.2, high=0.25, above=(), below=('far',))
    """
    values = list(curves) or [value for ends in lines.values() for value in ends]
    low, high = min(values), max(values)
    spare = max(0.0, SMALLEST - (high - low)) / 2
    low, high = max(0.0, low - spare), high + spare
    limit = WIDEST * (high - low)
    outside = []
    for name in sorted(lines, key=lambda name: max(low - lines[name][0], lines[name][1] - high)):
        wider = min(low, lines[name][0]), max(high, lines[name][1])
        if wider[1] - wider[0] <= limit:
            low, high = wider
        else:
            outside.append(name)
    above = tuple(name for name in outside if lines[name][1] > high)
    return Range(low, high, above, tuple(name for name in outside if name not in above))


def show_range(axes: Axes, span: Range, notes: Mapping[str, tuple[str, str]]) -> None:
    """Set a panel's range, and write notes (a text, its colour) on the lines outside at its edges."""
    margin = 0.06 * (span.high - span.low)
    top, bottom = (NOTE_HEIGHT * len(names) for names in (span.above, span.below))
    height = (span.high - span.low + 2 * margin) / (1 - top - bottom)
    axes.set_ylim(span.low - margin - bottom * height, span.high + margin + top * height)
    places = [(1 - NOTE_HEIGHT * (i + 0.5), "↑", name) for i, name in enumerate(span.above)]
    places += [(NOTE_HEIGHT * (i + 0.5), "↓", name) for i, name in enumerate(span.below)]
    style: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "center", "fontsize": 6}
    for place, arrow, name in places:
        text, colour = notes[name]
        axes.text(0.98, place, f"{arrow} {text}", color=colour, **style)
