"""A page of small panels, one per dataset, with one legend; a missing dataset keeps its place."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from mloml.reporting.figures.style import GREY, PAGE_WIDTH

BAND_LABEL = "± 1 standard error over splits"
BAND_ALPHA = 0.15


def panel_page(
    datasets: Mapping[str, str],
    missing: Mapping[str, str],
    draw: Callable[[Axes, str], None],
    labels: tuple[str, str],
    columns: int = 3,
    height: float = 1.45,
) -> Figure:
    """Draw one panel per dataset.

    Parameters
    ----------
    datasets : mapping from config name to printed title, in the order of the panels.
    missing : mapping from config name to the reason why there is nothing to draw.
    draw : called with the axes and the name of each dataset that is there.
    labels : of the horizontal and the vertical axis, shared by all panels.
    columns, height : panels in a row at most, and the height of a row in inches.
    """
    figure, panels = grid_of_panels(len(datasets), columns, height)
    for axes, name in zip(panels, datasets, strict=True):
        axes.set_title(datasets[name])
        if name in missing:
            empty_panel(axes, missing[name])
        else:
            draw(axes, name)
    return labelled(figure, panels, labels, band=True)


def grid_of_panels(count: int, columns: int = 4, height: float = 1.6) -> tuple[Figure, list[Axes]]:
    """Return a figure as wide as a page with so many panels; places that are left over stay bare."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(PAGE_WIDTH, height * rows + 0.6), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, axes[:count]


def labelled(figure: Figure, panels: Sequence[Axes], labels: tuple[str, str], band: bool = False) -> Figure:
    """Name the axes that all panels share, and put one legend above them."""
    figure.supxlabel(labels[0], fontsize=7.5)
    figure.supylabel(labels[1], fontsize=7.5)
    shared_legend(figure, panels, band)
    return figure


def empty_panel(axes: Axes, reason: str) -> None:
    """Say in the middle of a bare panel why it is empty; what follows a colon is left to the caption."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    text = textwrap.fill(textwrap.shorten(reason.split(": ")[0], 100, placeholder=" …"), 24)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=6, color="#555555")


def shared_legend(figure: Figure, panels: Sequence[Axes], band: bool = True) -> None:
    """Put every label that occurs in the panels into one legend above them; ``band`` explains the bands."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        if band:
            entries[BAND_LABEL] = Patch(color=GREY, alpha=BAND_ALPHA, linewidth=0)
        columns = len(entries) if len(entries) <= 5 else math.ceil(len(entries) / 2)
        figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=columns)


def mean_and_error(frame: pd.DataFrame, by: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the sorted values of ``by``, the mean error at each, and its standard error over splits.

    >>> frame = pd.DataFrame({"layer": [1, 1, 2, 2], "error": [0.1, 0.3, 0.2, 0.2]})
    >>> [part.round(3).tolist() for part in mean_and_error(frame, "layer")]
    [[1, 2], [0.2, 0.2], [0.1, 0.0]]
    """
    grouped = frame.groupby(by)["error"]
    mean = grouped.mean()
    spread = grouped.sem().fillna(0.0)
    return mean.index.to_numpy(), mean.to_numpy(), spread.to_numpy()
