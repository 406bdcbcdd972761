"""A page of small panels, one per dataset, with one legend; what is missing has no panel."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mloml.report.document import number
from mloml.report.figures.style import GREY, PAGE_WIDTH

BAND_LABEL = "± 1 s.e. of the paired difference"
BAND_ALPHA = 0.15
FEW = 8
"""Up to so many layers or scans each has a tick."""


def panel_page(
    datasets: Mapping[str, str],
    draw: Callable[[Axes, str], None],
    labels: tuple[str, str],
    columns: int = 3,
    height: float = 1.45,
    order: Sequence[str] = (),
) -> Figure:
    """Draw one panel per dataset.

    Parameters
    ----------
    datasets : mapping from config name to printed title, in the order of the panels.
    draw : called with the axes and the name of each dataset.
    labels : of the horizontal and the vertical axis, shared by all panels.
    columns, height : panels in a row at most, and the height of a row in inches.
    order : labels of the legend that come first, in this order.
    """
    figure, panels = grid_of_panels(len(datasets), columns, height)
    for axes, name in zip(panels, datasets, strict=True):
        axes.set_title(datasets[name])
        draw(axes, name)
    return labelled(figure, panels, labels, order)


def grid_of_panels(count: int, columns: int = 4, height: float = 1.6) -> tuple[Figure, list[Axes]]:
    """Return a figure as wide as a page with so many panels; places that are left over stay bare."""
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
    """Name the axes that all panels share, and put one legend above them."""
    figure.supxlabel(labels[0], fontsize=7.5)
    figure.supylabel(labels[1], fontsize=7.5)
    shared_legend(figure, panels, order)
    return figure


def shared_legend(figure: Figure, panels: Sequence[Axes], order: Sequence[str] = ()) -> None:
    """Put every label that occurs in the panels into one legend above them, bands last.

    More than five entries stand in two lines, filled column by column: neighbours are pairs.
    """
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    bands = {name for name, handle in found.items() if isinstance(handle, PolyCollection)}
    found |= {name: Patch(color=GREY, alpha=2 * BAND_ALPHA, linewidth=0) for name in bands}
    names = [name for name in dict.fromkeys([*order, *found]) if name in found]
    names.sort(key=lambda name: name in bands)
    if names:
        columns = len(names) if len(names) <= 5 else math.ceil(len(names) / 2)
        handles = [found[name] for name in names]
        figure.legend(handles, names, loc="outside upper center", ncols=columns, handlelength=2.6)


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


def empty_panel(axes: Axes, reason: str) -> None:
    """Say in the middle of a bare panel why it is empty; what follows a colon is left to the caption."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    text = textwrap.fill(textwrap.shorten(reason.split(": ")[0], 100, placeholder=" …"), 24)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=6, color="#555555")
