"""Pictures of streams: accuracy along them, and what a metric gains around a change."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mloml.report.figures.panels import error_axis, grid_of_panels, labelled
from mloml.report.figures.style import GREY, style_of


def stream_curves(
    numbers: pd.DataFrame,
    streams: Mapping[str, str],
    algorithms: Mapping[str, str],
    changes: Mapping[str, Sequence[int]],
) -> Figure:
    """Draw accuracy against the samples seen, one panel per stream, its abrupt changes dotted.

    Parameters
    ----------
    numbers : DataFrame
        Columns ``stream``, ``algorithm``, ``sample``, ``accuracy``.
    streams, algorithms : mapping
        Printed titles.
    changes : mapping
        Samples at which a stream changes.
    """
    shown = [name for name in streams if name in set(numbers["stream"])]
    figure, panels = grid_of_panels(max(1, len(shown)), columns=3, height=1.7)
    for axes, stream in zip(panels, shown, strict=False):
        axes.set_title(streams[stream])
        mine = numbers[numbers["stream"] == stream]
        for point in changes.get(stream, ()):
            if point < mine["sample"].max():
                axes.axvline(point, color=GREY, linestyle=":", linewidth=0.8)
        _draw_lines(axes, mine, "sample", "accuracy", algorithms)
    return labelled(figure, panels, ("samples seen", "accuracy"), list(algorithms.values()))


def drift_gains(numbers: pd.DataFrame, algorithms: Mapping[str, str]) -> Figure:
    """Draw gains over plain k-NN against the samples since a change, one panel per window.

    Parameters
    ----------
    numbers : DataFrame
        Columns ``window``, ``algorithm``, ``since`` (negative before the change), ``gain``.
    algorithms : mapping
        Printed titles.
    """
    windows = list(dict.fromkeys(numbers["window"]))
    figure, panels = grid_of_panels(max(1, len(windows)), columns=3, height=2.0)
    for axes, window in zip(panels, windows, strict=False):
        axes.set_title(f"window of {window:,}")
        axes.axhline(0, color=GREY, linewidth=0.6)
        axes.axvline(0, color=GREY, linestyle=":", linewidth=0.8)
        _draw_lines(axes, numbers[numbers["window"] == window], "since", "gain", algorithms)
        axes.sharey(panels[0])
    labels = ("samples since the change", "accuracy less that of plain k-NN")
    return labelled(figure, panels, labels, list(algorithms.values()))


def _draw_lines(axes: Axes, numbers: pd.DataFrame, x: str, y: str, titles: Mapping[str, str]) -> None:
    for name, part in numbers.groupby("algorithm", sort=False):
        style = style_of(str(name))
        axes.plot(part[x], part[y], style.line, color=style.colour, linewidth=1.0, label=titles[str(name)])
    error_axis(axes)
