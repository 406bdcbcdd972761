"""Mean errors with their deviations: over the values of a setting, or of methods side by side."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from mloml.report.figures.panels import error_axis, grid_of_panels, labelled
from mloml.report.figures.style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, VERMILION

SERIES = ((BLUE, "o"), (VERMILION, "v"), (GREEN, "^"), (ORANGE, "D"), (PURPLE, "s"), (SKY, "P"), (BLACK, "X"))
LONG = 4  # characters of a tick's label, from which on it is slanted
AXIS = "error (mean ± standard deviation)"


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
